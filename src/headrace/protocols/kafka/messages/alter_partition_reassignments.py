"""AlterPartitionReassignments, versions 0 to 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 45
VERSIONS = (0, 1)
FLEXIBLE_FROM = 0


class ReassignablePartition(Message):
    __slots__ = ("partition_index", "replicas")
    FIELDS = """
        partition_index int32 0+
        replicas []int32 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        partition_index: int = 0,
        replicas: Sequence[int] | None = None,
    ) -> None:
        self.partition_index = partition_index
        self.replicas = replicas


class ReassignableTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []ReassignablePartition 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ReassignablePartition] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AlterPartitionReassignmentsRequest(Message):
    __slots__ = ("allow_replication_factor_change", "timeout_ms", "topics")
    FIELDS = """
        timeout_ms int32 0+ default=60000
        allow_replication_factor_change bool 1+ default=true
        topics []ReassignableTopic 0+
    """

    def __init__(
        self,
        timeout_ms: int = 60000,
        allow_replication_factor_change: bool = True,
        topics: Sequence[ReassignableTopic] = (),
    ) -> None:
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = topics


class ReassignablePartitionResponse(Message):
    __slots__ = ("error_code", "error_message", "partition_index")
    FIELDS = """
        partition_index int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message


class ReassignableTopicResponse(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []ReassignablePartitionResponse 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[ReassignablePartitionResponse] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AlterPartitionReassignmentsResponse(Message):
    __slots__ = ("allow_replication_factor_change", "error_code", "error_message", "responses", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        allow_replication_factor_change bool 1+ default=true ignorable
        error_code int16 0+
        error_message string 0+ nullable=0+
        responses []ReassignableTopicResponse 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        allow_replication_factor_change: bool = True,
        error_code: int = 0,
        error_message: str | None = "",
        responses: Sequence[ReassignableTopicResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = responses
