import struct

import pytest

from headrace.log.offset_index import IndexWrong
from headrace.log.time_index import TimeIndex
from tests.unit.log.memory_files import MemoryFiles

PATH = "t-0/00000000000000001000.timeindex"


def new_index(spilled: int = 0) -> tuple[MemoryFiles, TimeIndex]:
    """Entries (50, 1005), (60, 1009), (90, 1020); the first `spilled` of them are in the file."""
    files = MemoryFiles()
    files.make_folder("t-0")
    index = TimeIndex(files, PATH, 1000)
    for timestamp, offset in ((50, 1005), (60, 1009), (60, 1012), (55, 1015), (90, 1020)):
        index.append(timestamp, offset)
    files.open(PATH, create=True).write(0, (index.encode(index.new, len(index.new[0]))[: 12 * spilled],))
    index.spilled(spilled, 0)
    return files, index


def test_only_later_timestamps_are_kept_and_the_bytes_are_kafkas() -> None:
    _, index = new_index()
    assert index.encode(index.new, len(index.new[0])) == struct.pack(">qiqiqi", 50, 5, 60, 9, 90, 20)


@pytest.mark.parametrize("spilled", [0, 1, 2, 3])
def test_entries_are_found_by_time_and_by_offset(spilled: int) -> None:
    _, index = new_index(spilled)
    assert index.lookup(49) == (-1, 1000)
    assert index.lookup(50) == (50, 1005)
    assert index.lookup(89) == (60, 1009)
    assert index.lookup(1000) == (90, 1020)
    assert index.before_offset(1005) == (-1, 1000)
    assert index.before_offset(1006) == (50, 1005)
    assert index.before_offset(1020) == (60, 1009)
    assert index.before_offset(1021) == (90, 1020)
    assert index.last() == (90, 1020) and index.count == 3


@pytest.mark.parametrize("spilled", [0, 2, 3])
def test_cutting_by_offset_goes_on_with_what_is_left(spilled: int) -> None:
    _, index = new_index(spilled)
    index.cut(1009)
    assert index.last() == (50, 1005) and index.last_timestamp == 50 and index.count == 1
    index.append(55, 1009)
    assert index.last() == (55, 1009)
    index.cut(1000)
    assert index.last() is None and index.last_timestamp == -1


def test_a_short_file_is_wrong() -> None:
    files, index = new_index(3)
    files.open(PATH).truncate(30)
    with pytest.raises(IndexWrong):
        index.last()
