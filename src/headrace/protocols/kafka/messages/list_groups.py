"""ListGroups, versions 0 to 5.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 16
VERSIONS = (0, 5)
FLEXIBLE_FROM = 3


class ListGroupsRequest(Message):
    __slots__ = ("states_filter", "types_filter")
    FIELDS = """
        states_filter []string 4+
        types_filter []string 5+
    """

    def __init__(
        self,
        states_filter: Sequence[str] = (),
        types_filter: Sequence[str] = (),
    ) -> None:
        self.states_filter = states_filter
        self.types_filter = types_filter


class ListedGroup(Message):
    __slots__ = ("group_id", "group_state", "group_type", "protocol_type")
    FIELDS = """
        group_id string 0+
        protocol_type string 0+
        group_state string 4+ ignorable
        group_type string 5+ ignorable
    """

    def __init__(
        self,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
    ) -> None:
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type


class ListGroupsResponse(Message):
    __slots__ = ("error_code", "groups", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 1+ ignorable
        error_code int16 0+
        groups []ListedGroup 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: Sequence[ListedGroup] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = groups
