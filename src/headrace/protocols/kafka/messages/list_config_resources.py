"""ListConfigResources, versions 0 to 1.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 74
VERSIONS = (0, 1)
FLEXIBLE_FROM = 0


class ListConfigResourcesRequest(Message):
    __slots__ = ("resource_types",)
    FIELDS = """
        resource_types []int8 1+
    """

    def __init__(
        self,
        resource_types: Sequence[int] = (),
    ) -> None:
        self.resource_types = resource_types


class ConfigResource(Message):
    __slots__ = ("resource_name", "resource_type")
    FIELDS = """
        resource_name string 0+
        resource_type int8 1+ default=16 ignorable
    """

    def __init__(
        self,
        resource_name: str = "",
        resource_type: int = 16,
    ) -> None:
        self.resource_name = resource_name
        self.resource_type = resource_type


class ListConfigResourcesResponse(Message):
    __slots__ = ("config_resources", "error_code", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        config_resources []ConfigResource 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: Sequence[ConfigResource] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = config_resources
