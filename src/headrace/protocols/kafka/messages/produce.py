"""Produce, versions 3 to 13.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 0
VERSIONS = (3, 13)
FLEXIBLE_FROM = 9


class PartitionProduceData(Message):
    __slots__ = ("index", "records")
    FIELDS = """
        index int32 0+
        records records 0+ nullable=0+
    """

    def __init__(
        self,
        index: int = 0,
        records: memoryview | None = None,
    ) -> None:
        self.index = index
        self.records = records


class TopicProduceData(Message):
    __slots__ = ("name", "partition_data", "topic_id")
    FIELDS = """
        name string 0-12 ignorable
        topic_id uuid 13+ ignorable
        partition_data []PartitionProduceData 0+
    """

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partition_data: Sequence[PartitionProduceData] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_data = partition_data


class ProduceRequest(Message):
    __slots__ = ("acks", "timeout_ms", "topic_data", "transactional_id")
    FIELDS = """
        transactional_id string 3+ nullable=3+ default=null
        acks int16 0+
        timeout_ms int32 0+
        topic_data []TopicProduceData 0+
    """

    def __init__(
        self,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: Sequence[TopicProduceData] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.acks = acks
        self.timeout_ms = timeout_ms
        self.topic_data = topic_data


class BatchIndexAndErrorMessage(Message):
    __slots__ = ("batch_index", "batch_index_error_message")
    FIELDS = """
        batch_index int32 8+
        batch_index_error_message string 8+ nullable=8+ default=null
    """

    def __init__(
        self,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index = batch_index
        self.batch_index_error_message = batch_index_error_message


class LeaderIdAndEpoch(Message):
    __slots__ = ("leader_epoch", "leader_id")
    FIELDS = """
        leader_id int32 10+ default=-1
        leader_epoch int32 10+ default=-1
    """

    def __init__(
        self,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch


class PartitionProduceResponse(Message):
    __slots__ = (
        "base_offset",
        "current_leader",
        "error_code",
        "error_message",
        "index",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
    )
    FIELDS = """
        index int32 0+
        error_code int16 0+
        base_offset int64 0+
        log_append_time_ms int64 2+ default=-1 ignorable
        log_start_offset int64 5+ default=-1 ignorable
        record_errors []BatchIndexAndErrorMessage 8+ ignorable
        error_message string 8+ nullable=8+ default=null ignorable
        current_leader LeaderIdAndEpoch 10+ tag=0@10+
    """

    def __init__(
        self,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: Sequence[BatchIndexAndErrorMessage] = (),
        error_message: str | None = None,
        current_leader: LeaderIdAndEpoch | None = None,
    ) -> None:
        self.index = index
        self.error_code = error_code
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.record_errors = record_errors
        self.error_message = error_message
        self.current_leader = current_leader


class TopicProduceResponse(Message):
    __slots__ = ("name", "partition_responses", "topic_id")
    FIELDS = """
        name string 0-12 ignorable
        topic_id uuid 13+ ignorable
        partition_responses []PartitionProduceResponse 0+
    """

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        partition_responses: Sequence[PartitionProduceResponse] = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partition_responses = partition_responses


class NodeEndpoint(Message):
    __slots__ = ("host", "node_id", "port", "rack")
    FIELDS = """
        node_id int32 10+
        host string 10+
        port int32 10+
        rack string 10+ nullable=10+ default=null
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


class ProduceResponse(Message):
    __slots__ = ("node_endpoints", "responses", "throttle_time_ms")
    FIELDS = """
        responses []TopicProduceResponse 0+
        throttle_time_ms int32 1+ default=0 ignorable
        node_endpoints []NodeEndpoint 10+ tag=0@10+
    """

    def __init__(
        self,
        responses: Sequence[TopicProduceResponse] = (),
        throttle_time_ms: int = 0,
        node_endpoints: Sequence[NodeEndpoint] = (),
    ) -> None:
        self.responses = responses
        self.throttle_time_ms = throttle_time_ms
        self.node_endpoints = node_endpoints
