"""WriteTxnMarkers, versions 1 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 27
VERSIONS = (1, 2)
FLEXIBLE_FROM = 1


class WritableTxnMarkerTopic(Message):
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


class WritableTxnMarker(Message):
    __slots__ = ("coordinator_epoch", "producer_epoch", "producer_id", "topics", "transaction_result", "transaction_version")
    FIELDS = """
        producer_id int64 0+
        producer_epoch int16 0+
        transaction_result bool 0+
        topics []WritableTxnMarkerTopic 0+
        coordinator_epoch int32 0+
        transaction_version int8 2+ default=0 ignorable
    """

    def __init__(
        self,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: Sequence[WritableTxnMarkerTopic] = (),
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.transaction_result = transaction_result
        self.topics = topics
        self.coordinator_epoch = coordinator_epoch
        self.transaction_version = transaction_version


class WriteTxnMarkersRequest(Message):
    __slots__ = ("markers",)
    FIELDS = """
        markers []WritableTxnMarker 0+
    """

    def __init__(
        self,
        markers: Sequence[WritableTxnMarker] = (),
    ) -> None:
        self.markers = markers


class WritableTxnMarkerPartitionResult(Message):
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


class WritableTxnMarkerTopicResult(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []WritableTxnMarkerPartitionResult 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[WritableTxnMarkerPartitionResult] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class WritableTxnMarkerResult(Message):
    __slots__ = ("producer_id", "topics")
    FIELDS = """
        producer_id int64 0+
        topics []WritableTxnMarkerTopicResult 0+
    """

    def __init__(
        self,
        producer_id: int = 0,
        topics: Sequence[WritableTxnMarkerTopicResult] = (),
    ) -> None:
        self.producer_id = producer_id
        self.topics = topics


class WriteTxnMarkersResponse(Message):
    __slots__ = ("markers",)
    FIELDS = """
        markers []WritableTxnMarkerResult 0+
    """

    def __init__(
        self,
        markers: Sequence[WritableTxnMarkerResult] = (),
    ) -> None:
        self.markers = markers
