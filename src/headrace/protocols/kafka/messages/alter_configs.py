"""AlterConfigs, versions 0 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 33
VERSIONS = (0, 2)
FLEXIBLE_FROM = 2


class AlterableConfig(Message):
    __slots__ = ("name", "value")
    FIELDS = """
        name string 0+
        value string 0+ nullable=0+
    """

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name = name
        self.value = value


class AlterConfigsResource(Message):
    __slots__ = ("configs", "resource_name", "resource_type")
    FIELDS = """
        resource_type int8 0+
        resource_name string 0+
        configs []AlterableConfig 0+
    """

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configs: Sequence[AlterableConfig] = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = configs


class AlterConfigsRequest(Message):
    __slots__ = ("resources", "validate_only")
    FIELDS = """
        resources []AlterConfigsResource 0+
        validate_only bool 0+
    """

    def __init__(
        self,
        resources: Sequence[AlterConfigsResource] = (),
        validate_only: bool = False,
    ) -> None:
        self.resources = resources
        self.validate_only = validate_only


class AlterConfigsResourceResponse(Message):
    __slots__ = ("error_code", "error_message", "resource_name", "resource_type")
    FIELDS = """
        error_code int16 0+
        error_message string 0+ nullable=0+
        resource_type int8 0+
        resource_name string 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name


class AlterConfigsResponse(Message):
    __slots__ = ("responses", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        responses []AlterConfigsResourceResponse 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        responses: Sequence[AlterConfigsResourceResponse] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.responses = responses
