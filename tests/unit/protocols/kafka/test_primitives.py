"""Varints, tagged fields and UUIDs by themselves."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.base.errors import ProtocolError
from headrace.protocols.kafka import primitives
from headrace.protocols.kafka.primitives import decode_tag, decode_uvarint, encode_uvarint, kept_uuid, make_uuid, skip_tags


@given(st.integers(0, 2**32 - 1))
def test_uvarint_round_trip(value: int) -> None:
    data = encode_uvarint(value)
    assert decode_uvarint(memoryview(b"xx" + data + b"y"), 2) == (value, 2 + len(data))
    assert len(data) == max(1, -(-value.bit_length() // 7))


def test_uvarint_bounds() -> None:
    assert encode_uvarint(300) == b"\xac\x02"
    assert decode_uvarint(memoryview(b"\x80\x00"), 0) == (0, 2)  # longer than needed, as Kafka accepts it
    assert decode_uvarint(memoryview(b"\xff\xff\xff\xff\x0f"), 0) == (2**32 - 1, 5)
    for data in (b"\xff\xff\xff\xff\x10", b"\x80\x80\x80\x80\x80\x00", b"\xff" * 20):
        with pytest.raises(ProtocolError):
            decode_uvarint(memoryview(data), 0)
    with pytest.raises(IndexError):  # which codec.py names
        decode_uvarint(memoryview(b"\x80\x80"), 0)


def test_decode_tag() -> None:
    assert decode_tag(memoryview(b"\x07\x02ab"), 0, 4, 6) == (7, 2, 4)
    for before, data in ((7, b"\x07\x02ab"), (8, b"\x07\x02ab"), (-1, b"\x07\x03ab")):
        with pytest.raises(ProtocolError):
            decode_tag(memoryview(data), 0, 4, before)


def test_skip_tags_with_a_count_of_two_bytes() -> None:
    fields = b"".join(encode_uvarint(tag) + b"\x01x" for tag in range(200))
    data = encode_uvarint(200) + fields
    assert skip_tags(memoryview(data), 1, len(data), data[0]) == len(data)


def test_uuids_are_kept_within_a_bound() -> None:
    one = make_uuid(bytes(15) + b"\x01")
    assert one == UUID(int=1) and kept_uuid(bytes(15) + b"\x01") is one
    for number in range(primitives.UUIDS_KEPT_MAX + 10):
        make_uuid(number.to_bytes(16, "big"))
    assert len(primitives._uuids) <= primitives.UUIDS_KEPT_MAX
