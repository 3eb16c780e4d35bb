"""Heartbeat, versions 0 to 4.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from headrace.protocols.kafka.messages.message import Message

API_KEY = 12
VERSIONS = (0, 4)
FLEXIBLE_FROM = 4


class HeartbeatRequest(Message):
    __slots__ = ("generation_id", "group_id", "group_instance_id", "member_id")
    FIELDS = """
        group_id string 0+
        generation_id int32 0+
        member_id string 0+
        group_instance_id string 3+ nullable=3+ default=null
    """

    def __init__(
        self,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id


class HeartbeatResponse(Message):
    __slots__ = ("error_code", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 1+ ignorable
        error_code int16 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
