"""What a log is told about its topic. One object may serve all partitions of a topic; a change is a new object."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.base.limits import BATCH_SIZE_MAX_DEFAULT, MIB

DAY_MS = 24 * 60 * 60 * 1000


@dataclass(slots=True, frozen=True)
class LogSettings:
    """Kafka's name of each topic setting stands beside it."""

    segment_bytes: int = 1024 * MIB  # segment.bytes
    segment_ms: int = 7 * DAY_MS  # segment.ms
    index_interval_bytes: int = 4096  # index.interval.bytes
    index_size_max: int = 10 * MIB  # segment.index.bytes
    retention_ms: int = 14 * DAY_MS  # retention.ms; -1: for ever
    retention_bytes: int = -1  # retention.bytes; -1: no bound
    delete: bool = True  # cleanup.policy has "delete"
    compact: bool = False  # cleanup.policy has "compact"
    max_message_bytes: int = BATCH_SIZE_MAX_DEFAULT  # max.message.bytes; checked before a batch comes here
    producer_expiry_ms: int = DAY_MS  # producer.id.expiration.ms
    file_delete_delay_ms: int = 60_000  # file.delete.delay.ms; for whoever runs the removals
