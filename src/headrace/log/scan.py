"""Reading a segment batch by batch with every check: for recovery, `log verify` and the repair of indexes. Off the loop.

What is found is either a whole batch or a broken stretch. After a broken stretch the scan looks for the next whole batch,
first where the broken one says it ends, then byte by byte: a batch is recognised by its magic, a plausible header and its
CRC-32C. A batch's offset is not covered by the CRC; it is believed when it goes on from the batch before, or when the
batch after it goes on from it (then offsets are missing in between).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headrace.base.files import File
from headrace.records.header import HEADER_SIZE, MAGIC, BatchHeader, has_right_checksum, read_header

_CHUNK = 1024 * 1024
_MAGIC_AT = 16
_MAGIC_BYTE = bytes([MAGIC])
_SIZE_MAX = 2**31 - 1


@dataclass(slots=True)
class Broken:
    """Bytes that are no batch, or offsets without bytes (then `position == end_position`)."""

    position: int
    end_position: int
    offset: int  # the first that is missing
    end_offset: int | None  # the first that is there again; None: nothing whole follows
    what: str


class _Window:
    """A file read in chunks: `view(position, size)` gives the bytes, fewer at the end."""

    __slots__ = ("_data", "_end", "_file", "_position")

    def __init__(self, file: File, end: int) -> None:
        self._file = file
        self._end = end
        self._position = 0
        self._data = b""

    def view(self, position: int, size: int) -> memoryview:
        at = position - self._position
        if at < 0 or at + size > len(self._data):
            wanted = min(max(size, _CHUNK), max(0, self._end - position))
            self._data = self._file.read(position, wanted)
            self._position = position
            at = 0
        return memoryview(self._data)[at : at + size]


class Scanner:
    """The batches of one segment file from `position` on, where `offset` is expected."""

    __slots__ = ("_end", "_gaps_allowed", "_window", "offset", "offset_max", "position")

    def __init__(
        self, file: File, end: int, offset: int, *, position: int = 0, offset_max: int = 2**63 - 1, gaps_allowed: bool = False
    ) -> None:
        self._window = _Window(file, end)
        self._end = end
        self._gaps_allowed = gaps_allowed
        self.position = position  # how far the scan has come
        self.offset = offset  # the next one that is expected
        self.offset_max = offset_max  # the segment cannot hold this offset or a later one

    def __iter__(self) -> Iterator[tuple[int, BatchHeader] | Broken]:
        while self.position < self._end:
            position = self.position
            found = self._batch_at(position)
            if isinstance(found, BatchHeader):
                if found.base_offset != self.offset and not self._gaps_allowed:
                    yield Broken(position, position, self.offset, found.base_offset, "offsets are missing")
                self._accept(position, found)
                yield position, found
                continue
            yield self._skip(position, found)

    def _accept(self, position: int, header: BatchHeader) -> None:
        self.position = position + header.size
        self.offset = header.base_offset + header.last_offset_delta + 1

    def _batch_at(self, position: int) -> BatchHeader | str:
        """The whole batch at a position, or what is wrong with it."""
        left = self._end - position
        if left < HEADER_SIZE:
            return f"{left} bytes are no batch"
        header = read_header(self._window.view(position, HEADER_SIZE))
        wrong = self._judge(header, left)
        if wrong is not None:
            return wrong
        data = self._window.view(position, header.size)
        if len(data) < header.size:
            return f"the file ends within a batch of {header.size} bytes"
        if not has_right_checksum(data, header):
            return "the bytes do not match their CRC"
        if header.base_offset != self.offset and not self._gaps_allowed:
            follower = self._header_at(position + header.size)
            if follower is None or follower.base_offset != header.last_offset + 1:
                return f"a batch from offset {header.base_offset} on where {self.offset} comes next"
        return header

    def _judge(self, header: BatchHeader, left: int) -> str | None:
        if header.magic != MAGIC:
            return f"magic {header.magic}"
        if not HEADER_SIZE <= header.size <= _SIZE_MAX:
            return f"a batch of {header.size} bytes"
        if header.size > left:
            return f"a batch of {header.size} bytes where the file has {left}"
        if header.base_offset < self.offset:
            return f"a batch from offset {header.base_offset} on where {self.offset} comes next"
        if header.last_offset_delta < 0 or header.base_offset + header.last_offset_delta >= self.offset_max:
            return f"a batch of offsets {header.base_offset}..{header.last_offset}, which cannot be in this segment"
        return None

    def _header_at(self, position: int) -> BatchHeader | None:
        data = self._window.view(position, HEADER_SIZE)
        return read_header(data) if len(data) == HEADER_SIZE else None

    def _skip(self, position: int, what: str) -> Broken:
        """Go to the next whole batch; it is the next thing the scan gives."""
        end = self._next_batch(position)
        expected = self.offset
        self.position = self._end if end is None else end
        if end is None:
            return Broken(position, self._end, expected, None, what)
        header = self._header_at(end)
        assert header is not None
        self.offset = header.base_offset
        return Broken(position, end, expected, header.base_offset, what)

    def _next_batch(self, position: int) -> int | None:
        broken = self._header_at(position)
        if broken is not None and HEADER_SIZE <= broken.size <= self._end - position:
            follower = position + broken.size
            if isinstance(self._follower_at(follower), BatchHeader):
                return follower
        at = position + 1
        while at + HEADER_SIZE <= self._end:
            data = bytes(self._window.view(at, min(_CHUNK, self._end - at)))
            found = data.find(_MAGIC_BYTE, _MAGIC_AT)
            while found >= 0:
                candidate = at + found - _MAGIC_AT
                if isinstance(self._follower_at(candidate), BatchHeader):
                    return candidate
                found = data.find(_MAGIC_BYTE, found + 1)
            at += len(data) - _MAGIC_AT if len(data) > _MAGIC_AT else 1
        return None

    def _follower_at(self, position: int) -> BatchHeader | None:
        """A whole batch after a broken stretch: any offset from the expected one on will do."""
        left = self._end - position
        if left < HEADER_SIZE:
            return None
        header = self._header_at(position)
        if header is None or self._judge(header, left) is not None:
            return None
        data = self._window.view(position, header.size)
        return header if len(data) == header.size and has_right_checksum(data, header) else None
