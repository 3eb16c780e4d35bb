"""OffsetForLeaderEpoch, versions 2 to 4.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 23
VERSIONS = (2, 4)
FLEXIBLE_FROM = 4


class OffsetForLeaderPartition(Message):
    __slots__ = ("current_leader_epoch", "leader_epoch", "partition")
    FIELDS = """
        partition int32 0+
        current_leader_epoch int32 2+ default=-1 ignorable
        leader_epoch int32 0+
    """

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        leader_epoch: int = 0,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch


class OffsetForLeaderTopic(Message):
    __slots__ = ("partitions", "topic")
    FIELDS = """
        topic string 0+
        partitions []OffsetForLeaderPartition 0+
    """

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[OffsetForLeaderPartition] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class OffsetForLeaderEpochRequest(Message):
    __slots__ = ("replica_id", "topics")
    FIELDS = """
        replica_id int32 3+ default=-2 ignorable
        topics []OffsetForLeaderTopic 0+
    """

    def __init__(
        self,
        replica_id: int = -2,
        topics: Sequence[OffsetForLeaderTopic] = (),
    ) -> None:
        self.replica_id = replica_id
        self.topics = topics


class EpochEndOffset(Message):
    __slots__ = ("end_offset", "error_code", "leader_epoch", "partition")
    FIELDS = """
        error_code int16 0+
        partition int32 0+
        leader_epoch int32 1+ default=-1 ignorable
        end_offset int64 0+ default=-1
    """

    def __init__(
        self,
        error_code: int = 0,
        partition: int = 0,
        leader_epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset


class OffsetForLeaderTopicResult(Message):
    __slots__ = ("partitions", "topic")
    FIELDS = """
        topic string 0+
        partitions []EpochEndOffset 0+
    """

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[EpochEndOffset] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class OffsetForLeaderEpochResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 2+ ignorable
        topics []OffsetForLeaderTopicResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetForLeaderTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
