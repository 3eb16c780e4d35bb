"""The sparse time index of one segment.

An entry says: up to this batch, the highest timestamp is this one, and the batch that has it ends with this offset.
Timestamps rise strictly from entry to entry, offsets never fall. On disk an entry has 12 bytes, as Kafka writes them:

    at  size  field
     0     8  timestamp, ms
     8     4  last offset of the batch that has it - base offset of the segment

New entries are held in arrays until the log is flushed. Searches go over the file and may block: questions about time
are answered off the loop, while the loop goes on appending (see `offset_index.py` for how the two keep apart).
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right

from headrace.base.files import Files
from headrace.base.ids import NO_TIMESTAMP
from headrace.log.offset_index import IndexWrong, open_index

_SIZE = 12
_ENTRY = struct.Struct(">qi")

TimeEntries = tuple["array[int]", "array[int]"]  # timestamps, relative offsets


class TimeIndex:
    ENTRY_SIZE = _SIZE

    __slots__ = ("_files", "base_offset", "disk_count", "last_timestamp", "new", "path", "version")

    def __init__(self, files: Files, path: str, base_offset: int, disk_count: int = 0, last_timestamp: int = NO_TIMESTAMP) -> None:
        self._files = files
        self.path = path
        self.version = 0  # counts how often the entries were replaced as a whole
        self.base_offset = base_offset
        self.disk_count = disk_count  # entries in the file
        self.last_timestamp = last_timestamp  # of the last entry
        self.new: TimeEntries = (array("q"), array("i"))  # entries that are not in the file yet

    @property
    def count(self) -> int:
        return self.disk_count + len(self.new[0])

    def append(self, timestamp: int, last_offset: int) -> None:
        """Kept only if it is later than the last entry."""
        if timestamp > self.last_timestamp:
            timestamps, offsets = self.new
            offsets.append(last_offset - self.base_offset)
            timestamps.append(timestamp)
            self.last_timestamp = timestamp

    def lookup(self, timestamp: int) -> tuple[int, int]:
        """The last entry at or before a timestamp: its timestamp and offset. May block."""
        timestamps, offsets = self.new
        if timestamps and timestamps[0] <= timestamp:
            i = bisect_right(timestamps, timestamp) - 1
            return timestamps[i], self.base_offset + offsets[i]
        return self._search(0, timestamp)

    def before_offset(self, offset: int) -> tuple[int, int]:
        """The last entry whose offset lies before `offset`. May block."""
        timestamps, offsets = self.new
        relative = offset - self.base_offset - 1
        if timestamps and offsets[0] <= relative:
            i = bisect_right(offsets, relative, 0, len(timestamps)) - 1
            return timestamps[i], self.base_offset + offsets[i]
        return self._search(1, relative)

    def _search(self, field: int, wanted: int) -> tuple[int, int]:
        """The last entry in the file whose field (0 timestamp, 1 relative offset) is at most `wanted`."""
        low, high = 0, self.disk_count
        found = (NO_TIMESTAMP, 0)
        while low < high:
            middle = (low + high) // 2
            entry = self._entry(middle)
            if entry[field] <= wanted:
                found = entry
                low = middle + 1
            else:
                high = middle
        return found[0], self.base_offset + found[1]

    def _entry(self, entry: int) -> tuple[int, int]:
        data = open_index(self._files, self.path).read(entry * _SIZE, _SIZE)
        if len(data) != _SIZE:
            raise IndexWrong(f"{self.path} ends before entry {entry}")
        timestamp, offset = _ENTRY.unpack(data)
        return timestamp, offset

    def last(self) -> tuple[int, int] | None:
        """The last entry: timestamp and offset. May block."""
        timestamps, offsets = self.new
        if timestamps:
            return timestamps[-1], self.base_offset + offsets[-1]
        if not self.disk_count:
            return None
        timestamp, relative = self._entry(self.disk_count - 1)
        return timestamp, self.base_offset + relative

    @staticmethod
    def encode(entries: TimeEntries, count: int) -> bytes:
        """The first entries as they belong into the file."""
        return encode_entries(entries[0][:count], entries[1][:count])

    def spilled(self, count: int, version: int) -> None:
        """The first `count` new entries stand in the file now; unless they were replaced while they were written."""
        if version != self.version:
            return
        timestamps, offsets = self.new
        self.disk_count += count
        self.new = (timestamps[count:], offsets[count:])

    def cut(self, end_offset: int) -> None:
        """Forget the entries whose offset is `end_offset` or beyond. May block where it reaches what is in the file."""
        relative = end_offset - self.base_offset
        timestamps, offsets = self.new
        keep = len(offsets)
        while keep and offsets[keep - 1] >= relative:
            keep -= 1
        self.new = (timestamps[:keep], offsets[:keep])
        while not keep and self.disk_count and self._entry(self.disk_count - 1)[1] >= relative:
            self.disk_count -= 1
        last = self.last()
        self.last_timestamp = last[0] if last else NO_TIMESTAMP

    def replace(self, entries: TimeEntries) -> None:
        """These are all entries; the file holds none that counts."""
        self.version += 1
        self.disk_count = 0
        self.new = entries
        self.last_timestamp = entries[0][-1] if entries[0] else NO_TIMESTAMP


def encode_entries(timestamps: array[int], offsets: array[int]) -> bytes:
    pack = _ENTRY.pack
    return b"".join([pack(timestamp, offset) for timestamp, offset in zip(timestamps, offsets, strict=True)])
