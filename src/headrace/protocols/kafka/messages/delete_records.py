"""DeleteRecords, versions 0 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 21
VERSIONS = (0, 2)
FLEXIBLE_FROM = 2


class DeleteRecordsPartition(Message):
    __slots__ = ("offset", "partition_index")
    FIELDS = """
        partition_index int32 0+
        offset int64 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        offset: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.offset = offset


class DeleteRecordsTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []DeleteRecordsPartition 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DeleteRecordsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DeleteRecordsRequest(Message):
    __slots__ = ("timeout_ms", "topics")
    FIELDS = """
        topics []DeleteRecordsTopic 0+
        timeout_ms int32 0+
    """

    def __init__(
        self,
        topics: Sequence[DeleteRecordsTopic] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms


class DeleteRecordsPartitionResult(Message):
    __slots__ = ("error_code", "low_watermark", "partition_index")
    FIELDS = """
        partition_index int32 0+
        low_watermark int64 0+
        error_code int16 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        low_watermark: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.low_watermark = low_watermark
        self.error_code = error_code


class DeleteRecordsTopicResult(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []DeleteRecordsPartitionResult 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DeleteRecordsPartitionResult] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DeleteRecordsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 0+
        topics []DeleteRecordsTopicResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[DeleteRecordsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
