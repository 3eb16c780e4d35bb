"""FindCoordinator, versions 0 to 6.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 10
VERSIONS = (0, 6)
FLEXIBLE_FROM = 3


class FindCoordinatorRequest(Message):
    __slots__ = ("coordinator_keys", "key", "key_type")
    FIELDS = """
        key string 0-3
        key_type int8 1+ default=0
        coordinator_keys []string 4+
    """

    def __init__(
        self,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: Sequence[str] = (),
    ) -> None:
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = coordinator_keys


class Coordinator(Message):
    __slots__ = ("error_code", "error_message", "host", "key", "node_id", "port")
    FIELDS = """
        key string 4+
        node_id int32 4+
        host string 4+
        port int32 4+
        error_code int16 4+
        error_message string 4+ nullable=4+ ignorable
    """

    def __init__(
        self,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message


class FindCoordinatorResponse(Message):
    __slots__ = ("coordinators", "error_code", "error_message", "host", "node_id", "port", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 1+ ignorable
        error_code int16 0-3
        error_message string 1-3 nullable=1-3 ignorable
        node_id int32 0-3
        host string 0-3
        port int32 0-3
        coordinators []Coordinator 4+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: Sequence[Coordinator] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = coordinators
