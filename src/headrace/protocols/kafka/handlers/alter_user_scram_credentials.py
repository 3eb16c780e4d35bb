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

MECHANISMS = (1, 2)  # SCRAM-SHA-256, SCRAM-SHA-512
_WHY = "this node has no authentication yet, so it keeps no credentials"


def handle(broker: Broker, request: AlterUserScramCredentialsRequest, context: Context) -> AlterUserScramCredentialsResponse:
    users = sorted({item.name for item in request.deletions} | {item.name for item in request.upsertions})
    unknown = {item.name for item in request.deletions if item.mechanism in MECHANISMS}
    unknown -= {item.name for item in request.upsertions}
    rows = []
    for user in users:
        row = AlterUserScramCredentialsResult(user, errors.UNSUPPORTED_SASL_MECHANISM, _WHY)
        if not user:
            row.error_code, row.error_message = errors.UNACCEPTABLE_CREDENTIAL, "a user's name is not empty"
        elif user in unknown:
            row.error_code = errors.RESOURCE_NOT_FOUND
        rows.append(row)
    return AlterUserScramCredentialsResponse(results=rows)
