"""SyncGroup, versions 0 to 5.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 14
VERSIONS = (0, 5)
FLEXIBLE_FROM = 4


class SyncGroupRequestAssignment(Message):
    __slots__ = ("assignment", "member_id")
    FIELDS = """
        member_id string 0+
        assignment bytes 0+
    """

    def __init__(
        self,
        member_id: str = "",
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.assignment = assignment


class SyncGroupRequest(Message):
    __slots__ = ("assignments", "generation_id", "group_id", "group_instance_id", "member_id", "protocol_name", "protocol_type")
    FIELDS = """
        group_id string 0+
        generation_id int32 0+
        member_id string 0+
        group_instance_id string 3+ nullable=3+ default=null
        protocol_type string 5+ nullable=5+ default=null ignorable
        protocol_name string 5+ nullable=5+ default=null ignorable
        assignments []SyncGroupRequestAssignment 0+
    """

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: Sequence[SyncGroupRequestAssignment] = (),
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = assignments


class SyncGroupResponse(Message):
    __slots__ = ("assignment", "error_code", "protocol_name", "protocol_type", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 1+ ignorable
        error_code int16 0+
        protocol_type string 5+ nullable=5+ default=null ignorable
        protocol_name string 5+ nullable=5+ default=null ignorable
        assignment bytes 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment
