from __future__ import annotations

import pytest

from headrace.base.errors import Code, Refused
from headrace.records.build import build_batch
from headrace.records.header import HEADER_SIZE, has_right_checksum, read_header
from headrace.records.recompress import recompress
from headrace.records.record import Record, read_records
from headrace.records.stamp import seal

RECORDS = [Record(50 + i, 1_000 - i, b"k", b"value" * 30) for i in range(100)]


@pytest.mark.parametrize("old", range(5))
@pytest.mark.parametrize("new", range(5))
def test_only_the_packing_changes(old: int, new: int) -> None:
    batch = build_batch(
        RECORDS, base_offset=50, codec=old, producer_id=5, producer_epoch=6, base_sequence=7, leader_epoch=8, transactional=True
    )
    header = read_header(batch)
    again = recompress(memoryview(batch), header, new)
    assert isinstance(again, bytearray)
    found = read_header(again)
    assert found.codec == new
    assert has_right_checksum(again, found)
    assert list(read_records(again)) == RECORDS
    same = "base_offset leader_epoch last_offset_delta base_timestamp max_timestamp producer_id producer_epoch base_sequence count"
    for name in same.split():
        assert getattr(found, name) == getattr(header, name)
    assert found.is_transactional


def test_rubbish_is_refused() -> None:
    batch = build_batch(RECORDS, codec=1)
    batch[HEADER_SIZE] ^= 0xFF
    seal(batch)
    refused = recompress(batch, read_header(batch), 4)
    assert isinstance(refused, Refused)
    assert refused.code is Code.INVALID_RECORD
