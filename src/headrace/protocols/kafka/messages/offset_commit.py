"""OffsetCommit, versions 2 to 10.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 8
VERSIONS = (2, 10)
FLEXIBLE_FROM = 8


class OffsetCommitRequestPartition(Message):
    __slots__ = ("committed_leader_epoch", "committed_metadata", "committed_offset", "partition_index")
    FIELDS = """
        partition_index int32 0+
        committed_offset int64 0+
        committed_leader_epoch int32 6+ default=-1 ignorable
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


class OffsetCommitRequestTopic(Message):
    __slots__ = ("name", "partitions", "topic_id")
    FIELDS = """
        name string 0-9 ignorable
        topic_id uuid 10+ ignorable
        partitions []OffsetCommitRequestPartition 0+
    """

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[OffsetCommitRequestPartition] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class OffsetCommitRequest(Message):
    __slots__ = ("generation_id_or_member_epoch", "group_id", "group_instance_id", "member_id", "retention_time_ms", "topics")
    FIELDS = """
        group_id string 0+
        generation_id_or_member_epoch int32 1+ default=-1 ignorable
        member_id string 1+ ignorable
        group_instance_id string 7+ nullable=7+ default=null
        retention_time_ms int64 2-4 default=-1 ignorable
        topics []OffsetCommitRequestTopic 0+
    """

    def __init__(
        self,
        group_id: str = "",
        generation_id_or_member_epoch: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        retention_time_ms: int = -1,
        topics: Sequence[OffsetCommitRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = topics


class OffsetCommitResponsePartition(Message):
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


class OffsetCommitResponseTopic(Message):
    __slots__ = ("name", "partitions", "topic_id")
    FIELDS = """
        name string 0-9 ignorable
        topic_id uuid 10+ ignorable
        partitions []OffsetCommitResponsePartition 0+
    """

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[OffsetCommitResponsePartition] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class OffsetCommitResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 3+ ignorable
        topics []OffsetCommitResponseTopic 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetCommitResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
