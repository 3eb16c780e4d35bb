"""What a log answers. Plain slots objects: one is made per batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headrace.base.files import FileSlice


class Appended:
    """The batch lies in the page cache. It is acknowledged when the log is flushed beyond `last_offset`."""

    __slots__ = ("append_time_ms", "base_offset", "last_offset", "start_offset")

    def __init__(self, base_offset: int, last_offset: int, append_time_ms: int, start_offset: int) -> None:
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.append_time_ms = append_time_ms  # -1: the topic keeps the producers' timestamps
        self.start_offset = start_offset  # of the log

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_offset}..{self.last_offset})"


class Duplicate(Appended):
    """The producer sent this batch before. These are its offsets; they may not be flushed yet: the answer waits."""

    __slots__ = ()


class Read:
    """A stretch of one segment. Nothing is there to read when `body` is None."""

    __slots__ = ("body", "count", "first_offset", "size")

    def __init__(self, body: FileSlice | None, first_offset: int, size: int, count: int = 0) -> None:
        self.body = body
        self.first_offset = first_offset  # the first batch's base: at or before the offset that was asked for
        self.size = size
        self.count = count  # of offsets; where only the disk knows, the segment's average by size

    def __repr__(self) -> str:
        return f"Read(from {self.first_offset}, {self.size} bytes)"


class Cold:
    """The answer would have to wait for the disk: run `warm` off the loop, then ask again with `may_block=True`."""

    __slots__ = ("warm",)

    def __init__(self, warm: Callable[[], None]) -> None:
        self.warm = warm


@dataclass(slots=True)
class Cut:
    """What a failed flush took away: the offsets [first_offset, end_offset), never acknowledged by a `fsynced` log."""

    first_offset: int
    end_offset: int
    why: str


@dataclass(slots=True)
class Damage:
    """A stretch of the log that recovery could not read, or bytes that it cut off."""

    file: str
    position: int
    size: int
    offset: int
    end_offset: int | None
    what: str
    is_cut: bool  # the bytes are gone (they were never flushed); else they are there, and reading these offsets is an error


@dataclass(slots=True)
class SegmentState:
    """A segment in the checkpoint of a clean shutdown."""

    base_offset: int
    end_offset: int
    size: int
    first_timestamp: int
    max_timestamp: int
    max_timestamp_offset: int
    created_ms: int
    last_append_ms: int
    offset_entries: int
    time_entries: int
    indexed_timestamp: int  # of the last entry of the time index
    bytes_since_entry: int
    broken: list[tuple[int, int, int, int, str]]  # position, end position, offset, end offset (-1: none), what


@dataclass(slots=True)
class CleanState:
    """All that a log needs to open without a look at its folder. Valid only if nothing was written since `Log.close` gave it:
    the node takes it out of its checkpoint before it opens the log.
    """

    start_offset: int
    end_offset: int
    producers: int  # how many the snapshot at `end_offset` holds
    epochs: list[tuple[int, int]]
    snapshots: list[int]
    segments: list[SegmentState]
