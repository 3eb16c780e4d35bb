"""Building batches: for the command line, internal topics, tests and the cleaner. Producers build their own.

A record's offset is kept when the batch is built with `offsets="kept"` (rewriting what a log holds); otherwise records are
numbered one after another from `base_offset`. A tombstone is a record whose value is None.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Literal

from headrace.base.files import Buffer
from headrace.base.ids import NO_EPOCH, NO_PRODUCER, NO_SEQUENCE, NO_TIMESTAMP
from headrace.records.compression import compress
from headrace.records.header import APPEND_TIME, CONTROL, HEADER, HEADER_SIZE, MAGIC, OFFSET_AND_LENGTH_SIZE, TRANSACTIONAL
from headrace.records.record import Record
from headrace.records.stamp import seal

_CONTROL_KEY = struct.Struct(">hh")
_CONTROL_VALUE = struct.Struct(">hi")
ABORT, COMMIT = 0, 1


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    codec: int = 0,
    level: int | None = None,
    producer_id: int = NO_PRODUCER,
    producer_epoch: int = NO_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    leader_epoch: int = NO_EPOCH,
    append_time_ms: int | None = None,
    transactional: bool = False,
    control: bool = False,
    offsets: Literal["counted", "kept"] = "counted",
) -> bytearray:
    """One whole batch with its checksum. There must be at least one record."""
    section = bytearray()
    base_timestamp = NO_TIMESTAMP
    max_timestamp = NO_TIMESTAMP
    delta = count = 0
    for record in records:
        timestamp = record.timestamp
        if count == 0:
            base_timestamp = timestamp
            if offsets == "kept":
                base_offset = record.offset
        if timestamp > max_timestamp:
            max_timestamp = timestamp
        delta = record.offset - base_offset if offsets == "kept" else count
        put_record(section, record, timestamp - base_timestamp, delta)
        count += 1
    assert count, "a batch has at least one record"
    attributes = codec | (TRANSACTIONAL if transactional else 0) | (CONTROL if control else 0)
    if append_time_ms is not None:
        attributes |= APPEND_TIME
        max_timestamp = append_time_ms
    return assemble(
        section,
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        attributes=attributes,
        last_offset_delta=delta,
        base_timestamp=base_timestamp,
        max_timestamp=max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        count=count,
        level=level,
    )


def assemble(
    section: Buffer,
    *,
    base_offset: int,
    leader_epoch: int,
    attributes: int,
    last_offset_delta: int,
    base_timestamp: int,
    max_timestamp: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    count: int,
    level: int | None = None,
) -> bytearray:
    """A batch around an uncompressed records section; compressed here, with the codec that the attributes name."""
    codec = attributes & 7
    body = compress(codec, section, level) if codec else section
    batch = bytearray(HEADER_SIZE)
    HEADER.pack_into(
        batch,
        0,
        base_offset,
        HEADER_SIZE - OFFSET_AND_LENGTH_SIZE + len(body),
        leader_epoch,
        MAGIC,
        0,
        attributes,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        producer_epoch,
        base_sequence,
        count,
    )
    batch += body
    seal(batch)
    return batch


def build_end_marker(
    *,
    committed: bool,
    producer_id: int,
    producer_epoch: int,
    timestamp: int,
    coordinator_epoch: int,
    base_offset: int = 0,
    leader_epoch: int = NO_EPOCH,
) -> bytearray:
    """The control batch that ends a producer's transaction in a partition."""
    key = _CONTROL_KEY.pack(0, COMMIT if committed else ABORT)
    marker = Record(0, timestamp, key, _CONTROL_VALUE.pack(0, coordinator_epoch))
    return build_batch(
        [marker],
        base_offset=base_offset,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
    )


def put_record(out: bytearray, record: Record, timestamp_delta: int, offset_delta: int) -> None:
    body = bytearray(1)  # attributes: none are defined
    put_varint(body, timestamp_delta)
    put_varint(body, offset_delta)
    _put_bytes(body, record.key)
    _put_bytes(body, record.value)
    put_varint(body, len(record.labels))
    for key, value in record.labels:
        _put_bytes(body, key)
        _put_bytes(body, value)
    put_varint(out, len(body))
    out += body


def put_varint(out: bytearray, number: int) -> None:
    number = (number << 1) ^ (number >> 63)
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def _put_bytes(out: bytearray, value: bytes | None) -> None:
    if value is None:
        out.append(1)  # -1
        return
    put_varint(out, len(value))
    out += value
