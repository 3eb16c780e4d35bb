"""DescribeConfigs, versions 1 to 4.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 32
VERSIONS = (1, 4)
FLEXIBLE_FROM = 4


class DescribeConfigsResource(Message):
    __slots__ = ("configuration_keys", "resource_name", "resource_type")
    FIELDS = """
        resource_type int8 0+
        resource_name string 0+
        configuration_keys []string 0+ nullable=0+
    """

    def __init__(
        self,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: Sequence[str] | None = (),
    ) -> None:
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = configuration_keys


class DescribeConfigsRequest(Message):
    __slots__ = ("include_documentation", "include_synonyms", "resources")
    FIELDS = """
        resources []DescribeConfigsResource 0+
        include_synonyms bool 1+ default=false
        include_documentation bool 3+ default=false
    """

    def __init__(
        self,
        resources: Sequence[DescribeConfigsResource] = (),
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources = resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation


class DescribeConfigsSynonym(Message):
    __slots__ = ("name", "source", "value")
    FIELDS = """
        name string 1+
        value string 1+ nullable=0+
        source int8 1+
    """

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        source: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source


class DescribeConfigsResourceResult(Message):
    __slots__ = ("config_source", "config_type", "documentation", "is_sensitive", "name", "read_only", "synonyms", "value")
    FIELDS = """
        name string 0+
        value string 0+ nullable=0+
        read_only bool 0+
        config_source int8 1+ default=-1 ignorable
        is_sensitive bool 0+
        synonyms []DescribeConfigsSynonym 1+ ignorable
        config_type int8 3+ default=0 ignorable
        documentation string 3+ nullable=0+ ignorable
    """

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: Sequence[DescribeConfigsSynonym] = (),
        config_type: int = 0,
        documentation: str | None = "",
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = synonyms
        self.config_type = config_type
        self.documentation = documentation


class DescribeConfigsResult(Message):
    __slots__ = ("configs", "error_code", "error_message", "resource_name", "resource_type")
    FIELDS = """
        error_code int16 0+
        error_message string 0+ nullable=0+
        resource_type int8 0+
        resource_name string 0+
        configs []DescribeConfigsResourceResult 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: Sequence[DescribeConfigsResourceResult] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = configs


class DescribeConfigsResponse(Message):
    __slots__ = ("results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        results []DescribeConfigsResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[DescribeConfigsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
