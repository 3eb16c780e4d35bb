"""DescribeTopicPartitions, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 75
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class TopicRequest(Message):
    __slots__ = ("name",)
    FIELDS = """
        name string 0+
    """

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name = name


class CursorRequest(Message):
    __slots__ = ("partition_index", "topic_name")
    FIELDS = """
        topic_name string 0+
        partition_index int32 0+
    """

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class DescribeTopicPartitionsRequest(Message):
    __slots__ = ("cursor", "response_partition_limit", "topics")
    FIELDS = """
        topics []TopicRequest 0+
        response_partition_limit int32 0+ default=2000
        cursor CursorRequest 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        topics: Sequence[TopicRequest] = (),
        response_partition_limit: int = 2000,
        cursor: CursorRequest | None = None,
    ) -> None:
        self.topics = topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor


class DescribeTopicPartitionsResponsePartition(Message):
    __slots__ = (
        "eligible_leader_replicas",
        "error_code",
        "isr_nodes",
        "last_known_elr",
        "leader_epoch",
        "leader_id",
        "offline_replicas",
        "partition_index",
        "replica_nodes",
    )
    FIELDS = """
        error_code int16 0+
        partition_index int32 0+
        leader_id int32 0+
        leader_epoch int32 0+ default=-1 ignorable
        replica_nodes []int32 0+
        isr_nodes []int32 0+
        eligible_leader_replicas []int32 0+ nullable=0+ default=null
        last_known_elr []int32 0+ nullable=0+ default=null
        offline_replicas []int32 0+ ignorable
    """

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: Sequence[int] = (),
        isr_nodes: Sequence[int] = (),
        eligible_leader_replicas: Sequence[int] | None = None,
        last_known_elr: Sequence[int] | None = None,
        offline_replicas: Sequence[int] = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = replica_nodes
        self.isr_nodes = isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = offline_replicas


class DescribeTopicPartitionsResponseTopic(Message):
    __slots__ = ("error_code", "is_internal", "name", "partitions", "topic_authorized_operations", "topic_id")
    FIELDS = """
        error_code int16 0+
        name string 0+ nullable=0+
        topic_id uuid 0+ ignorable
        is_internal bool 0+ default=false ignorable
        partitions []DescribeTopicPartitionsResponsePartition 0+
        topic_authorized_operations int32 0+ default=-2147483648
    """

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: UUID = NO_TOPIC_ID,
        is_internal: bool = False,
        partitions: Sequence[DescribeTopicPartitionsResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = partitions
        self.topic_authorized_operations = topic_authorized_operations


class CursorResponse(Message):
    __slots__ = ("partition_index", "topic_name")
    FIELDS = """
        topic_name string 0+
        partition_index int32 0+
    """

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
    ) -> None:
        self.topic_name = topic_name
        self.partition_index = partition_index


class DescribeTopicPartitionsResponse(Message):
    __slots__ = ("next_cursor", "throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 0+ ignorable
        topics []DescribeTopicPartitionsResponseTopic 0+
        next_cursor CursorResponse 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[DescribeTopicPartitionsResponseTopic] = (),
        next_cursor: CursorResponse | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
        self.next_cursor = next_cursor
