"""DescribeClientQuotas, versions 0 to 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 48
VERSIONS = (0, 1)
FLEXIBLE_FROM = 1


class ComponentData(Message):
    __slots__ = ("entity_type", "match", "match_type")
    FIELDS = """
        entity_type string 0+
        match_type int8 0+
        match string 0+ nullable=0+
    """

    def __init__(
        self,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match


class DescribeClientQuotasRequest(Message):
    __slots__ = ("components", "strict")
    FIELDS = """
        components []ComponentData 0+
        strict bool 0+
    """

    def __init__(
        self,
        components: Sequence[ComponentData] = (),
        strict: bool = False,
    ) -> None:
        self.components = components
        self.strict = strict


class EntityData(Message):
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


class ValueData(Message):
    __slots__ = ("key", "value")
    FIELDS = """
        key string 0+
        value float64 0+
    """

    def __init__(
        self,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key = key
        self.value = value


class EntryData(Message):
    __slots__ = ("entity", "values")
    FIELDS = """
        entity []EntityData 0+
        values []ValueData 0+
    """

    def __init__(
        self,
        entity: Sequence[EntityData] = (),
        values: Sequence[ValueData] = (),
    ) -> None:
        self.entity = entity
        self.values = values


class DescribeClientQuotasResponse(Message):
    __slots__ = ("entries", "error_code", "error_message", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
        entries []EntryData 0+ nullable=0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: Sequence[EntryData] | None = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = entries
