"""CreateTopics, versions 2 to 7.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 19
VERSIONS = (2, 7)
FLEXIBLE_FROM = 5


class CreatableReplicaAssignment(Message):
    __slots__ = ("broker_ids", "partition_index")
    FIELDS = """
        partition_index int32 0+
        broker_ids []int32 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        broker_ids: Sequence[int] = (),
    ) -> None:
        self.partition_index = partition_index
        self.broker_ids = broker_ids


class CreatableTopicConfig(Message):
    __slots__ = ("name", "value")
    FIELDS = """
        name string 0+
        value string 0+ nullable=0+
    """

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value


class CreatableTopic(Message):
    __slots__ = ("assignments", "configs", "name", "num_partitions", "replication_factor")
    FIELDS = """
        name string 0+
        num_partitions int32 0+
        replication_factor int16 0+
        assignments []CreatableReplicaAssignment 0+
        configs []CreatableTopicConfig 0+
    """

    def __init__(
        self,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: Sequence[CreatableReplicaAssignment] = (),
        configs: Sequence[CreatableTopicConfig] = (),
    ) -> None:
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = assignments
        self.configs = configs


class CreateTopicsRequest(Message):
    __slots__ = ("timeout_ms", "topics", "validate_only")
    FIELDS = """
        topics []CreatableTopic 0+
        timeout_ms int32 0+ default=60000
        validate_only bool 1+ default=false
    """

    def __init__(
        self,
        topics: Sequence[CreatableTopic] = (),
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only


class CreatableTopicConfigs(Message):
    __slots__ = ("config_source", "is_sensitive", "name", "read_only", "value")
    FIELDS = """
        name string 5+
        value string 5+ nullable=5+
        read_only bool 5+
        config_source int8 5+ default=-1 ignorable
        is_sensitive bool 5+
    """

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive


class CreatableTopicResult(Message):
    __slots__ = (
        "configs",
        "error_code",
        "error_message",
        "name",
        "num_partitions",
        "replication_factor",
        "topic_config_error_code",
        "topic_id",
    )
    FIELDS = """
        name string 0+
        topic_id uuid 7+ ignorable
        error_code int16 0+
        error_message string 1+ nullable=0+ ignorable
        topic_config_error_code int16 5+ tag=0@5+ ignorable
        num_partitions int32 5+ default=-1 ignorable
        replication_factor int16 5+ default=-1 ignorable
        configs []CreatableTopicConfigs 5+ nullable=5+ ignorable
    """

    def __init__(
        self,
        name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: Sequence[CreatableTopicConfigs] | None = (),
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.topic_config_error_code = topic_config_error_code
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = configs


class CreateTopicsResponse(Message):
    __slots__ = ("throttle_time_ms", "topics")
    FIELDS = """
        throttle_time_ms int32 2+ ignorable
        topics []CreatableTopicResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        topics: Sequence[CreatableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.topics = topics
