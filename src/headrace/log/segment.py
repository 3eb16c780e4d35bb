"""One segment: a file of batches, its two sparse indexes, and what is known of them without looking.

Owner: the log. The loop writes (appends, cuts); a thread may ask questions at the same time, because nothing that a
question needs is ever changed in place (see `offset_index.py`). Files are opened at their first use.

Finding a batch by offset, cheapest first:
1. the last batches that were appended are kept in two arrays (at most 1,024, 16 kB): a tail read and the position of the
   high watermark cost a bisection;
2. else the offset index names a batch at most 4 kB before, and the headers from there on are walked.

`mark` is the state at the last flush. Whatever lies behind it may have to be taken back (`cut_to_mark`).
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from headrace.base.files import File, Files
from headrace.base.ids import NO_TIMESTAMP
from headrace.log.names import INDEX, LOG, TIME_INDEX, file_name
from headrace.log.offset_index import IndexWrong, OffsetIndex, read_file
from headrace.log.scan import Broken, Scanner
from headrace.log.time_index import TimeIndex
from headrace.records.header import HEADER_SIZE, MAGIC, BatchHeader, read_header
from headrace.records.record import read_records

RECENT_COUNT = 512  # as many are kept at least, twice as many at most
_WALK_SIZE = 4096 + HEADER_SIZE
# base offset, length, (leader epoch), magic, (crc, attributes), last offset delta
_WALK = struct.Struct(">qi4xb6xi")


class Damaged(Exception):
    """A stretch of the file is no batch. Never leaves this floor: it becomes a refusal."""

    def __init__(self, position: int, offset: int, what: str) -> None:
        super().__init__(what)
        self.position = position
        self.offset = offset
        self.what = what


_FOLLOWERS_MAX = 64  # readers of old parts of one segment at once


class Mark:
    """A segment as it was at one moment."""

    __slots__ = ("bytes_since_entry", "end_offset", "max_timestamp", "max_timestamp_offset", "size")

    def __init__(self, size: int, end_offset: int, max_timestamp: int, max_timestamp_offset: int, bytes_since_entry: int) -> None:
        self.size = size
        self.end_offset = end_offset
        self.max_timestamp = max_timestamp
        self.max_timestamp_offset = max_timestamp_offset
        self.bytes_since_entry = bytes_since_entry


class Segment:
    __slots__ = (
        "_file",
        "_files",
        "base_offset",
        "broken",
        "bytes_since_entry",
        "created_ms",
        "end_offset",
        "first_timestamp",
        "folder",
        "followers",
        "is_cut",
        "last_append_ms",
        "mark",
        "max_timestamp",
        "max_timestamp_offset",
        "name_is_durable",
        "offsets",
        "recent_offsets",
        "recent_positions",
        "settled",
        "size",
        "times",
    )

    def __init__(self, files: Files, folder: str, base_offset: int, now_ms: int) -> None:
        self._files = files
        self.folder = folder
        self.followers: dict[int, int] = {}  # first offset -> position of batches behind those that were read; all true
        self.base_offset = base_offset
        self._file: File | None = None
        self.size = 0
        self.end_offset = base_offset
        self.max_timestamp = NO_TIMESTAMP
        self.max_timestamp_offset = base_offset  # the last offset of the batch that has it
        self.first_timestamp = NO_TIMESTAMP  # the first batch's highest: the segment's age is counted from here
        self.created_ms = now_ms  # or of the first append
        self.last_append_ms = now_ms
        self.bytes_since_entry = 0
        self.offsets = OffsetIndex(files, self.path(INDEX), base_offset)
        self.times = TimeIndex(files, self.path(TIME_INDEX), base_offset)
        self.recent_offsets = array("q")
        self.recent_positions = array("q")
        self.mark = self.current_mark()
        self.is_cut = False  # bytes were taken away since the last flush: they must not come back after the next one
        self.name_is_durable = False
        self.settled = False  # closed, and all of it durable: bytes, name and indexes
        self.broken: list[Broken] = []  # stretches that cannot be read

    def path(self, suffix: str) -> str:
        return f"{self.folder}/{file_name(self.base_offset, suffix)}"

    @property
    def file(self) -> File:
        file = self._file
        if file is None:
            file = self._file = self._files.open(self.path(LOG))
        return file

    def create(self) -> None:
        self._file = self._files.open(self.path(LOG), create=True)

    # --- writing

    def append(self, data: memoryview, size: int, header: BatchHeader, base_offset: int, now_ms: int, interval: int) -> None:
        """Write one stamped batch. OSError leaves the segment as it was; the bytes behind its end do not count."""
        position = self.size
        self.file.write(position, (data,))
        last_offset = base_offset + header.last_offset_delta
        self._grow(position, size, base_offset, last_offset, header.max_timestamp, now_ms, interval)
        recent = self.recent_offsets
        recent.append(base_offset)
        self.recent_positions.append(position)
        if len(recent) >= 2 * RECENT_COUNT:
            del recent[:RECENT_COUNT]
            del self.recent_positions[:RECENT_COUNT]

    def take_in(self, position: int, header: BatchHeader, now_ms: int, interval: int) -> None:
        """A batch that recovery found in the file."""
        self._grow(position, header.size, header.base_offset, header.last_offset, header.max_timestamp, now_ms, interval)

    def _grow(
        self, position: int, size: int, base_offset: int, last_offset: int, timestamp: int, now_ms: int, interval: int
    ) -> None:
        if timestamp > self.max_timestamp:
            self.max_timestamp = timestamp
            self.max_timestamp_offset = last_offset
        if not position:
            self.first_timestamp = timestamp
            self.created_ms = now_ms
        if self.bytes_since_entry > interval:
            self.offsets.append(last_offset, position)
            self.times.append(self.max_timestamp, self.max_timestamp_offset)
            self.bytes_since_entry = size
        else:
            self.bytes_since_entry += size
        self.size = position + size
        self.end_offset = last_offset + 1
        self.last_append_ms = now_ms

    def close(self) -> None:
        """No more appends: the time index gets its last entry, so that it knows the highest timestamp."""
        if self.max_timestamp != NO_TIMESTAMP:
            self.times.append(self.max_timestamp, self.max_timestamp_offset)

    def current_mark(self) -> Mark:
        return Mark(self.size, self.end_offset, self.max_timestamp, self.max_timestamp_offset, self.bytes_since_entry)

    def cut_to_mark(self) -> None:
        """Forget all that was appended since the last flush. The file itself is the caller's to truncate."""
        mark = self.mark
        self.is_cut = self.is_cut or self.size > mark.size
        self.size, self.end_offset = mark.size, mark.end_offset
        self.max_timestamp, self.max_timestamp_offset = mark.max_timestamp, mark.max_timestamp_offset
        if not mark.size:
            self.first_timestamp = NO_TIMESTAMP
        self.offsets.cut(mark.size)
        self.times.cut(mark.end_offset)
        self.bytes_since_entry = mark.bytes_since_entry
        self.followers = {}
        self.recent_offsets = array("q")
        self.recent_positions = array("q")

    def forget(self) -> None:
        """Give back the memory that can be read again."""
        self.recent_offsets = array("q")
        self.recent_positions = array("q")
        self.followers = {}
        self.offsets.forget()

    # --- finding

    def read_range(
        self, offset: int, size_max: int, end_position: int, whole_first_batch: bool, may_block: bool
    ) -> tuple[int, int, int]:
        """Where a read from `offset` on begins and ends in the file, and the first offset it gives.

        It ends at the end of a batch wherever that is known without a look at the disk. Empty when not even the first batch fits.
        """
        recent = self.recent_offsets
        if recent and recent[0] <= offset:
            positions = self.recent_positions
            i = bisect_right(recent, offset) - 1
            position = positions[i]
            first = recent[i]
            limit = position + size_max
            if limit >= end_position:
                return position, end_position, first
            follower = positions[i + 1] if i + 1 < len(positions) else self.size
            if limit < follower:
                return position, (follower if whole_first_batch else position), first
            return position, positions[bisect_right(positions, limit) - 1], first
        position, first, _, size = self.find(offset, may_block)
        limit = position + size_max
        if limit >= end_position:
            return position, end_position, first
        if size_max < size:
            return position, (position + size if whole_first_batch else position), first
        boundary = self.offsets.boundary(position + size - 1, limit)
        return position, boundary or limit, first

    def position_of(self, offset: int, may_block: bool) -> int:
        """Where the batches before `offset` end: the position of the batch that holds it."""
        if offset >= self.end_offset:
            return self.size
        recent = self.recent_offsets
        if recent and recent[0] <= offset:
            return self.recent_positions[bisect_right(recent, offset) - 1]
        return self.find(offset, may_block)[0]

    def count_between(self, position: int, end_position: int, offset: int) -> int:
        """How many offsets from `offset` on lie in a stretch that begins with their batch and does not reach the segment's end.

        Exact among the last batches; else as many as the segment has on average: over the whole segment that is right again.
        """
        recent = self.recent_positions
        if recent and recent[0] <= position:
            return self.recent_offsets[bisect_left(recent, end_position)] - offset
        return (end_position - position) * (self.end_offset - self.base_offset) // self.size

    def find(self, offset: int, may_block: bool) -> tuple[int, int, int, int]:
        """The batch that holds `offset`, or the first one behind it: its position, first and last offset, and size."""
        begin = self.followers.pop(offset, None)
        if begin is not None:  # a reader goes on where the last batch that was found ended: no look at the index
            found = next(self._walk(begin, may_block), None)
            if found is not None and found[1] == offset:
                return self._note(found)
        entry = self.offsets.lookup(offset, may_block)
        position = entry[1] if entry else 0
        if position >= self.size:
            raise IndexWrong(f"{self.offsets.path} names position {position} of {self.size} bytes")
        try:
            for found in self._walk(position, may_block):
                if entry is not None:
                    if found[2] != entry[0]:
                        raise IndexWrong(f"{self.offsets.path} names {entry} (offset, position), the log has {found}")
                    entry = None
                if found[2] >= offset:
                    return self._note(found)
        except Damaged as damaged:
            if entry is not None:  # the position is the index's word alone
                raise IndexWrong(f"{self.offsets.path} names {entry} (offset, position): {damaged}") from None
            raise
        raise Damaged(self.size, offset, "the segment ends before this offset")

    def _note(self, found: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """Remember where the next batch begins: small reads one behind another ask for it next."""
        followers = self.followers
        if len(followers) >= _FOLLOWERS_MAX:
            followers.clear()
        followers[found[2] + 1] = found[0] + found[3]
        return found

    def _walk(self, position: int, may_block: bool) -> Iterator[tuple[int, int, int, int]]:
        """The headers from a batch on: position, first and last offset, size."""
        end = self.size
        unpack = _WALK.unpack_from
        file = self.file
        data = b""
        start = position
        while position < end:
            at = position - start
            if at + HEADER_SIZE > len(data):
                start = position
                at = 0
                data = read_file(file, position, min(_WALK_SIZE, end - position), may_block)
                if len(data) < HEADER_SIZE:
                    raise Damaged(position, -1, f"{len(data)} bytes are no batch")
            first, length, magic, delta = unpack(data, at)
            size = length + 12
            if magic != MAGIC or size < HEADER_SIZE or position + size > end or delta < 0:
                hole = self._broken_at(position)
                if hole is None or hole.end_offset is None:
                    raise Damaged(position, -1, f"magic {magic}, {size} bytes, last offset delta {delta}: no batch")
                position = hole.end_position
                continue
            yield position, first, first + delta, size
            position += size

    def _broken_at(self, position: int) -> Broken | None:
        return next((b for b in self.broken if b.position <= position < b.end_position), None)

    def header_at(self, position: int) -> BatchHeader:
        """May block."""
        return read_header(self.file.read(position, HEADER_SIZE))

    # --- questions about time; off the loop

    def headers_from(self, offset: int) -> Iterator[tuple[int, BatchHeader]]:
        """The whole headers from the batch that holds `offset` on."""
        position = self.find(offset, True)[0]
        for place, _, _, _ in self._walk(position, True):
            yield place, self.header_at(place)

    def highest_timestamp(self, start_offset: int, end_offset: int) -> tuple[int, int]:
        """The highest timestamp of the records in a range of offsets, and the last offset of the first batch that has it."""
        if start_offset > self.base_offset:
            best = (NO_TIMESTAMP, -1)
            begin = start_offset
        elif self.max_timestamp_offset < end_offset:
            return self.max_timestamp, self.max_timestamp_offset
        else:
            best = self.times.before_offset(end_offset)
            begin = best[1] + 1 if best[0] != NO_TIMESTAMP else self.base_offset
        if begin >= min(end_offset, self.end_offset):
            return best
        for position, header in self.headers_from(begin):
            if header.last_offset >= end_offset:
                break
            timestamp = header.max_timestamp
            if header.base_offset < start_offset and timestamp > best[0]:  # some of its records do not count any more
                records = read_records(self.file.read(position, header.size), header)
                timestamp = max((r.timestamp for r in records if r.offset >= start_offset), default=NO_TIMESTAMP)
            if timestamp > best[0]:
                best = (timestamp, header.last_offset)
        return best

    # --- mending

    def rebuild_indexes(self, interval: int, is_closed: bool) -> None:
        """Build both indexes again from the log. Off the loop. Entries of appends meanwhile may be lost: they are sparse."""
        fresh = Segment(self._files, self.folder, self.base_offset, self.created_ms)
        for found in Scanner(self.file, self.size, self.base_offset, gaps_allowed=True):
            if not isinstance(found, Broken):
                fresh.take_in(found[0], found[1], self.last_append_ms, interval)
        if is_closed:
            fresh.close()
        self.offsets.replace(fresh.offsets.new)
        self.times.replace(fresh.times.new)
