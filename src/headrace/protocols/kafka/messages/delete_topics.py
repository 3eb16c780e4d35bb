"""DeleteTopics, versions 1 to 6.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 20
VERSIONS = (1, 6)
FLEXIBLE_FROM = 4


class DeleteTopicState(Message):
    __slots__ = ("name", "topic_id")
    FIELDS = """
        name string 6+ nullable=6+ default=null
        topic_id uuid 6+
    """

    def __init__(
        self,
        name: str | None = None,
        topic_id: UUID = NO_TOPIC_ID,
    ) -> None:
        self.name = name
        self.topic_id = topic_id


class DeleteTopicsRequest(Message):
    __slots__ = ("timeout_ms", "topic_names", "topics")
    FIELDS = """
        topics []DeleteTopicState 6+
        topic_names []string 0-5 ignorable
        timeout_ms int32 0+
    """

    def __init__(
        self,
        topics: Sequence[DeleteTopicState] = (),
        topic_names: Sequence[str] = (),
        timeout_ms: int = 0,
    ) -> None:
        self.topics = topics
        self.topic_names = topic_names
        self.timeout_ms = timeout_ms


class DeletableTopicResult(Message):
    __slots__ = ("error_code", "error_message", "name", "topic_id")
    FIELDS = """
        name string 0+ nullable=6+
        topic_id uuid 6+ ignorable
        error_code int16 0+
        error_message string 5+ nullable=5+ default=null ignorable
    """

    def __init__(
        self,
        name: str | None = "",
        topic_id: UUID = NO_TOPIC_ID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteTopicsResponse(Message):
    __slots__ = ("responses", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 1+ ignorable
        responses []DeletableTopicResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: Sequence[DeletableTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses
