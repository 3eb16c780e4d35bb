from __future__ import annotations

import contextlib

import pytest

from headrace.records.build import build_batch
from headrace.records.header import HEADER_SIZE
from headrace.records.record import Record, RecordsError, read_batches, read_records
from headrace.records.stamp import seal

ONE = bytes(build_batch([Record(0, 1, b"k", b"v")]))
TWO = bytes(build_batch([Record(3, 1, None, b"x" * 200), Record(4, 2, None, None)], base_offset=3))


def test_whole_batches_of_a_buffer() -> None:
    data = ONE + TWO + ONE[:-1]
    assert [(at, header.base_offset) for at, header in read_batches(data)] == [(0, 0), (len(ONE), 3)]
    assert list(read_batches(b"")) == []
    assert list(read_batches(ONE[:20])) == []


def test_a_length_of_nothing_cannot_hold_the_reader() -> None:
    broken = bytearray(ONE)
    broken[8:12] = bytes(4)
    with pytest.raises(RecordsError):
        list(read_batches(broken))


def test_an_empty_batch_as_the_cleaner_leaves_it() -> None:
    empty = bytearray(ONE[:HEADER_SIZE])
    empty[8:12] = (HEADER_SIZE - 12).to_bytes(4, "big")
    empty[57:61] = bytes(4)
    seal(empty)
    assert list(read_records(empty)) == []


@pytest.mark.parametrize("codec", range(5))
def test_rubbish_is_records_error_and_nothing_else(codec: int) -> None:
    batch = build_batch([Record(i, i, b"key", b"value" * 5, [(b"a", b"b")]) for i in range(20)], codec=codec)
    for at in range(HEADER_SIZE, len(batch)):
        for wrong in (0, 1, 0x7F, 0x80, 0xFF):
            broken = bytearray(batch)
            broken[at] = wrong
            with contextlib.suppress(RecordsError):
                list(read_records(broken))
    with pytest.raises(RecordsError):
        list(read_records(batch[:-1]))
    with pytest.raises(RecordsError):
        list(read_records(build_old()))


def build_old() -> bytes:
    old = bytearray(ONE)
    old[16] = 1
    return bytes(old)
