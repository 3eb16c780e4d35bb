"""DescribeLogDirs, versions 1 to 5.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 35
VERSIONS = (1, 5)
FLEXIBLE_FROM = 2


class DescribableLogDirTopic(Message):
    __slots__ = ("partitions", "topic")
    FIELDS = """
        topic string 0+
        partitions []int32 0+
    """

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class DescribeLogDirsRequest(Message):
    __slots__ = ("topics",)
    FIELDS = """
        topics []DescribableLogDirTopic 0+ nullable=0+
    """

    def __init__(
        self,
        topics: Sequence[DescribableLogDirTopic] | None = (),
    ) -> None:
        self.topics = topics


class DescribeLogDirsPartition(Message):
    __slots__ = ("is_future_key", "offset_lag", "partition_index", "partition_size")
    FIELDS = """
        partition_index int32 0+
        partition_size int64 0+
        offset_lag int64 0+
        is_future_key bool 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        partition_size: int = 0,
        offset_lag: int = 0,
        is_future_key: bool = False,
    ) -> None:
        self.partition_index = partition_index
        self.partition_size = partition_size
        self.offset_lag = offset_lag
        self.is_future_key = is_future_key


class DescribeLogDirsTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []DescribeLogDirsPartition 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[DescribeLogDirsPartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class DescribeLogDirsResult(Message):
    __slots__ = ("error_code", "is_cordoned", "log_dir", "topics", "total_bytes", "usable_bytes")
    FIELDS = """
        error_code int16 0+
        log_dir string 0+
        topics []DescribeLogDirsTopic 0+
        total_bytes int64 4+ default=-1 ignorable
        usable_bytes int64 4+ default=-1 ignorable
        is_cordoned bool 5+ default=false ignorable
    """

    def __init__(
        self,
        error_code: int = 0,
        log_dir: str = "",
        topics: Sequence[DescribeLogDirsTopic] = (),
        total_bytes: int = -1,
        usable_bytes: int = -1,
        is_cordoned: bool = False,
    ) -> None:
        self.error_code = error_code
        self.log_dir = log_dir
        self.topics = topics
        self.total_bytes = total_bytes
        self.usable_bytes = usable_bytes
        self.is_cordoned = is_cordoned


class DescribeLogDirsResponse(Message):
    __slots__ = ("error_code", "results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 3+ ignorable
        results []DescribeLogDirsResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results: Sequence[DescribeLogDirsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results = results
