"""PushTelemetry, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from uuid import UUID

API_KEY = 72
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class PushTelemetryRequest(Message):
    __slots__ = ("client_instance_id", "compression_type", "metrics", "subscription_id", "terminating")
    FIELDS = """
        client_instance_id uuid 0+
        subscription_id int32 0+
        terminating bool 0+
        compression_type int8 0+
        metrics bytes 0+
    """

    def __init__(
        self,
        client_instance_id: UUID = NO_TOPIC_ID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics


class PushTelemetryResponse(Message):
    __slots__ = ("error_code", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
