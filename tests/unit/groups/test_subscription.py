from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from headrace.groups.subscription import read_topics

# kafka-python's range consumer of topic "t": version 0, one topic, empty user data.
GOLDEN = bytes.fromhex("00000000000100017400000000")


def test_golden() -> None:
    assert read_topics(GOLDEN) == ["t"]


def test_newer_versions_begin_alike() -> None:
    assert read_topics(b"\0\3" + GOLDEN[2:] + b"owned partitions and more") == ["t"]


def test_no_topics() -> None:
    assert read_topics(b"\0\0\0\0\0\0") == []


def test_other_bytes_are_not_understood() -> None:
    for data in (b"", b"\0\0\0", b"\0\0\xff\xff\xff\xff", b"\xff\xff\0\0\0\0", b"\0\0\0\0\0\1\0\2t", b"\0\0\0\0\0\1\0\1\xff"):
        assert read_topics(data) is None


@given(st.binary(max_size=60))
def test_any_bytes_do_no_harm(data: bytes) -> None:
    read_topics(data)
    read_topics(b"\0\1" + data)
