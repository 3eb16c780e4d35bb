"""DeleteGroups, versions 0 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 42
VERSIONS = (0, 2)
FLEXIBLE_FROM = 2


class DeleteGroupsRequest(Message):
    __slots__ = ("groups_names",)
    FIELDS = """
        groups_names []string 0+
    """

    def __init__(
        self,
        groups_names: Sequence[str] = (),
    ) -> None:
        self.groups_names = groups_names


class DeletableGroupResult(Message):
    __slots__ = ("error_code", "group_id")
    FIELDS = """
        group_id string 0+
        error_code int16 0+
    """

    def __init__(
        self,
        group_id: str = "",
        error_code: int = 0,
    ) -> None:
        self.group_id = group_id
        self.error_code = error_code


class DeleteGroupsResponse(Message):
    __slots__ = ("results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        results []DeletableGroupResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[DeletableGroupResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
