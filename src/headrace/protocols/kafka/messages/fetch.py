"""Fetch, versions 4 to 18.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from headrace.base.files import Body

API_KEY = 1
VERSIONS = (4, 18)
FLEXIBLE_FROM = 12


class ReplicaState(Message):
    __slots__ = ("replica_epoch", "replica_id")
    FIELDS = """
        replica_id int32 15+ default=-1
        replica_epoch int64 15+ default=-1
    """

    def __init__(
        self,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id = replica_id
        self.replica_epoch = replica_epoch


class FetchPartition(Message):
    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "high_watermark",
        "last_fetched_epoch",
        "log_start_offset",
        "partition",
        "partition_max_bytes",
        "replica_directory_id",
    )
    FIELDS = """
        partition int32 0+
        current_leader_epoch int32 9+ default=-1 ignorable
        fetch_offset int64 0+
        last_fetched_epoch int32 12+ default=-1
        log_start_offset int64 5+ default=-1 ignorable
        partition_max_bytes int32 0+
        replica_directory_id uuid 17+ tag=0@17+ ignorable
        high_watermark int64 18+ tag=1@18+ default=9223372036854775807 ignorable
    """

    def __init__(
        self,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: UUID = NO_TOPIC_ID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.fetch_offset = fetch_offset
        self.last_fetched_epoch = last_fetched_epoch
        self.log_start_offset = log_start_offset
        self.partition_max_bytes = partition_max_bytes
        self.replica_directory_id = replica_directory_id
        self.high_watermark = high_watermark


class FetchTopic(Message):
    __slots__ = ("partitions", "topic", "topic_id")
    FIELDS = """
        topic string 0-12 ignorable
        topic_id uuid 13+ ignorable
        partitions []FetchPartition 0+
    """

    def __init__(
        self,
        topic: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[FetchPartition] = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions


class ForgottenTopic(Message):
    __slots__ = ("partitions", "topic", "topic_id")
    FIELDS = """
        topic string 7-12 ignorable
        topic_id uuid 13+ ignorable
        partitions []int32 7+
    """

    def __init__(
        self,
        topic: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions


class FetchRequest(Message):
    __slots__ = (
        "cluster_id",
        "forgotten_topics_data",
        "isolation_level",
        "max_bytes",
        "max_wait_ms",
        "min_bytes",
        "rack_id",
        "replica_id",
        "replica_state",
        "session_epoch",
        "session_id",
        "topics",
    )
    FIELDS = """
        cluster_id string 12+ nullable=12+ tag=0@12+ default=null ignorable
        replica_id int32 0-14 default=-1
        replica_state ReplicaState 15+ tag=1@15+
        max_wait_ms int32 0+
        min_bytes int32 0+
        max_bytes int32 3+ default=0x7fffffff ignorable
        isolation_level int8 4+ default=0 ignorable
        session_id int32 7+ default=0 ignorable
        session_epoch int32 7+ default=-1 ignorable
        topics []FetchTopic 0+
        forgotten_topics_data []ForgottenTopic 7+
        rack_id string 11+ ignorable
    """

    def __init__(
        self,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: ReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: Sequence[FetchTopic] = (),
        forgotten_topics_data: Sequence[ForgottenTopic] = (),
        rack_id: str = "",
    ) -> None:
        self.cluster_id = cluster_id
        self.replica_id = replica_id
        self.replica_state = replica_state
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.isolation_level = isolation_level
        self.session_id = session_id
        self.session_epoch = session_epoch
        self.topics = topics
        self.forgotten_topics_data = forgotten_topics_data
        self.rack_id = rack_id


class EpochEndOffset(Message):
    __slots__ = ("end_offset", "epoch")
    FIELDS = """
        epoch int32 12+ default=-1
        end_offset int64 12+ default=-1
    """

    def __init__(
        self,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch = epoch
        self.end_offset = end_offset


class LeaderIdAndEpoch(Message):
    __slots__ = ("leader_epoch", "leader_id")
    FIELDS = """
        leader_id int32 12+ default=-1
        leader_epoch int32 12+ default=-1
    """

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class SnapshotId(Message):
    __slots__ = ("end_offset", "epoch")
    FIELDS = """
        end_offset int64 0+ default=-1
        epoch int32 0+ default=-1
    """

    def __init__(
        self,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset = end_offset
        self.epoch = epoch


class AbortedTransaction(Message):
    __slots__ = ("first_offset", "producer_id")
    FIELDS = """
        producer_id int64 4+
        first_offset int64 4+
    """

    def __init__(
        self,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.first_offset = first_offset


class PartitionData(Message):
    __slots__ = (
        "aborted_transactions",
        "current_leader",
        "diverging_epoch",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "partition_index",
        "preferred_read_replica",
        "records",
        "snapshot_id",
    )
    FIELDS = """
        partition_index int32 0+
        error_code int16 0+
        high_watermark int64 0+
        last_stable_offset int64 4+ default=-1 ignorable
        log_start_offset int64 5+ default=-1 ignorable
        diverging_epoch EpochEndOffset 12+ tag=0@12+
        current_leader LeaderIdAndEpoch 12+ tag=1@12+
        snapshot_id SnapshotId 12+ tag=2@12+
        aborted_transactions []AbortedTransaction 4+ nullable=4+ ignorable
        preferred_read_replica int32 11+ default=-1
        records records 0+ nullable=0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: EpochEndOffset | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: Sequence[AbortedTransaction] | None = (),
        preferred_read_replica: int = -1,
        records: Body | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.diverging_epoch = diverging_epoch
        self.current_leader = current_leader
        self.snapshot_id = snapshot_id
        self.aborted_transactions = aborted_transactions
        self.preferred_read_replica = preferred_read_replica
        self.records = records


class FetchableTopicResponse(Message):
    __slots__ = ("partitions", "topic", "topic_id")
    FIELDS = """
        topic string 0-12 ignorable
        topic_id uuid 13+ ignorable
        partitions []PartitionData 0+
    """

    def __init__(
        self,
        topic: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.partitions = partitions


class NodeEndpoint(Message):
    __slots__ = ("host", "node_id", "port", "rack")
    FIELDS = """
        node_id int32 16+
        host string 16+
        port int32 16+
        rack string 16+ nullable=16+ default=null
    """

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class FetchResponse(Message):
    __slots__ = ("error_code", "node_endpoints", "responses", "session_id", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 1+ ignorable
        error_code int16 7+ ignorable
        session_id int32 7+ default=0
        responses []FetchableTopicResponse 0+
        node_endpoints []NodeEndpoint 16+ tag=0@16+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: Sequence[FetchableTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.session_id = session_id
        self.responses = responses
        self.node_endpoints = node_endpoints
