"""What an operator may set about groups, with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.base.limits import COMMIT_METADATA_LENGTH_MAX, GROUP_MEMBERS_MAX

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS


@dataclass(slots=True)
class GroupSettings:
    session_timeout_ms_min: int = 6_000  # group.min.session.timeout.ms
    session_timeout_ms_max: int = 30 * MINUTE_MS  # group.max.session.timeout.ms
    members_max: int = GROUP_MEMBERS_MAX  # group.max.size
    initial_rebalance_delay_ms: int = 3_000  # group.initial.rebalance.delay.ms
    # A member whose first join is parked cannot send heartbeats: this long it may wait (Kafka: 5 minutes, not configurable).
    new_member_join_timeout_ms: int = 5 * MINUTE_MS
    offsets_retention_ms: int = 7 * DAY_MS  # offsets.retention.minutes
    offsets_check_ms: int = 10 * MINUTE_MS  # offsets.retention.check.interval.ms
    commit_metadata_length_max: int = COMMIT_METADATA_LENGTH_MAX  # offset.metadata.max.bytes
