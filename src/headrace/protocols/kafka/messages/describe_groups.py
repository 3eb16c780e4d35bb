"""DescribeGroups, versions 0 to 6.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 15
VERSIONS = (0, 6)
FLEXIBLE_FROM = 5


class DescribeGroupsRequest(Message):
    __slots__ = ("groups", "include_authorized_operations")
    FIELDS = """
        groups []string 0+
        include_authorized_operations bool 3+
    """

    def __init__(
        self,
        groups: Sequence[str] = (),
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups = groups
        self.include_authorized_operations = include_authorized_operations


class DescribedGroupMember(Message):
    __slots__ = ("client_host", "client_id", "group_instance_id", "member_assignment", "member_id", "member_metadata")
    FIELDS = """
        member_id string 0+
        group_instance_id string 4+ nullable=4+ default=null ignorable
        client_id string 0+
        client_host string 0+
        member_metadata bytes 0+
        member_assignment bytes 0+
    """

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment


class DescribedGroup(Message):
    __slots__ = (
        "authorized_operations",
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "members",
        "protocol_data",
        "protocol_type",
    )
    FIELDS = """
        error_code int16 0+
        error_message string 6+ nullable=6+ default=null
        group_id string 0+
        group_state string 0+
        protocol_type string 0+
        protocol_data string 0+
        members []DescribedGroupMember 0+
        authorized_operations int32 3+ default=-2147483648
    """

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: Sequence[DescribedGroupMember] = (),
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = members
        self.authorized_operations = authorized_operations


class DescribeGroupsResponse(Message):
    __slots__ = ("groups", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 1+ ignorable
        groups []DescribedGroup 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        groups: Sequence[DescribedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.groups = groups
