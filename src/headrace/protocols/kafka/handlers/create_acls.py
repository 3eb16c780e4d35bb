"""CreateAcls: refused, each one; there is no authorizer.

v1-3.
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.describe_acls import NO_AUTHORIZER
from headrace.protocols.kafka.messages.create_acls import AclCreationResult, CreateAclsRequest, CreateAclsResponse


def handle(broker: Broker, request: CreateAclsRequest, context: Context) -> CreateAclsResponse:
    return CreateAclsResponse(results=[AclCreationResult(errors.SECURITY_DISABLED, NO_AUTHORIZER) for _ in request.creations])
