"""The bytes of durable facts, against what Kafka 4.3.1 wrote and the versions before it."""

from __future__ import annotations

import struct
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.groups.facts import (
    GroupForgotten,
    GroupStored,
    OffsetCommitted,
    OffsetForgotten,
    StoredMember,
    decode_fact,
    encode_fact,
)

TOPIC_ID = UUID("adc0f37e-816f-47b6-9b57-7dbaa8b5e45b")

# Cut out of a segment of Kafka 4.3.1: a static consumer's generation and commit, and the commit of a tool.
GROUP_KEY = bytes.fromhex("000200026731")
GROUP_VALUE = bytes.fromhex(
    "00030008636f6e73756d657200000001000572616e6765002b696e73742d312d33626238353231622d333233332d343032312d393634622d356664"
    "6331616561363839660000"
    "01a1f597c5db00000001002b696e73742d312d33626238353231622d333233332d343032312d393634622d3566646331616561363839660006696e"
    "73742d310003636c69000a2f3132372e302e302e31000493e00000afc80000000d000000000001000174000000000000001500000000000100017400"
    "0000010000000000000000"
)
COMMIT_KEY = bytes.fromhex("000100026731000174") + b"\0\0\0\0"
COMMIT_VALUE = bytes.fromhex("0004000000000000000a0000000001000001a1f597c63a010010adc0f37e816f47b69b577dbaa8b5e45b")
TOOL_VALUE = bytes.fromhex("00040000000000000005ffffffff056d657461000001a1f597c65e010010adc0f37e816f47b69b577dbaa8b5e45b")
MEMBER_ID = "inst-1-3bb8521b-3233-4021-964b-5fdc1aea689f"

GOLDEN = {
    "group": (
        GROUP_KEY,
        GROUP_VALUE,
        GroupStored(
            "g1",
            "consumer",
            1,
            "range",
            MEMBER_ID,
            1795121726939,
            (
                StoredMember(
                    MEMBER_ID,
                    "inst-1",
                    "cli",
                    "/127.0.0.1",
                    300000,
                    45000,
                    bytes.fromhex("00000000000100017400000000"),
                    bytes.fromhex("000000000001000174000000010000000000000000"),
                ),
            ),
        ),
    ),
    "commit": (COMMIT_KEY, COMMIT_VALUE, OffsetCommitted("g1", "t", 0, 10, 0, "", 1795121727034, -1, TOPIC_ID)),
    "commit with metadata": (COMMIT_KEY, TOOL_VALUE, OffsetCommitted("g1", "t", 0, 5, -1, "meta", 1795121727070, -1, TOPIC_ID)),
    "group tombstone": (GROUP_KEY, None, GroupForgotten("g1")),
    "offset tombstone": (COMMIT_KEY, None, OffsetForgotten("g1", "t", 0)),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_bytes(name: str) -> None:
    key, value, fact = GOLDEN[name]
    assert decode_fact(key, value) == fact
    assert encode_fact(fact) == (key, value)


def test_a_commit_with_a_retention_is_version_1() -> None:
    fact = OffsetCommitted("g", "t", 3, 7, -1, "m", 1000, 2000)
    key, value = encode_fact(fact)
    assert value == struct.pack(">hqh1sqq", 1, 7, 1, b"m", 1000, 2000)
    assert decode_fact(key, value) == fact


def test_older_offset_values() -> None:
    key = b"\0\0\0\1g\0\1t\0\0\0\3"  # version 0 of the key, as before Kafka 0.9
    v0 = struct.pack(">hqh1sq", 0, 7, 1, b"m", 1000)
    v2 = struct.pack(">hqh1sq", 2, 7, 1, b"m", 1000)
    v3 = struct.pack(">hqih1sq", 3, 7, 9, 1, b"m", 1000)
    assert decode_fact(key, v0) == decode_fact(key, v2) == OffsetCommitted("g", "t", 3, 7, -1, "m", 1000)
    assert decode_fact(key, v3) == OffsetCommitted("g", "t", 3, 7, 9, "m", 1000)


def test_older_group_values() -> None:
    """Version 0 has neither a time, nor a rebalance timeout, nor instance ids."""
    head = b"\0\0" + b"\0\x08consumer" + b"\0\0\0\5" + b"\xff\xff" + b"\xff\xff"
    member = b"\0\1m" + b"\0\1c" + b"\0\1h" + struct.pack(">i", 6000) + b"\0\0\0\1s" + b"\0\0\0\1a"
    fact = decode_fact(GROUP_KEY, head + b"\0\0\0\1" + member)
    assert fact == GroupStored("g1", "consumer", 5, None, None, -1, (StoredMember("m", None, "c", "h", 6000, 6000, b"s", b"a"),))


def test_compact_group_values() -> None:
    head = b"\0\4" + b"\x09consumer" + b"\0\0\0\5" + b"\x00" + b"\x00" + struct.pack(">q", 77)
    member = b"\x02m" + b"\x00" + b"\x02c" + b"\x02h" + struct.pack(">ii", 5, 6) + b"\x02s" + b"\x02a" + b"\x00"
    fact = decode_fact(GROUP_KEY, head + b"\x02" + member + b"\x01\x07\x02zz")
    assert fact == GroupStored("g1", "consumer", 5, None, None, 77, (StoredMember("m", None, "c", "h", 5, 6, b"s", b"a"),))


@pytest.mark.parametrize("kind", [3, 5, 17, 32767])
def test_other_kinds_of_keys_are_passed_over(kind: int) -> None:
    assert decode_fact(struct.pack(">h", kind) + b"whatever", b"\0\0anything") is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (COMMIT_KEY, b"\0\5" + COMMIT_VALUE[2:]),  # a version that does not exist
        (COMMIT_KEY, COMMIT_VALUE[:-1]),
        (COMMIT_KEY, COMMIT_VALUE + b"\0"),
        (COMMIT_KEY[:-1], COMMIT_VALUE),
        (GROUP_KEY, GROUP_VALUE[:-1]),
    ],
)
def test_bytes_that_do_not_fit_are_never_passed_over(key: bytes, value: bytes) -> None:
    with pytest.raises(AssertionError):
        decode_fact(key, value)


names = st.text(max_size=30)
int32 = st.integers(-(2**31), 2**31 - 1)
int64 = st.integers(-(2**63), 2**63 - 1)
members = st.builds(
    StoredMember,
    names,
    st.none() | names,
    names,
    names,
    st.integers(0, 2**31 - 1),
    int32,
    st.binary(max_size=40),
    st.binary(max_size=40),
)
facts = st.one_of(
    st.builds(OffsetCommitted, names, names, int32, int64, int32, st.text(max_size=200), int64, st.just(-1), st.uuids()),
    st.builds(OffsetCommitted, names, names, int32, int64, st.just(-1), names, int64, st.integers(0, 2**62)),
    st.builds(OffsetForgotten, names, names, int32),
    st.builds(GroupForgotten, names),
    st.builds(
        GroupStored, names, names, int32, st.none() | names, st.none() | names, int64, st.lists(members, max_size=3).map(tuple)
    ),
)


@given(facts)
def test_round_trip(fact: OffsetCommitted | OffsetForgotten | GroupForgotten | GroupStored) -> None:
    key, value = encode_fact(fact)
    assert decode_fact(key, value) == fact
    assert decode_fact(memoryview(key), None if value is None else memoryview(value)) == fact
