"""DescribeQuorum, versions 0 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 55
VERSIONS = (0, 2)
FLEXIBLE_FROM = 0


class PartitionDataRequest(Message):
    __slots__ = ("partition_index",)
    FIELDS = """
        partition_index int32 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
    ) -> None:
        self.partition_index = partition_index


class TopicDataRequest(Message):
    __slots__ = ("partitions", "topic_name")
    FIELDS = """
        topic_name string 0+
        partitions []PartitionDataRequest 0+
    """

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionDataRequest] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class DescribeQuorumRequest(Message):
    __slots__ = ("topics",)
    FIELDS = """
        topics []TopicDataRequest 0+
    """

    def __init__(
        self,
        topics: Sequence[TopicDataRequest] = (),
    ) -> None:
        self.topics = topics


class ReplicaState(Message):
    __slots__ = ("last_caught_up_timestamp", "last_fetch_timestamp", "log_end_offset", "replica_directory_id", "replica_id")
    FIELDS = """
        replica_id int32 0+
        replica_directory_id uuid 2+
        log_end_offset int64 0+
        last_fetch_timestamp int64 1+ default=-1 ignorable
        last_caught_up_timestamp int64 1+ default=-1 ignorable
    """

    def __init__(
        self,
        replica_id: int = 0,
        replica_directory_id: UUID = NO_TOPIC_ID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.log_end_offset = log_end_offset
        self.last_fetch_timestamp = last_fetch_timestamp
        self.last_caught_up_timestamp = last_caught_up_timestamp


class PartitionDataResponse(Message):
    __slots__ = (
        "current_voters",
        "error_code",
        "error_message",
        "high_watermark",
        "leader_epoch",
        "leader_id",
        "observers",
        "partition_index",
    )
    FIELDS = """
        partition_index int32 0+
        error_code int16 0+
        error_message string 2+ nullable=2+ ignorable
        leader_id int32 0+
        leader_epoch int32 0+
        high_watermark int64 0+
        current_voters []ReplicaState 0+
        observers []ReplicaState 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: Sequence[ReplicaState] = (),
        observers: Sequence[ReplicaState] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.high_watermark = high_watermark
        self.current_voters = current_voters
        self.observers = observers


class TopicDataResponse(Message):
    __slots__ = ("partitions", "topic_name")
    FIELDS = """
        topic_name string 0+
        partitions []PartitionDataResponse 0+
    """

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[PartitionDataResponse] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class Listener(Message):
    __slots__ = ("host", "name", "port")
    FIELDS = """
        name string 2+
        host string 2+
        port uint16 2+
    """

    def __init__(
        self,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port


class Node(Message):
    __slots__ = ("listeners", "node_id")
    FIELDS = """
        node_id int32 2+
        listeners []Listener 2+
    """

    def __init__(
        self,
        node_id: int = 0,
        listeners: Sequence[Listener] = (),
    ) -> None:
        self.node_id = node_id
        self.listeners = listeners


class DescribeQuorumResponse(Message):
    __slots__ = ("error_code", "error_message", "nodes", "topics")
    FIELDS = """
        error_code int16 0+
        error_message string 2+ nullable=2+ ignorable
        topics []TopicDataResponse 0+
        nodes []Node 2+
    """

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Sequence[TopicDataResponse] = (),
        nodes: Sequence[Node] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.topics = topics
        self.nodes = nodes
