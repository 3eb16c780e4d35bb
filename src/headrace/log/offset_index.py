"""The sparse offset index of one segment.

An entry says: the batch that ends with this offset begins at this position. There is about one for every
`index_interval_bytes` (4 kB) of log. On disk an entry has 8 bytes, as Kafka writes them:

    at  size  field
     0     4  last offset of the batch - base offset of the segment
     4     4  position of the batch

Memory is bounded: new entries are held in two arrays and spilled into the file when the log is flushed (a 1 GiB segment
has 262,144 entries, 2 MiB). What is in the file is found by a binary search over the file itself, of which one block of
512 entries (2 MiB of log, what a reader goes through next) is kept. Nothing here is ever needed to be right: a reader
checks that the batch at the position ends with the entry's offset, and a wrong index is built again from the log.

The loop appends and spills; questions may come from a thread at the same time. So what belongs together lies in one
tuple that is replaced as a whole, and of two arrays the one that is searched grows last.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_right

from headrace.base.files import File, Files

_SIZE = 8
BLOCK_COUNT = 512
_ENTRY = struct.Struct(">ii")
_LITTLE = sys.byteorder == "little"

Entries = tuple["array[int]", "array[int]"]  # relative offsets, positions


class NotInMemory(Exception):
    """A read would have to wait for the disk, and the caller must not. Never leaves this floor."""


class IndexWrong(Exception):
    """The index contradicts the log, or itself. It has to be built again. Never leaves this floor."""


def read_file(file: File, position: int, size: int, may_block: bool) -> bytes:
    if may_block:
        return file.read(position, size)
    data = file.read_cached(position, size)
    if data is None:
        raise NotInMemory
    return data


def open_index(files: Files, path: str) -> File:
    try:
        return files.open(path)
    except FileNotFoundError:
        raise IndexWrong(f"{path} is missing") from None


class OffsetIndex:
    ENTRY_SIZE = _SIZE

    __slots__ = ("_block", "_files", "base_offset", "disk_count", "new", "path", "version")

    def __init__(self, files: Files, path: str, base_offset: int, disk_count: int = 0) -> None:
        self._files = files
        self.path = path
        self.version = 0  # counts how often the entries were replaced as a whole
        self.base_offset = base_offset
        self.disk_count = disk_count  # entries in the file
        self.new: Entries = (array("i"), array("i"))  # entries that are not in the file yet
        self._block: tuple[int, Entries] | None = None  # the block of the file's entries that was used last, and its number

    @property
    def count(self) -> int:
        return self.disk_count + len(self.new[0])

    def append(self, last_offset: int, position: int) -> None:
        offsets, positions = self.new
        positions.append(position)
        offsets.append(last_offset - self.base_offset)

    def lookup(self, offset: int, may_block: bool) -> tuple[int, int] | None:
        """The last entry at or before `offset`: the offset it names, and its position. None: begin with the segment."""
        relative = offset - self.base_offset
        offsets, positions = self.new
        if not offsets or offsets[0] > relative:
            block = self._find_block(relative, may_block)
            if block is None:
                return None
            offsets, positions = block
        i = bisect_right(offsets, relative) - 1
        return self.base_offset + offsets[i], positions[i]

    def boundary(self, after: int, limit: int) -> int | None:
        """The last position of an entry in (after, limit], as far as entries are in memory: a batch begins there."""
        positions = self.new[1]
        if not (positions and positions[0] <= limit):
            block = self._block
            # The limit may lie behind the block: then what the block knows would cut the read short.
            if block is None or block[1][1][0] > after or block[1][1][-1] < limit:
                return None
            positions = block[1][1]
        found = positions[bisect_right(positions, limit) - 1]
        return found if found > after else None

    def _find_block(self, relative: int, may_block: bool) -> Entries | None:
        """The block that holds the last entry at or before `relative`. None: there is no such entry."""
        held = self._block
        if held is not None and held[1][0][0] <= relative < held[1][0][-1]:
            return held[1]
        count = self.disk_count
        if not count:
            return None
        file = open_index(self._files, self.path)
        if self._entry_offset(file, 0, may_block) > relative:
            return None
        # Invariant: the first entry of block `low` is at or before `relative`, that of block `high` beyond it.
        low, high = 0, -(-count // BLOCK_COUNT)
        while high - low > 1:
            middle = (low + high) // 2
            if self._entry_offset(file, middle * BLOCK_COUNT, may_block) <= relative:
                low = middle
            else:
                high = middle
        first = low * BLOCK_COUNT
        block_count = min(BLOCK_COUNT, count - first)
        if held is not None and held[0] == low and len(held[1][0]) == block_count:
            return held[1]
        data = read_file(file, first * _SIZE, block_count * _SIZE, may_block)
        if len(data) != block_count * _SIZE:
            raise IndexWrong(f"{self.path} ends before entry {first + block_count}")
        entries = decode_entries(data)
        if entries[0][0] > relative:
            raise IndexWrong(f"{self.path}: entry {first} changed while it was read")
        self._block = (low, entries)
        return entries

    def _entry_offset(self, file: File, entry: int, may_block: bool) -> int:
        data = read_file(file, entry * _SIZE, _SIZE, may_block)
        if len(data) != _SIZE:
            raise IndexWrong(f"{self.path} ends before entry {entry}")
        offset: int = _ENTRY.unpack(data)[0]
        return offset

    def last(self) -> tuple[int, int] | None:
        """The last entry. May block."""
        offsets, positions = self.new
        if offsets:
            return self.base_offset + offsets[-1], positions[-1]
        if not self.disk_count:
            return None
        data = open_index(self._files, self.path).read((self.disk_count - 1) * _SIZE, _SIZE)
        if len(data) != _SIZE:
            raise IndexWrong(f"{self.path} ends before entry {self.disk_count - 1}")
        offset, position = _ENTRY.unpack(data)
        return self.base_offset + offset, position

    @staticmethod
    def encode(entries: Entries, count: int) -> bytes:
        """The first entries as they belong into the file."""
        return encode_entries(entries[0][:count], entries[1][:count])

    def spilled(self, count: int, version: int) -> None:
        """The first `count` new entries stand in the file now; unless they were replaced while they were written."""
        if version != self.version:
            return
        offsets, positions = self.new
        self.disk_count += count
        self.new = (offsets[count:], positions[count:])

    def cut(self, end_position: int) -> None:
        """Forget the entries of batches at or beyond a position. May block where it reaches what is in the file."""
        offsets, positions = self.new
        keep = len(positions)
        while keep and positions[keep - 1] >= end_position:
            keep -= 1
        self.new = (offsets[:keep], positions[:keep])
        self._block = None
        while not keep and self.disk_count:
            last = self.last()
            if last is None or last[1] < end_position:
                break
            self.disk_count -= 1

    def replace(self, entries: Entries) -> None:
        """These are all entries; the file holds none that counts."""
        self.version += 1
        self.disk_count = 0
        self._block = None
        self.new = entries

    def forget(self) -> None:
        """Give back the memory that can be read again."""
        self._block = None


def encode_entries(offsets: array[int], positions: array[int]) -> bytes:
    # Slices of arrays, not a loop: 262,144 entries are made in about a millisecond.
    both = array("i", bytes(_SIZE * len(offsets)))
    both[0::2] = offsets
    both[1::2] = positions
    if _LITTLE:
        both.byteswap()
    return both.tobytes()


def decode_entries(data: bytes) -> Entries:
    both = array("i")
    both.frombytes(data)
    if _LITTLE:
        both.byteswap()
    return both[0::2], both[1::2]
