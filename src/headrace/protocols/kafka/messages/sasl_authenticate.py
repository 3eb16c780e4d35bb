"""SaslAuthenticate, versions 0 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from headrace.protocols.kafka.messages.message import Message

API_KEY = 36
VERSIONS = (0, 2)
FLEXIBLE_FROM = 2


class SaslAuthenticateRequest(Message):
    __slots__ = ("auth_bytes",)
    FIELDS = """
        auth_bytes bytes 0+
    """

    def __init__(
        self,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes = auth_bytes


class SaslAuthenticateResponse(Message):
    __slots__ = ("auth_bytes", "error_code", "error_message", "session_lifetime_ms")
    FIELDS = """
        error_code int16 0+
        error_message string 0+ nullable=0+
        auth_bytes bytes 0+
        session_lifetime_ms int64 1+ default=0 ignorable
    """

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
