"""`Files` in memory for the log's unit tests: bytes and names are durable only when synced, and a crash forgets the rest.

Smaller than `sim/disk.py` on purpose: a crash keeps exactly what was synced and, where a test asks for it, as much of the
unsynced tail of one file as the test says. Faults are set by hand: `fail_next = {"write": OSError(...)}`.
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.base.files import Buffer


class _Inode:
    def __init__(self) -> None:
        self.seen = bytearray()
        self.kept = b""
        self.cold = False


class MemoryFile:
    def __init__(self, files: MemoryFiles, path: str, inode: _Inode) -> None:
        self.files = files
        self.path = path
        self.inode = inode

    def write(self, position: int, buffers: Sequence[Buffer]) -> int:
        data = b"".join(bytes(b) for b in buffers)
        error = self.files.fault("write")
        if error is not None:
            data = data[: len(data) // 2]  # a write that fails may have begun
        seen = self.inode.seen
        if len(seen) < position:
            seen += bytes(position - len(seen))
        seen[position : position + len(data)] = data
        if error is not None:
            raise error
        return len(data)

    def read(self, position: int, size: int) -> bytes:
        self.files.reads += 1
        self.inode.cold = False
        return bytes(self.inode.seen[position : position + size])

    def read_cached(self, position: int, size: int) -> bytes | None:
        return None if self.inode.cold else self.read(position, size)

    def is_cached(self, position: int, size: int) -> bool:
        return not self.inode.cold

    def read_ahead(self, position: int, size: int) -> None:
        self.inode.cold = False

    def size(self) -> int:
        return len(self.inode.seen)

    def truncate(self, size: int) -> None:
        self.files.fail("truncate")
        seen = self.inode.seen
        del seen[size:]
        seen += bytes(size - len(seen))

    def sync(self) -> None:
        self.files.fail("sync")
        self.inode.kept = bytes(self.inode.seen)
        self.files.syncs += 1

    def drop_cached(self) -> None:
        self.inode.cold = True

    def write_back(self, position: int, size: int) -> None:
        pass

    def close(self) -> None:
        pass


class MemoryFiles:
    def __init__(self) -> None:
        self.names: dict[str, MemoryFile] = {}
        self.kept_names: dict[str, _Inode] = {}
        self.folders: set[str] = set()
        self.fail_next: dict[str, OSError] = {}
        self.reads = self.syncs = self.opens = self.lists = 0

    def fault(self, kind: str) -> OSError | None:
        return self.fail_next.pop(kind, None)

    def fail(self, kind: str) -> None:
        error = self.fault(kind)
        if error is not None:
            raise error

    def open(self, path: str, *, create: bool = False) -> MemoryFile:
        self.opens += 1
        if path not in self.names:
            if not create:
                raise FileNotFoundError(2, "no such file", path)
            self.fail("create")
            assert path.rpartition("/")[0] in self.folders, f"no folder for {path}"
            self.names[path] = MemoryFile(self, path, _Inode())
        return self.names[path]

    def exists(self, path: str) -> bool:
        return path in self.names or path in self.folders

    def list(self, path: str) -> list[str]:
        self.lists += 1
        return sorted(name.rpartition("/")[2] for name in self.names if name.rpartition("/")[0] == path)

    def make_folder(self, path: str) -> None:
        self.folders.add(path)

    def rename(self, old: str, new: str) -> None:
        self.fail("rename")
        file = self.names.pop(old)
        file.path = new
        self.names[new] = file

    def remove(self, path: str) -> None:
        self.names.pop(path, None)

    def remove_folder(self, path: str) -> None:
        for name in self.list(path):
            self.remove(f"{path}/{name}")
        self.folders.discard(path)

    def sync_folder(self, path: str) -> None:
        self.fail("sync_folder")
        for name in [n for n in self.kept_names if n.rpartition("/")[0] == path]:
            del self.kept_names[name]
        self.kept_names |= {n: f.inode for n, f in self.names.items() if n.rpartition("/")[0] == path}

    def sync_all(self) -> None:
        self.fail("sync_all")
        for file in self.names.values():
            file.inode.kept = bytes(file.inode.seen)
        self.kept_names = {path: file.inode for path, file in self.names.items()}

    def total_bytes(self) -> int:
        return 1 << 41

    def free_bytes(self) -> int:
        return 1 << 40

    # --- for tests

    def content(self, path: str) -> bytearray:
        return self.names[path].inode.seen

    def chill(self) -> None:
        """Nothing is in memory any more."""
        for file in self.names.values():
            file.inode.cold = True

    def after_kill(self) -> MemoryFiles:
        """The disk as a new process sees it when only the old process died: all is seen, nothing more is kept."""
        fresh = MemoryFiles()
        fresh.folders = set(self.folders)
        fresh.kept_names = dict(self.kept_names)
        fresh.names = {path: MemoryFile(fresh, path, file.inode) for path, file in self.names.items()}
        return fresh

    def after_crash(self, *, tail_kept: int = 0, names_kept: bool = False) -> MemoryFiles:
        """The disk after a power cut: what was synced, and of each file the first `tail_kept` bytes of what was not."""
        fresh = MemoryFiles()
        fresh.folders = set(self.folders)
        survivors = dict(self.kept_names)
        if names_kept:
            survivors = {path: file.inode for path, file in self.names.items()}
        for path, inode in survivors.items():
            copy = _Inode()
            copy.seen = bytearray(inode.kept)
            if tail_kept and len(inode.seen) > len(inode.kept):
                copy.seen += inode.seen[len(inode.kept) : len(inode.kept) + tail_kept]
            copy.kept = bytes(copy.seen)
            fresh.names[path] = MemoryFile(fresh, path, copy)
            fresh.kept_names[path] = copy
        return fresh
