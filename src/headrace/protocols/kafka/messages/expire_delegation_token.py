"""ExpireDelegationToken, versions 1 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from headrace.protocols.kafka.messages.message import Message

API_KEY = 40
VERSIONS = (1, 2)
FLEXIBLE_FROM = 2


class ExpireDelegationTokenRequest(Message):
    __slots__ = ("expiry_time_period_ms", "hmac")
    FIELDS = """
        hmac bytes 0+
        expiry_time_period_ms int64 0+
    """

    def __init__(
        self,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms


class ExpireDelegationTokenResponse(Message):
    __slots__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms")
    FIELDS = """
        error_code int16 0+
        expiry_timestamp_ms int64 0+
        throttle_time_ms int32 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
