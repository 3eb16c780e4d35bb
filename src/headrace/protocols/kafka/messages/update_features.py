"""UpdateFeatures, versions 0 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 57
VERSIONS = (0, 2)
FLEXIBLE_FROM = 0


class FeatureUpdateKey(Message):
    __slots__ = ("allow_downgrade", "feature", "max_version_level", "upgrade_type")
    FIELDS = """
        feature string 0+
        max_version_level int16 0+
        allow_downgrade bool 0
        upgrade_type int8 1+ default=1
    """

    def __init__(
        self,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type


class UpdateFeaturesRequest(Message):
    __slots__ = ("feature_updates", "timeout_ms", "validate_only")
    FIELDS = """
        timeout_ms int32 0+ default=60000
        feature_updates []FeatureUpdateKey 0+
        validate_only bool 1+ default=false
    """

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: Sequence[FeatureUpdateKey] = (),
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = feature_updates
        self.validate_only = validate_only


class UpdatableFeatureResult(Message):
    __slots__ = ("error_code", "error_message", "feature")
    FIELDS = """
        feature string 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
    """

    def __init__(
        self,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message


class UpdateFeaturesResponse(Message):
    __slots__ = ("error_code", "error_message", "results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
        results []UpdatableFeatureResult 0-1 ignorable
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Sequence[UpdatableFeatureResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = results
