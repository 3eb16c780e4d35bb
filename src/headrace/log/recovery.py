"""Opening a log after a crash: what is there, what of it may be trusted, and what has to go. Off the loop.

What may have happened to the files (bytes and names that were not synced are kept, lost or torn in any order):

    a torn tail        bytes behind the last flush that are no whole batch, or that a lost page has broken
    a lost tail        a segment that is shorter than it was
    a segment too many cut away after a failed flush or an earlier recovery, come back because the rename was not durable
    old bytes          behind the end of a segment that was cut back, where the truncation was not durable
    index files        missing, short, stale or wrong
    rot                in bytes that were flushed: not our doing, and not to be hidden

The line between "never acknowledged" and "rotten" is the *flushed line*: all before it is known to have been durable once. It
is the newest whole snapshot (written only after all before it was durable) or the recovery point that the caller kept,
whichever is later. What is broken at or behind the line ends the log: it is cut there, with everything that follows, because
nothing of it was acknowledged, and a log has no holes. What is broken before the line stays where it is and is reported;
reading it is an error, and what lies behind it can be read. (Bytes that were flushed after the newest snapshot and then
rotted cannot be told from a torn tail, unless the caller's recovery point says so.)

Segments that end before the newest snapshot are not scanned: their indexes were synced before the snapshot was written, so
sound indexes whose last entry leads to the segment's very end are enough (of a segment that ends right at the snapshot this
is so only if the snapshot was written for that end; it may be older than the roll). All others are read whole, every CRC
checked, and their indexes built anew. In the end all that was scanned is synced before anyone may see it: what survived in
the page cache alone is not durable yet. Then a new snapshot moves the flushed line to the end.

A node that was killed has thousands of such logs, most of them small. Then the caller syncs the whole disk once before
(`is_synced`): what is found is durable as it is, only what is changed here is synced by itself, and a log that is scanned in
a moment does without a new snapshot.

A crash in here is harmless: segments go last first, then bytes, and each step leaves a folder that is recovered in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from headrace.base.files import Files
from headrace.base.ids import NO_TIMESTAMP
from headrace.log.epochs import LeaderEpochs, decode_epochs, encode_epochs
from headrace.log.flush import Spill, decode_start, replace_file
from headrace.log.names import EPOCHS_FILE, INDEX, LEFTOVERS, LOG, SNAPSHOT, START_FILE, TIME_INDEX, file_name, offset_of
from headrace.log.offset_index import IndexWrong
from headrace.log.outcome import Damage
from headrace.log.producers import Entries, Producers
from headrace.log.scan import Broken, Scanner
from headrace.log.segment import Damaged, Segment
from headrace.log.settings import LogSettings
from headrace.log.snapshot import encode_snapshot, load_snapshot

_SNAPSHOTS_KEPT = 2
_SCANNED_IN_A_MOMENT = 1 << 20


@dataclass(slots=True)
class Recovered:
    files: Files
    folder: str
    segments: list[Segment] = field(default_factory=list)
    start_offset: int = 0
    epochs: list[tuple[int, int]] = field(default_factory=list)
    epochs_dirty: bool = False
    producers: Entries = field(default_factory=dict)
    snapshots: list[int] = field(default_factory=list)
    report: list[Damage] = field(default_factory=list)


def recover(
    files: Files,
    folder: str,
    settings: LogSettings,
    recovery_point: int | None,
    now_ms: int,
    progress: Callable[[int, int], None] | None,
    is_synced: bool = False,
) -> Recovered:
    return _Recovery(files, folder, settings, recovery_point, now_ms, progress, is_synced).run()


class _Recovery:
    def __init__(
        self,
        files: Files,
        folder: str,
        settings: LogSettings,
        recovery_point: int | None,
        now_ms: int,
        progress: Callable[[int, int], None] | None,
        is_synced: bool,
    ) -> None:
        self.files = files
        self.folder = folder
        self.settings = settings
        self.now_ms = now_ms
        self.progress = progress
        self.is_synced = is_synced
        self.found = Recovered(files, folder)
        self.flushed_line = recovery_point or 0
        self.snapshot_offset = -1  # of the newest whole snapshot
        self.closed_line = -1  # segments that end here or before have durable indexes
        self.producers = Producers()
        self.epochs = LeaderEpochs()
        self.epochs_on_disk: list[tuple[int, int]] = []
        self.bytes_done = self.bytes_total = 0
        self.has_changed = False  # something was cut, removed or made
        self.has_more = False  # something was found behind the newest snapshot

    def run(self) -> Recovered:
        names = self._clear_leftovers(self.files.list(self.folder))
        bases = sorted(b for name in names if (b := offset_of(name, LOG)) is not None)
        self._load_snapshot(names)
        epochs_are_known = self._load_epochs(names)
        start = self._load_start(names)
        if not bases:
            self._begin_anew(max(start, self.flushed_line, self.epochs.starts[-1] if self.epochs.starts else 0))
        else:
            self._go_through(bases, names, epochs_are_known)
        self._finish(start)
        return self.found

    # --- what lies in the folder

    def _clear_leftovers(self, names: list[str]) -> list[str]:
        kept: list[str] = []
        present = set(names)
        for name in names:
            orphan = any(
                (base := offset_of(name, suffix)) is not None and file_name(base, LOG) not in present
                for suffix in (INDEX, TIME_INDEX)
            )
            if orphan or name.endswith(LEFTOVERS):
                self.files.remove(self._path(name))
            else:
                kept.append(name)
        return kept

    def _load_snapshot(self, names: list[str]) -> None:
        offsets = sorted(o for name in names if (o := offset_of(name, SNAPSHOT)) is not None)
        self.found.snapshots = offsets
        for offset in reversed(offsets):
            path = self._path(file_name(offset, SNAPSHOT))
            snapshot = load_snapshot(self.files, path)
            if not isinstance(snapshot, str):
                self.snapshot_offset = offset
                self.closed_line = offset if snapshot.is_at_roll else offset - 1
                self.flushed_line = max(self.flushed_line, offset)
                self.producers = Producers(dict(sorted(snapshot.entries.items(), key=lambda item: item[1].seen_ms)))
                return
            self.files.remove(path)
            offsets.remove(offset)

    def _load_epochs(self, names: list[str]) -> bool:
        """Whether the file is there and makes sense."""
        if EPOCHS_FILE not in names:
            return False
        entries = decode_epochs(self._read(EPOCHS_FILE))
        if entries is None:
            return False
        self.epochs = LeaderEpochs(entries)
        self.epochs_on_disk = self.epochs.entries()
        return True

    def _load_start(self, names: list[str]) -> int:
        if START_FILE not in names:
            return 0
        return decode_start(self._read(START_FILE)) or 0

    # --- segment by segment

    def _begin_anew(self, offset: int) -> None:
        """No segment at all: whatever is known of the log's end, offsets must not be given twice."""
        self.files.make_folder(self.folder)
        segment = Segment(self.files, self.folder, offset, self.now_ms)
        segment.create()
        self.found.segments.append(segment)
        self.has_changed = True

    def _go_through(self, bases: list[int], names: list[str], epochs_are_known: bool) -> None:
        present = set(names)
        sizes = {base: self.files.open(self._path(file_name(base, LOG))).size() for base in bases}
        followers: list[int | None] = [*bases[1:], None]
        trusted = [epochs_are_known and follower is not None and follower <= self.closed_line for follower in followers]
        self.bytes_total = sum(sizes[base] for base, trust in zip(bases, trusted, strict=True) if not trust)
        if not epochs_are_known:
            self.epochs = LeaderEpochs()
        for i, (base, follower) in enumerate(zip(bases, followers, strict=True)):
            segment = Segment(self.files, self.folder, base, self.now_ms)
            self.found.segments.append(segment)
            # A segment that begins at the snapshot may have been made after it.
            segment.name_is_durable = base < self.snapshot_offset
            if trusted[i] and follower is not None and self._is_sound(segment, sizes[base], follower, present):
                continue
            if not self._scan(segment, sizes[base], follower):
                self._remove_segments(bases[i + 1 :])
                break

    def _is_sound(self, segment: Segment, size: int, follower: int, present: set[str]) -> bool:
        """Take a closed segment over by its indexes, if they lead to its very end."""
        for suffix, index in ((INDEX, segment.offsets), (TIME_INDEX, segment.times)):
            if file_name(segment.base_offset, suffix) not in present:
                return False
            index_size = self.files.open(index.path).size()
            if index_size % index.ENTRY_SIZE:
                return False
            index.disk_count = index_size // index.ENTRY_SIZE
        if not size:
            return False
        segment.size, segment.end_offset = size, follower
        try:
            time = segment.times.last()
            last = segment.offsets.last()
            # The walk from the last entry has to end with the last offset, exactly at the end of the file.
            position, _, last_offset, batch_size = segment.find(follower - 1, True)
            segment.first_timestamp = segment.header_at(0).max_timestamp
        except (IndexWrong, Damaged):
            return False
        since_entry = position - (last[1] if last is not None else 0)
        if last_offset != follower - 1 or position + batch_size != size:
            return False
        if not 0 <= since_entry <= self.settings.index_interval_bytes:
            return False  # entries are missing at the end
        if time is None:
            if segment.first_timestamp != NO_TIMESTAMP:
                return False
        elif segment.base_offset <= time[1] < follower:
            segment.max_timestamp, segment.max_timestamp_offset = time
            segment.times.last_timestamp = time[0]
        else:
            return False
        segment.mark = segment.current_mark()
        segment.name_is_durable = segment.settled = True
        return True

    def _scan(self, segment: Segment, size: int, follower: int | None) -> bool:
        """Read a segment whole. False: the log ends in it, and the segments that follow have to go."""
        interval = self.settings.index_interval_bytes
        segment.offsets.replace(segment.offsets.new)
        segment.times.replace(segment.times.new)
        segment.size, segment.end_offset = 0, segment.base_offset
        segment.max_timestamp = segment.first_timestamp = NO_TIMESTAMP
        # Before the last process ended a sync may have failed, which left pages in memory that look clean and that the disk does
        # not have: syncing them in the end would do nothing, and a power cut would take back what was seen. So what is dirty
        # is written now, all else is read from the disk.
        if size:
            if not self.is_synced:
                segment.file.sync()
            segment.file.drop_cached()
        scanner = Scanner(
            segment.file,
            size,
            segment.base_offset,
            offset_max=segment.base_offset + 2**31,
            gaps_allowed=self.settings.compact,
        )
        ends_here = False
        done_before = self.bytes_done
        for found in scanner:
            if isinstance(found, Broken):
                if found.offset >= self.flushed_line:
                    what = found.what
                    if found.end_offset is not None:
                        what += "; whole batches follow, which were never acknowledged either"
                    self._cut(segment, found.position, size, found.offset, what)
                    ends_here = True
                    break
                self._keep_broken(segment, found, follower)
                continue
            position, header = found
            if follower is not None and header.base_offset >= follower:
                # The next segment begins earlier: the log was cut back here once.
                self._cut(segment, position, size, header.base_offset, "the log goes on in the next segment")
                break
            if follower is not None and header.last_offset >= follower:
                # This log grew past where that segment begins: it was cut away once, and has come back.
                follower = None
                ends_here = True
            segment.take_in(position, header, self.now_ms, interval)
            if header.base_offset >= self.snapshot_offset and header.producer_id >= 0:
                self.producers.record(header, header.last_offset, self.now_ms)
            self.epochs.begin(header.leader_epoch, header.base_offset)
            self.bytes_done = done_before + segment.size
            self._tell()
        self.bytes_done = done_before + size
        self._tell()
        if segment.end_offset > self.snapshot_offset:
            self.has_more = True
        if ends_here:
            return False
        if follower is not None and segment.end_offset < follower and not self.settings.compact:
            if any(b.end_offset is None or b.end_offset >= follower for b in segment.broken):
                return True
            if segment.end_offset >= self.flushed_line:
                self._report(segment, segment.size, 0, segment.end_offset, None, "the segment ends before the next begins", True)
                return False
            broken = Broken(segment.size, segment.size, segment.end_offset, follower, "the end of the segment is missing")
            self._keep_broken(segment, broken, follower)
            return follower <= self.flushed_line
        return True

    def _keep_broken(self, segment: Segment, broken: Broken, follower: int | None) -> None:
        if broken.end_offset is None:
            broken.end_offset = follower if follower is not None else self.flushed_line
        segment.broken.append(broken)
        size = broken.end_position - broken.position
        self._report(segment, broken.position, size, broken.offset, broken.end_offset, broken.what, False)

    def _cut(self, segment: Segment, position: int, size: int, offset: int, what: str) -> None:
        self._report(segment, position, size - position, offset, None, what, True)
        self.has_changed = True  # the bytes go in `_finish`, after the segments that follow

    def _remove_segments(self, bases: list[int]) -> None:
        for base in reversed(bases):
            name = file_name(base, LOG)
            file = self.files.open(self._path(name))
            self.found.report.append(
                Damage(self._path(name), 0, file.size(), base, None, "lies behind the end of the log, never acknowledged", True)
            )
            for suffix in (LOG, INDEX, TIME_INDEX):
                self.files.remove(self._path(file_name(base, suffix)))
            self.has_changed = True

    # --- and in the end

    def _finish(self, start: int) -> None:
        found = self.found
        segments = found.segments
        last = segments[-1]
        for segment in segments:
            if segment.settled:
                continue
            if segment.file.size() != segment.size and not any(b.position >= segment.size for b in segment.broken):
                segment.file.truncate(segment.size)
                self.has_changed = True
        if last.end_offset < self.flushed_line:
            # Flushed offsets are missing at the end. They must not be given again.
            if not any(b.end_offset == self.flushed_line for b in last.broken):
                broken = Broken(last.size, last.size, last.end_offset, self.flushed_line, "the end of the log is missing")
                self._keep_broken(last, broken, None)
            self._begin_anew(self.flushed_line)
            last = segments[-1]
        end = last.end_offset
        if self.epochs.cut(end + 1):
            found.epochs_dirty = True
        found.start_offset = max(segments[0].base_offset, min(start, end))
        self.epochs.drop_before(found.start_offset)
        found.epochs = self.epochs.entries()
        found.producers = self.producers.entries
        self._settle(end)

    def _settle(self, end: int) -> None:
        """Sync all that was scanned; only then it counts. Then what makes the next start cheap, and last the proof of it all."""
        found = self.found
        has_to_sync = self.has_changed or (self.has_more and not self.is_synced)
        for segment in found.segments:
            if not segment.settled and has_to_sync:
                segment.file.sync()
            segment.mark = segment.current_mark()
        # What retention may take away must be in a snapshot first, else its producers are forgotten by the next recovery.
        is_covered = all(segment.end_offset <= self.snapshot_offset for segment in found.segments[:-1])
        is_small = is_covered and self.bytes_total <= _SCANNED_IN_A_MOMENT
        if not has_to_sync and (end == self.snapshot_offset or is_small):
            with suppress(OSError):
                self._write_indexes()
            if self.is_synced:
                for segment in found.segments:
                    segment.name_is_durable = True
            found.epochs_dirty = found.epochs != self.epochs_on_disk
            return
        # Should the disk be full, the log can be read all the same, and its first flush does what is left.
        found.epochs_dirty = True
        with suppress(OSError):
            self._write_indexes()
            replace_file(self.files, self._path(EPOCHS_FILE), encode_epochs(found.epochs))
            found.epochs_dirty = False
        self.files.sync_folder(self.folder)
        for segment in found.segments:
            segment.name_is_durable = True
        if not found.epochs_dirty:
            with suppress(OSError):
                self._write_snapshot(end)

    def _write_indexes(self) -> None:
        last = self.found.segments[-1]
        for segment in self.found.segments:
            if segment.settled:
                continue
            is_closed = segment is not last
            if is_closed:
                segment.close()
            for index in (segment.offsets, segment.times):
                if segment.broken or not is_closed:
                    self.files.remove(index.path)
                # Without indexes a damaged segment is scanned again next time, and reported again.
                if not segment.broken and (is_closed or index.count):
                    spill = Spill(index, is_closed)
                    spill.run(self.files)
                    spill.settle()
            segment.settled = is_closed

    def _write_snapshot(self, end: int) -> None:
        found = self.found
        snapshot = encode_snapshot(found.producers, is_at_roll=not found.segments[-1].size)
        replace_file(self.files, self._path(file_name(end, SNAPSHOT)), snapshot)
        if end not in found.snapshots:
            found.snapshots.append(end)
            found.snapshots.sort()
        while len(found.snapshots) > _SNAPSHOTS_KEPT:
            self.files.remove(self._path(file_name(found.snapshots.pop(0), SNAPSHOT)))

    def _report(
        self, segment: Segment, position: int, size: int, offset: int, end_offset: int | None, what: str, is_cut: bool
    ) -> None:
        self.found.report.append(Damage(segment.path(LOG), position, size, offset, end_offset, what, is_cut))

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.bytes_done, self.bytes_total)

    def _path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def _read(self, name: str) -> bytes:
        file = self.files.open(self._path(name))
        data = file.read(0, file.size())
        file.close()
        return data
