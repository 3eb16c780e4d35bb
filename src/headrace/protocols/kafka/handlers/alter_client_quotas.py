"""AlterClientQuotas: refused; a quota that would not be kept is not taken.

v0; v1 flexible
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityDataResponse,
    EntryDataResponse,
)


def handle(broker: Broker, request: AlterClientQuotasRequest, context: Context) -> AlterClientQuotasResponse:
    return AlterClientQuotasResponse(
        entries=[
            EntryDataResponse(
                errors.INVALID_REQUEST,
                "this node keeps no quotas",
                [EntityDataResponse(entity.entity_type, entity.entity_name) for entity in entry.entity],
            )
            for entry in request.entries
        ]
    )
