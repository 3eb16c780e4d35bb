"""DescribeProducers, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 61
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class TopicRequest(Message):
    __slots__ = ("name", "partition_indexes")
    FIELDS = """
        name string 0+
        partition_indexes []int32 0+
    """

    def __init__(
        self,
        name: str = "",
        partition_indexes: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partition_indexes = partition_indexes


class DescribeProducersRequest(Message):
    __slots__ = ("topics",)
    FIELDS = """
        topics []TopicRequest 0+
    """

    def __init__(
        self,
        topics: Sequence[TopicRequest] = (),
    ) -> None:
        self.topics = topics


class ProducerState(Message):
    __slots__ = (
        "coordinator_epoch",
        "current_txn_start_offset",
        "last_sequence",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
    )
    FIELDS = """
        producer_id int64 0+
        producer_epoch int32 0+
        last_sequence int32 0+ default=-1
        last_timestamp int64 0+ default=-1
        coordinator_epoch int32 0+
        current_txn_start_offset int64 0+ default=-1
    """

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        last_sequence: int = -1,
        last_timestamp: int = -1,
        coordinator_epoch: int = 0,
        current_txn_start_offset: int = -1,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset


class PartitionResponse(Message):
    __slots__ = ("active_producers", "error_code", "error_message", "partition_index")
    FIELDS = """
        partition_index int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
        active_producers []ProducerState 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        active_producers: Sequence[ProducerState] = (),
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = active_producers


class TopicResponse(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []PartitionResponse 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[PartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DescribeProducersResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 0+
        topics []TopicResponse 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[TopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
