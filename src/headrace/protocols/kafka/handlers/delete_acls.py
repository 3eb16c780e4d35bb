"""DeleteAcls: refused, each filter; there is no authorizer.

v1-3.
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.describe_acls import NO_AUTHORIZER
from headrace.protocols.kafka.messages.delete_acls import DeleteAclsFilterResult, DeleteAclsRequest, DeleteAclsResponse


def handle(broker: Broker, request: DeleteAclsRequest, context: Context) -> DeleteAclsResponse:
    return DeleteAclsResponse(
        filter_results=[DeleteAclsFilterResult(errors.SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.filters]
    )
