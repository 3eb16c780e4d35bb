"""AlterReplicaLogDirs, versions 1 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 34
VERSIONS = (1, 2)
FLEXIBLE_FROM = 2


class AlterReplicaLogDirTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []int32 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AlterReplicaLogDir(Message):
    __slots__ = ("path", "topics")
    FIELDS = """
        path string 0+
        topics []AlterReplicaLogDirTopic 0+
    """

    def __init__(
        self,
        path: str = "",
        topics: Sequence[AlterReplicaLogDirTopic] = (),
    ) -> None:
        self.path = path
        self.topics = topics


class AlterReplicaLogDirsRequest(Message):
    __slots__ = ("dirs",)
    FIELDS = """
        dirs []AlterReplicaLogDir 0+
    """

    def __init__(
        self,
        dirs: Sequence[AlterReplicaLogDir] = (),
    ) -> None:
        self.dirs = dirs


class AlterReplicaLogDirPartitionResult(Message):
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


class AlterReplicaLogDirTopicResult(Message):
    __slots__ = ("partitions", "topic_name")
    FIELDS = """
        topic_name string 0+
        partitions []AlterReplicaLogDirPartitionResult 0+
    """

    def __init__(
        self,
        topic_name: str = "",
        partitions: Sequence[AlterReplicaLogDirPartitionResult] = (),
    ) -> None:
        self.topic_name = topic_name
        self.partitions = partitions


class AlterReplicaLogDirsResponse(Message):
    __slots__ = ("results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        results []AlterReplicaLogDirTopicResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AlterReplicaLogDirTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
