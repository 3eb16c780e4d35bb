"""ListPartitionReassignments, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 46
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class ListPartitionReassignmentsTopics(Message):
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


class ListPartitionReassignmentsRequest(Message):
    __slots__ = ("timeout_ms", "topics")
    FIELDS = """
        timeout_ms int32 0+ default=60000
        topics []ListPartitionReassignmentsTopics 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        timeout_ms: int = 60000,
        topics: Sequence[ListPartitionReassignmentsTopics] | None = None,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.topics = topics


class OngoingPartitionReassignment(Message):
    __slots__ = ("adding_replicas", "partition_index", "removing_replicas", "replicas")
    FIELDS = """
        partition_index int32 0+
        replicas []int32 0+
        adding_replicas []int32 0+
        removing_replicas []int32 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        replicas: Sequence[int] = (),
        adding_replicas: Sequence[int] = (),
        removing_replicas: Sequence[int] = (),
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas
        self.adding_replicas = adding_replicas
        self.removing_replicas = removing_replicas


class OngoingTopicReassignment(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []OngoingPartitionReassignment 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[OngoingPartitionReassignment] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class ListPartitionReassignmentsResponse(Message):
    __slots__ = ("error_code", "error_message", "throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
        topics []OngoingTopicReassignment 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        topics: Sequence[OngoingTopicReassignment] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = topics
