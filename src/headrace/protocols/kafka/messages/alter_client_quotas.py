"""AlterClientQuotas, versions 0 to 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 49
VERSIONS = (0, 1)
FLEXIBLE_FROM = 1


class EntityDataRequest(Message):
    __slots__ = ("entity_name", "entity_type")
    FIELDS = """
        entity_type string 0+
        entity_name string 0+ nullable=0+
    """

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class OpData(Message):
    __slots__ = ("key", "remove", "value")
    FIELDS = """
        key string 0+
        value float64 0+
        remove bool 0+
    """

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key = key
        self.value = value
        self.remove = remove


class EntryDataRequest(Message):
    __slots__ = ("entity", "ops")
    FIELDS = """
        entity []EntityDataRequest 0+
        ops []OpData 0+
    """

    def __init__(
        self,
        entity: Sequence[EntityDataRequest] = (),
        ops: Sequence[OpData] = (),
    ) -> None:
        self.entity = entity
        self.ops = ops


class AlterClientQuotasRequest(Message):
    __slots__ = ("entries", "validate_only")
    FIELDS = """
        entries []EntryDataRequest 0+
        validate_only bool 0+
    """

    def __init__(
        self,
        entries: Sequence[EntryDataRequest] = (),
        validate_only: bool = False,
    ) -> None:
        self.entries = entries
        self.validate_only = validate_only


class EntityDataResponse(Message):
    __slots__ = ("entity_name", "entity_type")
    FIELDS = """
        entity_type string 0+
        entity_name string 0+ nullable=0+
    """

    def __init__(
        self,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.entity_name = entity_name


class EntryDataResponse(Message):
    __slots__ = ("entity", "error_code", "error_message")
    FIELDS = """
        error_code int16 0+
        error_message string 0+ nullable=0+
        entity []EntityDataResponse 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        entity: Sequence[EntityDataResponse] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.entity = entity


class AlterClientQuotasResponse(Message):
    __slots__ = ("entries", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        entries []EntryDataResponse 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        entries: Sequence[EntryDataResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.entries = entries
