"""Building and reading, against kafka-python's and aiokafka's encoders and decoders."""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatch as AioBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AioBuilder
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import ControlRecord, DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.memory_records import MemoryRecords

from headrace.records.build import ABORT, COMMIT, build_batch, build_end_marker
from headrace.records.header import BatchHeader, check_batch, read_header
from headrace.records.record import Record, read_records
from headrace.records.validation import check_records

# kafka-python reads snappy and zstd only with packages that are not among our test dependencies; aiokafka reads all.
KAFKA_PYTHON_CODECS = (0, 1, 3)
CODECS = (0, 1, 2, 3, 4)

RECORDS = [
    Record(0, 1_700_000_000_000, None, b"first"),
    Record(1, 1_700_000_000_777, b"key", b""),
    Record(2, 1_699_999_999_000, b"", None, [("größe".encode(), b"1"), (b"", None), (b"a", b"")]),
    *[Record(i, 1_700_000_000_000 + i * 1_000, b"%d" % i, bytes(i), [(b"n", b"%d" % i)] * (i % 3)) for i in range(3, 200)],
]


def plain(records: Any) -> list[tuple[int, int, bytes | None, bytes | None, list[tuple[bytes, bytes | None]]]]:
    """Either kind of record, comparable."""
    return [
        (r.offset, r.timestamp, r.key, r.value, list(r.labels))
        if isinstance(r, Record)
        else (r.offset, r.timestamp, r.key, r.value, [(k.encode(), v) for k, v in r.headers])
        for r in records
    ]


@pytest.mark.parametrize("codec", CODECS)
def test_aiokafka_reads_what_we_build(codec: int) -> None:
    batch = build_batch(RECORDS, codec=codec)
    other = AioBatch(bytes(batch))
    assert other.validate_crc()
    assert plain(other) == plain(RECORDS)


@pytest.mark.parametrize("codec", KAFKA_PYTHON_CODECS)
def test_kafka_python_reads_what_we_build(codec: int) -> None:
    batch = build_batch(RECORDS, codec=codec, producer_id=7, producer_epoch=1, base_sequence=5, leader_epoch=2, transactional=True)
    other = DefaultRecordBatch(bytes(batch))
    assert other.validate_crc()
    assert (other.producer_id, other.producer_epoch, other.base_sequence, other.leader_epoch) == (7, 1, 5, 2)
    assert other.is_transactional and not other.is_control_batch
    assert other.max_timestamp == max(r.timestamp for r in RECORDS)
    assert plain(other) == plain(RECORDS)


@pytest.mark.parametrize(
    ("builder", "codec"), [(AioBuilder, c) for c in CODECS] + [(DefaultRecordBatchBuilder, c) for c in KAFKA_PYTHON_CODECS]
)
def test_we_read_what_they_build(builder: Any, codec: int) -> None:
    made = builder(2, codec, 0, -1, -1, -1, 1 << 20)
    for r in RECORDS:
        made.append(r.offset, r.timestamp, r.key, r.value, [(k.decode(), v) for k, v in r.labels])
    batch = memoryview(bytearray(made.build()))
    header = check_batch(batch, size_max=1 << 20)
    assert isinstance(header, BatchHeader)
    assert header.codec == codec
    assert check_records(batch, header) is None
    assert list(read_records(batch)) == RECORDS


def test_uncompressed_bytes_are_kafka_pythons_bytes() -> None:
    made = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 1 << 20)
    for r in RECORDS:
        made.append(r.offset, r.timestamp, r.key, r.value, [(k.decode(), v) for k, v in r.labels])
    assert bytes(made.build())[16:] == bytes(build_batch(RECORDS))[16:]


BYTES = st.none() | st.binary(max_size=300)
LABELS = st.lists(st.tuples(st.text(max_size=20).map(str.encode), st.none() | st.binary(max_size=200)), max_size=4)
MANY = st.lists(st.tuples(st.integers(-1, 2**45), BYTES, BYTES, LABELS), min_size=1, max_size=30)


@settings(max_examples=60, deadline=None)
@given(MANY, st.sampled_from(CODECS), st.integers(0, 2**62))
def test_round_trip(rows: list[Any], codec: int, base_offset: int) -> None:
    records = [Record(base_offset + i, *row) for i, row in enumerate(rows)]
    batch = build_batch(records, codec=codec, base_offset=base_offset)
    assert list(read_records(batch)) == records
    header = read_header(batch)
    assert header.max_timestamp == max(r.timestamp for r in records)
    assert check_records(batch, header) is None
    assert plain(AioBatch(bytes(batch))) == plain(records)


def test_offsets_can_be_kept_with_their_gaps() -> None:
    records = [Record(100, 5, b"a", b"1"), Record(107, 6, b"b", b"2")]
    batch = build_batch(records, offsets="kept")
    header = read_header(batch)
    assert (header.base_offset, header.last_offset, header.count) == (100, 107, 2)
    assert list(read_records(batch)) == records


def test_append_time() -> None:
    batch = build_batch([Record(0, 5, None, b"x")], append_time_ms=99)
    assert read_header(batch).is_append_time
    assert [r.timestamp for r in read_records(batch)] == [99]


@pytest.mark.parametrize("committed", [True, False])
def test_end_markers_are_what_kafka_python_expects(committed: bool) -> None:
    batch = build_end_marker(committed=committed, producer_id=5, producer_epoch=2, timestamp=9, coordinator_epoch=3, base_offset=40)
    (found,) = MemoryRecords(bytes(batch))
    assert found.is_control_batch and found.is_transactional
    (marker,) = found
    assert isinstance(marker, ControlRecord)
    assert (marker.offset, marker.version, marker.type) == (40, 0, COMMIT if committed else ABORT)
    assert (marker.commit, marker.abort) == (committed, not committed)
    (ours,) = read_records(batch)
    assert ours.value == bytes(2) + (3).to_bytes(4, "big")
