"""DescribeShareGroupOffsets, versions 0 to 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 90
VERSIONS = (0, 1)
FLEXIBLE_FROM = 0


class DescribeShareGroupOffsetsRequestTopic(Message):
    __slots__ = ("partitions", "topic_name")
    FIELDS = """
        topic_name string 0+
        partitions []int32 0+
    """

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class DescribeShareGroupOffsetsRequestGroup(Message):
    __slots__ = ("group_id", "topics")
    FIELDS = """
        group_id string 0+
        topics []DescribeShareGroupOffsetsRequestTopic 0+ nullable=0+
    """

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DescribeShareGroupOffsetsRequestTopic] | None = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class DescribeShareGroupOffsetsRequest(Message):
    __slots__ = ("groups",)
    FIELDS = """
        groups []DescribeShareGroupOffsetsRequestGroup 0+
    """

    def __init__(
        self,
        groups: Sequence[DescribeShareGroupOffsetsRequestGroup] = (),
    ) -> None:
        self.groups = groups


class DescribeShareGroupOffsetsResponsePartition(Message):
    __slots__ = ("error_code", "error_message", "lag", "leader_epoch", "partition_index", "start_offset")
    FIELDS = """
        partition_index int32 0+
        start_offset int64 0+
        leader_epoch int32 0+
        lag int64 1+ default=-1 ignorable
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        partition_index: int = 0,
        start_offset: int = 0,
        leader_epoch: int = 0,
        lag: int = -1,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message


class DescribeShareGroupOffsetsResponseTopic(Message):
    __slots__ = ("partitions", "topic_id", "topic_name")
    FIELDS = """
        topic_name string 0+
        topic_id uuid 0+
        partitions []DescribeShareGroupOffsetsResponsePartition 0+
    """

    def __init__(
        self,
        topic_name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[DescribeShareGroupOffsetsResponsePartition] = (),
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = partitions


class DescribeShareGroupOffsetsResponseGroup(Message):
    __slots__ = ("error_code", "error_message", "group_id", "topics")
    FIELDS = """
        group_id string 0+
        topics []DescribeShareGroupOffsetsResponseTopic 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DescribeShareGroupOffsetsResponseTopic] = (),
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.error_code = error_code
        self.error_message = error_message


class DescribeShareGroupOffsetsResponse(Message):
    __slots__ = ("groups", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        groups []DescribeShareGroupOffsetsResponseGroup 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribeShareGroupOffsetsResponseGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
