"""ApiVersions, versions 0 to 4.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 18
VERSIONS = (0, 4)
FLEXIBLE_FROM = 3


class ApiVersionsRequest(Message):
    __slots__ = ("client_software_name", "client_software_version")
    FIELDS = """
        client_software_name string 3+ ignorable
        client_software_version string 3+ ignorable
    """

    def __init__(
        self,
        client_software_name: str = "",
        client_software_version: str = "",
    ) -> None:
        self.client_software_name = client_software_name
        self.client_software_version = client_software_version


class ApiVersion(Message):
    __slots__ = ("api_key", "max_version", "min_version")
    FIELDS = """
        api_key int16 0+
        min_version int16 0+
        max_version int16 0+
    """

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version


class SupportedFeatureKey(Message):
    __slots__ = ("max_version", "min_version", "name")
    FIELDS = """
        name string 3+
        min_version int16 3+
        max_version int16 3+
    """

    def __init__(
        self,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version


class FinalizedFeatureKey(Message):
    __slots__ = ("max_version_level", "min_version_level", "name")
    FIELDS = """
        name string 3+
        max_version_level int16 3+
        min_version_level int16 3+
    """

    def __init__(
        self,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level


class ApiVersionsResponse(Message):
    __slots__ = (
        "api_keys",
        "error_code",
        "finalized_features",
        "finalized_features_epoch",
        "supported_features",
        "throttle_time_ms",
        "zk_migration_ready",
    )
    FIELDS = """
        error_code int16 0+
        api_keys []ApiVersion 0+
        throttle_time_ms int32 1+ ignorable
        supported_features []SupportedFeatureKey 3+ tag=0@3+ ignorable
        finalized_features_epoch int64 3+ tag=1@3+ default=-1 ignorable
        finalized_features []FinalizedFeatureKey 3+ tag=2@3+ ignorable
        zk_migration_ready bool 3+ tag=3@3+ default=false ignorable
    """

    def __init__(
        self,
        error_code: int = 0,
        api_keys: Sequence[ApiVersion] = (),
        throttle_time_ms: int = 0,
        supported_features: Sequence[SupportedFeatureKey] = (),
        finalized_features_epoch: int = -1,
        finalized_features: Sequence[FinalizedFeatureKey] = (),
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code = error_code
        self.api_keys = api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = finalized_features
        self.zk_migration_ready = zk_migration_ready
