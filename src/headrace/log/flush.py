"""Making a log durable: what one flush has to sync, in which order, and what it leaves behind.

The plan is drawn up on the loop, runs in a thread, and its result is told to the log on the loop. It touches nothing of the
log while it runs. One plan per log at a time.

The order is the promise:

1. the bytes of every segment that has grown, oldest first;
2. the folder, when segments are new: their names count only now, so what lies in them counts only now;
   -- here the flush is done: what follows is housekeeping, whose failure takes nothing back (it is tried again) --
3. index entries (those of closed segments are synced);
4. the file of leader epochs;
5. the producers' snapshot at a segment's beginning. It comes last because it proves all before it (see `snapshot.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.base.files import File, Files
from headrace.log.names import EPOCHS_FILE, SNAPSHOT, START_FILE, TMP, file_name
from headrace.log.offset_index import OffsetIndex
from headrace.log.producers import Entries
from headrace.log.segment import Mark, Segment
from headrace.log.snapshot import encode_snapshot
from headrace.log.time_index import TimeIndex


def replace_file(files: Files, path: str, data: bytes, *, sync: bool = True) -> None:
    """Write a small file so that after a crash it is the old one or the new one. Its name is durable once the folder is synced.

    Without `sync` a power cut may leave anything there, until the caller has synced it.
    """
    file = files.open(path + TMP, create=True)
    file.truncate(0)
    file.write(0, (data,))
    if sync:
        file.sync()
    files.rename(path + TMP, path)


class Spill:
    """Index entries on their way into the file. They are encoded in the thread: after a long pause there may be many."""

    __slots__ = ("_count", "_entries", "_final", "_index", "_position", "_version")

    def __init__(self, index: OffsetIndex | TimeIndex, final: bool) -> None:
        self._index = index
        self._entries = index.new  # it only grows while it is this one
        self._count = len(index.new[0])
        self._position = index.disk_count * index.ENTRY_SIZE
        self._final = final
        self._version = index.version

    def run(self, files: Files, *, sync: bool = True) -> None:
        file = files.open(self._index.path, create=True)
        data = self._index.encode(self._entries, self._count)
        if data:
            file.write(self._position, (data,))
        if self._final:
            # A flush that failed may have written more than counts now.
            file.truncate(self._position + len(data))
            if sync:
                file.sync()

    def settle(self) -> None:
        self._index.spilled(self._count, self._version)


@dataclass(slots=True)
class FlushPlan:
    files: Files
    folder: str
    end_offset: int  # what will be durable: all before it
    size: int  # bytes that become durable
    data: list[File]
    folders: list[str]
    marks: list[tuple[Segment, Mark]]
    spills: list[Spill]
    closed: list[Segment]  # will be settled
    epochs: bytes | None
    snapshot: tuple[int, Entries] | None
    stale_snapshots: list[int]
    trouble: OSError | None = None  # of the housekeeping

    def run(self, *, is_synced: bool = False) -> None:
        """Off the loop. An OSError that comes out of here means that the flush failed.

        `is_synced`: `Files.sync_all` has run for many plans at once, after they were drawn up.
        """
        if not is_synced:
            for file in self.data:
                file.sync()
            for folder in self.folders:
                self.files.sync_folder(folder)
        try:
            self._keep_house()
        except OSError as error:
            self.trouble = error

    def _keep_house(self) -> None:
        files = self.files
        for spill in self.spills:
            spill.run(files)
        if self.epochs is not None:
            replace_file(files, f"{self.folder}/{EPOCHS_FILE}", self.epochs)
        if self.snapshot is not None:
            files.sync_folder(self.folder)  # the names of what was just written
            offset, entries = self.snapshot
            replace_file(files, f"{self.folder}/{file_name(offset, SNAPSHOT)}", encode_snapshot(entries, is_at_roll=True))
        for offset in self.stale_snapshots:
            files.remove(f"{self.folder}/{file_name(offset, SNAPSHOT)}")


@dataclass(slots=True)
class StartPlan:
    """The log is to begin later, within a segment (DeleteRecords). Run it off the loop, then tell the log."""

    files: Files
    folder: str
    start_offset: int

    def run(self) -> None:
        replace_file(self.files, f"{self.folder}/{START_FILE}", encode_start(self.start_offset))
        self.files.sync_folder(self.folder)


def encode_start(offset: int) -> bytes:
    return f"0\n{offset}\n".encode()


def decode_start(data: bytes) -> int | None:
    lines = data.split(b"\n")
    return int(lines[1]) if len(lines) == 3 and lines[0] == b"0" and lines[1].isdigit() else None


@dataclass(slots=True)
class Removal:
    """Files on their way out. Run it off the loop, after the delay that readers on their way are given."""

    files: Files
    folder: str
    paths: list[str]
    size: int

    def run(self) -> None:
        # First the names: else a crash could bring an old segment back without those after it.
        self.files.sync_folder(self.folder)
        for path in self.paths:
            self.files.remove(path)
