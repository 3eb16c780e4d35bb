"""ListOffsets, versions 1 to 11.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 2
VERSIONS = (1, 11)
FLEXIBLE_FROM = 6


class ListOffsetsPartition(Message):
    __slots__ = ("current_leader_epoch", "partition_index", "timestamp")
    FIELDS = """
        partition_index int32 0+
        current_leader_epoch int32 4+ default=-1 ignorable
        timestamp int64 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        current_leader_epoch: int = -1,
        timestamp: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp


class ListOffsetsTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []ListOffsetsPartition 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ListOffsetsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListOffsetsRequest(Message):
    __slots__ = ("isolation_level", "replica_id", "timeout_ms", "topics")
    FIELDS = """
        replica_id int32 0+
        isolation_level int8 2+
        topics []ListOffsetsTopic 0+
        timeout_ms int32 10+ ignorable
    """

    def __init__(
        self,
        replica_id: int = 0,
        isolation_level: int = 0,
        topics: Sequence[ListOffsetsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = topics
        self.timeout_ms = timeout_ms


class ListOffsetsPartitionResponse(Message):
    __slots__ = ("error_code", "leader_epoch", "offset", "partition_index", "timestamp")
    FIELDS = """
        partition_index int32 0+
        error_code int16 0+
        timestamp int64 1+ default=-1
        offset int64 1+ default=-1
        leader_epoch int32 4+ default=-1
    """

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        timestamp: int = -1,
        offset: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch


class ListOffsetsTopicResponse(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []ListOffsetsPartitionResponse 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ListOffsetsPartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListOffsetsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 2+ ignorable
        topics []ListOffsetsTopicResponse 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[ListOffsetsTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
