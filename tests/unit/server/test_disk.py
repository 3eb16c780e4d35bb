"""Descriptors as a bounded resource, and files that keep their identity through renames. What every file layer must do is in
the files contract."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from headrace.server.disk import DiskFile, DiskFiles


def write(files: DiskFiles, path: str, data: bytes) -> DiskFile:
    file = files.open(path, create=True)
    file.write(0, [data])
    return file


def test_descriptors_are_bounded(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 4)
    some = [write(files, f"f{index}", b"%d" % index) for index in range(20)]
    assert files.open_count == 4
    assert sum(file._fd >= 0 for file in some) == 4
    assert [file.read(0, 9) for file in some] == [b"%d" % index for index in range(20)]
    assert files.open_count == 4


def test_what_is_used_again_and_again_stays_open(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 4)
    busy = write(files, "busy", b"x")
    for index in range(40):
        write(files, f"f{index}", b"y")
        busy.read(0, 1)
    assert busy._fd >= 0


def test_a_pinned_file_is_never_closed_under_its_user(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 2)
    pinned = write(files, "pinned", b"abc")
    fd = pinned.pin()
    for index in range(10):
        write(files, f"f{index}", b"y")
    assert os.pread(fd, 3, 0) == b"abc"
    pinned.close()
    assert os.pread(fd, 3, 0) == b"abc"
    pinned.unpin()
    pinned.close()
    with pytest.raises(OSError):
        os.pread(fd, 3, 0)


def test_more_pins_than_descriptors_allowed(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 2)
    some = [write(files, f"f{index}", b"y") for index in range(6)]
    for file in some:
        file.pin()
    assert files.open_count == 6  # a bound that would break somebody's work gives way
    for file in some:
        file.unpin()
    write(files, "one more", b"z")
    assert files.open_count == 2


def test_closed_files_do_not_gather(tmp_path: Path):
    # Each opening left an entry in the pool's order, which was only looked at when too many were open: a node that rolled and
    # dropped segments for a year kept them all.
    files = DiskFiles(str(tmp_path), 1_000)
    kept = write(files, "kept", b"k")
    for index in range(500):
        file = write(files, f"f{index}", b"y")
        file.close()
        kept.read(0, 1)
    assert files.open_count == 1
    assert len(files._open) < 40
    for _ in range(500):
        kept.close()
        kept.read(0, 1)
    assert len(files._open) < 40 and files.open_count == 1


def test_no_descriptor_left_in_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # Connections took the last one, and the next roll of a segment made its partition fail.
    files = DiskFiles(str(tmp_path), 100)
    for index in range(5):
        write(files, f"f{index}", b"y")
    real = os.open

    def limited(path: str, *args: int, **more: int) -> int:
        if files.open_count >= 5:
            raise OSError(errno.EMFILE, "too many open files")
        return real(path, *args, **more)

    Path(tmp_path / "next").write_bytes(b"next")
    last = files.open("next")
    monkeypatch.setattr(os, "open", limited)
    assert last.read(0, 4) == b"next"
    assert files.open_count == 5
    assert write(files, "a new one", b"new").read(0, 4) == b"new"


def test_an_open_that_fails_leaves_no_pin(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 4)
    file = write(files, "gone", b"x")
    file.close()
    os.unlink(tmp_path / "gone")
    with pytest.raises(FileNotFoundError):
        file.read(0, 1)
    assert file._pins == 0 and files.open_count == 0


def test_short_writes_are_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files = DiskFiles(str(tmp_path), 4)
    real, pieces = os.pwrite, []

    def short(fd: int, buffers: list[bytes], position: int) -> int:
        return real(fd, b"".join(buffers)[:3], position)

    def shorter(fd: int, data: bytes, position: int) -> int:
        pieces.append(len(data))
        return real(fd, data[:4], position)

    monkeypatch.setattr(os, "pwritev", short)
    monkeypatch.setattr(os, "pwrite", shorter)
    file = files.open("a", create=True)
    assert file.write(5, [b"0123", b"", b"456789"]) == 10
    assert file.read(5, 100) == b"0123456789"
    assert pieces == [7, 3]


def test_a_disk_that_takes_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    files = DiskFiles(str(tmp_path), 4)
    monkeypatch.setattr(os, "pwritev", lambda fd, buffers, position: 2)
    monkeypatch.setattr(os, "pwrite", lambda fd, data, position: 0)
    with pytest.raises(OSError):
        files.open("a", create=True).write(0, [b"0123"])


def test_more_buffers_than_one_call_takes(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 4)
    buffers = [b"%04d" % index for index in range(3_000)]
    file = files.open("a", create=True)
    assert file.write(0, buffers) == 12_000
    assert file.read(0, 20_000) == b"".join(buffers)


def test_files_go_on_when_their_folder_is_renamed(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 1)
    files.make_folder("log/t-0")
    one, two = write(files, "log/t-0/1", b"one"), write(files, "log/t-0/2", b"two")
    files.rename("log/t-0", "log/t-0.x-delete")
    assert one.path == "log/t-0.x-delete/1"
    assert (one.read(0, 9), two.read(0, 9)) == (b"one", b"two")  # one of them was opened again, under its new name
    assert files.open("log/t-0.x-delete/1") is one
    files.make_folder("log/t-0")
    assert files.open("log/t-0/1", create=True) is not one


def test_a_file_that_takes_the_place_of_another(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 4)
    write(files, "a", b"old")
    new = write(files, "a.tmp", b"new")
    files.rename("a.tmp", "a")
    assert files.open("a") is new and new.read(0, 9) == b"new"


def test_removing_gives_the_descriptor_back(tmp_path: Path):
    files = DiskFiles(str(tmp_path), 4)
    files.make_folder("log/t-0")
    write(files, "log/t-0/1", b"x")
    write(files, "a", b"x")
    files.remove("a")
    files.remove("a")
    assert files.open_count == 1
    files.remove_folder("log/t-0")
    files.remove_folder("log/t-0")
    assert files.open_count == 0 and not os.path.exists(tmp_path / "log/t-0")
