"""The batch header and the judgement of produced batches. What Kafka 4.3.1 answered to the same bytes stands beside each case."""

from __future__ import annotations

import pytest

from headrace.base.errors import Code, Refused
from headrace.records.build import build_batch
from headrace.records.header import HEADER, HEADER_SIZE, BatchHeader, check_batch, has_right_checksum, read_header
from headrace.records.record import Record
from headrace.records.stamp import seal

FIELDS = (
    *("base_offset", "length", "leader_epoch", "magic", "crc", "attributes", "last_offset_delta"),
    *("base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence", "count"),
)
GOOD = bytes(build_batch([Record(0, 1_000, b"k", b"v" * 20), Record(1, 1_005, None, None)]))


def alter(batch: bytes, *, sealed: bool = True, **fields: int) -> bytes:
    changed = bytearray(batch)
    values = dict(zip(FIELDS, HEADER.unpack_from(changed), strict=True)) | fields
    HEADER.pack_into(changed, 0, *values.values())
    if sealed:
        seal(changed)
    return bytes(changed)


def test_fields_are_read_where_they_stand() -> None:
    batch = alter(
        GOOD,
        base_offset=7,
        leader_epoch=3,
        attributes=0x5C,
        last_offset_delta=9,
        base_timestamp=-5,
        max_timestamp=99,
        producer_id=12,
        producer_epoch=4,
        base_sequence=2**31 - 3,
        count=10,
    )
    header = read_header(b"xxx" + batch, 3)
    assert (header.base_offset, header.size, header.leader_epoch, header.magic) == (7, len(batch), 3, 2)
    assert (header.base_timestamp, header.max_timestamp, header.producer_id, header.producer_epoch) == (-5, 99, 12, 4)
    assert (header.codec, header.is_append_time, header.is_transactional, header.is_control) == (4, True, True, False)
    assert header.has_delete_horizon
    assert (header.last_offset, header.count) == (16, 10)
    assert header.last_sequence == 6  # ..., 2^31-1, 0, 1, ... 6
    assert "7..16" in repr(header)


def test_a_batch_without_sequence_has_no_last_one() -> None:
    assert read_header(GOOD).last_sequence == -1


def test_a_good_batch_passes_from_any_buffer() -> None:
    for data in (GOOD, bytearray(GOOD), memoryview(GOOD), memoryview(bytearray(GOOD))):
        header = check_batch(data, size_max=len(GOOD))
        assert isinstance(header, BatchHeader)
        assert header.count == 2
        assert has_right_checksum(data, header)


@pytest.mark.parametrize(
    ("name", "batch", "code"),
    [
        ("empty", b"", Code.INVALID_RECORD),
        ("cut in the offset", GOOD[:5], Code.INVALID_RECORD),
        ("cut before magic", GOOD[:16], Code.INVALID_RECORD),
        ("cut after magic", GOOD[:17], Code.INVALID_RECORD),
        ("cut header", GOOD[:60], Code.INVALID_RECORD),
        ("header only", GOOD[:61], Code.INVALID_RECORD),
        ("cut at the end", GOOD[:-1], Code.INVALID_RECORD),
        ("two batches", GOOD + GOOD, Code.INVALID_RECORD),
        ("rubbish behind", GOOD + b"12345", Code.INVALID_RECORD),  # Kafka cuts it off
        ("magic 0", alter(GOOD, magic=0), Code.UNSUPPORTED_FORMAT),  # Kafka: INVALID_RECORD
        ("magic 1, short", alter(GOOD, magic=1)[:40], Code.UNSUPPORTED_FORMAT),
        ("magic 3", alter(GOOD, magic=3), Code.CORRUPT_BATCH),
        ("magic -1", alter(GOOD, magic=-1), Code.CORRUPT_BATCH),
        ("magic 3, short", alter(GOOD, magic=3)[:40], Code.CORRUPT_BATCH),
        ("length -1", alter(GOOD, length=-1), Code.CORRUPT_BATCH),
        ("length 13", alter(GOOD, length=13), Code.CORRUPT_BATCH),
        ("length 13, short", alter(GOOD, length=13)[:30], Code.CORRUPT_BATCH),
        ("length 20", alter(GOOD, length=20), Code.CORRUPT_BATCH),
        ("length 40 of 52", alter(GOOD, length=40, sealed=False)[:52], Code.CORRUPT_BATCH),
        ("one byte less", alter(GOOD, length=len(GOOD) - 13), Code.CORRUPT_BATCH),
        ("one byte more", alter(GOOD, length=len(GOOD) - 11), Code.INVALID_RECORD),
        ("length 2^31-1", alter(GOOD, length=2**31 - 1), Code.INVALID_RECORD),
        ("base offset 5", alter(GOOD, base_offset=5), Code.INVALID_RECORD),
        ("bad checksum", alter(GOOD, crc=1, sealed=False), Code.CORRUPT_BATCH),
        ("bad checksum before bad count", alter(alter(GOOD, count=0), crc=1, sealed=False), Code.CORRUPT_BATCH),
        ("count 0", alter(GOOD, count=0, last_offset_delta=-1), Code.INVALID_RECORD),
        ("count -1", alter(GOOD, count=-1, last_offset_delta=-2), Code.INVALID_RECORD),
        ("count 1, last delta 1", alter(GOOD, count=1), Code.INVALID_RECORD),
        ("count 3, last delta 1", alter(GOOD, count=3), Code.INVALID_RECORD),
        ("last delta 5", alter(GOOD, last_offset_delta=5), Code.INVALID_RECORD),
        ("control", alter(GOOD, attributes=0x20), Code.INVALID_RECORD),
        ("delete horizon", alter(GOOD, attributes=0x40), Code.INVALID_RECORD),  # Kafka takes it
        ("codec 5", alter(GOOD, attributes=5), Code.UNSUPPORTED_CODEC),  # Kafka: UNKNOWN_SERVER_ERROR
        ("codec 7", alter(GOOD, attributes=7), Code.UNSUPPORTED_CODEC),
        ("producer id -2", alter(GOOD, producer_id=-2), Code.INVALID_RECORD),  # Kafka takes it for none
        ("producer without epoch", alter(GOOD, producer_id=9, base_sequence=0), Code.INVALID_RECORD),  # Kafka takes it
        ("producer without sequence", alter(GOOD, producer_id=9, producer_epoch=0), Code.INVALID_RECORD),
        ("transactional without producer", alter(GOOD, attributes=0x10), Code.TRANSACTIONS_NOT_SUPPORTED),
    ],
)
def test_what_is_refused(name: str, batch: bytes, code: Code) -> None:
    refused = check_batch(memoryview(batch), size_max=1_000)
    assert isinstance(refused, Refused), name
    assert refused.code is code, refused
    assert refused.why


@pytest.mark.parametrize(
    "batch",
    [
        alter(GOOD, attributes=0x80),  # bits above the known ones are ignored
        alter(GOOD, attributes=-0x8000),
        alter(GOOD, attributes=4),
        alter(GOOD, attributes=0x08),  # append time: the topic decides, whatever the client says
        alter(GOOD, leader_epoch=77),
        alter(GOOD, max_timestamp=5),  # the walk puts it right
        alter(GOOD, base_timestamp=-(10**15), max_timestamp=-(10**15)),
        alter(GOOD, producer_epoch=0, base_sequence=0),  # kafkajs without idempotence
        alter(GOOD, producer_id=0, producer_epoch=0, base_sequence=2**31 - 1),
        alter(GOOD, attributes=0x10, producer_id=5, producer_epoch=0, base_sequence=0),
    ],
)
def test_what_passes_as_in_kafka(batch: bytes) -> None:
    assert isinstance(check_batch(batch, size_max=1_000), BatchHeader)


def test_size_is_refused_before_the_checksum_is_computed() -> None:
    refused = check_batch(alter(GOOD, crc=1, sealed=False), size_max=len(GOOD) - 1)
    assert isinstance(refused, Refused)
    assert refused.code is Code.BATCH_TOO_LARGE
    assert str(len(GOOD)) in refused.why


def test_every_flipped_bit_is_found_or_harmless() -> None:
    """Offset, length and epoch lie outside the checksum; all else is inside."""
    for at in range(HEADER_SIZE):
        for bit in range(8):
            broken = bytearray(GOOD)
            broken[at] ^= 1 << bit
            judged = check_batch(broken, size_max=1_000)
            assert isinstance(judged, Refused) or 12 <= at < 16, (at, bit)
