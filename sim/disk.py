"""A disk that may lose, tear and rot whatever was not synced.

`SimDisk` is the platter and the page cache of one machine; it outlives the node. `SimFiles` is one node's mount of it
(`base.files.Files`); it dies with the node. `SimDisk.crash` is a power cut: the page cache is gone, and a seed
decides what of it had reached the platter. A killed process needs nothing from here but a new mount.

Theory. Bytes and names are two stories.

Bytes: a file has its content as programs see it (`seen`) and as the platter has it (`kept`). A write changes `seen`
and makes its pages dirty; `sync` copies dirty pages to `kept`. After a crash each dirty page may have been written
back or not, in any order; the last one may be torn at a sector; the size may have grown before the bytes that should
fill it came (then they read as zeros), as on XFS or ext4 with delayed allocation.

Names: a folder has its entries as programs see them and as the platter has them. Changes of names wait in a queue.
Two models, chosen per disk:
- STRICT (what POSIX promises): a change is kept when its folder was synced; at a crash each folder keeps some prefix
  of its waiting changes, independent of other folders. A rename is atomic in both of its folders.
- ORDERED (ext4, data=ordered): all changes go through one journal; syncing any folder, or a file whose size changed,
  keeps all that came before; a crash keeps a prefix of the whole queue.

A sync that failed has marked the pages clean, as Linux does: what they hold is seen until the crash and gone after
it, and a second sync that succeeds promises nothing about them.

Every call on a mount first passes `_enter`, where a planned crash strikes (`crash_after`) and faults are drawn.
"""

from __future__ import annotations

import enum
import errno
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from headrace.base.files import Buffer
from sim.faults import DiskFaults
from sim.loop import Crashed

PAGE = 4096
SECTOR = 512


class NameModel(enum.Enum):
    STRICT = "strict"
    ORDERED = "ordered"


class SimFile:
    """A file of the disk: the inode."""

    __slots__ = ("cold", "dirty", "kept", "links", "number", "seen")

    def __init__(self, number: int) -> None:
        self.number = number
        self.seen = bytearray()
        self.kept = bytearray()
        self.dirty: set[int] = set()  # pages of `seen` that differ from `kept`, or may
        self.cold = False  # nothing of it is in memory
        self.links = 0  # names that lead here, as programs see them

    def keep(self, pages: Sequence[int], size: int) -> None:
        """These pages, and this size, have reached the platter."""
        kept = self.kept
        _resize(kept, size)
        for page in pages:
            start = page * PAGE
            end = min(start + PAGE, len(self.seen), size)
            if end > start:
                kept[start:end] = self.seen[start:end]

    def drop_clean(self) -> None:
        """What is not dirty is read from the platter again."""
        size = len(self.seen)
        for page in range(-(-size // PAGE)):
            if page not in self.dirty:
                start, end = page * PAGE, min((page + 1) * PAGE, size)
                self.seen[start:end] = self.kept[start:end].ljust(end - start, b"\0")
        self.cold = True

    def fail_to_sync(self, chance: random.Random) -> None:
        """Some pages made it, and none is dirty any longer."""
        made = [page for page in sorted(self.dirty) if chance.random() < 0.3]
        if len(self.seen) >= len(self.kept):
            reach = min(len(self.seen), max(((page + 1) * PAGE for page in made), default=0))
            self.keep(made, max(len(self.kept), reach))
        self.dirty.clear()

    def sync(self) -> None:
        self.keep(sorted(self.dirty), len(self.seen))
        self.dirty.clear()


@dataclass(slots=True, eq=False)
class SimFolder:
    number: int
    seen: dict[str, SimFile | SimFolder] = field(default_factory=dict)
    kept: dict[str, SimFile | SimFolder] = field(default_factory=dict)


Node = SimFile | SimFolder


@dataclass(slots=True)
class _Change:
    """Entries of folders that change together: (folder, name, what stands there afterwards)."""

    entries: list[tuple[SimFolder, str, Node | None]]

    def keep(self) -> None:
        for folder, name, node in self.entries:
            if node is None:
                folder.kept.pop(name, None)
            else:
                folder.kept[name] = node


class SimDisk:
    def __init__(
        self,
        chance: random.Random,
        faults: DiskFaults | None = None,
        *,
        names: NameModel = NameModel.STRICT,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self.faults = faults if faults is not None else DiskFaults()
        self.names = names
        self.root = SimFolder(0)
        self.writes = 0
        self.syncs = 0
        self.sync_failures = 0
        self.crashes = 0
        self.lost_bytes = 0  # dirty bytes that crashes took
        self._chance = chance
        self._trace = trace
        self._waiting: list[_Change] = []
        self._number = 0

    # -- what the machine does to the disk

    def mount(self) -> SimFiles:
        return SimFiles(self, self._chance)

    def crash(self) -> None:
        """A power cut. Mounts that are still alive must be taken away by whoever cuts the power."""
        self.crashes += 1
        before = sorted(self._reachable(seen=True), key=lambda node: node.number)
        files = [node for node in before if isinstance(node, SimFile)]
        for file in files:
            self._crash_bytes(file)
        self._crash_names()
        for node in self._reachable(seen=False):
            if isinstance(node, SimFolder):
                node.seen = dict(node.kept)
            else:
                node.seen = bytearray(node.kept)
                node.dirty.clear()
                node.cold = True
                node.links = 0
        for node in self._reachable(seen=True):
            if isinstance(node, SimFolder):
                for entry in node.seen.values():
                    if isinstance(entry, SimFile):
                        entry.links += 1

    def _crash_bytes(self, file: SimFile) -> None:
        if not file.dirty and len(file.seen) == len(file.kept):
            return
        chance = self._chance
        pages = sorted(file.dirty)
        full, old = len(file.seen), len(file.kept)
        match chance.choice(("lost", "kept", "torn", "mixed")):
            case "lost":
                pages = []
            case "kept":
                file.keep(pages, full)
            case "torn":
                # A prefix came through; of the next page some sectors.
                count = chance.randrange(len(pages) + 1)
                tear = pages[count] * PAGE + chance.randrange(0, PAGE, SECTOR) if count < len(pages) else full
                size = max(old, min(tear, full)) if full >= old else chance.choice((old, full))
                torn = pages[count : count + 1]
                pages = pages[:count]
                file.keep(pages, size)
                for page in torn:
                    start, end = page * PAGE, min(tear, full, size)
                    if end > start:
                        file.kept[start:end] = file.seen[start:end]
            case "mixed":
                # Pages came through in any order, and the size may have come before the bytes.
                pages = [page for page in pages if chance.random() < 0.5]
                reach = min(full, max(((page + 1) * PAGE for page in pages), default=0))
                size = chance.choice((full, max(old, reach))) if full >= old else chance.choice((old, full))
                file.keep(pages, size)
        lost = sorted(file.dirty.difference(pages))
        self.lost_bytes += PAGE * len(lost)
        if self.faults.rot_chance and lost and chance.random() < self.faults.rot_chance:
            start = chance.choice(lost) * PAGE
            start += chance.randrange(0, PAGE, SECTOR)
            end = min(start + SECTOR, len(file.kept))
            # Only what was being written can rot: bytes that were synced lie in front of the dirty ones of a log.
            if start >= old and end > start:
                file.kept[start:end] = chance.randbytes(end - start)

    def _crash_names(self) -> None:
        chance = self._chance
        if self.names is NameModel.ORDERED:
            for change in self._waiting[: chance.randrange(len(self._waiting) + 1)]:
                change.keep()
        else:
            stopped: set[int] = set()
            stop_chance = chance.choice((0.0, 0.1, 0.5, 1.0))
            for change in self._waiting:
                folders = {folder.number for folder, _, _ in change.entries}
                if folders & stopped or chance.random() < stop_chance:
                    stopped |= folders
                else:
                    change.keep()
        self._waiting.clear()

    # -- what the mounts do

    def change(self, *entries: tuple[SimFolder, str, Node | None]) -> None:
        for folder, name, node in entries:
            old = folder.seen.get(name)
            if isinstance(old, SimFile):
                old.links -= 1
            if node is None:
                folder.seen.pop(name, None)
            else:
                folder.seen[name] = node
                if isinstance(node, SimFile):
                    node.links += 1
        self._waiting.append(_Change(list(entries)))

    def keep_names_of(self, folder: SimFolder) -> None:
        """`fsync` of a folder."""
        if self.names is NameModel.ORDERED:
            self.keep_all_names()
            return
        needed = {folder.number}
        kept: list[_Change] = []
        rest: list[_Change] = []
        for change in reversed(self._waiting):
            folders = {f.number for f, _, _ in change.entries}
            if folders & needed:
                needed |= folders
                kept.append(change)
            else:
                rest.append(change)
        for change in reversed(kept):
            change.keep()
        self._waiting = rest[::-1]

    def keep_all_names(self) -> None:
        for change in self._waiting:
            change.keep()
        self._waiting.clear()

    def sync_all(self) -> None:
        """`syncfs`. When it fails, any file may be the one that was not written."""
        self.syncs += 1
        files = [node for node in self._reachable(seen=True) if isinstance(node, SimFile)]
        if self.faults.sync_error_chance and self._chance.random() < self.faults.sync_error_chance:
            self.sync_failures += 1
            self.trace("sync of all fails")
            for file in files:
                file.fail_to_sync(self._chance)
            raise OSError(errno.EIO, "input/output error")
        self.trace("sync of all")
        if self.faults.lies_about_sync:
            return
        self.keep_all_names()
        for file in files:
            file.sync()

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def used_bytes(self) -> int:
        return sum(len(node.seen) for node in self._reachable(seen=True) if isinstance(node, SimFile))

    def trace(self, text: str) -> None:
        if self._trace is not None:
            self._trace(text)

    def _reachable(self, *, seen: bool) -> Iterator[Node]:
        folders = [self.root]
        while folders:
            folder = folders.pop()
            yield folder
            entries = folder.seen if seen else folder.kept
            for name in sorted(entries):
                node = entries[name]
                if isinstance(node, SimFolder):
                    folders.append(node)
                else:
                    yield node


class SimHandle:
    """An open file: `base.files.File`."""

    __slots__ = ("__weakref__", "_files", "_node", "path")

    def __init__(self, files: SimFiles, path: str, node: SimFile) -> None:
        self.path = path
        self._files = files
        self._node = node

    def write(self, position: int, buffers: Sequence[Buffer]) -> int:
        if not self._enter():
            return sum(map(len, buffers))
        return self._files.write(self.path, self._node, position, b"".join(buffers))

    def read(self, position: int, size: int) -> bytes:
        self._enter()
        self._files.read_fault(self.path)
        self._node.cold = False
        return bytes(self._node.seen[position : position + size])

    def read_cached(self, position: int, size: int) -> bytes | None:
        if not self.is_cached(position, size):
            return None
        return bytes(self._node.seen[position : position + size])

    def is_cached(self, position: int, size: int) -> bool:
        self._enter()
        self._files.evict(self._node)
        return not self._node.cold or size <= 0

    def read_ahead(self, position: int, size: int) -> None:
        self._enter()
        self._files.read_fault(self.path)
        self._node.cold = False

    def size(self) -> int:
        self._enter()
        return len(self._node.seen)

    def truncate(self, size: int) -> None:
        if self._enter():
            self._files.truncate(self.path, self._node, size)

    def sync(self) -> None:
        if self._enter():
            self._files.sync(self.path, self._node)

    def drop_cached(self) -> None:
        if self._enter():
            self._files.disk.trace(f"drop cache of {self.path}")
            self._node.drop_clean()

    def write_back(self, position: int, size: int) -> None:
        if self._enter():
            self._files.write_back(self._node, position, size)

    def close(self) -> None:
        pass  # descriptors are not what this disk is about

    def _enter(self) -> bool:
        if not self._files.enter():
            return False
        if not self._node.links:
            raise FileNotFoundError(errno.ENOENT, "no such file (it was removed)", self.path)
        return True


class SimFiles:
    """One node's mount: `base.files.Files`. Dead mounts swallow what a dying stack still wants to write."""

    def __init__(self, disk: SimDisk, chance: random.Random) -> None:
        self.disk = disk
        self.alive = True
        self.crash_after: int | None = None  # calls until the planned crash
        self.on_crash: Callable[[], None] | None = None  # takes the node away, before `Crashed` unwinds its stack
        self.spent_ms = 0.0  # how long the calls of one piece of work took: whoever runs it waits that long
        self.calls = 0
        self._chance = chance
        self._handles: dict[str, SimHandle] = {}

    # -- the interface

    def open(self, path: str, *, create: bool = False) -> SimHandle:
        self.enter()
        folder, name = self._parent(path)
        node = folder.seen.get(name)
        if isinstance(node, SimFolder):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        if node is None:
            if not create:
                raise FileNotFoundError(errno.ENOENT, "no such file", path)
            self._space(0, path)
            node = SimFile(self.disk.next_number())
            self.disk.trace(f"create {path}")
            if self.alive:
                self.disk.change((folder, name, node))
        handle = self._handles.get(path)
        if handle is None or handle._node is not node:
            handle = self._handles[path] = SimHandle(self, path, node)
        return handle

    def exists(self, path: str) -> bool:
        self.enter()
        return self._find(path) is not None

    def list(self, path: str) -> list[str]:
        self.enter()
        node = self._find(path)
        if isinstance(node, SimFile):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
        return sorted(node.seen) if node is not None else []

    def make_folder(self, path: str) -> None:
        if not self.enter():
            return
        folder = self.disk.root
        for name in _parts(path):
            node = folder.seen.get(name)
            if node is None:
                node = SimFolder(self.disk.next_number())
                self.disk.trace(f"mkdir {path}")
                self.disk.change((folder, name, node))
            elif isinstance(node, SimFile):
                raise FileExistsError(errno.EEXIST, "a file stands there", path)
            folder = node

    def rename(self, old: str, new: str) -> None:
        if not self.enter():
            return
        old_folder, old_name = self._parent(old)
        new_folder, new_name = self._parent(new)
        node = old_folder.seen.get(old_name)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", old)
        target = new_folder.seen.get(new_name)
        if isinstance(target, SimFolder):
            if isinstance(node, SimFile):
                raise IsADirectoryError(errno.EISDIR, "is a folder", new)
            if target.seen:
                raise OSError(errno.ENOTEMPTY, "folder not empty", new)
        elif target is not None and isinstance(node, SimFolder):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", new)
        self.disk.trace(f"rename {old} -> {new}")
        if node is target:
            return
        self.disk.change((old_folder, old_name, None), (new_folder, new_name, node))
        self._handles.pop(new, None)
        inside = old + "/"
        for path in [p for p in self._handles if p == old or p.startswith(inside)]:
            handle = self._handles.pop(path)
            handle.path = new + path[len(old) :]
            self._handles[handle.path] = handle

    def remove(self, path: str) -> None:
        if not self.enter():
            return
        node = self._find(path)
        if node is None:
            return
        if isinstance(node, SimFolder):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        self.disk.trace(f"remove {path}")
        folder, name = self._parent(path)
        self.disk.change((folder, name, None))
        self._handles.pop(path, None)

    def remove_folder(self, path: str) -> None:
        """File by file, as `rmtree` does: a crash in the middle leaves a half of it."""
        if not self.enter():
            return
        node = self._find(path)
        if node is None:
            return
        if isinstance(node, SimFile):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
        for name in sorted(node.seen):
            inner = f"{path}/{name}"
            if isinstance(node.seen[name], SimFolder):
                self.remove_folder(inner)
            else:
                self.remove(inner)
        if not self.enter():
            return
        self.disk.trace(f"rmdir {path}")
        folder, name = self._parent(path)
        self.disk.change((folder, name, None))

    def sync_folder(self, path: str) -> None:
        if not self.enter():
            return
        node = self._find(path)
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such folder", path)
        self._sync_latency()
        self.disk.trace(f"syncdir {path}")
        if isinstance(node, SimFolder) and not self.disk.faults.lies_about_sync:
            self.disk.keep_names_of(node)

    def sync_all(self) -> None:
        if self.enter():
            self._sync_latency()
            self.disk.sync_all()

    def total_bytes(self) -> int:
        self.enter()
        return self.disk.faults.capacity_bytes

    def free_bytes(self) -> int:
        self.enter()
        return max(0, self.disk.faults.capacity_bytes - self.disk.used_bytes())

    # -- what handles ask for

    def enter(self) -> bool:
        """Whether the call is to be carried out. Here the planned crash strikes."""
        if not self.alive:
            return False
        self.calls += 1
        if self.crash_after is not None:
            self.crash_after -= 1
            if self.crash_after <= 0:
                self.crash_after = None
                if self.on_crash is not None:
                    self.on_crash()
                self.alive = False
                raise Crashed
        return True

    def write(self, path: str, node: SimFile, position: int, data: bytes) -> int:
        disk = self.disk
        disk.writes += 1
        if disk.faults.write_error_chance and self._chance.random() < disk.faults.write_error_chance:
            self._put(node, position, data[: self._chance.randrange(len(data) + 1)])
            disk.trace(f"write {path} {position} {len(data)} fails")
            raise OSError(errno.EIO, "input/output error", path)
        grown = position + len(data) - len(node.seen)
        if grown > 0 and disk.faults.capacity_bytes < 1 << 40:
            free = disk.faults.capacity_bytes - disk.used_bytes()
            if grown > free:
                self._put(node, position, data[: max(0, len(data) - grown + max(0, free))])
                disk.trace(f"write {path} {position} {len(data)}: full")
                raise OSError(errno.ENOSPC, "no space left on device", path)
        self._put(node, position, data)
        disk.trace(f"write {path} {position} {len(data)}")
        return len(data)

    def truncate(self, path: str, node: SimFile, size: int) -> None:
        self.disk.trace(f"truncate {path} {size}")
        # The page at the new end is cut (or filled) in memory; pages behind it are no longer there to be written.
        node.dirty.update(range(min(size, len(node.seen)) // PAGE, size // PAGE + 1))
        node.dirty = {page for page in node.dirty if page * PAGE < size}
        _resize(node.seen, size)

    def sync(self, path: str, node: SimFile) -> None:
        disk = self.disk
        disk.syncs += 1
        self._sync_latency()
        if disk.faults.sync_error_chance and self._chance.random() < disk.faults.sync_error_chance:
            disk.sync_failures += 1
            disk.trace(f"sync {path} fails")
            node.fail_to_sync(self._chance)
            raise OSError(errno.EIO, "input/output error", path)
        disk.trace(f"sync {path} {len(node.seen)}")
        if disk.faults.lies_about_sync:
            return
        if disk.names is NameModel.ORDERED and len(node.seen) != len(node.kept):
            disk.keep_all_names()
        node.sync()

    def write_back(self, node: SimFile, position: int, size: int) -> None:
        if self._chance.random() < self.disk.faults.write_back_chance and len(node.seen) >= len(node.kept):
            pages = [page for page in sorted(node.dirty) if position <= page * PAGE and (page + 1) * PAGE <= position + size]
            reach = max(((page + 1) * PAGE for page in pages), default=0)
            node.keep(pages, max(len(node.kept), min(reach, len(node.seen))))
            node.dirty.difference_update(pages)

    def read_fault(self, path: str) -> None:
        faults = self.disk.faults
        if faults.read_error_chance and self.alive and self._chance.random() < faults.read_error_chance:
            self.disk.trace(f"read {path} fails")
            raise OSError(errno.EIO, "input/output error", path)

    def evict(self, node: SimFile) -> None:
        """The kernel takes clean pages away when it likes."""
        faults = self.disk.faults
        if faults.evict_chance and not node.dirty and self._chance.random() < faults.evict_chance:
            node.cold = True

    # -- inside

    def _put(self, node: SimFile, position: int, data: bytes) -> None:
        if not data:
            return
        end = position + len(data)
        first = min(position, len(node.seen)) // PAGE
        if end > len(node.seen):
            _resize(node.seen, end)
        node.seen[position:end] = data
        node.dirty.update(range(first, (end - 1) // PAGE + 1))

    def _space(self, size: int, path: str) -> None:
        if self.disk.faults.capacity_bytes < 1 << 40 and self.disk.used_bytes() + size >= self.disk.faults.capacity_bytes:
            raise OSError(errno.ENOSPC, "no space left on device", path)

    def _sync_latency(self) -> None:
        faults = self.disk.faults
        low, high = faults.sync_ms
        if faults.slow_sync_chance and self._chance.random() < faults.slow_sync_chance:
            low, high = faults.slow_sync_ms
        self.spent_ms += low + (high - low) * self._chance.random()

    def _find(self, path: str) -> Node | None:
        node: Node | None = self.disk.root
        for name in _parts(path):
            if not isinstance(node, SimFolder):
                return None
            node = node.seen.get(name)
        return node

    def _parent(self, path: str) -> tuple[SimFolder, str]:
        *parts, name = _parts(path)
        node = self._find("/".join(parts))
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such folder", path)
        if isinstance(node, SimFile):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
        return node, name


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part and part != "."]


def _resize(data: bytearray, size: int) -> None:
    if size < len(data):
        del data[size:]
    else:
        data.extend(bytes(size - len(data)))
