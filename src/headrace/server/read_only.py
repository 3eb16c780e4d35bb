"""A file that is only looked at: for `headrace log`, beside a running broker or on a folder that may not be written to."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence

from headrace.base.files import Buffer


class ReadOnlyFile:
    """A `base.files.File` that refuses to change."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self, position: int, size: int) -> bytes:
        return os.pread(self._descriptor, size, position)

    def read_cached(self, position: int, size: int) -> bytes | None:
        return self.read(position, size)

    def is_cached(self, position: int, size: int) -> bool:
        return True

    def read_ahead(self, position: int, size: int) -> None:
        pass

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def write(self, position: int, buffers: Sequence[Buffer]) -> int:
        raise OSError(errno.EROFS, "opened for reading only", self.path)

    def truncate(self, size: int) -> None:
        raise OSError(errno.EROFS, "opened for reading only", self.path)

    def sync(self) -> None:
        pass

    def drop_cached(self) -> None:
        pass

    def write_back(self, position: int, size: int) -> None:
        pass

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> ReadOnlyFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def find_files(path: str, is_wanted: Callable[[str], bool]) -> list[str]:
    """The file itself, or those below a folder whose names are wanted, in order. Hidden folders are passed over."""
    if os.path.isfile(path):
        return [path]
    found: list[str] = []

    def stop(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(path, onerror=stop):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(folder, name) for name in sorted(names) if is_wanted(name)]
    return found
