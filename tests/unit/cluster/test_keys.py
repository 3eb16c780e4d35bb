"""Keys sort as what they name, and values survive."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.cluster import keys
from headrace.cluster.keys import (
    ClusterValue,
    ConfigValue,
    FeaturesValue,
    NodeValue,
    PartitionValue,
    ProducerIdsValue,
    TopicValue,
    decode,
    encode,
)

ID = UUID("12345678-1234-4678-9234-567812345678")


@given(st.integers(0, 999_999), st.integers(0, 999_999))
def test_partition_keys_sort_by_index(a, b):
    assert (keys.partition_key(ID, a) < keys.partition_key(ID, b)) == (a < b)


@pytest.mark.parametrize(
    "value",
    [
        ClusterValue("abc"),
        FeaturesValue({"metadata": 1}),
        NodeValue("h", 9092, ID, "r1"),
        NodeValue("h", 9092, ID),
        TopicValue("t", ID, 3, True),
        PartitionValue(1, 2, (1, 0), (1,), 7),
        ConfigValue({"retention.ms": "5"}),
        ProducerIdsValue(1000),
    ],
)
def test_a_value_written_is_the_value_read(value):
    assert decode(type(value), encode(value)) == value


def test_what_lies_in_the_store_stays_readable():
    """Golden bytes: stores that exist hold exactly these."""
    assert decode(TopicValue, b'{"name":"t","id":"12345678-1234-4678-9234-567812345678","partitions":3,"v":1}') == TopicValue(
        "t", ID, 3
    )
    assert decode(PartitionValue, b'{"leader":0,"leader_epoch":4,"replicas":[0],"isr":[0],"epoch":4,"v":1}') == PartitionValue(
        0, 4, (0,), (0,), 4
    )
    assert decode(ConfigValue, b'{"values":{"a":"b"},"v":1}') == ConfigValue({"a": "b"})
    assert keys.partition_key(ID, 7) == "/partitions/12345678-1234-4678-9234-567812345678/000007"
    assert keys.topic_key("a.b") == "/topics/a_b"


def test_a_value_of_a_later_version_is_not_taken_for_ours():
    with pytest.raises(AssertionError, match="version 2"):
        decode(ConfigValue, b'{"values":{},"v":2}')
