"""One partition's log: batches in segments, from `start_offset` up to `end_offset`.

Owner: the node that holds the partition. All state changes on its loop; no clock, no threads, no waiting here. What may wait
for the disk is either a plan that is made here, run in a thread and told back (flush, start, removal), or a method that says
"off the loop".

    append           page cache only: sequence check, roll, stamp, one write, index, epochs, producers
    read             a slice of a segment file; `Cold` where the disk would have to be asked first
    flush_plan       -> run() off the loop -> flushed(plan) or flush_failed(plan, error)
    start_plan       -> run() off the loop -> start_moved(plan)                 (DeleteRecords)
    expired, detach  -> Removal.run() off the loop                              (retention)
    find_by_timestamp, max_timestamp, resume, close, Log.open: off the loop as they are

Laws, which the model test holds:

1. offsets are given once: `end_offset` never goes back below `flushed_offset`, and no offset below it gets other bytes;
2. `flushed_offset` rises only by a flush that succeeded in syncing the bytes and the names of the files that hold them;
3. after a flush that failed nothing behind `flushed_offset` is kept, and nothing is ever appended to pages the kernel may have
   given up: a new segment begins;
4. the segment that carries `end_offset` has a durable name before any segment before it goes away;
5. an append that failed leaves no trace: the next read, append or recovery does not see a byte of it.

Not here: which offsets readers may see (the high watermark is the partition's), the checks of a batch's bytes (`records`),
when to flush, roll or delete (the node's timers), compaction.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

from headrace.base.errors import Code, Refused
from headrace.base.files import File, Files, FileSlice
from headrace.base.ids import NO_TIMESTAMP
from headrace.log import retention
from headrace.log.epochs import LeaderEpochs, encode_epochs
from headrace.log.flush import FlushPlan, Removal, Spill, StartPlan, replace_file
from headrace.log.names import DELETED, EPOCHS_FILE, INDEX, LOG, SNAPSHOT, TIME_INDEX, file_name
from headrace.log.offset_index import IndexWrong, NotInMemory, OffsetIndex
from headrace.log.outcome import Appended, CleanState, Cold, Cut, Damage, Duplicate, Read, SegmentState
from headrace.log.producers import Entries, Producers, ProducerView
from headrace.log.recovery import Recovered, recover
from headrace.log.scan import Broken
from headrace.log.segment import Damaged, Mark, Segment
from headrace.log.settings import LogSettings
from headrace.log.snapshot import encode_snapshot, load_snapshot
from headrace.log.time_index import TimeIndex
from headrace.records.header import APPEND_TIME, BatchHeader
from headrace.records.record import RecordsError, read_records
from headrace.records.stamp import stamp

__all__ = ["Appended", "CleanState", "Cold", "Cut", "Damage", "Duplicate", "FlushPlan", "Log", "LogSettings", "Read", "Removal"]

_RELATIVE_MAX = 2**31 - 1  # of offsets in an index, and of positions
_SPILL_COUNT = 512  # new index entries that are worth a write: 4 kB
_SNAPSHOTS_KEPT = 2
_WRITE_BACK_SIZE = 4 * 1024 * 1024


class Log:
    __slots__ = (
        "_base_offsets",
        "_epochs_dirty",
        "_flight",
        "_folder_is_durable",
        "_house_failed",
        "_index_can_fill",
        "_is_closed",
        "_producers",
        "_producers_at",
        "_producers_count",
        "_segment_bytes",
        "_segment_ms",
        "_settings",
        "_snapshot_due",
        "_snapshots",
        "_stale",
        "_start_flight",
        "_start_wanted",
        "_written_back",
        "active",
        "dirty",
        "end_offset",
        "epochs",
        "files",
        "flushed_offset",
        "folder",
        "producers_lost",
        "readonly",
        "report",
        "segments",
        "size_bytes",
        "start_offset",
    )

    def __init__(self, files: Files, folder: str, settings: LogSettings, segments: list[Segment], start_offset: int) -> None:
        """For `create` and `open`."""
        self.files = files
        self.folder = folder
        self.segments = segments  # Invariant: at least one; bases rise; only the last one grows.
        self._base_offsets = [segment.base_offset for segment in segments]  # Invariant: those of `segments`.
        self.active = segments[-1]
        self.start_offset = start_offset
        self.end_offset = self.active.end_offset
        self.flushed_offset = self.end_offset  # Invariant: start_offset <= flushed_offset <= end_offset.
        self.size_bytes = sum(segment.size for segment in segments)
        self.dirty = 0  # bytes that are not flushed
        self.epochs = LeaderEpochs()
        self.readonly: Refused | None = None  # why nothing can be appended
        self.report: list[Damage] = []  # what recovery found broken, and what it cut
        self._producers: Producers | None = None  # None: not loaded yet
        self._producers_at = self.end_offset  # the snapshot to load them from
        self._producers_count = 0  # in the newest snapshot
        self._epochs_dirty = False
        self._folder_is_durable = True
        self._flight: FlushPlan | None = None
        self._snapshot_due: tuple[int, Entries] | None = None
        self._snapshots: list[int] = []  # offsets of the snapshot files, rising
        self._start_wanted = start_offset
        self._start_flight = False
        self._written_back = self.active.size
        self._is_closed = False
        self._house_failed = False
        self._stale: list[Segment] = []  # cut away, but their files could not be renamed yet
        self.producers_lost: str | None = None  # why the snapshot could not be read
        self.settings = settings

    # --- beginning and end

    @classmethod
    def create(cls, files: Files, folder: str, settings: LogSettings, *, now_ms: int, start_offset: int = 0) -> Log:
        """A new log in a new folder. It is durable after its first flush."""
        files.make_folder(folder)
        segment = Segment(files, folder, start_offset, now_ms)
        segment.create()
        log = cls(files, folder, settings, [segment], start_offset)
        log._producers = Producers()
        log._folder_is_durable = False
        return log

    @classmethod
    def open(
        cls,
        files: Files,
        folder: str,
        settings: LogSettings,
        *,
        clean: CleanState | None = None,
        recovery_point: int | None = None,
        now_ms: int,
        progress: Callable[[int, int], None] | None = None,
        is_synced: bool = False,
    ) -> Log:
        """The log of a folder. With `clean` nothing is read; without it the log is recovered, off the loop.

        `recovery_point`: an offset that is known to have been flushed. What is broken before it is damage, what is broken
        behind it was never acknowledged. The log knows such a point of its own accord (its newest snapshot); a later one
        makes the line sharper. `progress` is called with bytes done and bytes in all. `is_synced`: the caller has just made all
        that lies in the folder durable (`Files.sync_all`), which spares a log that has not changed its own syncs.
        """
        if clean is not None:
            return cls._open_clean(files, folder, settings, clean)
        return cls._open_recovered(settings, recover(files, folder, settings, recovery_point, now_ms, progress, is_synced))

    @classmethod
    def _open_clean(cls, files: Files, folder: str, settings: LogSettings, clean: CleanState) -> Log:
        segments = []
        for state in clean.segments:
            segment = Segment(files, folder, state.base_offset, state.created_ms)
            segment.size, segment.end_offset = state.size, state.end_offset
            segment.first_timestamp = state.first_timestamp
            segment.max_timestamp, segment.max_timestamp_offset = state.max_timestamp, state.max_timestamp_offset
            segment.last_append_ms = state.last_append_ms
            segment.offsets.disk_count = state.offset_entries
            segment.times.disk_count = state.time_entries
            segment.times.last_timestamp = state.indexed_timestamp
            segment.bytes_since_entry = state.bytes_since_entry
            segment.mark = segment.current_mark()
            segment.name_is_durable = segment.settled = True
            for position, end_position, offset, end_offset, what in state.broken:
                segment.broken.append(Broken(position, end_position, offset, None if end_offset < 0 else end_offset, what))
            segments.append(segment)
        segments[-1].settled = False
        log = cls(files, folder, settings, segments, clean.start_offset)
        assert log.end_offset == clean.end_offset, f"{folder}: the checkpoint contradicts itself"
        log.epochs = LeaderEpochs(clean.epochs)
        log._snapshots = list(clean.snapshots)
        log._producers_count = clean.producers
        if not clean.producers:
            log._producers = Producers()
        return log

    @classmethod
    def _open_recovered(cls, settings: LogSettings, found: Recovered) -> Log:
        log = cls(found.files, found.folder, settings, found.segments, found.start_offset)
        log.epochs = LeaderEpochs(found.epochs)
        log._epochs_dirty = found.epochs_dirty
        log._producers = Producers(found.producers)
        log._producers_count = len(found.producers)
        log._snapshots = found.snapshots
        log.report = found.report
        return log

    @property
    def in_flight(self) -> bool:
        """A plan is on its way: the log cannot be closed."""
        return self._flight is not None or self._start_flight

    @property
    def has_to_write(self) -> bool:
        """Whether `close` has anything to do on the disk."""
        # An empty log is opened without any of its files.
        is_written = not self.end_offset or self._snapshots[-1:] == [self.end_offset]
        return bool(self.dirty or self._epochs_dirty or not self.active.name_is_durable or not is_written)

    def close(self, *, is_synced: bool = False) -> CleanState:
        """Flush and write all that makes the next start cheap. Off the loop; the log takes nothing more. OSError: not clean.

        `is_synced`: the caller has just synced all that was appended (`Files.sync_all`), and will sync all again before it
        trusts the answer.
        """
        assert not self.in_flight, "a plan is still on its way"
        self._is_closed = True
        plan = self.flush_plan()
        if plan is not None:
            plan.run(is_synced=is_synced)
            self.flushed(plan)
            if plan.trouble is not None:
                raise plan.trouble
        assert self.flushed_offset == self.end_offset
        if self.has_to_write:
            self._write_all(not is_synced)
        return CleanState(
            start_offset=self.start_offset,
            end_offset=self.end_offset,
            producers=self._producers_count,
            epochs=self.epochs.entries(),
            snapshots=list(self._snapshots),
            segments=[_state_of(segment) for segment in self.segments],
        )

    def _write_all(self, sync: bool) -> None:
        """Indexes, epochs and producers, in an order in which the snapshot proves the others. With `sync` all is durable then.

        Without `sync` a power cut may leave the snapshot and take the others: the active segment is scanned then in any case,
        and epochs that cannot be read have all segments scanned.
        """
        files, active = self.files, self.active
        if not active.broken:
            for spill in (Spill(active.offsets, True), Spill(active.times, True)):
                spill.run(files, sync=sync)
                spill.settle()
        replace_file(files, f"{self.folder}/{EPOCHS_FILE}", encode_epochs(self.epochs.entries()), sync=sync)
        self._epochs_dirty = False
        if sync:
            files.sync_folder(self.folder)
        if self._snapshots[-1:] != [self.end_offset]:
            producers = self._loaded_producers()
            path = f"{self.folder}/{file_name(self.end_offset, SNAPSHOT)}"
            replace_file(files, path, encode_snapshot(producers.entries, is_at_roll=not active.size), sync=sync)
            self._snapshots.append(self.end_offset)
            self._producers_count = len(producers.entries)
            if sync:
                files.sync_folder(self.folder)
            while len(self._snapshots) > _SNAPSHOTS_KEPT:
                files.remove(f"{self.folder}/{file_name(self._snapshots.pop(0), SNAPSHOT)}")

    # --- settings

    @property
    def settings(self) -> LogSettings:
        return self._settings

    @settings.setter
    def settings(self, settings: LogSettings) -> None:
        self._settings = settings
        self._segment_bytes = min(settings.segment_bytes, _RELATIVE_MAX)
        self._segment_ms = settings.segment_ms
        # With Kafka's defaults a segment is full long before its index is.
        entries = settings.segment_bytes // max(1, settings.index_interval_bytes)
        self._index_can_fill = entries * TimeIndex.ENTRY_SIZE > settings.index_size_max

    # --- appending

    def append(self, data: memoryview, header: BatchHeader, *, leader_epoch: int, now_ms: int) -> Appended | Duplicate | Refused:
        """Take in one checked batch. `data` is the batch, nothing before or behind it, and is stamped in place.

        `header` says what stands in `data`: whoever stamped an append time reads the header again.
        """
        if self.readonly is not None:
            return self.readonly
        assert not self._is_closed
        size = len(data)
        if header.producer_id >= 0:
            verdict = (self._producers or self._loaded_producers()).check(header)
            if verdict is not None:
                if isinstance(verdict, Refused):
                    return verdict
                _, last_offset, delta, timestamp = verdict
                append_time = timestamp if header.attributes & APPEND_TIME else NO_TIMESTAMP
                return Duplicate(last_offset - delta, last_offset, append_time, self.start_offset)
        base_offset = self.end_offset
        last_offset = base_offset + header.last_offset_delta
        active = self.active
        timestamp = header.max_timestamp
        if active.size and (
            active.size + size > self._segment_bytes
            or (active.first_timestamp >= 0 and timestamp - active.first_timestamp > self._segment_ms)
            or last_offset - active.base_offset > _RELATIVE_MAX
            or (self._index_can_fill and self._index_is_full())
        ):
            refused = self.roll(now_ms)
            if refused is not None:
                return refused
            active = self.active
        stamp(data, base_offset, leader_epoch)
        try:
            active.append(data, size, header, base_offset, now_ms, self._settings.index_interval_bytes)
        except OSError as error:
            return self._write_failed(active, error)
        self.end_offset = last_offset + 1
        self.size_bytes += size
        self.dirty += size
        if leader_epoch != self.epochs.latest and self.epochs.begin(leader_epoch, base_offset):
            self._epochs_dirty = True
        if header.producer_id >= 0:
            assert self._producers is not None
            self._producers.record(header, last_offset, now_ms)
        append_time = timestamp if header.attributes & APPEND_TIME else NO_TIMESTAMP
        return Appended(base_offset, last_offset, append_time, self.start_offset)

    def _index_is_full(self) -> bool:
        room = self._settings.index_size_max
        active = self.active
        return active.offsets.count >= room // OffsetIndex.ENTRY_SIZE or active.times.count >= room // TimeIndex.ENTRY_SIZE - 1

    def _write_failed(self, segment: Segment, error: OSError) -> Refused:
        """Law 5: what was written of the batch is cut away, and nothing is tried until `resume`."""
        self.readonly = _storage_failed(self.folder, "a write", error)
        try:
            segment.file.truncate(segment.size)
        except OSError as second:
            self.readonly = _storage_failed(self.folder, "a write, and then cutting off what was written of it,", second)
        return self.readonly

    def resume(self) -> Refused | None:
        """Try to become writable again after a failure. Off the loop; the answer is why not."""
        try:
            for path in self._discard_stale():
                self.files.remove(path)
            self.active.file.truncate(self.active.size)
        except OSError as error:
            self.readonly = _storage_failed(self.folder, "another attempt to write", error)
            return self.readonly
        if self.active.is_cut and self.active.size:  # law 3: the new segment could not be made when the flush failed
            refused = self.roll(self.active.last_append_ms)
            if refused is not None:
                return refused
        self.readonly = None
        return None

    def begin_epoch(self, epoch: int) -> None:
        """A leader with this epoch begins to write here, even if it never does."""
        if self.epochs.begin(epoch, self.end_offset):
            self._epochs_dirty = True

    # --- segments

    def roll(self, now_ms: int) -> Refused | None:
        """Close the active segment and begin the next one. Nothing when it is empty."""
        old = self.active
        if not old.size:
            return None
        segment = Segment(self.files, self.folder, self.end_offset, now_ms)
        try:
            segment.create()
        except OSError as error:
            self.readonly = _storage_failed(self.folder, "making a segment", error)
            return self.readonly
        old.close()
        if len(self.segments) > 1:
            self.segments[-2].forget()  # readers at the tail are past it
        self._add_segment(segment)
        self._snapshot_due = (self.end_offset, self._loaded_producers().copy())
        return None

    def _add_segment(self, segment: Segment) -> None:
        # New lists: a question about time may be walking the old ones in a thread.
        self.segments = [*self.segments, segment]
        self._base_offsets = [*self._base_offsets, segment.base_offset]
        self.active = segment
        self._written_back = 0

    def roll_if_due(self, now_ms: int) -> bool:
        """Roll for age, or because all that the active segment holds may go: so that retention works where nobody writes."""
        active = self.active
        if not active.size or self.readonly is not None:
            return False
        due = (
            now_ms - active.created_ms >= self._segment_ms
            or active.end_offset <= self.start_offset
            or (active.end_offset == self.flushed_offset and retention.is_past(active, self._settings, now_ms))
        )
        return due and self.roll(now_ms) is None

    def expired(self, now_ms: int, *, upto_offset: int) -> list[Segment]:
        """The segments that retention may take now, below `upto_offset` (the high watermark)."""
        return retention.expired(
            self.segments,
            self._settings,
            start_offset=self.start_offset,
            upto_offset=min(upto_offset, self.flushed_offset),
            size_bytes=self.size_bytes,
            now_ms=now_ms,
        )

    def detach(self, segments: Sequence[Segment]) -> Removal:
        """Take the first segments out of the log, at once: one rename each. Their bytes go when the removal runs.

        OSError when not even the first can be renamed; where it is a later one, those before it are gone, and no more.
        """
        count = len(segments)
        assert 0 < count < len(self.segments) and list(segments) == self.segments[:count], "only from the beginning, never all"
        paths: list[str] = []
        size = 0
        for done, segment in enumerate(segments):
            assert segment.settled and self.segments[count].name_is_durable
            try:
                paths += self._discard(segment)
            except OSError:
                if not done:
                    raise
                count = done
                break
            size += segment.size
        self.segments = self.segments[count:]
        self._base_offsets = self._base_offsets[count:]
        self.size_bytes -= size
        first = self.segments[0].base_offset
        for offset in [s for s in self._snapshots[:-1] if s < first]:
            self._snapshots.remove(offset)
            paths.append(f"{self.folder}/{file_name(offset, SNAPSHOT)}")
        if first > self.start_offset:
            self._set_start(first)
        return Removal(self.files, self.folder, paths, size)

    def _discard(self, segment: Segment) -> list[str]:
        """Rename a segment's log, so that recovery will not take it for one; the paths to remove."""
        log = segment.path(LOG)
        self.files.rename(log, log + DELETED)
        return [log + DELETED, segment.path(INDEX), segment.path(TIME_INDEX)]

    def drop_before(self, offset: int, now_ms: int) -> Removal | None:
        """Whatever the topic's retention says, segments that end at or before `offset` go (internal topics, whose state was
        written again). When that is all there is, the active segment is rolled and goes the next time.
        """
        if self.active.size and self.active.end_offset <= offset:
            self.roll(now_ms)
        gone = []
        for segment, follower in pairwise(self.segments):
            if follower.base_offset > offset or not segment.settled or not follower.name_is_durable:
                break
            gone.append(segment)
        return self.detach(gone) if gone else None

    def delete_records(self, offset: int) -> Refused | None:
        """Ask for the log to begin at `offset`. It does when the plan that `start_plan` gives has run."""
        if not self.start_offset <= offset <= self.flushed_offset:
            if offset < self.start_offset:
                return None  # it is so already
            return Refused(Code.OFFSET_OUT_OF_RANGE, f"offset {offset} is beyond the log's flushed end {self.flushed_offset}")
        self._start_wanted = max(self._start_wanted, offset)
        return None

    def start_plan(self) -> StartPlan | None:
        """What has to run off the loop for the log to begin where it was asked to; one at a time."""
        if self._start_flight or self._start_wanted <= self.start_offset:
            return None
        self._start_flight = True
        return StartPlan(self.files, self.folder, self._start_wanted)

    def start_moved(self, plan: StartPlan) -> None:
        self._start_flight = False
        self._set_start(max(self.start_offset, plan.start_offset))

    def start_failed(self, plan: StartPlan, error: OSError) -> Refused:
        """Nothing has moved, and it will be tried again only when it is asked for again."""
        self._start_flight = False
        self._start_wanted = self.start_offset
        return _storage_failed(self.folder, f"moving the start to {plan.start_offset}", error)

    def _set_start(self, offset: int) -> None:
        self.start_offset = offset
        self._start_wanted = max(self._start_wanted, offset)
        if self.epochs.drop_before(offset):
            self._epochs_dirty = True

    # --- flushing

    def flush_plan(self) -> FlushPlan | None:
        """What has to run off the loop for all that is there now to be durable. None: nothing to do, or a plan is on its way."""
        if self._flight is not None:
            return None
        active = self.active
        if not self.dirty and active.name_is_durable:
            housekeeping = len(self.segments) > 1 and not self.segments[-2].settled
            if not housekeeping or self._house_failed:  # what failed is done again with the next append, not in a loop
                return None
        data: list[File] = []
        marks: list[tuple[Segment, Mark]] = []
        spills: list[Spill] = []
        closed: list[Segment] = []
        new_names = False
        for segment in self._unsettled():
            if segment.size > segment.mark.size or segment.is_cut:
                data.append(segment.file)
            new_names = new_names or not segment.name_is_durable
            marks.append((segment, segment.current_mark()))
            if segment is not active:
                closed.append(segment)
            # Without indexes a damaged segment is scanned by every recovery, and reported again.
            if not segment.broken and (segment is not active or len(segment.offsets.new[0]) >= _SPILL_COUNT):
                spills.append(Spill(segment.offsets, segment is not active))
                spills.append(Spill(segment.times, segment is not active))
        folders = [self.folder] if new_names else []
        if not self._folder_is_durable:
            folders.append(self.folder.rpartition("/")[0])  # the empty path is the data folder itself
        stale = self._snapshots[: 1 - _SNAPSHOTS_KEPT] if self._snapshot_due is not None else []
        if self._producers is not None:
            self._producers.flush_begins()
        self._flight = FlushPlan(
            files=self.files,
            folder=self.folder,
            end_offset=self.end_offset,
            size=self.dirty,
            data=data,
            folders=folders,
            marks=marks,
            spills=spills,
            closed=closed,
            epochs=encode_epochs(self.epochs.entries()) if self._epochs_dirty else None,
            snapshot=self._snapshot_due,
            stale_snapshots=stale,
        )
        self._epochs_dirty = False
        self._snapshot_due = None
        return self._flight

    def _unsettled(self) -> list[Segment]:
        """The closed segments that are not all durable yet, and the active one; oldest first."""
        found = [self.active]
        for segment in reversed(self.segments[:-1]):
            if segment.settled:
                break
            found.append(segment)
        found.reverse()
        return found

    def flushed(self, plan: FlushPlan) -> None:
        """The plan has run: all before its end is durable."""
        assert plan is self._flight
        self._flight = None
        for segment, mark in plan.marks:
            segment.mark = mark
            segment.is_cut = False
            segment.name_is_durable = True
        self._folder_is_durable = True
        self.flushed_offset = plan.end_offset
        self.dirty -= plan.size
        if self._producers is not None:
            self._producers.flush_ended()
        self._house_failed = plan.trouble is not None
        if self._house_failed:
            # Only housekeeping failed: the next plan does it again.
            self._epochs_dirty = self._epochs_dirty or plan.epochs is not None
            self._snapshot_due = self._snapshot_due or plan.snapshot
            return
        for spill in plan.spills:
            spill.settle()
        for segment in plan.closed:
            segment.settled = True
        if plan.snapshot is not None:
            offset = plan.snapshot[0]
            self._snapshots = [*(s for s in self._snapshots if s not in plan.stale_snapshots and s != offset), offset]
            self._producers_count = len(plan.snapshot[1])

    def flush_failed(self, plan: FlushPlan, error: OSError) -> tuple[Cut, list[str]]:
        """The plan raised: what was not flushed is gone. The offsets that are, and files to remove off the loop.

        Their offsets will be given anew; nobody who waited for the flush has seen them.
        """
        assert plan is self._flight
        self._flight = None
        cut = Cut(self.flushed_offset, self.end_offset, f"{self.folder}: a flush failed: {error}")
        self._epochs_dirty = self._epochs_dirty or plan.epochs is not None
        removals: list[str] = []
        try:
            removals = self._cut_back()
        except OSError as second:
            self.readonly = _storage_failed(self.folder, "cutting back after a failed flush", second)
        return cut, removals

    def _cut_back(self) -> list[str]:
        """Back to `flushed_offset`, and on in a new segment. State first: should the disk fail again, the log is only read-only."""
        offset = self.flushed_offset
        unflushed = [s for s in self._unsettled() if s.base_offset >= offset and s is not self.segments[0]]
        keep = len(self.segments) - len(unflushed)
        last = self.segments[keep - 1]
        # The first of them may stay when it begins just where the log ends now and holds nothing durable.
        reused = last if not last.mark.size else None
        if reused is None and unflushed and unflushed[0].base_offset == offset:
            reused = unflushed.pop(0)
            keep += 1
        self.segments = self.segments[:keep]
        self._base_offsets = self._base_offsets[:keep]
        for segment in self.segments:
            if not segment.settled:
                segment.cut_to_mark()
        self.active = self.segments[-1]
        self.end_offset = offset
        self.dirty = 0
        self.size_bytes = sum(segment.size for segment in self.segments)
        self._snapshot_due = None
        if self.epochs.cut(offset):
            self._epochs_dirty = True
        if self._producers is not None:
            self._producers.undo_unflushed()
        assert self.active.end_offset == offset or self.active.broken
        self._stale += unflushed
        # The renames must be durable before anything is acknowledged here: a segment that comes back would end this one.
        self.active.name_is_durable = False
        paths = self._discard_stale()
        for segment in self.segments[-2:]:
            if not segment.settled:
                segment.file.truncate(segment.size)
        if reused is None:
            refused = self.roll(self.active.last_append_ms)
            if refused is not None:
                raise OSError(refused.why)
        elif len(self.segments) > 1:  # the failed plan had this snapshot to write
            self._snapshot_due = (offset, self._loaded_producers().copy())
        self._written_back = 0
        return paths

    def _discard_stale(self) -> list[str]:
        paths: list[str] = []
        while self._stale:
            paths += self._discard(self._stale[-1])  # the last first: a crash leaves no gap
            self._stale.pop()
        return paths

    def write_back_range(self) -> tuple[File, int, int] | None:
        """A stretch that is worth handing to the disk early, so that the next flush is short: file, position, size."""
        position = self._written_back
        size = self.active.size - position
        if size < _WRITE_BACK_SIZE:
            return None
        self._written_back = position + size
        return self.active.file, position, size

    # --- reading

    def read(
        self, offset: int, size_max: int, end_offset: int, *, whole_first_batch: bool = True, may_block: bool = False
    ) -> Read | Cold | Refused:
        """Batches from the one that holds `offset` on, up to `size_max` bytes of one segment, none at or beyond `end_offset`.

        A first batch that is larger than `size_max` comes whole (KIP-74), unless `whole_first_batch` is off: then nothing comes.
        """
        if not self.start_offset <= offset <= end_offset:
            return Refused(Code.OFFSET_OUT_OF_RANGE, f"offset {offset} is not in {self.start_offset}..{end_offset}")
        assert end_offset <= self.end_offset
        if offset == end_offset:
            return Read(None, offset, 0)
        segment = self.active
        if offset < segment.base_offset:
            segment = self.segments[bisect_right(self._base_offsets, offset) - 1]
        try:
            end_position = segment.size if end_offset >= segment.end_offset else segment.position_of(end_offset, may_block)
            if segment.broken:
                end_position = _before_broken(segment, offset, end_position)
            if offset >= segment.end_offset:
                raise Damaged(segment.size, offset, "the offsets up to the next segment are missing")
            limit = end_position
            position, end_position, first = segment.read_range(offset, size_max, limit, whole_first_batch, may_block)
        except NotInMemory:
            return self._cold(segment, offset, size_max)
        except IndexWrong:
            if may_block:
                segment.rebuild_indexes(self._settings.index_interval_bytes, segment is not self.active)
                return self.read(offset, size_max, end_offset, whole_first_batch=whole_first_batch, may_block=True)
            return self._cold(segment, offset, size_max)
        except Damaged as damaged:
            return Refused(
                Code.CORRUPT_BATCH,
                f"{segment.path(LOG)} cannot be read at offset {offset}, position {damaged.position}: {damaged.what}",
            )
        size = end_position - position
        if size <= 0:
            return Read(None, first, 0)
        # Whether the slice itself lies in memory is looked up by whoever sends it, piece by piece, when its turn has come.
        if end_position == limit:
            count = min(end_offset, segment.end_offset) - max(first, offset)
        else:
            count = segment.count_between(position, end_position, max(first, offset))
        return Read(FileSlice(segment.file, position, size), first, size, count)

    def _cold(self, segment: Segment, offset: int, size_max: int) -> Cold:
        interval = self._settings.index_interval_bytes
        is_closed = segment is not self.active

        def warm() -> None:
            try:
                position, _, _, size = segment.find(offset, True)
            except IndexWrong:
                segment.rebuild_indexes(interval, is_closed)
                return
            except Damaged:
                return  # the read says so
            segment.file.read_ahead(position, min(max(size, size_max), segment.size - position))

        return Cold(warm)

    # --- questions about time and epochs

    def find_by_timestamp(self, timestamp_ms: int, upto_offset: int) -> tuple[int, int, int] | Refused | None:
        """The first record (offset, timestamp, leader epoch) at or after a time, below `upto_offset`. Off the loop; inflates."""
        start = self.start_offset
        for segment in self.segments:
            if segment.base_offset >= upto_offset:
                return None
            if segment.max_timestamp < timestamp_ms or segment.end_offset <= start:
                continue
            try:
                found = self._find_in(segment, timestamp_ms, start, upto_offset)
            except IndexWrong:
                segment.rebuild_indexes(self._settings.index_interval_bytes, segment is not self.active)
                found = self._find_in(segment, timestamp_ms, start, upto_offset)
            except (Damaged, RecordsError) as damaged:
                return Refused(Code.CORRUPT_BATCH, f"{segment.path(LOG)} cannot be read: {damaged}")
            if found is not None:
                return found if found[0] < upto_offset else None
        return None

    @staticmethod
    def _find_in(segment: Segment, timestamp_ms: int, start: int, upto_offset: int) -> tuple[int, int, int] | None:
        begin = max(segment.times.lookup(timestamp_ms)[1], start)
        for position, header in segment.headers_from(begin):
            if header.base_offset >= upto_offset:
                return None
            if header.max_timestamp < timestamp_ms:
                continue
            for record in read_records(segment.file.read(position, header.size), header):
                if record.timestamp >= timestamp_ms and record.offset >= start:
                    return record.offset, record.timestamp, header.leader_epoch
        return None

    def time_at(self, offset: int) -> int | None:
        """The base timestamp of the batch that holds an offset; None where it cannot be told. Off the loop."""
        offset = max(offset, self.start_offset)
        if offset >= self.end_offset:
            return None
        segment = self.segments[max(bisect_right(self._base_offsets, offset) - 1, 0)]
        try:
            _, header = next(segment.headers_from(offset))
        except (Damaged, IndexWrong, StopIteration):
            return None
        return header.base_timestamp if header.base_timestamp != NO_TIMESTAMP else None

    def max_timestamp(self, upto_offset: int) -> tuple[int, int, int] | Refused | None:
        """The first record with the highest timestamp below `upto_offset`: offset, timestamp, leader epoch. Off the loop."""
        best: tuple[int, int, Segment] | None = None
        start = self.start_offset
        try:
            for segment in self.segments:
                if segment.base_offset >= upto_offset or segment.end_offset <= start or not segment.size:
                    continue
                timestamp, offset = segment.highest_timestamp(start, upto_offset)
                if timestamp != NO_TIMESTAMP and (best is None or timestamp > best[0]):
                    best = (timestamp, offset, segment)
            if best is None:
                return None
            timestamp, offset, segment = best
            position, header = next(segment.headers_from(offset))
            for record in read_records(segment.file.read(position, header.size), header):
                if record.timestamp == timestamp and record.offset >= start:
                    return record.offset, timestamp, header.leader_epoch
            return header.last_offset, timestamp, header.leader_epoch  # the header lied, and was trusted
        except (Damaged, RecordsError, IndexWrong) as damaged:
            return Refused(Code.CORRUPT_BATCH, f"{self.folder} cannot be read: {damaged}")

    @property
    def latest_epoch(self) -> int:
        return self.epochs.latest

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """For OffsetForLeaderEpoch: the largest epoch up to this one, and the offset at which it ended; (-1, -1) if unknown."""
        return self.epochs.end_of(epoch, self.end_offset)

    # --- producers

    @property
    def producers_are_cold(self) -> bool:
        """Whether the next batch of an idempotent producer has to read the snapshot first."""
        return self._producers is None

    def warm_producers(self) -> None:
        """Load the producers; about a microsecond each, and a small file. On the loop, or before the log is used at all."""
        self._loaded_producers()

    def _loaded_producers(self) -> Producers:
        if self._producers is None:
            path = f"{self.folder}/{file_name(self._producers_at, SNAPSHOT)}"
            snapshot = load_snapshot(self.files, path)
            if isinstance(snapshot, str):
                # As after their expiry: their next batches are taken in, and a repeated one is not recognised.
                self.producers_lost = f"{path}: {snapshot}"
            self._producers = Producers({} if isinstance(snapshot, str) else snapshot.entries)
        return self._producers

    def describe_producers(self) -> list[ProducerView]:
        return self._loaded_producers().views()

    def expire_producers(self, now_ms: int) -> int:
        """Forget producers that have not written for `producer_expiry_ms`; how many."""
        return self._producers.expire(now_ms, self._settings.producer_expiry_ms) if self._producers is not None else 0

    def forget(self) -> None:
        """Give back the memory that an idle log can do without."""
        for segment in self.segments:
            segment.forget()


def _before_broken(segment: Segment, offset: int, end_position: int) -> int:
    """Where a read from `offset` on has to end because of a broken stretch; raises when `offset` itself lies in one."""
    for broken in segment.broken:
        if broken.offset > offset:
            return min(end_position, broken.position)
        if broken.end_offset is None or offset < broken.end_offset:
            raise Damaged(broken.position, offset, broken.what)
    return end_position


def _storage_failed(folder: str, doing: str, error: OSError) -> Refused:
    return Refused(Code.STORAGE_FAILED, f"{folder}: {doing} failed: {error}")


def _state_of(segment: Segment) -> SegmentState:
    return SegmentState(
        base_offset=segment.base_offset,
        end_offset=segment.end_offset,
        size=segment.size,
        first_timestamp=segment.first_timestamp,
        max_timestamp=segment.max_timestamp,
        max_timestamp_offset=segment.max_timestamp_offset,
        created_ms=segment.created_ms,
        last_append_ms=segment.last_append_ms,
        # Those of a damaged segment are never written (see `recovery.py`): it is walked from its beginning.
        offset_entries=segment.offsets.disk_count,
        time_entries=segment.times.disk_count,
        indexed_timestamp=segment.times.last_timestamp,
        bytes_since_entry=segment.bytes_since_entry,
        broken=[
            (b.position, b.end_position, b.offset, -1 if b.end_offset is None else b.end_offset, b.what) for b in segment.broken
        ],
    )
