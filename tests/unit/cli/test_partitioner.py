"""Keys go where Kafka's own producer sends them."""

from __future__ import annotations

import pytest
from kafka.partitioner.default import murmur2 as theirs

from headrace.cli.partitioner import murmur2, partition_of


@pytest.mark.parametrize("key", [b"", b"a", b"ab", b"abc", b"abcd", b"\xff\xfe\xfd", "grün".encode(), bytes(range(256))])
def test_as_kafka_python_computes_it(key):
    assert murmur2(key) == theirs(key)
    assert partition_of(key, 7) == (theirs(key) & 0x7FFFFFFF) % 7
