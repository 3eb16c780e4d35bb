"""OffsetDelete, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 47
VERSIONS = (0, 0)
FLEXIBLE_FROM = None


class OffsetDeleteRequestPartition(Message):
    __slots__ = ("partition_index",)
    FIELDS = """
        partition_index int32 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class OffsetDeleteRequestTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []OffsetDeleteRequestPartition 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetDeleteRequestPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetDeleteRequest(Message):
    __slots__ = ("group_id", "topics")
    FIELDS = """
        group_id string 0+
        topics []OffsetDeleteRequestTopic 0+
    """

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetDeleteRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class OffsetDeleteResponsePartition(Message):
    __slots__ = ("error_code", "partition_index")
    FIELDS = """
        partition_index int32 0+
        error_code int16 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code


class OffsetDeleteResponseTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []OffsetDeleteResponsePartition 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetDeleteResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetDeleteResponse(Message):
    __slots__ = ("error_code", "throttle_time_ms", "topics")
    FIELDS = """
        error_code int16 0+
        throttle_time_ms int32 0+ ignorable
        topics []OffsetDeleteResponseTopic 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetDeleteResponseTopic] = (),
    ) -> None:
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
