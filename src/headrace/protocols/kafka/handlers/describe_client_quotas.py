"""DescribeClientQuotas: none are set (KIP-546).

v0; v1 flexible
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)


def handle(broker: Broker, request: DescribeClientQuotasRequest, context: Context) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(error_message="")
