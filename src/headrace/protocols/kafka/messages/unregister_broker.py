"""UnregisterBroker, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from headrace.protocols.kafka.messages.message import Message

API_KEY = 64
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class UnregisterBrokerRequest(Message):
    __slots__ = ("broker_id",)
    FIELDS = """
        broker_id int32 0+
    """

    def __init__(
        self,
        broker_id: int = 0,
    ) -> None:
        self.broker_id = broker_id


class UnregisterBrokerResponse(Message):
    __slots__ = ("error_code", "error_message", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
