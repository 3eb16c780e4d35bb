"""Description lines, read."""

from __future__ import annotations

import pytest

from headrace.protocols.kafka.fields import Field, Versions, fields_of, size_min
from headrace.protocols.kafka.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from headrace.protocols.kafka.messages.fetch import FetchRequest, FetchTopic, ReplicaState
from headrace.protocols.kafka.messages.heartbeat import HeartbeatRequest


def test_versions() -> None:
    assert [version in Versions("3-5") for version in (2, 3, 5, 6)] == [False, True, True, False]
    assert [version in Versions("9+") for version in (8, 9, 999)] == [False, True, True]
    assert [version in Versions("4") for version in (3, 4, 5)] == [False, True, False]


def test_a_line_with_everything() -> None:
    field = Field("cluster_id string 12+ nullable=12+ tag=0@12+ default=null ignorable", FetchRequest)
    assert (field.name, field.kind, field.is_array, field.default, field.ignorable, field.tag) == (
        "cluster_id",
        "string",
        False,
        None,
        True,
        0,
    )
    assert field.is_tagged(12) and not field.is_tagged(11) and field.is_nullable(12)


@pytest.mark.parametrize(
    ("line", "default"),
    [
        ("a int64 0+ default=0x7fffffff", 0x7FFFFFFF),
        ("a int32 0+ default=-1", -1),
        ("a bool 0+ default=true", True),
        ("a bool 0+", False),
        ("a string 0+", ""),
        ("a bytes 0+", b""),
        ("a []int32 0+", ()),
        ("a []int32 0+ nullable=0+ default=null", None),
        ("a float64 0+", 0.0),
        ("a ReplicaState 0+", None),
    ],
)
def test_defaults(line: str, default: object) -> None:
    assert Field(line, FetchRequest).default == default


def test_a_word_nobody_knows_is_our_bug() -> None:
    with pytest.raises(AssertionError):
        Field("a int32 0+ optional", FetchRequest)


def test_structs_are_found_in_their_module() -> None:
    fields = {field.name: field for field in fields_of(FetchRequest)}
    assert fields["topics"].struct is FetchTopic and fields["replica_state"].struct is ReplicaState


def test_size_min() -> None:
    assert size_min(HeartbeatRequest, 0, False) == 2 + 4 + 2
    assert size_min(HeartbeatRequest, 4, True) == 1 + 4 + 1 + 1 + 1
    assert size_min(FetchTopic, 13, True) == 16 + 1 + 1
    assert size_min(DescribeTopicPartitionsRequest, 0, True) == 1 + 4 + 1 + 1  # a struct that may be null is one byte
