"""Kafka's messages: one generated module an API, found through the table `API`.

Nothing is imported before it is asked for: `API[0].request` imports `messages/produce.py`.
"""

from __future__ import annotations

import importlib

from headrace.protocols.kafka.messages.exceptions import ADVERTISED_MIN, RESPONSE_HEADER_ALWAYS_0
from headrace.protocols.kafka.messages.message import Message
from headrace.protocols.kafka.messages.table import ROWS

__all__ = ["API", "Api", "Message"]


class Api:
    """One API: which versions the codec speaks, which are advertised, and its two classes."""

    __slots__ = (
        "_request",
        "_response",
        "advertised_min",
        "flexible_from",
        "key",
        "max_version",
        "min_version",
        "module",
        "name",
    )

    def __init__(self, key: int, name: str, module: str, min_version: int, max_version: int, flexible_from: int | None) -> None:
        self.key = key
        self.name = name  # as Kafka writes it, without Request or Response
        self.module = f"{__name__}.{module}"
        self.min_version = min_version
        self.max_version = max_version
        self.advertised_min = ADVERTISED_MIN.get(key, min_version)
        self.flexible_from = flexible_from
        self._request: type[Message] | None = None
        self._response: type[Message] | None = None

    def __repr__(self) -> str:
        return f"Api({self.key}, {self.name}, {self.min_version}-{self.max_version})"

    def is_flexible(self, version: int) -> bool:
        return self.flexible_from is not None and version >= self.flexible_from

    def request_header_version(self, version: int) -> int:
        return 2 if self.is_flexible(version) else 1

    def response_header_version(self, version: int) -> int:
        return 1 if self.is_flexible(version) and self.key not in RESPONSE_HEADER_ALWAYS_0 else 0

    @property
    def request(self) -> type[Message]:
        if self._request is None:
            self._request = self._load("Request")
        return self._request

    @property
    def response(self) -> type[Message]:
        if self._response is None:
            self._response = self._load("Response")
        return self._response

    def _load(self, suffix: str) -> type[Message]:
        found = getattr(importlib.import_module(self.module), self.name + suffix)
        assert isinstance(found, type) and issubclass(found, Message)
        return found


API: dict[int, Api] = {row[0]: Api(*row) for row in ROWS}
