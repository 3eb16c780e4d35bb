"""SaslHandshake, versions 0 to 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 17
VERSIONS = (0, 1)
FLEXIBLE_FROM = None


class SaslHandshakeRequest(Message):
    __slots__ = ("mechanism",)
    FIELDS = """
        mechanism string 0+
    """

    def __init__(
        self,
        mechanism: str = "",
    ) -> None:
        self.mechanism = mechanism


class SaslHandshakeResponse(Message):
    __slots__ = ("error_code", "mechanisms")
    FIELDS = """
        error_code int16 0+
        mechanisms []string 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        mechanisms: Sequence[str] = (),
    ) -> None:
        self.error_code = error_code
        self.mechanisms = mechanisms
