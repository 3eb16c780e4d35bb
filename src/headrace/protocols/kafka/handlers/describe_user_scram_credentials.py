"""DescribeUserScramCredentials: there are no users (KIP-554).

v0
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(broker: Broker, request: DescribeUserScramCredentialsRequest, context: Context) -> DescribeUserScramCredentialsResponse:
    users = request.users or ()
    return DescribeUserScramCredentialsResponse(
        error_message="",
        results=[
            DescribeUserScramCredentialsResult(
                user.name,
                errors.RESOURCE_NOT_FOUND,
                f"Attempt to describe a user credential that does not exist: {user.name}",
            )
            for user in users
        ],
    )
