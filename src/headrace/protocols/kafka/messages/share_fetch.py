"""ShareFetch, versions 1 to 2.

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

API_KEY = 78
VERSIONS = (1, 2)
FLEXIBLE_FROM = 0


class AcknowledgementBatch(Message):
    __slots__ = ("acknowledge_types", "first_offset", "last_offset")
    FIELDS = """
        first_offset int64 0+
        last_offset int64 0+
        acknowledge_types []int8 0+
    """

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: Sequence[int] = (),
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = acknowledge_types


class FetchPartition(Message):
    __slots__ = ("acknowledgement_batches", "partition_index", "partition_max_bytes")
    FIELDS = """
        partition_index int32 0+
        partition_max_bytes int32 0
        acknowledgement_batches []AcknowledgementBatch 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        partition_max_bytes: int = 0,
        acknowledgement_batches: Sequence[AcknowledgementBatch] = (),
    ) -> None:
        self.partition_index = partition_index
        self.partition_max_bytes = partition_max_bytes
        self.acknowledgement_batches = acknowledgement_batches


class FetchTopic(Message):
    __slots__ = ("partitions", "topic_id")
    FIELDS = """
        topic_id uuid 0+
        partitions []FetchPartition 0+
    """

    def __init__(
        self,
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[FetchPartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ForgottenTopic(Message):
    __slots__ = ("partitions", "topic_id")
    FIELDS = """
        topic_id uuid 0+
        partitions []int32 0+
    """

    def __init__(
        self,
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ShareFetchRequest(Message):
    __slots__ = (
        "batch_size",
        "forgotten_topics_data",
        "group_id",
        "is_renew_ack",
        "max_bytes",
        "max_records",
        "max_wait_ms",
        "member_id",
        "min_bytes",
        "share_acquire_mode",
        "share_session_epoch",
        "topics",
    )
    FIELDS = """
        group_id string 0+ nullable=0+ default=null
        member_id string 0+ nullable=0+
        share_session_epoch int32 0+
        max_wait_ms int32 0+
        min_bytes int32 0+
        max_bytes int32 0+ default=0x7fffffff
        max_records int32 1+
        batch_size int32 1+
        share_acquire_mode int8 2+ default=0 ignorable
        is_renew_ack bool 2+ default=false
        topics []FetchTopic 0+
        forgotten_topics_data []ForgottenTopic 0+
    """

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[FetchTopic] = (),
        forgotten_topics_data: Sequence[ForgottenTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.max_wait_ms = max_wait_ms
        self.min_bytes = min_bytes
        self.max_bytes = max_bytes
        self.max_records = max_records
        self.batch_size = batch_size
        self.share_acquire_mode = share_acquire_mode
        self.is_renew_ack = is_renew_ack
        self.topics = topics
        self.forgotten_topics_data = forgotten_topics_data


class LeaderIdAndEpoch(Message):
    __slots__ = ("leader_epoch", "leader_id")
    FIELDS = """
        leader_id int32 0+
        leader_epoch int32 0+
    """

    def __init__(
        self,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class AcquiredRecords(Message):
    __slots__ = ("delivery_count", "first_offset", "last_offset")
    FIELDS = """
        first_offset int64 0+
        last_offset int64 0+
        delivery_count int16 0+
    """

    def __init__(
        self,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_count = delivery_count


class PartitionData(Message):
    __slots__ = (
        "acknowledge_error_code",
        "acknowledge_error_message",
        "acquired_records",
        "current_leader",
        "error_code",
        "error_message",
        "partition_index",
        "records",
    )
    FIELDS = """
        partition_index int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
        acknowledge_error_code int16 0+
        acknowledge_error_message string 0+ nullable=0+ default=null
        current_leader LeaderIdAndEpoch 0+
        records records 0+ nullable=0
        acquired_records []AcquiredRecords 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
        records: Body | None = None,
        acquired_records: Sequence[AcquiredRecords] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.acknowledge_error_code = acknowledge_error_code
        self.acknowledge_error_message = acknowledge_error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader
        self.records = records
        self.acquired_records = acquired_records


class ShareFetchableTopicResponse(Message):
    __slots__ = ("partitions", "topic_id")
    FIELDS = """
        topic_id uuid 0+
        partitions []PartitionData 0+
    """

    def __init__(
        self,
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[PartitionData] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class NodeEndpoint(Message):
    __slots__ = ("host", "node_id", "port", "rack")
    FIELDS = """
        node_id int32 0+
        host string 0+
        port int32 0+
        rack string 0+ nullable=0+ default=null
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


class ShareFetchResponse(Message):
    __slots__ = ("acquisition_lock_timeout_ms", "error_code", "error_message", "node_endpoints", "responses", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
        acquisition_lock_timeout_ms int32 1+
        responses []ShareFetchableTopicResponse 0+
        node_endpoints []NodeEndpoint 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareFetchableTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = responses
        self.node_endpoints = node_endpoints
