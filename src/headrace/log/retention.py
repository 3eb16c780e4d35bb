"""Which segments have had their time. Pure: it looks at what the log knows of its segments.

A segment is as old as its latest record; where that lies after the moment of the last append (a producer's clock runs
ahead, or a batch was stamped for the year 3000), the moment of the append counts: nothing a client sends can stop retention.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from headrace.base.ids import NO_TIMESTAMP
from headrace.log.segment import Segment
from headrace.log.settings import LogSettings


def latest_ms(segment: Segment) -> int:
    """The time that retention counts from."""
    if segment.max_timestamp == NO_TIMESTAMP:
        return segment.last_append_ms
    return min(segment.max_timestamp, segment.last_append_ms)


def is_past(segment: Segment, settings: LogSettings, now_ms: int) -> bool:
    return settings.delete and settings.retention_ms >= 0 and now_ms - latest_ms(segment) > settings.retention_ms


def expired(
    segments: Sequence[Segment], settings: LogSettings, *, start_offset: int, upto_offset: int, size_bytes: int, now_ms: int
) -> list[Segment]:
    """The first segments, as far as they may go: never the last one, nor what is not durable or at `upto_offset` and beyond."""
    gone: list[Segment] = []
    excess = size_bytes - settings.retention_bytes if settings.delete and settings.retention_bytes >= 0 else -1
    for segment, follower in pairwise(segments):
        # The follower's name carries the log's offsets on: it must be durable before what lies before it goes.
        if not segment.settled or not follower.name_is_durable or segment.end_offset > upto_offset:
            break
        below_start = follower.base_offset <= start_offset
        if not below_start and not is_past(segment, settings, now_ms) and excess < segment.size:
            break
        excess -= segment.size
        gone.append(segment)
    return gone
