"""LeaveGroup, versions 0 to 5.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 13
VERSIONS = (0, 5)
FLEXIBLE_FROM = 4


class MemberIdentity(Message):
    __slots__ = ("group_instance_id", "member_id", "reason")
    FIELDS = """
        member_id string 3+
        group_instance_id string 3+ nullable=3+ default=null
        reason string 5+ nullable=5+ default=null ignorable
    """

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason


class LeaveGroupRequest(Message):
    __slots__ = ("group_id", "member_id", "members")
    FIELDS = """
        group_id string 0+
        member_id string 0-2
        members []MemberIdentity 3+
    """

    def __init__(
        self,
        group_id: str = "",
        member_id: str = "",
        members: Sequence[MemberIdentity] = (),
    ) -> None:
        self.group_id = group_id
        self.member_id = member_id
        self.members = members


class MemberResponse(Message):
    __slots__ = ("error_code", "group_instance_id", "member_id")
    FIELDS = """
        member_id string 3+
        group_instance_id string 3+ nullable=3+
        error_code int16 3+
    """

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code


class LeaveGroupResponse(Message):
    __slots__ = ("error_code", "members", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 1+ ignorable
        error_code int16 0+
        members []MemberResponse 3+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: Sequence[MemberResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = members
