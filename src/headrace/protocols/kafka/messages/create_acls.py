"""CreateAcls, versions 1 to 3.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 30
VERSIONS = (1, 3)
FLEXIBLE_FROM = 2


class AclCreation(Message):
    __slots__ = ("host", "operation", "permission_type", "principal", "resource_name", "resource_pattern_type", "resource_type")
    FIELDS = """
        resource_type int8 0+
        resource_name string 0+
        resource_pattern_type int8 1+ default=3
        principal string 0+
        host string 0+
        operation int8 0+
        permission_type int8 0+
    """

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type


class CreateAclsRequest(Message):
    __slots__ = ("creations",)
    FIELDS = """
        creations []AclCreation 0+
    """

    def __init__(
        self,
        creations: Sequence[AclCreation] = (),
    ) -> None:
        self.creations = creations


class AclCreationResult(Message):
    __slots__ = ("error_code", "error_message")
    FIELDS = """
        error_code int16 0+
        error_message string 0+ nullable=0+
    """

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message


class CreateAclsResponse(Message):
    __slots__ = ("results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        results []AclCreationResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AclCreationResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
