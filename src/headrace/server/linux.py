"""What only Linux has, each with a portable fallback. No other file asks which system this is."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import sys

LINUX = sys.platform == "linux"

_SYNC_FILE_RANGE_WRITE = 2
_M_MMAP_THRESHOLD = -3
_TABLE_SIZE_MAX = 65_536  # 8 bytes each
_LARGE_BLOCK = 3 * 1024 * 1024  # frames of a usual size stay below it
_libc: ctypes.CDLL | None = None
if LINUX:
    _libc = ctypes.CDLL(None, use_errno=True)  # calls through it let go of the interpreter's lock
    if hasattr(_libc, "sync_file_range"):
        _libc.sync_file_range.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]

HAS_READ_NOWAIT = LINUX and hasattr(os, "RWF_NOWAIT")


def data_sync(fd: int) -> None:
    """Bytes (and what is needed to find them) reach the disk."""
    if hasattr(os, "fdatasync"):
        os.fdatasync(fd)
    else:
        os.fsync(fd)


def sync_file_system(fd: int) -> None:
    """All that was written to the file system that `fd` lies on reaches the disk."""
    if _libc is not None and hasattr(_libc, "syncfs"):
        if _libc.syncfs(fd) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    else:
        os.sync()


def read_nowait(fd: int, buffer: bytearray | memoryview, position: int) -> int:
    """Read what lies in the page cache; -1 where the disk would have to be waited for."""
    if HAS_READ_NOWAIT:
        try:
            return os.preadv(fd, [buffer], position, os.RWF_NOWAIT)
        except BlockingIOError:
            return -1
        except OSError as error:
            # tmpfs and some network file systems cannot say: they are read as on other systems.
            if error.errno != errno.EOPNOTSUPP:
                raise
    return os.preadv(fd, [buffer], position)


def drop_cached(fd: int) -> None:
    """Clean pages leave the cache, so that the next read comes from the disk. A hint where the system has no such call."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def write_back(fd: int, position: int, size: int) -> None:
    """Start to write dirty pages, without waiting for them. A hint: what cannot be done is not an error."""
    if _libc is not None and hasattr(_libc, "sync_file_range"):
        _libc.sync_file_range(fd, position, size, _SYNC_FILE_RANGE_WRITE)


def send_file(to_fd: int, from_fd: int, position: int, size: int) -> int:
    """Bytes sent; BlockingIOError when the socket is full."""
    if hasattr(os, "sendfile"):
        return os.sendfile(to_fd, from_fd, position, size)
    return os.write(to_fd, os.pread(from_fd, min(size, 256 * 1024), position))


def give_memory_back() -> None:
    """Large blocks of memory go back to the system when they are freed.

    glibc raises the size from which it does so to the largest block it has seen freed, up to 32 MiB: after one batch was
    inflated in a thread, that thread's heap kept 100 MiB for ever. Setting the bound by hand ends the guessing.
    """
    if _libc is not None and hasattr(_libc, "mallopt"):
        _libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


def allow_descriptors() -> int:
    """Raise the number of open files to what the system allows us; the number."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed < most:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    # The kernel's table of descriptors doubles as it fills up, and each time waits until no CPU reads the old one: measured
    # 20 ms on a busy machine. So it gets its size now.
    with contextlib.suppress(OSError, ValueError):
        os.close(fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, min(allowed, _TABLE_SIZE_MAX) - 1))
    return allowed
