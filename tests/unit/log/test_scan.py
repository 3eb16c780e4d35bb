"""The scan finds every whole batch and says exactly what is broken between them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.log.scan import Broken, Scanner
from headrace.records.build import build_batch
from headrace.records.header import BatchHeader
from headrace.records.record import Record
from tests.unit.log.batches import batch
from tests.unit.log.memory_files import MemoryFile, MemoryFiles


def file_of(data: bytes) -> MemoryFile:
    files = MemoryFiles()
    files.make_folder("t-0")
    file = files.open("t-0/x.log", create=True)
    file.write(0, (data,))
    return file


def scan(data: bytes, offset: int = 0, *, gaps_allowed: bool = False) -> list[tuple[int, int, int] | Broken]:
    """Whole batches as (position, first, last offset)."""
    found: list[tuple[int, int, int] | Broken] = []
    for one in Scanner(file_of(data), len(data), offset, gaps_allowed=gaps_allowed):
        found.append(one if isinstance(one, Broken) else (one[0], one[1].base_offset, one[1].last_offset))
    return found


def three() -> tuple[bytearray, list[int]]:
    """Batches of offsets 0..1, 2..4, 5 and their positions, with the end."""
    parts = [batch(2), batch(3, base_offset=2), batch(1, base_offset=5)]
    positions = [sum(len(part) for part in parts[:i]) for i in range(4)]
    return bytearray(b"".join(parts)), positions


def test_whole_batches() -> None:
    data, at = three()
    assert scan(bytes(data)) == [(at[0], 0, 1), (at[1], 2, 4), (at[2], 5, 5)]


def test_the_state_of_the_scan_goes_along() -> None:
    data, at = three()
    scanner = Scanner(file_of(bytes(data)), len(data), 0)
    for found, end, offset in zip(scanner, at[1:], (2, 5, 6), strict=True):
        assert isinstance(found, tuple) and isinstance(found[1], BatchHeader)
        assert (scanner.position, scanner.offset) == (end, offset)


@pytest.mark.parametrize("cut", [1, 11, 12, 60, 61, 62])
def test_a_torn_tail(cut: int) -> None:
    data, at = three()
    found = scan(bytes(data[: at[2] + cut]))
    assert found[:2] == [(at[0], 0, 1), (at[1], 2, 4)]
    assert found[2:] == [Broken(at[2], at[2] + cut, 5, None, found[2].what)]  # type: ignore[union-attr]


def rot_record(data: bytearray, at: int) -> None:
    data[at + 70] ^= 1


def rot_length(data: bytearray, at: int) -> None:
    data[at + 8] ^= 0x40


def rot_magic(data: bytearray, at: int) -> None:
    data[at + 16] ^= 1


def rot_offset(data: bytearray, at: int) -> None:
    data[at + 7] ^= 4


def lose_page(data: bytearray, at: int) -> None:
    data[at : at + 80] = bytes(80)


@pytest.mark.parametrize("rot", [rot_record, rot_length, rot_magic, rot_offset, lose_page])
def test_a_rotten_batch_is_named_and_the_next_one_found(rot: Callable[[bytearray, int], None]) -> None:
    data, at = three()
    rot(data, at[1])
    found = scan(bytes(data))
    assert isinstance(found[1], Broken), found
    assert found == [(at[0], 0, 1), Broken(at[1], at[2], 2, 5, found[1].what), (at[2], 5, 5)]


def test_missing_offsets_are_named_unless_gaps_are_allowed() -> None:
    data = bytes(batch(2) + batch(1, base_offset=7) + batch(1, base_offset=8))
    at = len(batch(2))
    assert scan(data)[1] == Broken(at, at, 2, 7, "offsets are missing")
    assert [b for b in scan(data, gaps_allowed=True) if isinstance(b, Broken)] == []


def test_a_batch_within_a_record_is_not_taken_for_one() -> None:
    """A topic may carry batches as values: what lies within a rotten batch's length is looked at last."""
    inner = bytes(batch(1, base_offset=3))
    outer = build_batch([Record(0, 1, None, inner)], base_offset=2)
    outer[25] ^= 1  # its checksum fails
    data = bytes(batch(2) + outer + batch(1, base_offset=5))
    found = scan(data)
    assert isinstance(found[1], Broken) and found[1].end_position == len(batch(2)) + len(outer)


@given(st.binary(max_size=300))
def test_rubbish_has_no_batches(data: bytes) -> None:
    found = scan(data)
    assert found == ([Broken(0, len(data), 0, None, found[0].what)] if data else [])  # type: ignore[union-attr]


@given(st.data())
def test_any_flipped_byte_costs_one_batch_at_most(data: st.DataObject) -> None:
    whole, at = three()
    place = data.draw(st.integers(0, at[3] - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    hit = sum(place >= position for position in at) - 1
    found = scan(bytes(whole))
    expected = [(at[0], 0, 1), (at[1], 2, 4), (at[2], 5, 5)]
    good = [one for one in found if not isinstance(one, Broken)]
    leader_epoch_only = at[hit] + 12 <= place < at[hit] + 16  # the broker's own field, outside the checksum
    assert good == (expected if leader_epoch_only else [e for i, e in enumerate(expected) if i != hit])


def test_batches_larger_than_the_window_are_read() -> None:
    big = batch(1, size=1_500_000)
    small = batch(1, base_offset=1)
    last = batch(1, size=1_200_000, base_offset=2)
    assert scan(bytes(big + small + last)) == [(0, 0, 0), (len(big), 1, 1), (len(big) + len(small), 2, 2)]
