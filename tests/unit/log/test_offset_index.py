import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.log.offset_index import BLOCK_COUNT, IndexWrong, NotInMemory, OffsetIndex, decode_entries, encode_entries
from tests.unit.log.memory_files import MemoryFiles

PATH = "t-0/00000000000000001000.index"


def new_index(count: int = 0, spilled: int = 0) -> tuple[MemoryFiles, OffsetIndex]:
    """Entries for offsets 1010, 1020 … at positions 100, 200 …; the first `spilled` of them are in the file."""
    files = MemoryFiles()
    files.make_folder("t-0")
    index = OffsetIndex(files, PATH, 1000)
    for i in range(1, count + 1):
        index.append(1000 + 10 * i, 100 * i)
    files.open(PATH, create=True).write(0, (index.encode(index.new, len(index.new[0]))[: 8 * spilled],))
    index.spilled(spilled, 0)
    return files, index


def test_the_bytes_are_kafkas() -> None:
    _, index = new_index(2)
    assert index.encode(index.new, len(index.new[0])) == struct.pack(">iiii", 10, 100, 20, 200)
    assert decode_entries(index.encode(index.new, len(index.new[0]))) == index.new
    assert encode_entries(*index.new) == index.encode(index.new, len(index.new[0]))


@pytest.mark.parametrize("spilled", [0, 1, 3, 5])
def test_the_last_entry_before_an_offset_is_found(spilled: int) -> None:
    _, index = new_index(5, spilled)
    assert index.lookup(1009, True) is None
    assert index.lookup(1010, True) == (1010, 100)
    assert index.lookup(1039, True) == (1030, 300)
    assert index.lookup(5000, True) == (1050, 500)
    assert index.last() == (1050, 500) and index.count == 5


@given(st.integers(0, 3 * BLOCK_COUNT), st.integers(0, 3 * BLOCK_COUNT), st.lists(st.integers(1000, 1000 + 31 * BLOCK_COUNT)))
def test_spilled_or_not_makes_no_difference(count: int, spilled: int, offsets: list[int]) -> None:
    _, index = new_index(count, min(spilled, count))
    for offset in offsets:
        entry = min((offset - 1000) // 10, count)
        assert index.lookup(offset, True) == ((1000 + 10 * entry, 100 * entry) if entry else None)


def test_what_is_not_in_memory_is_said_and_not_waited_for() -> None:
    files, index = new_index(5, 5)
    files.chill()
    with pytest.raises(NotInMemory):
        index.lookup(1030, False)
    assert index.lookup(1030, True) == (1030, 300)
    reads = files.reads
    assert index.lookup(1031, False) == (1030, 300)
    assert files.reads == reads, "the block was kept"


def test_a_file_that_is_too_short_or_missing_is_wrong() -> None:
    files, index = new_index(5, 5)
    files.open(PATH).truncate(20)
    with pytest.raises(IndexWrong):
        index.lookup(1050, True)
    with pytest.raises(IndexWrong):
        index.last()
    files.remove(PATH)
    with pytest.raises(IndexWrong):
        index.lookup(1050, True)


def test_boundaries_are_told_as_far_as_they_are_known() -> None:
    _, index = new_index(5)
    assert index.boundary(100, 350) == 300
    assert index.boundary(300, 350) is None, "nothing behind `after`"
    _, index = new_index(5, 5)
    assert index.boundary(100, 350) is None, "nothing is in memory"
    index.lookup(1020, True)
    assert index.boundary(100, 350) == 300
    assert index.boundary(100, 900) is None, "the file may know better than the block"


@pytest.mark.parametrize("spilled", [0, 2, 5])
def test_cutting_forgets_entries_at_and_behind_a_position(spilled: int) -> None:
    _, index = new_index(5, spilled)
    index.lookup(1050, True)
    index.cut(300)
    assert index.last() == (1020, 200) and index.count == 2
    assert index.lookup(5000, True) == (1020, 200)


def test_entries_that_were_replaced_meanwhile_are_not_counted_as_spilled() -> None:
    _, index = new_index(3)
    version = index.version
    index.replace(index.new)
    index.spilled(3, version)
    assert index.disk_count == 0 and index.count == 3
