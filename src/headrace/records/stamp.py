"""What the broker writes into a batch that it takes in: the offset, its epoch and, where the topic says so, the time.

All of it happens in the buffer that the batch came in, which is why the buffer must be writable and hold nothing but the batch.
"""

from __future__ import annotations

import struct

from headrace.records.header import APPEND_TIME, CHECKED_FROM, CRC_AT, HEADER_SIZE, OFFSET_AND_LENGTH_SIZE, checksum

_FRONT = struct.Struct(">qii")  # base offset, length, leader epoch: neighbours, so the length is written again
_CRC = struct.Struct(">I")
_ATTRIBUTES = struct.Struct(">h")
_MAX_TIMESTAMP = struct.Struct(">q")
_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP_AT = 35


def stamp(data: bytearray | memoryview, base_offset: int, leader_epoch: int) -> None:
    """Number a batch. The checksum does not cover these fields."""
    _FRONT.pack_into(data, 0, base_offset, len(data) - OFFSET_AND_LENGTH_SIZE, leader_epoch)


def stamp_append_time(data: bytearray | memoryview, now_ms: int) -> None:
    """The topic keeps times of append: every record has `now_ms` from here on. Their own stay in the bytes."""
    (attributes,) = _ATTRIBUTES.unpack_from(data, _ATTRIBUTES_AT)
    _ATTRIBUTES.pack_into(data, _ATTRIBUTES_AT, attributes | APPEND_TIME)
    stamp_max_timestamp(data, now_ms)


def stamp_create_time(data: bytearray | memoryview) -> None:
    """The topic keeps the producers' times, whatever the batch says: the topic decides."""
    (attributes,) = _ATTRIBUTES.unpack_from(data, _ATTRIBUTES_AT)
    _ATTRIBUTES.pack_into(data, _ATTRIBUTES_AT, attributes & ~APPEND_TIME)
    seal(data)


def stamp_max_timestamp(data: bytearray | memoryview, max_timestamp: int) -> None:
    """Put the header's max timestamp right: some clients write the last record's, and the time index believes the header."""
    _MAX_TIMESTAMP.pack_into(data, _MAX_TIMESTAMP_AT, max_timestamp)
    seal(data)


def seal(data: bytearray | memoryview) -> None:
    """Write the checksum of the batch's bytes as they are now."""
    assert len(data) >= HEADER_SIZE
    _CRC.pack_into(data, CRC_AT, checksum(memoryview(data)[CHECKED_FROM:]))
