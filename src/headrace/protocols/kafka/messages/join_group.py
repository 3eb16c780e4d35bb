"""JoinGroup, versions 0 to 9.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 11
VERSIONS = (0, 9)
FLEXIBLE_FROM = 6


class JoinGroupRequestProtocol(Message):
    __slots__ = ("metadata", "name")
    FIELDS = """
        name string 0+
        metadata bytes 0+
    """

    def __init__(
        self,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name = name
        self.metadata = metadata


class JoinGroupRequest(Message):
    __slots__ = (
        "group_id",
        "group_instance_id",
        "member_id",
        "protocol_type",
        "protocols",
        "reason",
        "rebalance_timeout_ms",
        "session_timeout_ms",
    )
    FIELDS = """
        group_id string 0+
        session_timeout_ms int32 0+
        rebalance_timeout_ms int32 1+ default=-1 ignorable
        member_id string 0+
        group_instance_id string 5+ nullable=5+ default=null
        protocol_type string 0+
        protocols []JoinGroupRequestProtocol 0+
        reason string 8+ nullable=8+ default=null ignorable
    """

    def __init__(
        self,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: Sequence[JoinGroupRequestProtocol] = (),
        reason: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = protocols
        self.reason = reason


class JoinGroupResponseMember(Message):
    __slots__ = ("group_instance_id", "member_id", "metadata")
    FIELDS = """
        member_id string 0+
        group_instance_id string 5+ nullable=5+ default=null ignorable
        metadata bytes 0+
    """

    def __init__(
        self,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata


class JoinGroupResponse(Message):
    __slots__ = (
        "error_code",
        "generation_id",
        "leader",
        "member_id",
        "members",
        "protocol_name",
        "protocol_type",
        "skip_assignment",
        "throttle_time_ms",
    )
    FIELDS = """
        throttle_time_ms int32 2+ ignorable
        error_code int16 0+
        generation_id int32 0+ default=-1
        protocol_type string 7+ nullable=7+ default=null ignorable
        protocol_name string 0+ nullable=7+
        leader string 0+
        skip_assignment bool 9+ default=false
        member_id string 0+
        members []JoinGroupResponseMember 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: Sequence[JoinGroupResponseMember] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = members
