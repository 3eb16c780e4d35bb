"""AlterUserScramCredentials: refused; there is no listener a user could log in at.

v0
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)


def handle(broker: Broker, request: AlterUserScramCredentialsRequest, context: Context) -> AlterUserScramCredentialsResponse:
    users = sorted({item.name for item in request.deletions} | {item.name for item in request.upsertions})
    why = "this node has no authentication yet, so it keeps no credentials"
    return AlterUserScramCredentialsResponse(
        results=[AlterUserScramCredentialsResult(user, errors.UNSUPPORTED_SASL_MECHANISM, why) for user in users]
    )
