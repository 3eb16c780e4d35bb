"""SaslHandshake: refused; this listener has no authentication.

v0-1. What a broker without a SASL listener answers: no mechanisms, and ILLEGAL_SASL_STATE.
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle(broker: Broker, request: SaslHandshakeRequest, context: Context) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(errors.ILLEGAL_SASL_STATE)
