import struct

from hypothesis import given
from hypothesis import strategies as st

from headrace.log.producers import Entries, ProducerEntry
from headrace.log.snapshot import decode_snapshot, encode_snapshot, load_snapshot
from headrace.records.header import checksum
from tests.unit.log.memory_files import MemoryFiles

marks = st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1), st.integers(0, 100), st.integers(-1, 2**40))
entries = st.dictionaries(
    st.integers(0, 2**63 - 1),
    st.builds(ProducerEntry, st.integers(0, 2**15 - 1), st.lists(marks, max_size=5).map(tuple), st.integers(0, 2**40)),
    max_size=8,
)


def last_timestamps_as_kept(entries: Entries) -> Entries:
    """The last batch's timestamp gives way to the time it was appended."""
    return {
        producer: ProducerEntry(e.epoch, (*e.batches[:-1], (*e.batches[-1][:3], e.seen_ms)) if e.batches else (), e.seen_ms)
        for producer, e in entries.items()
    }


@given(entries)
def test_what_is_written_is_read(entries: Entries) -> None:
    for is_at_roll in (False, True):
        snapshot = decode_snapshot(encode_snapshot(entries, is_at_roll=is_at_roll))
        assert not isinstance(snapshot, str)
        assert (snapshot.entries, snapshot.is_at_roll) == (last_timestamps_as_kept(entries), is_at_roll)


@given(entries, st.data())
def test_no_damage_goes_unseen(entries: Entries, data: st.DataObject) -> None:
    whole = encode_snapshot(entries, is_at_roll=True)
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert isinstance(decode_snapshot(whole[:cut]), str)
    broken = bytearray(whole)
    broken[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    assert isinstance(decode_snapshot(bytes(broken)), str)


def test_the_front_is_kafkas_and_a_file_of_kafkas_is_read() -> None:
    body = struct.pack(">I", 1) + struct.pack(">qhiqiqiq", 9, 2, 41, 77, 3, 1234, -1, -1)
    kafkas = struct.pack(">hI", 1, checksum(body)) + body
    decoded = decode_snapshot(kafkas)
    assert not isinstance(decoded, str) and not decoded.is_at_roll
    assert decoded.entries == {9: ProducerEntry(2, ((41, 77, 3, 1234),), 1234)}
    assert encode_snapshot(decoded.entries, is_at_roll=True)[6 : len(kafkas)] == kafkas[6:]


def test_a_missing_file_is_said() -> None:
    assert load_snapshot(MemoryFiles(), "t-0/x.snapshot") == "the snapshot is missing"
