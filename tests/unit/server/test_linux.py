"""What only Linux has, where a file system does not have it."""

from __future__ import annotations

import errno
import os

import pytest

from headrace.server import linux


@pytest.fixture
def fd(tmp_path):
    fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"abcdef")
    yield fd
    os.close(fd)


def test_a_file_system_that_cannot_say_is_read(fd, monkeypatch):
    """Data on a tmpfs: `RWF_NOWAIT` is refused there, and every fetch ended its connection."""
    preadv = os.preadv

    def refusing(fd, buffers, position, flags=0):
        if flags:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        return preadv(fd, buffers, position)

    monkeypatch.setattr(os, "preadv", refusing)
    buffer = bytearray(3)
    assert linux.read_nowait(fd, buffer, 2) == 3
    assert buffer == b"cde"


def test_what_is_not_in_memory_is_minus_one(fd, monkeypatch):
    def cold(fd, buffers, position, flags=0):
        raise BlockingIOError

    monkeypatch.setattr(linux, "HAS_READ_NOWAIT", True)
    monkeypatch.setattr(os, "preadv", cold)
    assert linux.read_nowait(fd, bytearray(3), 0) == -1


def test_other_errors_are_the_callers(fd, monkeypatch):
    def failing(fd, buffers, position, flags=0):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "preadv", failing)
    with pytest.raises(OSError, match="Input/output"):
        linux.read_nowait(fd, bytearray(3), 0)
