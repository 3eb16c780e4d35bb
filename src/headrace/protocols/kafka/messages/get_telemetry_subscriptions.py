"""GetTelemetrySubscriptions, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 71
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class GetTelemetrySubscriptionsRequest(Message):
    __slots__ = ("client_instance_id",)
    FIELDS = """
        client_instance_id uuid 0+
    """

    def __init__(
        self,
        client_instance_id: UUID = NO_TOPIC_ID,
    ) -> None:
        self.client_instance_id = client_instance_id


class GetTelemetrySubscriptionsResponse(Message):
    __slots__ = (
        "accepted_compression_types",
        "client_instance_id",
        "delta_temporality",
        "error_code",
        "push_interval_ms",
        "requested_metrics",
        "subscription_id",
        "telemetry_max_bytes",
        "throttle_time_ms",
    )
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        client_instance_id uuid 0+
        subscription_id int32 0+
        accepted_compression_types []int8 0+
        push_interval_ms int32 0+
        telemetry_max_bytes int32 0+
        delta_temporality bool 0+
        requested_metrics []string 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: UUID = NO_TOPIC_ID,
        subscription_id: int = 0,
        accepted_compression_types: Sequence[int] = (),
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: Sequence[str] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = requested_metrics
