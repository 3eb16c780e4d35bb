"""RenewDelegationToken, versions 1 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from headrace.protocols.kafka.messages.message import Message

API_KEY = 39
VERSIONS = (1, 2)
FLEXIBLE_FROM = 2


class RenewDelegationTokenRequest(Message):
    __slots__ = ("hmac", "renew_period_ms")
    FIELDS = """
        hmac bytes 0+
        renew_period_ms int64 0+
    """

    def __init__(
        self,
        hmac: bytes = b"",
        renew_period_ms: int = 0,
    ) -> None:
        self.hmac = hmac
        self.renew_period_ms = renew_period_ms


class RenewDelegationTokenResponse(Message):
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
