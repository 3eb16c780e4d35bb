"""The real files: `base.files.Files` over a data folder.

Descriptors are a bounded resource: a file is opened at its first use and the pool closes the least recently used
ones beyond its bound (second-chance order: exact order would cost a list move on every append). A file that is in
use by a thread or that `sendfile` reads from is pinned and never closed under it.

One `DiskFile` exists per path, so that a rename (of a file or of a whole folder) reaches whoever holds it. The
registry is kept by folder: renaming one of 2,000 partitions must not walk the files of all.

Two locks. `lock` guards the counters and the registry; the loop takes it with every append, so nobody asks the kernel
for anything that may wait while holding it (making a name, or opening one, waits for the journal of a busy disk). `names`
is held by whoever renames, from the system call until the registry knows of it: whoever finds nothing at a path asks again
once no rename is under way.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections import deque
from collections.abc import Sequence
from weakref import WeakValueDictionary

from headrace.base.files import Buffer
from headrace.server import linux

_IOV_MAX = 1024
_PROBE_STEP = 128 * 1024  # the kernel reads ahead in windows of about this size, so one page tells about its window
_READ_AHEAD_STEP = 1024 * 1024


class DiskFile:
    """One file of the data folder."""

    __slots__ = ("__weakref__", "_fd", "_files", "_pins", "_used", "path")

    def __init__(self, files: DiskFiles, path: str) -> None:
        self.path = path
        self._files = files
        self._fd = -1
        self._pins = 0
        self._used = False

    def pin(self) -> int:
        """The descriptor, kept open until `unpin`."""
        files = self._files
        with files.lock:
            self._pins += 1
            self._used = True
            if self._fd >= 0:
                return self._fd
        try:
            return self._open()
        except BaseException:
            self.unpin()
            raise

    def _open(self) -> int:
        files = self._files
        while True:
            path = self.path
            try:
                fd = files.descriptor(path)
            except FileNotFoundError:
                with files.names:
                    if self.path == path:
                        raise
                continue
            spare = [fd]  # descriptors to close
            try:
                with files.lock:
                    if self.path != path:  # renamed meanwhile: this may be another file
                        continue
                    if self._fd < 0:  # else another thread was quicker
                        self._fd = spare.pop()
                        spare += files.opened(self)
                    return self._fd
            finally:
                for fd in spare:
                    os.close(fd)

    def unpin(self) -> None:
        with self._files.lock:
            self._pins -= 1

    def write(self, position: int, buffers: Sequence[Buffer]) -> int:
        fd = self.pin()
        try:
            size = sum(map(len, buffers))
            done = os.pwritev(fd, buffers, position) if len(buffers) <= _IOV_MAX else 0
            if done != size:
                self._write_rest(fd, position, buffers, done)
            return size
        finally:
            self.unpin()

    @staticmethod
    def _write_rest(fd: int, position: int, buffers: Sequence[Buffer], done: int) -> None:
        """A short write (a disk that fills up, a signal): go on until all is written or the error shows itself."""
        rest = memoryview(b"".join(buffers))[done:]
        position += done
        while rest:
            done = os.pwrite(fd, rest, position)
            if done == 0:
                raise OSError(errno.EIO, "the disk took no byte of a write")
            rest = rest[done:]
            position += done

    def read(self, position: int, size: int) -> bytes:
        fd = self.pin()
        try:
            data = os.pread(fd, size, position)
            while len(data) < size:
                more = os.pread(fd, size - len(data), position + len(data))
                if not more:
                    break
                data += more
            return data
        finally:
            self.unpin()

    def read_cached(self, position: int, size: int) -> bytes | None:
        fd = self.pin()
        try:
            buffer = bytearray(size)
            done = linux.read_nowait(fd, buffer, position)
            if done == size:
                return bytes(buffer)
            if done < 0:
                return None
            # Short: either the file ends here or the rest is not in memory.
            if position + done >= os.fstat(fd).st_size:
                return bytes(memoryview(buffer)[:done])
            return None
        finally:
            self.unpin()

    def read_into(self, position: int, buffer: bytearray) -> bool:
        """Fill the buffer with what lies in memory; False where the disk would have to be waited for, or the file ends."""
        fd = self.pin()
        try:
            return linux.read_nowait(fd, buffer, position) == len(buffer)
        finally:
            self.unpin()

    def is_cached(self, position: int, size: int) -> bool:
        if size <= 0:
            return True
        fd = self.pin()
        try:
            probe = bytearray(1)
            last = position + size - 1
            for at in range(position, last, _PROBE_STEP):
                if linux.read_nowait(fd, probe, at) < 0:
                    return False
            return linux.read_nowait(fd, probe, last) >= 0
        finally:
            self.unpin()

    def read_ahead(self, position: int, size: int) -> None:
        fd = self.pin()
        try:
            end = position + size
            buffer = bytearray(min(_READ_AHEAD_STEP, max(size, 1)))
            while position < end:
                done = os.preadv(fd, [memoryview(buffer)[: end - position]], position)
                if done == 0:
                    return
                position += done
        finally:
            self.unpin()

    def size(self) -> int:
        if self._fd < 0:
            return os.stat(self._files.absolute(self.path)).st_size
        fd = self.pin()
        try:
            return os.fstat(fd).st_size
        finally:
            self.unpin()

    def truncate(self, size: int) -> None:
        fd = self.pin()
        try:
            os.ftruncate(fd, size)
        finally:
            self.unpin()

    def sync(self) -> None:
        fd = self.pin()
        try:
            linux.data_sync(fd)
        finally:
            self.unpin()

    def drop_cached(self) -> None:
        fd = self.pin()
        try:
            linux.drop_cached(fd)
        finally:
            self.unpin()

    def write_back(self, position: int, size: int) -> None:
        fd = self.pin()
        try:
            linux.write_back(fd, position, size)
        finally:
            self.unpin()

    def close(self) -> None:
        with self._files.lock:
            if self._fd >= 0 and self._pins == 0:
                os.close(self._fd)
                self._fd = -1
                self._files.open_count -= 1

    def __del__(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._files.open_count -= 1


class DiskFiles:
    """A data folder on a real disk."""

    def __init__(self, root: str, open_files_max: int) -> None:
        self.root = os.path.abspath(root)
        self.open_files_max = open_files_max
        self.open_count = 0  # Invariant: the number of DiskFiles with a descriptor.
        self.lock = threading.RLock()
        self.names = threading.RLock()  # taken before `lock`
        self._open: deque[DiskFile] = deque()
        self._folders: dict[str, WeakValueDictionary[str, DiskFile]] = {}

    def absolute(self, path: str) -> str:
        return f"{self.root}/{path}"

    def descriptor(self, path: str, flags: int = 0) -> int:
        """A new descriptor. Where the process has none left, another file gives one of its own."""
        try:
            return os.open(self.absolute(path), os.O_RDWR | os.O_CLOEXEC | flags, 0o644)
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            with self.lock:
                victims = self._take_from_others(self.open_count - 1)
            if not victims:
                raise
            for fd in victims:
                os.close(fd)
            return os.open(self.absolute(path), os.O_RDWR | os.O_CLOEXEC | flags, 0o644)

    def opened(self, file: DiskFile) -> list[int]:
        """Called under the lock: count it. The descriptors beyond the bound, which the caller closes without the lock."""
        self.open_count += 1
        if len(self._open) > 2 * self.open_count + 16:  # files that were closed by hand or removed stand there still
            self._open = deque(dict.fromkeys(other for other in self._open if other._fd >= 0 and other is not file))
        self._open.append(file)
        return self._take_from_others(self.open_files_max)

    def _take_from_others(self, open_files_max: int) -> list[int]:
        """The descriptors of the least recently used files beyond so many."""
        taken: list[int] = []
        # Two rounds: the first takes away second chances, the second finds the victims.
        for _ in range(2 * len(self._open)):
            if self.open_count <= open_files_max:
                break
            victim = self._open.popleft()
            if victim._fd < 0:
                continue  # it was closed by hand
            if victim._used or victim._pins:
                victim._used = False
                self._open.append(victim)
                continue
            taken.append(victim._fd)
            victim._fd = -1
            self.open_count -= 1
        return taken

    def open(self, path: str, *, create: bool = False) -> DiskFile:
        folder, _, name = path.rpartition("/")
        with self.lock:
            files = self._folders.get(folder)
            file = files.get(name) if files is not None else None
        if create and not (file is not None and file._fd >= 0):
            # An empty file with the name; the descriptor is opened at the first use.
            os.close(self.descriptor(path, os.O_CREAT))
        elif file is None and not os.path.exists(self.absolute(path)):
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        if file is not None:
            return file
        with self.lock:
            files = self._folders.get(folder)
            if files is None:
                files = self._folders[folder] = WeakValueDictionary()
            file = files.get(name)
            if file is None:
                file = files[name] = DiskFile(self, path)
            return file

    def exists(self, path: str) -> bool:
        return os.path.exists(self.absolute(path))

    def list(self, path: str) -> list[str]:
        try:
            return sorted(os.listdir(self.absolute(path)))
        except FileNotFoundError:
            return []

    def make_folder(self, path: str) -> None:
        os.makedirs(self.absolute(path), exist_ok=True)

    def rename(self, old: str, new: str) -> None:
        with self.names:
            os.rename(self.absolute(old), self.absolute(new))
            self._renamed(old, new)

    def _renamed(self, old: str, new: str) -> None:
        with self.lock:
            old_folder, _, old_name = old.rpartition("/")
            new_folder, _, new_name = new.rpartition("/")
            target = self._folders.get(new_folder)
            if target is not None:
                target.pop(new_name, None)
            inside = self._folders.pop(old, None)
            if inside is not None:  # a folder: what is open in it goes on under the new name
                for name, file in inside.items():
                    file.path = f"{new}/{name}"
                self._folders[new] = inside
                return
            source = self._folders.get(old_folder)
            moved = source.pop(old_name) if source is not None and old_name in source else None
            if moved is not None:
                moved.path = new
                self._folders.setdefault(new_folder, WeakValueDictionary())[new_name] = moved

    def remove(self, path: str) -> None:
        folder, _, name = path.rpartition("/")
        with self.lock:
            files = self._folders.get(folder)
            file = files.pop(name, None) if files is not None else None
            if file is not None:
                file.close()
        try:
            os.unlink(self.absolute(path))
        except FileNotFoundError:
            return

    def remove_folder(self, path: str) -> None:
        with self.lock:
            for folder in [f for f in self._folders if f == path or f.startswith(path + "/")]:
                for file in self._folders.pop(folder).values():
                    file.close()
        try:
            shutil.rmtree(self.absolute(path))
        except FileNotFoundError:
            return

    def sync_folder(self, path: str) -> None:
        fd = os.open(self.absolute(path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def sync_all(self) -> None:
        fd = os.open(self.root, os.O_RDONLY | os.O_CLOEXEC)
        try:
            linux.sync_file_system(fd)
        finally:
            os.close(fd)

    def total_bytes(self) -> int:
        stat = os.statvfs(self.root)
        return stat.f_blocks * stat.f_frsize

    def free_bytes(self) -> int:
        stat = os.statvfs(self.root)
        return stat.f_bavail * stat.f_frsize
