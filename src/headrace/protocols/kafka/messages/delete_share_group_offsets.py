"""DeleteShareGroupOffsets, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 92
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class DeleteShareGroupOffsetsRequestTopic(Message):
    __slots__ = ("topic_name",)
    FIELDS = """
        topic_name string 0+
    """

    def __init__(
        self,
        topic_name: str = "",
    ) -> None:
        self.topic_name = topic_name


class DeleteShareGroupOffsetsRequest(Message):
    __slots__ = ("group_id", "topics")
    FIELDS = """
        group_id string 0+
        topics []DeleteShareGroupOffsetsRequestTopic 0+
    """

    def __init__(
        self,
        group_id: str = "",
        topics: Sequence[DeleteShareGroupOffsetsRequestTopic] = (),
    ) -> None:
        self.group_id = group_id
        self.topics = topics


class DeleteShareGroupOffsetsResponseTopic(Message):
    __slots__ = ("error_code", "error_message", "topic_id", "topic_name")
    FIELDS = """
        topic_name string 0+
        topic_id uuid 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        topic_name: str = "",
        topic_id: UUID = NO_TOPIC_ID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message


class DeleteShareGroupOffsetsResponse(Message):
    __slots__ = ("error_code", "error_message", "responses", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
        responses []DeleteShareGroupOffsetsResponseTopic 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: Sequence[DeleteShareGroupOffsetsResponseTopic] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = responses
