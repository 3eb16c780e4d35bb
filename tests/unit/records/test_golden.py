"""Batches as Kafka's own Java client 4.3.1 wrote them, once per codec: three records, the second with two labels and no value,
the third older than the first and with 60 bytes of "a"."""

from __future__ import annotations

import pytest

from headrace.records.build import build_batch
from headrace.records.header import BatchHeader, check_batch
from headrace.records.record import Record, read_records
from headrace.records.validation import RecordsSeen, walk_records

GZIP = (
    "000000000000000000000078ffffffff028c9c9feb0001000000020000018bcfe568000000018bcfe568fa0000000000000fa1000300000011000000"
    "031f8b08000000000000ff1363606060e44acb2c2a2e613061f8c2ccc4969d5ac9c8c2555294989ccac6c0c8c491979f97cad8c5c8c0c80292aa48a4"
    "0030000033756c186e000000"
)
SNAPPY = (
    "00000000000000000000007fffffffff025a88afd40002000000020000018bcfe568000000018bcfe568fa0000000000000fa2000300000011000000"
    "0382534e415050590000000001000000010000003a6ec816000000010a6669727374003400f40302066b657901040a747261636506000102086e6f6e"
    "65018a01000104066b6579786161e602000000"
)
LZ4 = (
    "00000000000000000000007dffffffff028a33ad0a0003000000020000018bcfe568000000018bcfe568fa0000000000000fa3000300000011000000"
    "0304224d186040823d000000ff2316000000010a6669727374003400f40302066b657901040a747261636506000102086e6f6e65018a01000104066b"
    "6579786101002450616161610000000000"
)
ZSTD = (
    "000000000000000000000078ffffffff02cb99ba230004000000020000018bcfe568000000018bcfe568fa0000000000000fa4000300000011000000"
    "0328b52ffd0058dc0100340316000000010a6669727374003400f40302066b657901040a747261636506000102086e6f6e65018a01000104066b6579"
    "786100010002094001010000"
)
START = 1_700_000_000_000
RECORDS = [
    Record(0, START, None, b"first"),
    Record(1, START + 250, b"key", None, [(b"trace", b"\0\1\2"), (b"none", None)]),
    Record(2, START - 1, b"key", b"a" * 60),
]


@pytest.mark.parametrize(("codec", "text"), [(1, GZIP), (2, SNAPPY), (3, LZ4), (4, ZSTD)])
def test_javas_batches(codec: int, text: str) -> None:
    batch = bytes.fromhex(text)
    header = check_batch(batch, size_max=1_000)
    assert isinstance(header, BatchHeader)
    assert (header.codec, header.producer_id, header.producer_epoch, header.base_sequence) == (codec, 4_000 + codec, 3, 17)
    assert list(read_records(batch)) == RECORDS
    seen = walk_records(batch, header)
    assert isinstance(seen, RecordsSeen)
    assert (seen.max_timestamp, seen.max_timestamp_index, seen.min_timestamp, seen.keyless_index) == (START + 250, 1, START - 1, 0)


def test_javas_snappy_and_ours_are_the_same_but_for_the_match_finder() -> None:
    ours = build_batch(RECORDS, codec=2, producer_id=4_002, producer_epoch=3, base_sequence=17)
    java = bytes.fromhex(SNAPPY)
    assert ours[21 : 61 + 16] == java[21 : 61 + 16]  # from the attributes to the framing's header
