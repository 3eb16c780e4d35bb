"""ConsumerGroupDescribe, versions 0 to 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 69
VERSIONS = (0, 1)
FLEXIBLE_FROM = 0


class ConsumerGroupDescribeRequest(Message):
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
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "instance_id",
        "member_epoch",
        "member_id",
        "member_type",
        "rack_id",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "target_assignment",
    )
    FIELDS = """
        member_id string 0+
        instance_id string 0+ nullable=0+ default=null
        rack_id string 0+ nullable=0+ default=null
        member_epoch int32 0+
        client_id string 0+
        client_host string 0+
        subscribed_topic_names []string 0+
        subscribed_topic_regex string 0+ nullable=0+ default=null
        assignment Assignment 0+
        target_assignment Assignment 0+
        member_type int8 1+ default=-1 ignorable
    """

    def __init__(
        self,
        member_id: str = "",
        instance_id: str | None = None,
        rack_id: str | None = None,
        member_epoch: int = 0,
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: Sequence[str] = (),
        subscribed_topic_regex: str | None = None,
        assignment: Assignment | None = None,
        target_assignment: Assignment | None = None,
        member_type: int = -1,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.assignment = Assignment() if assignment is None else assignment
        self.target_assignment = Assignment() if target_assignment is None else target_assignment
        self.member_type = member_type


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


class ConsumerGroupDescribeResponse(Message):
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
