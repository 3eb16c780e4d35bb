"""Slices of files know their length without touching the file."""

from headrace.base.files import FileSlice, FileSlices


class NoFile:
    path = "none"

    def read(self, position: int, size: int) -> bytes:
        return bytes(range(position, position + size))


def test_a_slice_has_the_length_it_was_given_and_reads_that_range():
    part = FileSlice(NoFile(), 3, 5)  # type: ignore[arg-type]
    assert len(part) == 5
    assert part.read() == bytes([3, 4, 5, 6, 7])


def test_several_slices_count_as_one_body():
    body = FileSlices([FileSlice(NoFile(), 0, 2), FileSlice(NoFile(), 7, 4)])  # type: ignore[arg-type]
    assert len(body) == 6
