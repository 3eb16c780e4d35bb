import pytest

from headrace.log.offset_index import IndexWrong, NotInMemory
from headrace.log.scan import Broken
from headrace.log.segment import RECENT_COUNT, Damaged, Segment
from headrace.records.header import read_header
from headrace.records.stamp import stamp
from tests.unit.log.batches import batch
from tests.unit.log.memory_files import MemoryFiles

INTERVAL = 250  # about every third batch


def new_segment(batches: int = 10, *, base_offset: int = 1000, count: int = 2) -> tuple[MemoryFiles, Segment]:
    """Each batch has two records and 117 bytes, timestamps rise by 10."""
    files = MemoryFiles()
    files.make_folder("t-0")
    segment = Segment(files, "t-0", base_offset, 0)
    segment.create()
    for i in range(batches):
        add(segment, count, time=1_000 + 10 * i)
    return files, segment


def add(segment: Segment, count: int = 2, *, time: int = 1_000, now_ms: int = 5) -> None:
    data = batch(count, time=time)
    offset = segment.end_offset
    stamp(data, offset, 0)
    segment.append(memoryview(data), len(data), read_header(data), offset, now_ms, INTERVAL)


SIZE = len(batch(2))


def go(files: MemoryFiles, segment: Segment, way: str) -> None:
    """Have the batches found by the recent ones, by the index in memory, or by the index in its file."""
    if way != "recent":
        segment.forget()
    if way == "spilled":
        for index in (segment.offsets, segment.times):
            data = index.encode(index.new, index.count)
            files.open(index.path, create=True).write(0, (data,))
            index.spilled(index.count, index.version)


@pytest.mark.parametrize("way", ["recent", "index", "spilled"])
def test_reads_begin_with_the_batch_and_end_at_a_batch(way: str) -> None:
    files, segment = new_segment()
    go(files, segment, way)
    for offset in range(1000, 1020):
        at = (offset - 1000) // 2
        first = 1000 + 2 * at
        assert segment.read_range(offset, 10**6, segment.size, True, True) == (at * SIZE, segment.size, first)
        assert segment.read_range(offset, 10**6, at * SIZE + SIZE, True, True) == (at * SIZE, (at + 1) * SIZE, first)
        assert segment.read_range(offset, 1, segment.size, True, True) == (at * SIZE, (at + 1) * SIZE, first), "whole first batch"
        assert segment.read_range(offset, 1, segment.size, False, True) == (at * SIZE, at * SIZE, first)
        assert segment.read_range(offset, SIZE, segment.size, False, True) == (at * SIZE, (at + 1) * SIZE, first)
        position, end, _ = segment.read_range(offset, 4 * SIZE + 50, segment.size, True, True)
        assert position == at * SIZE and at * SIZE + SIZE <= end <= min(position + 4 * SIZE + 50, segment.size)
        if way == "recent":
            assert end % SIZE == 0


@pytest.mark.parametrize("way", ["recent", "index", "spilled"])
def test_the_position_of_an_offset(way: str) -> None:
    files, segment = new_segment()
    go(files, segment, way)
    assert [segment.position_of(o, True) for o in (1000, 1001, 1002, 1019, 1020, 1999)] == [
        *(0, 0, SIZE, 9 * SIZE),
        *(segment.size, segment.size),
    ]


def test_tail_reads_do_not_touch_the_disk() -> None:
    files, segment = new_segment()
    files.chill()
    reads = files.reads
    assert segment.read_range(1018, 10**6, segment.position_of(1020, False), True, False)[0] == 9 * SIZE
    assert files.reads == reads
    segment.forget()
    with pytest.raises(NotInMemory):
        segment.read_range(1018, 10**6, segment.size, True, False)


def test_the_recent_batches_are_bounded() -> None:
    _, segment = new_segment(3 * RECENT_COUNT, count=1)
    assert RECENT_COUNT <= len(segment.recent_offsets) < 2 * RECENT_COUNT
    assert segment.find(1000, True)[0] == 0
    assert segment.position_of(1000 + RECENT_COUNT, True) == len(batch(1)) * RECENT_COUNT


def test_an_index_that_lies_is_noticed_and_mended() -> None:
    files, segment = new_segment()
    good = segment.offsets.new
    go(files, segment, "spilled")
    content = files.content(segment.offsets.path)
    content[7] ^= 2
    with pytest.raises(IndexWrong):
        segment.find(segment.offsets.base_offset + good[0][0], True)
    segment.rebuild_indexes(INTERVAL, False)
    assert segment.offsets.new == good
    assert segment.find(1019, True)[:3] == (9 * SIZE, 1018, 1019)


def test_a_broken_header_stops_the_walk_unless_it_is_known() -> None:
    files, segment = new_segment()
    segment.forget()
    files.content(segment.path(".log"))[SIZE + 16] = 9
    with pytest.raises(Damaged, match="magic 9"):
        segment.find(1004, True)
    segment.broken.append(Broken(SIZE, 2 * SIZE, 1002, 1004, "rot"))
    assert segment.find(1004, True)[0] == 2 * SIZE


def test_the_highest_timestamp_of_a_range() -> None:
    _, segment = new_segment(0)
    for time in (100, 300, 200, 250, 900, 50, 800):
        add(segment, 1, time=time)
    highest = segment.highest_timestamp
    assert highest(1000, 1007) == (900, 1004) == highest(0, 9999)
    assert highest(1000, 1004) == (300, 1001)
    assert highest(1002, 1004) == (250, 1003)
    assert highest(1005, 1007) == (800, 1006)
    assert highest(1000, 1000) == (-1, 1000) and highest(1007, 1007)[0] == -1


def test_a_cut_goes_back_to_the_mark() -> None:
    _, segment = new_segment(5)
    segment.mark = segment.current_mark()
    before = (segment.size, segment.end_offset, segment.max_timestamp, segment.max_timestamp_offset)
    counts = (segment.offsets.count, segment.times.count, segment.bytes_since_entry)
    for time in (3_000, 2_000, 4_000, 5_000):
        add(segment, time=time)
    segment.cut_to_mark()
    assert (segment.size, segment.end_offset, segment.max_timestamp, segment.max_timestamp_offset) == before
    assert (segment.offsets.count, segment.times.count, segment.bytes_since_entry) == counts and segment.is_cut
    assert segment.find(1009, True)[0] == 4 * SIZE
    assert segment.times.last_timestamp <= before[2]


def test_entries_come_after_an_interval_of_bytes_as_in_kafka() -> None:
    """An entry stands for the first batch that begins more than the interval behind the last entry's batch."""
    _, segment = new_segment(8)
    assert list(segment.offsets.new[1]) == [3 * SIZE, 6 * SIZE]
    assert list(segment.offsets.new[0]) == [7, 13]
    segment.close()
    assert segment.times.last() == (1_071, 1015)


def test_a_reader_that_goes_on_looks_into_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    _, segment = new_segment(30)
    segment.forget()
    looks: list[int] = []
    lookup = type(segment.offsets).lookup

    def counted(self: object, offset: int, may_block: bool) -> tuple[int, int] | None:
        looks.append(offset)
        return lookup(segment.offsets, offset, may_block)

    monkeypatch.setattr(type(segment.offsets), "lookup", counted)
    for i in range(30):
        assert segment.read_range(1000 + 2 * i, 1, segment.size, True, True) == (i * SIZE, (i + 1) * SIZE, 1000 + 2 * i)
    assert looks == [1000]
    assert len(segment.followers) == 1, "a place that was used is forgotten"


def test_a_cut_forgets_where_batches_followed() -> None:
    """The bytes behind the mark are written anew, and batches begin at other places."""
    _, segment = new_segment(2)
    segment.mark = segment.current_mark()
    add(segment)
    segment.forget()
    assert segment.find(1004, True)[0] == 2 * SIZE
    segment.cut_to_mark()
    assert segment.followers == {}
