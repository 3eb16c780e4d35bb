"""ShareGroupHeartbeat, version 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 76
VERSIONS = (1, 1)
FLEXIBLE_FROM = 0


class ShareGroupHeartbeatRequest(Message):
    __slots__ = ("group_id", "member_epoch", "member_id", "rack_id", "subscribed_topic_names")
    FIELDS = """
        group_id string 0+
        member_id string 0+
        member_epoch int32 0+
        rack_id string 0+ nullable=0+ default=null
        subscribed_topic_names []string 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        rack_id: str | None = None,
        subscribed_topic_names: Sequence[str] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names


class TopicPartitions(Message):
    __slots__ = ("partitions", "topic_id")
    FIELDS = """
        topic_id uuid 0+
        partitions []int32 0+
    """

    def __init__(
        self,
        topic_id: UUID = NO_TOPIC_ID,
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class Assignment(Message):
    __slots__ = ("topic_partitions",)
    FIELDS = """
        topic_partitions []TopicPartitions 0+
    """

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartitions] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


class ShareGroupHeartbeatResponse(Message):
    __slots__ = (
        "assignment",
        "error_code",
        "error_message",
        "heartbeat_interval_ms",
        "member_epoch",
        "member_id",
        "throttle_time_ms",
    )
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
        member_id string 0+ nullable=0+ default=null
        member_epoch int32 0+
        heartbeat_interval_ms int32 0+
        assignment Assignment 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        member_id: str | None = None,
        member_epoch: int = 0,
        heartbeat_interval_ms: int = 0,
        assignment: Assignment | None = None,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment
