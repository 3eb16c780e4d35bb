"""OffsetFetch, versions 1 to 10.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 9
VERSIONS = (1, 10)
FLEXIBLE_FROM = 6


class OffsetFetchRequestTopic(Message):
    __slots__ = ("name", "partition_indexes")
    FIELDS = """
        name string 0-7
        partition_indexes []int32 0-7
    """

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class OffsetFetchRequestTopics(Message):
    __slots__ = ("name", "partition_indexes", "topic_id")
    FIELDS = """
        name string 8-9 ignorable
        topic_id uuid 10+ ignorable
        partition_indexes []int32 8+
    """

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = partition_indexes


class OffsetFetchRequestGroup(Message):
    __slots__ = ("group_id", "member_epoch", "member_id", "topics")
    FIELDS = """
        group_id string 8+
        member_id string 9+ nullable=9+ default=null ignorable
        member_epoch int32 9+ default=-1 ignorable
        topics []OffsetFetchRequestTopics 8+ nullable=8+
    """

    def __init__(
        self,
        group_id: str = "",
        member_id: str | None = None,
        member_epoch: int = -1,
        topics: Sequence[OffsetFetchRequestTopics] | None = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = topics


class OffsetFetchRequest(Message):
    __slots__ = ("group_id", "groups", "require_stable", "topics")
    FIELDS = """
        group_id string 0-7
        topics []OffsetFetchRequestTopic 0-7 nullable=2-7
        groups []OffsetFetchRequestGroup 8+
        require_stable bool 7+ default=false
    """

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetFetchRequestTopic] | None = (),
        groups: Sequence[OffsetFetchRequestGroup] = (),
        require_stable: bool = False,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.groups = groups
        self.require_stable = require_stable


class OffsetFetchResponsePartition(Message):
    __slots__ = ("committed_leader_epoch", "committed_offset", "error_code", "metadata", "partition_index")
    FIELDS = """
        partition_index int32 0-7
        committed_offset int64 0-7
        committed_leader_epoch int32 5-7 default=-1 ignorable
        metadata string 0-7 nullable=0-7
        error_code int16 0-7
    """

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0-7
        partitions []OffsetFetchResponsePartition 0-7
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OffsetFetchResponsePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class OffsetFetchResponsePartitions(Message):
    __slots__ = ("committed_leader_epoch", "committed_offset", "error_code", "metadata", "partition_index")
    FIELDS = """
        partition_index int32 8+
        committed_offset int64 8+
        committed_leader_epoch int32 8+ default=-1 ignorable
        metadata string 8+ nullable=8+
        error_code int16 8+
    """

    def __init__(
        self,
        partition_index: int = 0,
        committed_offset: int = 0,
        committed_leader_epoch: int = -1,
        metadata: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code


class OffsetFetchResponseTopics(Message):
    __slots__ = ("name", "partitions", "topic_id")
    FIELDS = """
        name string 8-9 ignorable
        topic_id uuid 10+ ignorable
        partitions []OffsetFetchResponsePartitions 8+
    """

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[OffsetFetchResponsePartitions] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class OffsetFetchResponseGroup(Message):
    __slots__ = ("error_code", "group_id", "topics")
    FIELDS = """
        group_id string 8+
        topics []OffsetFetchResponseTopics 8+
        error_code int16 8+ default=0
    """

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[OffsetFetchResponseTopics] = (),
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.topics = topics
        self.error_code = error_code


class OffsetFetchResponse(Message):
    __slots__ = ("error_code", "groups", "throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 3+ ignorable
        topics []OffsetFetchResponseTopic 0-7
        error_code int16 2-7 default=0 ignorable
        groups []OffsetFetchResponseGroup 8+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[OffsetFetchResponseTopic] = (),
        error_code: int = 0,
        groups: Sequence[OffsetFetchResponseGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
        self.error_code = error_code
        self.groups = groups
