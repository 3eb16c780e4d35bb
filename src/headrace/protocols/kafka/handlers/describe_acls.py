"""DescribeAcls: refused; there is no authorizer, so there are no ACLs.

v1-3. The answer is Kafka's without `authorizer.class.name`.
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

NO_AUTHORIZER = "No Authorizer is configured."


def handle(broker: Broker, request: DescribeAclsRequest, context: Context) -> DescribeAclsResponse:
    return DescribeAclsResponse(error_code=errors.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
