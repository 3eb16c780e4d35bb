"""CreatePartitions, versions 0 to 3.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 37
VERSIONS = (0, 3)
FLEXIBLE_FROM = 2


class CreatePartitionsAssignment(Message):
    __slots__ = ("broker_ids",)
    FIELDS = """
        broker_ids []int32 0+
    """

    def __init__(
        self,
        broker_ids: Sequence[int] = (),
    ) -> None:
        self.broker_ids = broker_ids


class CreatePartitionsTopic(Message):
    __slots__ = ("assignments", "count", "name")
    FIELDS = """
        name string 0+
        count int32 0+
        assignments []CreatePartitionsAssignment 0+ nullable=0+
    """

    def __init__(
        self,
        name: str = "",
        count: int = 0,
        assignments: Sequence[CreatePartitionsAssignment] | None = (),
    ) -> None:
        self.name = name
        self.count = count
        self.assignments = assignments


class CreatePartitionsRequest(Message):
    __slots__ = ("timeout_ms", "topics", "validate_only")
    FIELDS = """
        topics []CreatePartitionsTopic 0+
        timeout_ms int32 0+
        validate_only bool 0+
    """

    def __init__(
        self,
        topics: Sequence[CreatePartitionsTopic] = (),
        timeout_ms: int = 0,
        validate_only: bool = False,
    ) -> None:
        self.topics = topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only


class CreatePartitionsTopicResult(Message):
    __slots__ = ("error_code", "error_message", "name")
    FIELDS = """
        name string 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        name: str = "",
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.error_code = error_code
        self.error_message = error_message


class CreatePartitionsResponse(Message):
    __slots__ = ("results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        results []CreatePartitionsTopicResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[CreatePartitionsTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
