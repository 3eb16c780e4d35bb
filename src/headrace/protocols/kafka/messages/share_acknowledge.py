"""ShareAcknowledge, versions 1 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 79
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


class AcknowledgePartition(Message):
    __slots__ = ("acknowledgement_batches", "partition_index")
    FIELDS = """
        partition_index int32 0+
        acknowledgement_batches []AcknowledgementBatch 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        acknowledgement_batches: Sequence[AcknowledgementBatch] = (),
    ) -> None:
        self.partition_index = partition_index
        self.acknowledgement_batches = acknowledgement_batches


class AcknowledgeTopic(Message):
    __slots__ = ("partitions", "topic_id")
    FIELDS = """
        topic_id uuid 0+
        partitions []AcknowledgePartition 0+
    """

    def __init__(
        self,
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[AcknowledgePartition] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ShareAcknowledgeRequest(Message):
    __slots__ = ("group_id", "is_renew_ack", "member_id", "share_session_epoch", "topics")
    FIELDS = """
        group_id string 0+ nullable=0+ default=null
        member_id string 0+ nullable=0+
        share_session_epoch int32 0+
        is_renew_ack bool 2+ default=false
        topics []AcknowledgeTopic 0+
    """

    def __init__(
        self,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: Sequence[AcknowledgeTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = topics


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


class PartitionData(Message):
    __slots__ = ("current_leader", "error_code", "error_message", "partition_index")
    FIELDS = """
        partition_index int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
        current_leader LeaderIdAndEpoch 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.current_leader = LeaderIdAndEpoch() if current_leader is None else current_leader


class ShareAcknowledgeTopicResponse(Message):
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


class ShareAcknowledgeResponse(Message):
    __slots__ = ("acquisition_lock_timeout_ms", "error_code", "error_message", "node_endpoints", "responses", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
        acquisition_lock_timeout_ms int32 2+ ignorable
        responses []ShareAcknowledgeTopicResponse 0+
        node_endpoints []NodeEndpoint 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: Sequence[ShareAcknowledgeTopicResponse] = (),
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.acquisition_lock_timeout_ms = acquisition_lock_timeout_ms
        self.responses = responses
        self.node_endpoints = node_endpoints
