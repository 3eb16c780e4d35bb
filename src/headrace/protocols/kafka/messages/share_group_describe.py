"""ShareGroupDescribe, version 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 77
VERSIONS = (1, 1)
FLEXIBLE_FROM = 0


class ShareGroupDescribeRequest(Message):
    __slots__ = ("group_ids", "include_authorized_operations")
    FIELDS = """
        group_ids []string 0+
        include_authorized_operations bool 0+
    """

    def __init__(
        self,
        group_ids: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.group_ids = group_ids
        self.include_authorized_operations = include_authorized_operations


class TopicPartitions(Message):
    __slots__ = ("partitions", "topic_id", "topic_name")
    FIELDS = """
        topic_id uuid 0+
        topic_name string 0+
        partitions []int32 0+
    """

    def __init__(
        self,
        topic_id: UUID = NO_TOPIC_ID,
        topic_name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic_id = topic_id
        self.topic_name = topic_name
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


class Member(Message):
    __slots__ = ("assignment", "client_host", "client_id", "member_epoch", "member_id", "rack_id", "subscribed_topic_names")
    FIELDS = """
        member_id string 0+
        rack_id string 0+ nullable=0+ default=null
        member_epoch int32 0+
        client_id string 0+
        client_host string 0+
        subscribed_topic_names []string 0+
        assignment Assignment 0+
    """

    def __init__(
        self,
        member_id: str = "",
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
        assignment: Assignment | None = None,
    ) -> None:
        self.member_id = member_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
        self.assignment = Assignment() if assignment is None else assignment


class DescribedGroup(Message):
    __slots__ = (
        "assignment_epoch",
        "assignor_name",
        "authorized_operations",
        "error_code",
        "error_message",
        "group_epoch",
        "group_id",
        "group_state",
        "members",
    )
    FIELDS = """
        error_code int16 0+
        error_message string 0+ nullable=0+ default=null
        group_id string 0+
        group_state string 0+
        group_epoch int32 0+
        assignment_epoch int32 0+
        assignor_name string 0+
        members []Member 0+
        authorized_operations int32 0+ default=-2147483648
    """

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        group_epoch: int = 0,
        assignment_epoch: int = 0,
        assignor_name: str = "",
        members: Sequence[Member] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = members
        self.authorized_operations = authorized_operations


class ShareGroupDescribeResponse(Message):
    __slots__ = ("groups", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        groups []DescribedGroup 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
