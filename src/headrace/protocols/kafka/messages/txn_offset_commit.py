"""TxnOffsetCommit, versions 0 to 5.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 28
VERSIONS = (0, 5)
FLEXIBLE_FROM = 3


class TxnOffsetCommitRequestPartition(Message):
    __slots__ = ("committed_leader_epoch", "committed_metadata", "committed_offset", "partition_index")
    FIELDS = """
        partition_index int32 0+
        committed_offset int64 0+
        committed_leader_epoch int32 2+ default=-1 ignorable
        committed_metadata string 0+ nullable=0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        committed_metadata: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata


class TxnOffsetCommitRequestTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []TxnOffsetCommitRequestPartition 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[TxnOffsetCommitRequestPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class TxnOffsetCommitRequest(Message):
    __slots__ = (
        "generation_id",
        "group_id",
        "group_instance_id",
        "member_id",
        "producer_epoch",
        "producer_id",
        "topics",
        "transactional_id",
    )
    FIELDS = """
        transactional_id string 0+
        group_id string 0+
        producer_id int64 0+
        producer_epoch int16 0+
        generation_id int32 3+ default=-1
        member_id string 3+
        group_instance_id string 3+ nullable=3+ default=null
        topics []TxnOffsetCommitRequestTopic 0+
    """

    def __init__(
        self,
        transactional_id: str = "",
        group_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        generation_id: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        topics: Sequence[TxnOffsetCommitRequestTopic] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = topics


class TxnOffsetCommitResponsePartition(Message):
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


class TxnOffsetCommitResponseTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []TxnOffsetCommitResponsePartition 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[TxnOffsetCommitResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class TxnOffsetCommitResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 0+
        topics []TxnOffsetCommitResponseTopic 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[TxnOffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
