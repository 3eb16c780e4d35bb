"""ConsumerGroupHeartbeat, versions 0 to 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 68
VERSIONS = (0, 1)
FLEXIBLE_FROM = 0


class TopicPartitionsRequest(Message):
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


class ConsumerGroupHeartbeatRequest(Message):
    __slots__ = (
        "group_id",
        "instance_id",
        "member_epoch",
        "member_id",
        "rack_id",
        "rebalance_timeout_ms",
        "server_assignor",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "topic_partitions",
    )
    FIELDS = """
        group_id string 0+
        member_id string 0+
        member_epoch int32 0+
        instance_id string 0+ nullable=0+ default=null
        rack_id string 0+ nullable=0+ default=null
        rebalance_timeout_ms int32 0+ default=-1
        subscribed_topic_names []string 0+ nullable=0+ default=null
        subscribed_topic_regex string 1+ nullable=1+ default=null
        server_assignor string 0+ nullable=0+ default=null
        topic_partitions []TopicPartitionsRequest 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        member_epoch: int = 0,
        instance_id: str | None = None,
        rack_id: str | None = None,
        rebalance_timeout_ms: int = -1,
        subscribed_topic_names: Sequence[str] | None = None,
        subscribed_topic_regex: str | None = None,
        server_assignor: str | None = None,
        topic_partitions: Sequence[TopicPartitionsRequest] | None = None,
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions


class TopicPartitionsResponse(Message):
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
        topic_partitions []TopicPartitionsResponse 0+
    """

    def __init__(
        self,
        topic_partitions: Sequence[TopicPartitionsResponse] = (),
    ) -> None:
        self.topic_partitions = topic_partitions


class ConsumerGroupHeartbeatResponse(Message):
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
