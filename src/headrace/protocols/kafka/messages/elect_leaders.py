"""ElectLeaders, versions 0 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 43
VERSIONS = (0, 2)
FLEXIBLE_FROM = 2


class TopicPartitions(Message):
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


class ElectLeadersRequest(Message):
    __slots__ = ("election_type", "timeout_ms", "topic_partitions")
    FIELDS = """
        election_type int8 1+
        topic_partitions []TopicPartitions 0+ nullable=0+
        timeout_ms int32 0+ default=60000
    """

    def __init__(
        self,
        election_type: int = 0,
        topic_partitions: Sequence[TopicPartitions] | None = (),
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type = election_type
        self.topic_partitions = topic_partitions
        self.timeout_ms = timeout_ms


class PartitionResult(Message):
    __slots__ = ("error_code", "error_message", "partition_id")
    FIELDS = """
        partition_id int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
    """

    def __init__(
        self,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message


class ReplicaElectionResult(Message):
    __slots__ = ("partition_result", "topic")
    FIELDS = """
        topic string 0+
        partition_result []PartitionResult 0+
    """

    def __init__(
        self,
        topic: str = "",
        partition_result: Sequence[PartitionResult] = (),
    ) -> None:
        self.topic = topic
        self.partition_result = partition_result


class ElectLeadersResponse(Message):
    __slots__ = ("error_code", "replica_election_results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 1+
        replica_election_results []ReplicaElectionResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: Sequence[ReplicaElectionResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = replica_election_results
