"""Opening a log after a crash. The model test cuts the power anywhere; here each kind of harm is done by hand."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from headrace.base.errors import Code, Refused
from headrace.log.epochs import encode_epochs
from headrace.log.log import CleanState, Log, LogSettings, Read
from headrace.log.names import LOG, SNAPSHOT, file_name
from tests.unit.log.batches import FOLDER, SMALL, batch, fill, flush, new_log, put, reopen
from tests.unit.log.memory_files import MemoryFiles

SIZE = len(batch())  # five of these in a segment of 500 bytes


def path(offset: int, suffix: str = LOG) -> str:
    return f"{FOLDER}/{file_name(offset, suffix)}"


def flushed(batches: int, settings: LogSettings = SMALL, **fields: int) -> MemoryFiles:
    files = MemoryFiles()
    log = new_log(files, settings)
    fill(log, batches, **fields)
    flush(log)
    return files


def readable(log: Log) -> list[int]:
    """The offsets that can be read, one batch each."""
    found = []
    for offset in range(log.start_offset, log.end_offset):
        read = log.read(offset, 1, log.end_offset, may_block=True)
        if isinstance(read, Read) and read.body is not None and read.first_offset == offset:
            found.append(offset)
    return found


def test_a_killed_process_loses_nothing() -> None:
    files = flushed(7)
    log = reopen(files.after_kill())
    assert (log.start_offset, log.end_offset, log.flushed_offset, log.report) == (0, 7, 7, [])
    assert readable(log) == list(range(7))


def test_what_survived_in_memory_alone_is_synced_before_it_counts() -> None:
    files = MemoryFiles()
    log = new_log(files)
    flush(log)
    fill(log, 7)
    after = files.after_kill()
    assert reopen(after).flushed_offset == 7
    assert readable(reopen(after.after_crash())) == list(range(7))


@pytest.mark.parametrize("kept", [0, 1, 60, SIZE - 1, SIZE, SIZE + 1, 2 * SIZE + 20])
def test_a_torn_tail_is_cut(kept: int) -> None:
    files = MemoryFiles()
    log = new_log(files)
    fill(log, 2)
    flush(log)
    fill(log, 3)
    after = files.after_crash(tail_kept=kept)
    log = reopen(after)
    assert log.end_offset == 2 + kept // SIZE and readable(log) == list(range(log.end_offset))
    assert [(d.offset, d.size, d.is_cut) for d in log.report] == ([(log.end_offset, kept % SIZE, True)] if kept % SIZE else [])
    assert after.names[path(0)].size() == log.size_bytes
    again = reopen(after.after_crash())
    assert again.report == [] and again.end_offset == log.end_offset


def test_a_lost_page_ends_the_log_and_what_follows_goes_with_a_word() -> None:
    files = MemoryFiles()
    log = new_log(files)
    fill(log, 2)
    flush(log)
    fill(log, 10)
    after = files.after_kill()
    after.content(path(0))[3 * SIZE : 3 * SIZE + 40] = bytes(40)
    log = reopen(after)
    assert log.end_offset == 3 and log.size_bytes == 3 * SIZE
    assert all(damage.is_cut for damage in log.report)
    assert "never acknowledged" in log.report[0].what and log.report[0].position == 3 * SIZE
    assert [d.offset for d in log.report] == [3, 10, 5]
    put(log)
    assert readable(log) == [0, 1, 2, 3]


@pytest.mark.parametrize("place", [8, 16, 30, 70])
def test_rot_before_the_recovery_point_stays_and_is_reported(place: int) -> None:
    files = flushed(5)
    files.content(path(0))[2 * SIZE + place] ^= 0x50
    after = files.after_kill()
    log = reopen(after, recovery_point=5)
    assert log.end_offset == 5 and readable(log) == [0, 1, 3, 4]
    refused = log.read(2, 1_000, 5)
    assert isinstance(refused, Refused) and refused.code is Code.CORRUPT_BATCH and f"position {2 * SIZE}" in refused.why
    read = log.read(0, 1_000, 5, may_block=True)
    assert isinstance(read, Read) and read.size == 2 * SIZE, "a read ends before what is broken"
    (damage,) = log.report
    assert (damage.offset, damage.end_offset, damage.position, damage.size, damage.is_cut) == (2, 3, 2 * SIZE, SIZE, False)
    fill(log, 3)
    flush(log)
    assert readable(log) == [0, 1, 3, 4, 5, 6, 7]
    clean = msgspec.json.decode(msgspec.json.encode(log.close()), type=CleanState)
    cold = Log.open(after, FOLDER, SMALL, clean=clean, now_ms=0)
    assert readable(cold) == [0, 1, 3, 4, 5, 6, 7]
    again = reopen(after.after_kill())
    assert [d.offset for d in again.report] == [2] and readable(again) == [0, 1, 3, 4, 5, 6, 7]


def test_without_a_recovery_point_the_newest_snapshot_draws_the_line() -> None:
    files = flushed(7)  # 5 in the first segment, snapshot at 5
    after = files.after_kill()
    after.content(path(0))[SIZE + 70] ^= 1
    after.remove(path(0, ".index"))
    log = reopen(after)
    assert readable(log) == [0, 2, 3, 4, 5, 6]
    assert [(d.offset, d.is_cut) for d in log.report] == [(1, False)]


def test_the_end_of_a_closed_segment_is_missing() -> None:
    after = flushed(7).after_kill()
    after.open(path(0)).truncate(3 * SIZE + 10)
    log = reopen(after)
    assert readable(log) == [0, 1, 2, 5, 6] and log.end_offset == 7
    assert [(d.offset, d.end_offset, d.is_cut) for d in log.report] == [(3, 5, False)]
    refused = log.read(4, 100, 7, may_block=True)
    assert isinstance(refused, Refused) and refused.code is Code.CORRUPT_BATCH
    after.open(path(0)).truncate(3 * SIZE)
    log = reopen(after.after_kill())
    assert readable(log) == [0, 1, 2, 5, 6] and log.report[0].what == "the end of the segment is missing"


@pytest.mark.parametrize("left", [0, 2 * SIZE, 2 * SIZE + 5])
def test_flushed_offsets_at_the_end_are_missing_and_not_given_again(left: int) -> None:
    after = flushed(4).after_kill()
    after.open(path(0)).truncate(left)
    log = reopen(after, recovery_point=4)
    assert log.end_offset == 4 and readable(log) == list(range(left // SIZE))
    assert [(d.offset, d.end_offset, d.is_cut) for d in log.report] == [(left // SIZE, 4, False)]
    fill(log, 1)
    flush(log)
    log = reopen(after.after_kill())
    assert readable(log) == [*range(left // SIZE), 4]


def spoil_last(data: bytearray) -> None:
    data[-1] ^= 3


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
@pytest.mark.parametrize(
    "harm",
    [bytearray.clear, lambda data: data.append(0), lambda data: data.__delitem__(slice(4, None)), spoil_last],
    ids=["empty", "odd", "short", "wrong"],
)
def test_indexes_are_built_again_when_they_are_wrong(suffix: str, harm: Callable[[bytearray], None]) -> None:
    files = flushed(17)
    good = {suffix: bytes(files.content(path(5, suffix))) for suffix in (".index", ".timeindex")}
    assert all(good.values())
    after = files.after_kill()
    harm(after.content(path(5, suffix)))
    log = reopen(after)
    assert log.report == [] and readable(log) == list(range(17))
    if not (suffix == ".timeindex" and harm is spoil_last):  # an offset that is a bit off cannot be told without a scan
        assert {suffix: bytes(after.content(path(5, suffix))) for suffix in good} == good
    after.remove(path(5, suffix))
    log = reopen(after.after_kill())
    assert {suffix: bytes(log.files.open(path(5, suffix)).read(0, 10_000)) for suffix in good} == good


def test_closed_segments_are_not_read_whole() -> None:
    big = LogSettings(segment_bytes=20_000, index_interval_bytes=1_000)
    after = flushed(1_000, big).after_kill()
    told: list[tuple[int, int]] = []
    log = Log.open(after, FOLDER, big, now_ms=0, progress=lambda done, total: told.append((done, total)))
    assert len(log.segments) == 5 and log.end_offset == 1_000
    size = log.segments[-1].size
    assert told[-1] == (size, size), "only the last segment is scanned"
    assert told == sorted(told)
    for segment in log.segments[:-1]:
        assert segment.max_timestamp == 1_000 + 10 * (segment.end_offset - 1)


def test_leftovers_go() -> None:
    after = flushed(7).after_kill()
    for name in (
        *("x.tmp", "00000000000000000000.log.deleted", "00000000000000000000.log.swap", "00000000000000000003.log.cleaned"),
        *("00000000000000000099.index", "00000000000000000099.timeindex"),
    ):
        after.open(f"{FOLDER}/{name}", create=True)
    after.open(f"{FOLDER}/partition.metadata", create=True)
    reopen(after)
    assert not [n for n in after.list(FOLDER) if n.endswith((".tmp", ".deleted", ".swap", ".cleaned")) or "99" in n]
    assert after.exists(f"{FOLDER}/partition.metadata")


def test_a_segment_behind_a_gap_that_was_never_acknowledged_goes() -> None:
    """It was cut away after a failed flush; the rename was not durable."""
    after = flushed(3).after_kill()
    file = after.open(path(9), create=True)
    file.write(0, (batch(base_offset=9),))
    log = reopen(after)
    assert log.end_offset == 3 and not after.exists(path(9))
    assert [(d.offset, d.is_cut) for d in log.report] == [(3, True), (9, True)]


def test_a_segment_that_came_back_where_the_log_grew_on_goes() -> None:
    after = flushed(3).after_kill()
    after.open(path(2), create=True)
    grown = batch(4, base_offset=1)
    after.content(path(0))[SIZE:] = grown
    log = reopen(after, recovery_point=0)
    assert log.end_offset == 5 and not after.exists(path(2))


def test_bytes_behind_the_next_segments_beginning_are_cut() -> None:
    """The log was cut back to 2 after a failed flush and went on in a new segment; the truncation was not durable."""
    after = flushed(4).after_kill()
    after.open(path(2), create=True).write(0, (batch(base_offset=2, time=7_777),))
    log = reopen(after)
    assert log.end_offset == 3 and log.segments[0].size == 2 * SIZE
    assert log.find_by_timestamp(7_777, 3) == (2, 7_777, -1)


def test_a_folder_without_segments_goes_on_where_the_log_had_been() -> None:
    after = flushed(7).after_kill()
    for name in after.list(FOLDER):
        if not name.endswith(SNAPSHOT):
            after.remove(f"{FOLDER}/{name}")
    log = reopen(after)
    assert (log.start_offset, log.end_offset) == (5, 5)
    assert reopen(MemoryFiles()).end_offset == 0


def test_epochs_come_from_the_file_and_from_what_is_scanned() -> None:
    files = MemoryFiles()
    log = new_log(files)
    for epoch in (0, 0, 3, 3, 3, 5):  # the last one opens the second segment
        put(log, epoch=epoch)
    flush(log)
    put(log, epoch=8)
    after = files.after_kill()
    log = reopen(after)
    assert log.epochs.entries() == [(0, 0), (3, 2), (5, 5), (8, 6)] and log.latest_epoch == 8
    for rubbish in (b"rubbish", encode_epochs([])):
        after.open(f"{FOLDER}/leader-epoch-checkpoint").truncate(0)
        after.open(f"{FOLDER}/leader-epoch-checkpoint").write(0, (rubbish,))
        after.open(f"{FOLDER}/leader-epoch-checkpoint").truncate(len(rubbish))
        if rubbish == b"rubbish":
            assert reopen(after.after_kill()).epochs.entries() == [(0, 0), (3, 2), (5, 5), (8, 6)]


def test_an_epoch_beyond_the_end_is_forgotten() -> None:
    files = MemoryFiles()
    log = new_log(files)
    put(log, epoch=1)
    flush(log)
    put(log, 2, epoch=2)
    log.begin_epoch(4)
    after = files.after_crash()
    after.open(f"{FOLDER}/leader-epoch-checkpoint", create=True)
    after.content(f"{FOLDER}/leader-epoch-checkpoint")[:] = encode_epochs([(1, 0), (2, 1), (4, 3)])
    log = reopen(after)
    assert log.end_offset == 1 and log.epochs.entries() == [(1, 0), (2, 1)]


def sequences(log: Log) -> dict[int, int]:
    return {view.producer_id: view.last_sequence for view in log.describe_producers()}


def produce(log: Log, producer: int, sequence: int) -> None:
    fill(log, 1, producer_id=producer, producer_epoch=0, base_sequence=sequence)


def test_producers_come_from_the_newest_whole_snapshot_and_the_tail() -> None:
    files = MemoryFiles()
    log = new_log(files)
    for i in range(12):
        produce(log, 1 + i % 2, i // 2)
        if i % 4 == 3:
            flush(log)
    after = files.after_kill()
    assert len([n for n in after.list(FOLDER) if n.endswith(SNAPSHOT)]) == 2
    assert sequences(reopen(after.after_kill())) == {1: 5, 2: 5}
    newest = max(n for n in after.list(FOLDER) if n.endswith(SNAPSHOT))
    after.content(f"{FOLDER}/{newest}")[8] ^= 1
    assert sequences(reopen(after.after_kill())) == {1: 5, 2: 5}
    for name in after.list(FOLDER):
        if name.endswith(SNAPSHOT):
            after.remove(f"{FOLDER}/{name}")
    assert sequences(reopen(after.after_kill())) == {1: 5, 2: 5}, "all segments are read then"


def test_what_retention_may_take_is_in_a_snapshot_first() -> None:
    """After a sync of the whole disk a small log is opened without a new snapshot; not so when a closed segment is not in one."""
    files = MemoryFiles()
    log = new_log(files)
    for i in range(7):
        produce(log, 1 if i < 5 else 2, i % 5)
    after = files.after_kill()
    after.sync_all()
    log = Log.open(after, FOLDER, SMALL, now_ms=9_000, is_synced=True)
    log.drop_before(6, 0)
    flush(log)
    assert log.start_offset == 5 and sequences(reopen(after.after_kill())) == {1: 4, 2: 1}


def test_a_start_within_a_segment_is_kept() -> None:
    files = flushed(7)
    log = reopen(files.after_kill())
    log.delete_records(3)
    plan = log.start_plan()
    assert plan is not None
    plan.run()
    assert isinstance(log.files, MemoryFiles)
    assert reopen(log.files.after_crash()).start_offset == 3


@pytest.mark.parametrize("kind", ["create", "rename"])
def test_a_full_disk_does_not_keep_a_log_from_opening(kind: str) -> None:
    files = MemoryFiles()
    log = new_log(files)
    flush(log)
    fill(log, 7)
    after = files.after_kill()
    after.fail_next[kind] = OSError(28, "full")
    log = reopen(after)
    assert readable(log) == list(range(7)) and log.flushed_offset == 7
    put(log)
    flush(log)
    assert reopen(after.after_crash()).end_offset == 8


def test_a_sync_that_fails_in_recovery_is_told() -> None:
    files = MemoryFiles()
    log = new_log(files)
    flush(log)
    fill(log, 2)
    after = files.after_kill()
    after.fail_next["sync"] = OSError(5, "io")
    with pytest.raises(OSError, match="io"):
        reopen(after)


def test_producers_live_on_from_the_moment_of_recovery() -> None:
    files = MemoryFiles()
    log = new_log(files)
    produce(log, 1, 0)
    flush(log)
    log = reopen(files.after_kill())  # at 9,000
    assert log.expire_producers(9_000 + SMALL.producer_expiry_ms - 1) == 0
    assert log.expire_producers(9_000 + SMALL.producer_expiry_ms) == 1
