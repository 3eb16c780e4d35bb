"""Records as objects: for consumers, the command line and tests. The broker's data path never makes them.

One record, as it lies in a batch (every number but the attributes is a zig-zag varint):

    length · attributes (0) · timestamp delta · offset delta · key length · key · value length · value · label count · labels
    label: key length · key · value length · value

A length of -1 is a null. What is read here was checked when it was produced; bytes that were not raise `RecordsError`.
A batch that a broker rewrote may have gaps between its offsets and may be empty; both are read as they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from headrace.base.errors import Refused
from headrace.base.files import Buffer
from headrace.base.limits import INFLATED_SIZE_MAX
from headrace.records.compression import inflate
from headrace.records.header import HEADER_SIZE, LENGTH_MIN, MAGIC, OFFSET_AND_LENGTH_SIZE, BatchHeader, read_header

Label = tuple[bytes, bytes | None]


class RecordsError(Exception):
    """These bytes are no records."""


class Record:
    """One record. Its name is topic, partition, offset; labels are Kafka's headers: keys are UTF-8 and may repeat."""

    __slots__ = ("key", "labels", "offset", "timestamp", "value")

    def __init__(
        self, offset: int, timestamp: int, key: bytes | None, value: bytes | None, labels: tuple[Label, ...] | list[Label] = ()
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.labels = tuple(labels)

    def __repr__(self) -> str:
        return f"Record({self.offset}, {self.timestamp}, {self.key!r}, {self.value!r}, {self.labels!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return (
            self.offset == other.offset
            and self.timestamp == other.timestamp
            and self.key == other.key
            and self.value == other.value
            and self.labels == other.labels
        )

    __hash__ = None  # type: ignore[assignment]


def read_batches(data: Buffer) -> Iterator[tuple[int, BatchHeader]]:
    """The whole batches in a buffer, each with its position. A last batch that is cut is left out."""
    at = 0
    held = len(data)
    while held - at >= HEADER_SIZE:
        header = read_header(data, at)
        if header.size < OFFSET_AND_LENGTH_SIZE + LENGTH_MIN:
            raise RecordsError(f"at {at}: a batch of {header.size} bytes")
        if header.size > held - at:
            return
        yield at, header
        at += header.size


def read_records(
    data: Buffer, header: BatchHeader | None = None, *, inflated_size_max: int = INFLATED_SIZE_MAX
) -> Iterator[Record]:
    """The records of one batch, which is all of `data`. In a batch with append time every record has that time."""
    if header is None:
        header = read_header(data)
    if header.magic != MAGIC:
        raise RecordsError(f"message format {header.magic} is not read here")
    if not HEADER_SIZE <= header.size <= len(data):
        raise RecordsError(f"the batch says {header.size} bytes, {len(data)} are here")
    section: Buffer = memoryview(data)[HEADER_SIZE : header.size]
    if header.codec:
        inflated = inflate(header.codec, section, inflated_size_max)
        if isinstance(inflated, Refused):
            raise RecordsError(inflated.why)
        section = inflated
    return _read_section(bytes(section), header)


def _read_section(data: bytes, header: BatchHeader) -> Iterator[Record]:
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    append_time = header.max_timestamp if header.is_append_time else None
    at = 0
    try:
        for _ in range(header.count):
            length, at = read_varint(data, at)
            end = at + length
            at += 1
            timestamp_delta, at = read_varint(data, at)
            offset_delta, at = read_varint(data, at)
            key, at = _read_bytes(data, at, end)
            value, at = _read_bytes(data, at, end)
            label_count, at = read_varint(data, at)
            labels: list[Label] = []
            if label_count:
                if not 0 <= label_count <= end - at:
                    raise RecordsError(f"{label_count} labels in {end - at} bytes")
                for _ in range(label_count):
                    label_key, at = _read_bytes(data, at, end)
                    if label_key is None:
                        raise RecordsError("a label's key is null")
                    label_value, at = _read_bytes(data, at, end)
                    labels.append((label_key, label_value))
            if at != end or end > len(data):
                raise RecordsError(f"a record ends at {at}, its length says {end}")
            timestamp = base_timestamp + timestamp_delta if append_time is None else append_time
            yield Record(base_offset + offset_delta, timestamp, key, value, labels)
    except IndexError:
        raise RecordsError("the records end too early") from None


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A zig-zag varint, and where the next thing begins."""
    byte = data[at]
    at += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), at
    number = byte & 0x7F
    shift = 7
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7
        if shift > 63:
            raise RecordsError("a number of more than 10 bytes")


def _read_bytes(data: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    size, at = read_varint(data, at)
    if size < 0:
        return None, at
    if size > end - at:
        raise RecordsError(f"{size} bytes where {end - at} are left")
    return data[at : at + size], at + size
