"""The record batch's header: the 61 bytes in front of the records, and what a produced batch must keep to.

A batch (magic 2) lies in a log exactly as it came over the wire:

    at  size  field
     0     8  base offset            stamped by the broker, outside the checksum
     8     4  length                 of everything after this field: size of the batch - 12
    12     4  leader epoch           stamped by the broker, outside the checksum
    16     1  magic                  2; 0 and 1 are the formats of before 2017, which had the same first 17 bytes
    17     4  CRC-32C                over all that follows
    21     2  attributes             see below
    23     4  last offset delta      last offset - base offset
    27     8  base timestamp         records hold their distance to it
    35     8  max timestamp          of the records; of the append where the attributes say so
    43     8  producer id            -1: the producer is not idempotent
    51     2  producer epoch
    53     4  base sequence          of the first record; counts on and wraps from 2^31-1 to 0
    57     4  count
    61     .  records                one compressed stream when there is a codec

    attributes: bits 0-2 codec, 3 append time, 4 transactional, 5 control, 6 delete horizon; Kafka ignores the rest, and so do we.

`check_batch` looks at the header and the checksum only, in about two microseconds for 16 kB; the records themselves are
`walk`'s. What is refused, and with which code, follows what Apache Kafka answers to the same bytes; where Kafka would
mend or trim in silence and no client asks for that, we refuse (bytes behind the batch, broker's attributes).
"""

from __future__ import annotations

import struct

from fastcrc import crc32

from headrace.base.errors import Code, Refused
from headrace.base.files import Buffer

MAGIC = 2
OFFSET_AND_LENGTH_SIZE = 12
HEADER_SIZE = 61
CRC_AT = 17
CHECKED_FROM = 21  # the checksum covers from here to the end

CODEC_MASK = 0x07
APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

CODEC_MAX = 4
SEQUENCE_MAX = 2**31 - 1

# The smallest message that ever was (magic 0): Kafka takes any smaller length for rubbish.
LENGTH_MIN = 14
MAGIC_AT = 16
_CODEC_AT = 22  # the lower byte of the attributes

HEADER = struct.Struct(">qiibIhiqqqhii")
assert HEADER.size == HEADER_SIZE
_unpack_header = HEADER.unpack_from
_unpack_length = struct.Struct(">i").unpack_from
checksum = crc32.iscsi


class BatchHeader:
    """The header's fields as they stand in the bytes."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "count",
        "crc",
        "last_offset_delta",
        "leader_epoch",
        "magic",
        "max_timestamp",
        "producer_epoch",
        "producer_id",
        "size",
    )

    base_offset: int
    size: int  # of the whole batch, offset and length included
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    def __init__(self, data: Buffer, at: int = 0) -> None:
        # Unpacked straight into the slots: a third cheaper than arguments.
        (
            self.base_offset,
            length,
            self.leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.count,
        ) = _unpack_header(data, at)
        self.size = length + OFFSET_AND_LENGTH_SIZE

    @property
    def codec(self) -> int:
        return self.attributes & CODEC_MASK

    @property
    def is_append_time(self) -> bool:
        return self.attributes & APPEND_TIME != 0

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL != 0

    @property
    def has_delete_horizon(self) -> bool:
        return self.attributes & DELETE_HORIZON != 0

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """The last record's sequence. It wraps: after 2^31-1 comes 0."""
        if self.base_sequence < 0:
            return self.base_sequence
        return (self.base_sequence + self.last_offset_delta) & SEQUENCE_MAX

    def __repr__(self) -> str:
        return (
            f"BatchHeader(offsets {self.base_offset}..{self.last_offset}, {self.count} records, {self.size} bytes, "
            f"magic {self.magic}, attributes {self.attributes:#x}, epoch {self.leader_epoch}, "
            f"timestamps {self.base_timestamp}..{self.max_timestamp}, "
            f"producer {self.producer_id}/{self.producer_epoch} from {self.base_sequence})"
        )


def read_header(data: Buffer, at: int = 0) -> BatchHeader:
    """The header at `at`. Nothing is checked: for bytes that were checked when they came in."""
    assert len(data) - at >= HEADER_SIZE, f"{len(data) - at} bytes are no batch header"
    return BatchHeader(data, at)


def has_right_checksum(data: Buffer, header: BatchHeader, at: int = 0) -> bool:
    """Whether the whole batch at `at` carries the checksum of its own bytes."""
    view = memoryview(data)
    return checksum(view[at + CHECKED_FROM : at + header.size]) == header.crc


def check_batch(data: Buffer, *, size_max: int) -> BatchHeader | Refused:
    """A produced batch, judged before anything of it is stored: header and checksum. The records are for `check_records`."""
    held = len(data)
    if held < HEADER_SIZE:
        return _refuse_short(data)
    header = BatchHeader(data)
    size = header.size
    if size != held or header.magic != MAGIC:
        refused = _refuse_frame(data, header)
        if refused is not None:
            return refused
    if header.base_offset != 0:
        return Refused(
            Code.INVALID_RECORD, f"the batch's base offset is {header.base_offset}: producers write 0, the broker numbers"
        )
    if size > size_max:
        return Refused(Code.BATCH_TOO_LARGE, f"the batch has {size} bytes, the topic takes up to {size_max} (max.message.bytes)")
    found = checksum(memoryview(data)[CHECKED_FROM:])
    if found != header.crc:
        return Refused(Code.CORRUPT_BATCH, f"the batch's bytes give CRC-32C {found:#010x}, its header says {header.crc:#010x}")
    count = header.count
    if count <= 0 or header.last_offset_delta != count - 1:
        return Refused(
            Code.INVALID_RECORD,
            f"a batch of {count} records with a last offset delta of {header.last_offset_delta}: must be one less",
        )
    attributes = header.attributes
    # Nearly every batch: a codec or none, no producer state, nothing else.
    if (
        attributes & ~(CODEC_MASK | TRANSACTIONAL)
        or attributes & CODEC_MASK > CODEC_MAX
        or header.producer_id != -1
        or attributes & TRANSACTIONAL
    ):
        return _refuse_attributes(header) or header
    return header


def codec_of(data: Buffer) -> int:
    """The codec that what may be a batch speaks of; 0 where it is too short to say."""
    return data[_CODEC_AT] & CODEC_MASK if len(data) > _CODEC_AT else 0


def is_framed(data: Buffer) -> bool:
    """Whether the length in front is that of the bytes that came: what is asked before anybody looks at the log."""
    return len(data) >= HEADER_SIZE and _unpack_length(data, 8)[0] + OFFSET_AND_LENGTH_SIZE == len(data)


def _refuse_short(data: Buffer) -> Refused:
    """Fewer bytes than a header."""
    held = len(data)
    if held == 0:
        return Refused(Code.INVALID_RECORD, "no batch: the records are empty")
    if held > MAGIC_AT:
        (length,) = _unpack_length(data, 8)
        if length < LENGTH_MIN:
            return Refused(Code.CORRUPT_BATCH, f"the batch's length is {length}, the least is {LENGTH_MIN}")
        refused = _refuse_magic(data[MAGIC_AT])
        if refused is not None:
            return refused
        if length <= held - OFFSET_AND_LENGTH_SIZE:
            return Refused(Code.CORRUPT_BATCH, f"the batch's length is {length}: less than a header")
    return Refused(Code.INVALID_RECORD, f"no whole batch: {held} bytes, the header alone has {HEADER_SIZE}")


def _refuse_magic(magic: int) -> Refused | None:
    if magic in (0, 1):
        return Refused(Code.UNSUPPORTED_FORMAT, f"message format {magic} is not supported: produce record batches (format {MAGIC})")
    if magic != MAGIC:
        return Refused(Code.CORRUPT_BATCH, f"magic {magic}: the batch is no batch")
    return None


def _refuse_frame(data: Buffer, header: BatchHeader) -> Refused | None:
    """The bytes are not exactly one batch of format 2."""
    held = len(data)
    if header.size < OFFSET_AND_LENGTH_SIZE + LENGTH_MIN:
        return Refused(
            Code.CORRUPT_BATCH, f"the batch's length is {header.size - OFFSET_AND_LENGTH_SIZE}, the least is {LENGTH_MIN}"
        )
    refused = _refuse_magic(header.magic & 0xFF)
    if refused is not None:
        return refused
    if header.size > held:
        return Refused(Code.INVALID_RECORD, f"no whole batch: it says {header.size} bytes, {held} came")
    if header.size < HEADER_SIZE:
        return Refused(Code.CORRUPT_BATCH, f"the batch says {header.size} bytes, its header alone has {HEADER_SIZE}")
    if not has_right_checksum(data, header):
        return Refused(Code.CORRUPT_BATCH, f"the batch says {header.size} of {held} bytes, and its checksum is not theirs")
    if header.size < held:
        return Refused(Code.INVALID_RECORD, f"a produce carries one batch a partition: {held - header.size} bytes follow it")
    return None


def _refuse_attributes(header: BatchHeader) -> Refused | None:
    """What only a few batches have: producer state, and bits that a client may not set."""
    attributes = header.attributes
    if attributes & CODEC_MASK > CODEC_MAX:
        return Refused(Code.UNSUPPORTED_CODEC, f"codec {attributes & CODEC_MASK} is unknown: there are 0 to {CODEC_MAX}")
    if attributes & CONTROL:
        return Refused(Code.INVALID_RECORD, "clients may not write control batches")
    if attributes & DELETE_HORIZON:
        return Refused(Code.INVALID_RECORD, "clients may not set a delete horizon: the cleaner does")
    if header.producer_id < 0:
        if header.producer_id < -1:
            return Refused(Code.INVALID_RECORD, f"producer id {header.producer_id} is negative")
        if attributes & TRANSACTIONAL:
            return Refused(Code.TRANSACTIONS_NOT_SUPPORTED, "the batch is transactional and names no producer id")
        return None
    if header.producer_epoch < 0 or header.base_sequence < 0:
        return Refused(
            Code.INVALID_RECORD,
            f"producer {header.producer_id} with epoch {header.producer_epoch} and base sequence {header.base_sequence}: negative",
        )
    return None
