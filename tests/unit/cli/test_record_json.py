"""A record as a line of JSON, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.cli.record_json import NotARecord, read_record, show_record
from headrace.records.record import Record

data = st.none() | st.binary(max_size=20) | st.text(max_size=10).map(lambda text: text.encode())
labels = st.dictionaries(st.text(max_size=5).map(lambda text: text.encode()), data, max_size=3)


@given(key=data, value=data, labels=labels, timestamp=st.integers(0, 2**62))
def test_there_and_back(key, value, labels, timestamp):
    record = Record(9, timestamp, key, value, list(labels.items()))
    found, partition = read_record(show_record("t", 3, record).encode(), 0)
    assert (found.key, found.value, found.labels, found.timestamp, partition) == (key, value, record.labels, timestamp, 3)


def test_values_of_other_types_are_their_own_json():
    record, partition = read_record(b'{"value": {"a": [1, null]}, "key": 5}', 77)
    assert (record.key, record.value, record.timestamp, partition) == (b"5", b'{"a":[1,null]}', 77, None)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"rubbish", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "not an object"),
        (b'{"valu": 1}', "unknown field 'valu'"),
        (b'{"timestamp": "x"}', "timestamp"),
        (b'{"timestamp": -1}', "timestamp"),
        (b'{"timestamp": true}', "timestamp"),
        (b'{"partition": 1.5}', "partition"),
        (b'{"labels": []}', "labels"),
        (b'{"key": {"base64": "?"}}', "base64"),
    ],
)
def test_what_is_no_record_says_why(line, why):
    with pytest.raises(NotARecord, match=why):
        read_record(line, 0)
