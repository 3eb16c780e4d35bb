"""The file interface: everything the log may ask of a disk.

Two implementations: `server/disk.py` (the real one) and `sim/disk.py` (loses, tears and rots what was not
synced). All calls are plain blocking calls; who calls decides whether that happens on the event loop (page
cache work: append, rename) or in a thread (sync, unlink, cold read, recovery). Paths are strings with `/`,
relative to the data folder.

Names become durable only after `sync_folder` of the folder that holds them, bytes only after `File.sync`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Buffer = bytes | bytearray | memoryview


class File(Protocol):
    """One file. It is opened lazily and may be closed by the layer behind our back to bound descriptors."""

    path: str

    def write(self, position: int, buffers: Sequence[Buffer]) -> int:
        """Write all buffers, one after another, from `position` on; the number of bytes. Never a short write: OSError."""
        ...

    def read(self, position: int, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end of the file. May block on the disk."""
        ...

    def read_cached(self, position: int, size: int) -> bytes | None:
        """As `read`, but None where that would have to wait for the disk (a cold read)."""
        ...

    def is_cached(self, position: int, size: int) -> bool:
        """Whether the range very likely lies in memory. Probes a few pages; never waits."""
        ...

    def read_ahead(self, position: int, size: int) -> None:
        """Bring the range into memory. Blocks: call it off the loop."""
        ...

    def size(self) -> int: ...

    def truncate(self, size: int) -> None: ...

    def sync(self) -> None:
        """fdatasync. Blocks: call it off the loop. A failure is never retried into trust."""
        ...

    def drop_cached(self) -> None:
        """Forget what lies in memory and is not waiting to be written, so that reads show what the disk has.

        A failed sync leaves pages in memory that look clean and that the disk does not have, also for the next process.
        """
        ...

    def write_back(self, position: int, size: int) -> None:
        """Start writing the range to the disk without waiting for it. A hint; call it off the loop."""
        ...

    def close(self) -> None:
        """Give the descriptor back. The file opens again at the next use."""
        ...


class Files(Protocol):
    """The data folder."""

    def open(self, path: str, *, create: bool = False) -> File:
        """A file. FileNotFoundError when it does not exist and `create` is false."""
        ...

    def exists(self, path: str) -> bool: ...

    def list(self, path: str) -> list[str]:
        """The names in a folder, sorted; an empty list where there is no such folder."""
        ...

    def make_folder(self, path: str) -> None:
        """Make it and what lies above it; no error when it exists."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Replaces what stands at `new`. Open `File`s of `old` go on under the new name."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file; no error when it does not exist. Unlinking a large file takes long: off the loop."""
        ...

    def remove_folder(self, path: str) -> None:
        """Remove a folder and all in it; no error when it does not exist. Off the loop."""
        ...

    def sync_folder(self, path: str) -> None: ...

    def sync_all(self) -> None:
        """All bytes and names that were written up to now become durable, in one go. Off the loop.

        Where many files are dirty this is far cheaper than one sync each (measured: 1,000 files of 16 kB in 25 ms instead of
        650 ms); where few are it may have to wait for what other programs have written to the same disk.
        """
        ...

    def total_bytes(self) -> int:
        """Size of the disk."""
        ...

    def free_bytes(self) -> int:
        """Space left on the disk."""
        ...


class FileSlice:
    """A part of a file on its way out. Codecs touch it only with `len()` and by handing it on.

    At the edge it becomes `sendfile` (real sockets) or a plain read (simulator).
    """

    __slots__ = ("file", "position", "size")

    def __init__(self, file: File, position: int, size: int) -> None:
        self.file = file
        self.position = position
        self.size = size

    def __len__(self) -> int:
        return self.size

    def read(self) -> bytes:
        """The bytes themselves, for those who must look (filters, recompression, the simulator)."""
        return self.file.read(self.position, self.size)


class FileSlices:
    """Several slices, handed on as one body (a read that crosses a segment's end)."""

    __slots__ = ("size", "slices")

    def __init__(self, slices: Sequence[FileSlice]) -> None:
        self.slices = slices
        self.size = sum(len(s) for s in slices)

    def __len__(self) -> int:
        return self.size


Body = Buffer | FileSlice | FileSlices
