from __future__ import annotations

import random

import pytest
from aiokafka.record.default_records import DefaultRecordBatch as AioBatch
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch

from headrace.base.errors import Code, Refused
from headrace.records.build import assemble, build_batch, put_varint
from headrace.records.header import HEADER, HEADER_SIZE, BatchHeader, check_batch, read_header
from headrace.records.record import Record, read_records
from headrace.records.stamp import seal, stamp_max_timestamp
from headrace.records.validation import RecordsSeen, check_records, check_timestamps, walk_records, wrong_records

NOW = 1_700_000_000_000
RECORDS = [Record(i, NOW + i, b"k%d" % i if i % 3 else None, b"v" * i, [(b"l", b"x")] * (i % 2)) for i in range(30)]


def seen_in(batch: bytearray) -> RecordsSeen:
    seen = walk_records(memoryview(batch), read_header(batch))
    assert isinstance(seen, RecordsSeen), seen
    return seen


@pytest.mark.parametrize("codec", range(5))
def test_a_good_batch(codec: int) -> None:
    batch = build_batch(RECORDS, codec=codec)
    seen = seen_in(batch)
    assert (seen.max_timestamp, seen.max_timestamp_index, seen.min_timestamp, seen.keyless_index) == (NOW + 29, 29, NOW, 0)
    assert check_records(memoryview(batch), read_header(batch)) is None


@pytest.mark.parametrize("codec", range(5))
def test_a_header_that_lies_about_the_max_timestamp(codec: int) -> None:
    """Kafka does not refuse it, it writes the real one."""
    batch = build_batch(RECORDS, codec=codec)
    for lie in (5, -1, -5, NOW + 10**12):
        stamp_max_timestamp(batch, lie)
        assert seen_in(batch).max_timestamp == NOW + 29


def test_no_timestamps() -> None:
    seen = seen_in(build_batch([Record(0, -1, None, b"x"), Record(1, -1, None, b"y")]))
    assert (seen.max_timestamp, seen.min_timestamp) == (-1, -1)
    assert seen_in(build_batch([Record(0, -(10**15), None, b"x")])).max_timestamp == -1


def raw(section: bytes, count: int, *, codec: int = 0, base_timestamp: int = NOW) -> bytearray:
    return assemble(
        section,
        base_offset=0,
        leader_epoch=-1,
        attributes=codec,
        last_offset_delta=count - 1,
        base_timestamp=base_timestamp,
        max_timestamp=NOW,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        count=count,
    )


@pytest.mark.parametrize("codec", range(5))
def test_records_that_do_not_chain(codec: int) -> None:
    section = bytes(build_batch(RECORDS)[HEADER_SIZE:])
    for wrong in (section[:-1], section + b"\0", section[1:], b""):
        batch = raw(wrong, len(RECORDS), codec=codec)
        refused = check_records(batch, read_header(batch))
        assert isinstance(refused, Refused)
        assert refused.code is Code.INVALID_RECORD


def test_a_timestamp_beyond_64_bits() -> None:
    body = bytearray(b"\0")
    put_varint(body, 2**62)
    batch = raw(bytes([2 * len(body + b"\0\1\1\0")]) + bytes(body) + b"\0\1\1\0", 1, base_timestamp=2**62)
    refused = check_records(batch, read_header(batch))
    assert isinstance(refused, Refused)
    assert "64 bits" in refused.why


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_a_batch_that_inflates_too_far(codec: int) -> None:
    batch = build_batch([Record(0, NOW, None, bytes(1_000_000))], codec=codec)
    refused = check_records(batch, read_header(batch), inflated_size_max=500_000)
    assert isinstance(refused, Refused)
    assert refused.code is Code.BATCH_TOO_LARGE
    assert "500000" in refused.why


def test_batches_from_a_log_may_have_gaps() -> None:
    batch = build_batch([Record(10, NOW, b"a", b""), Record(15, NOW, b"b", b"")], offsets="kept")
    assert isinstance(walk_records(batch, read_header(batch)), Refused)
    assert isinstance(walk_records(batch, read_header(batch), dense=False), RecordsSeen)


@pytest.mark.parametrize(
    ("earliest", "latest", "word"),
    [
        (NOW, NOW, None),
        (NOW - 100, NOW + 50, None),
        (NOW - 101, NOW, "before"),
        (NOW, NOW + 51, "after"),
        (-1, -1, None),
        (-2, -1, "before"),
    ],
)
def test_timestamps_near_enough(earliest: int, latest: int, word: str | None) -> None:
    refused = check_timestamps(earliest, latest, now_ms=NOW, before_ms_max=100, after_ms_max=50)
    if word is None:
        assert refused is None
    else:
        assert refused is not None and refused.code is Code.TIMESTAMP_OUT_OF_RANGE
        assert f"message.timestamp.{word}.max.ms" in refused.why


@pytest.mark.parametrize("codec", range(5))
def test_each_wrong_record_is_named(codec: int) -> None:
    batch = build_batch([Record(0, NOW, b"k", b""), Record(1, NOW - 50, None, b""), Record(2, NOW + 50, b"k", b"")], codec=codec)

    def wrong(needs_key: bool, now_ms: int | None) -> list[int]:
        named = wrong_records(batch, needs_key=needs_key, now_ms=now_ms, before_ms_max=20, after_ms_max=20)
        assert all(why for _, why in named)
        return [index for index, _ in named]

    assert wrong(False, NOW) == [1, 2]
    assert wrong(True, NOW) == [1, 2]
    assert wrong(True, None) == [1]
    assert wrong(False, NOW + 1000) == [0, 1, 2]
    assert wrong(False, None) == []


def test_wrong_records_of_what_is_no_batch_or_a_large_one() -> None:
    how = {"needs_key": True, "before_ms_max": 0, "after_ms_max": 0}
    assert wrong_records(raw(b"\xff" * 9, 3), now_ms=NOW + 5, **how) == []
    assert wrong_records(raw(b"rubbish", 3, codec=4), now_ms=NOW + 5, **how) == []
    assert wrong_records(build_batch([Record(i, NOW, None, b"") for i in range(501)]), now_ms=NOW + 5, **how) == []


def has_label_keys_of_text(batch: bytes) -> bool:
    """Kafka stores labels whose keys are no UTF-8; the Python clients cannot read them."""
    try:
        return all(key.decode() is not None for record in read_records(batch) for key, _ in record.labels)
    except UnicodeDecodeError:
        return False


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0, 0, 0, 1, 2, 3, 4]))
def test_mutated_batches_are_refused_or_readable_by_all(seed: int, codec: int) -> None:
    """Never another exception; and what passes stops no consumer."""
    rnd = random.Random(seed)
    records = RECORDS[: rnd.randrange(1, 30)]
    section = bytearray(build_batch(records)[HEADER_SIZE:])
    inside = codec and rnd.random() < 0.7  # break the records before they are packed
    if inside:
        mutate(rnd, section)
    batch = raw(bytes(section), len(records), codec=codec)
    if not inside:
        mutate(rnd, batch, rnd.choice((0, HEADER_SIZE, HEADER_SIZE)))
    if len(batch) > HEADER_SIZE and rnd.random() < 0.9:
        batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
        seal(batch)
    header = check_batch(memoryview(batch), size_max=1 << 20)
    if isinstance(header, Refused):
        return
    if check_records(memoryview(batch), header, inflated_size_max=1 << 20) is not None:
        return
    found = list(read_records(batch))
    assert [r.offset for r in found] == list(range(header.count))
    if not has_label_keys_of_text(batch):
        return
    ours = [(r.key, r.value, [(k.decode(), v) for k, v in r.labels]) for r in found]
    assert [(r.key, r.value, list(r.headers)) for r in AioBatch(bytes(batch))] == ours
    if header.codec in (0, 1, 3):
        assert [(r.key, r.value, list(r.headers)) for r in DefaultRecordBatch(bytes(batch))] == ours


def mutate(rnd: random.Random, data: bytearray, first: int = 0) -> None:
    for _ in range(rnd.randrange(1, 4)):
        if len(data) <= first:
            return
        at = rnd.randrange(first, len(data))
        match rnd.randrange(4):
            case 0:
                data[at] = rnd.choice((0, 1, 2, 0x7F, 0x80, 0xFF))
            case 1:
                data[at] ^= 1 << rnd.randrange(8)
            case 2:
                del data[at : at + rnd.randrange(1, 8)]
            case _:
                data[at:at] = bytes(rnd.randrange(256) for _ in range(rnd.randrange(1, 8)))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120), st.integers(-(2**31), 2**31 - 1), st.booleans())
def test_bytes_of_any_kind(tail: bytes, count: int, honest: bool) -> None:
    batch = bytearray(HEADER_SIZE) + tail
    HEADER.pack_into(batch, 0, 0, len(batch) - 12, 0, 2, 0, count & 0x1F, (count - 1) % 2**31, 0, 0, -1, -1, -1, count)
    if honest:
        seal(batch)
    for data in (batch, tail):
        header = check_batch(data, size_max=1_000)
        if isinstance(header, BatchHeader):
            check_records(data, header, inflated_size_max=10_000)
