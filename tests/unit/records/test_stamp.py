from __future__ import annotations

from headrace.records.build import build_batch
from headrace.records.header import BatchHeader, check_batch, has_right_checksum, read_header
from headrace.records.record import Record, read_records
from headrace.records.stamp import stamp, stamp_append_time, stamp_create_time, stamp_max_timestamp

RECORDS = [Record(0, 1_000, b"k", b"v"), Record(1, 990, None, b"w")]


def test_numbering_leaves_the_checksum_alone() -> None:
    batch = build_batch(RECORDS, codec=1)
    before = bytes(batch)
    stamp(memoryview(batch), 123_456, 7)
    header = read_header(batch)
    assert (header.base_offset, header.leader_epoch, header.last_offset, header.size) == (123_456, 7, 123_457, len(batch))
    assert batch[16:] == before[16:]
    assert has_right_checksum(batch, header)
    assert [r.offset for r in read_records(batch)] == [123_456, 123_457]


def test_append_time_is_every_records_time() -> None:
    batch = build_batch(RECORDS)
    stamp_append_time(memoryview(batch), 5_000)
    header = read_header(batch)
    assert header.is_append_time
    assert (header.base_timestamp, header.max_timestamp) == (1_000, 5_000)
    assert has_right_checksum(batch, header)
    assert [r.timestamp for r in read_records(batch)] == [5_000, 5_000]


def test_a_client_that_claims_append_time_is_not_believed() -> None:
    batch = build_batch(RECORDS)
    good = bytes(batch)
    stamp_append_time(memoryview(batch), 1_000)
    stamp_create_time(batch)
    assert batch == good


def test_a_wrong_max_timestamp_is_put_right() -> None:
    batch = build_batch(RECORDS)
    good = bytes(batch)
    stamp_max_timestamp(batch, 5)
    assert batch != good
    stamp_max_timestamp(batch, 1_000)
    assert batch == good
    assert isinstance(check_batch(batch, size_max=1_000), BatchHeader)
