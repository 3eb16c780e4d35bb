"""The log by itself: what each verb does, and what it says when it cannot."""

from __future__ import annotations

import sys

import msgspec
import pytest

from headrace.base.errors import Code, Refused
from headrace.log.log import Appended, CleanState, Cold, Duplicate, Log, LogSettings, Read
from headrace.log.names import LOG, SNAPSHOT, file_name
from headrace.records.header import read_header
from headrace.records.record import read_batches
from tests.unit.log.batches import FOLDER, SMALL, batch, fill, flush, new_log, put, reopen
from tests.unit.log.memory_files import MemoryFiles

SIZE = len(batch())  # five of these in a segment of 500 bytes
FULL = OSError(28, "no space left")
BROKEN = OSError(5, "input/output error")


def ready(settings: LogSettings = SMALL) -> tuple[MemoryFiles, Log]:
    files = MemoryFiles()
    log = new_log(files, settings)
    flush(log)
    return files, log


def bases(log: Log) -> list[int]:
    return [segment.base_offset for segment in log.segments]


def offsets(read: Read | Cold | Refused) -> list[int]:
    assert isinstance(read, Read), read
    return [h.base_offset for _, h in read_batches(read.body.read())] if read.body is not None else []


# --- appending


def test_a_batch_is_numbered_stamped_and_written() -> None:
    files, log = ready()
    put(log, 3, epoch=4)
    done = put(log, 2, epoch=4)
    assert isinstance(done, Appended)
    assert (done.base_offset, done.last_offset, done.append_time_ms, done.start_offset) == (3, 4, -1, 0)
    header = read_header(files.content(f"{FOLDER}/{file_name(0, LOG)}"), len(batch(3)))
    assert (header.base_offset, header.leader_epoch) == (3, 4)
    assert (log.end_offset, log.flushed_offset, log.size_bytes, log.dirty) == (5, 0, log.active.size, log.active.size)


def test_append_time_is_answered() -> None:
    _, log = ready()
    done = put(log, time=5_000, append_time=True, producer_id=1, producer_epoch=0, base_sequence=0)
    again = put(log, time=6_000, append_time=True, producer_id=1, producer_epoch=0, base_sequence=0)
    assert isinstance(done, Appended) and isinstance(again, Duplicate)
    assert done.append_time_ms == again.append_time_ms == 5_000


def test_segments_roll_by_size() -> None:
    _, log = ready()
    fill(log, 12)
    assert bases(log) == [0, 5, 10]
    put(log, 1, size=2_000)
    assert bases(log) == [0, 5, 10, 12], "a batch that is larger than a segment has one for itself"


def test_segments_roll_by_the_time_between_records() -> None:
    _, log = ready(LogSettings(segment_ms=1_000))
    for time in (5_000, 6_000, 4_000, 6_001, 7_000, 7_002):
        put(log, time=time)
    assert bases(log) == [0, 3, 5]


def test_segments_roll_before_offsets_or_indexes_overflow() -> None:
    _, log = ready(LogSettings())
    put(log)
    log.active.base_offset -= 2**31 - 1
    put(log)
    assert len(log.segments) == 2
    _, log = ready(LogSettings(index_interval_bytes=1, index_size_max=48))
    fill(log, 8)  # 48 bytes have room for 4 entries of time, one is for the end
    assert bases(log) == [0, 4]


def test_the_position_in_a_file_stays_below_two_gib() -> None:
    _, log = ready(LogSettings(segment_bytes=2**40))
    put(log)
    log.active.size = 2**31 - 10
    put(log)
    assert len(log.segments) == 2


def test_settings_may_change() -> None:
    _, log = ready()
    fill(log, 2)
    log.settings = LogSettings(segment_bytes=2 * SIZE)
    fill(log, 2)
    assert bases(log) == [0, 2] and log.settings.segment_bytes == 2 * SIZE


def test_a_log_may_begin_anywhere() -> None:
    log = new_log(start_offset=700)
    done = put(log)
    assert isinstance(done, Appended) and done.base_offset == 700 and log.start_offset == 700


@pytest.mark.parametrize("kind", ["write", "create"])
def test_a_disk_that_fails_leaves_no_trace_and_makes_the_log_read_only(kind: str) -> None:
    files, log = ready()
    fill(log, 5)
    files.fail_next[kind] = FULL
    refused = put(log)  # needs a new segment
    assert isinstance(refused, Refused) and refused.code is Code.STORAGE_FAILED and "no space left" in refused.why
    assert put(log) is refused is log.readonly
    assert log.end_offset == 5 and offsets(log.read(0, 10_000, 5, may_block=True)) == [0, 1, 2, 3, 4]
    assert sum(f.size() for p, f in files.names.items() if p.endswith(LOG)) == log.size_bytes
    flush(log)
    assert log.resume() is None
    put(log)
    flush(log)
    assert offsets(log.read(5, 10_000, 6)) == [5]
    assert reopen(files.after_kill()).end_offset == 6


def test_what_a_failed_write_left_is_cut_before_it_goes_on() -> None:
    files, log = ready()
    put(log)
    files.fail_next = {"write": BROKEN, "truncate": BROKEN}
    refused = put(log, 4)
    assert isinstance(refused, Refused) and files.content(log.active.path(LOG))[SIZE:]
    files.fail_next = {"truncate": BROKEN}
    assert isinstance(log.resume(), Refused) and log.readonly is not None
    assert log.resume() is None and len(files.content(log.active.path(LOG))) == SIZE


def test_repeated_batches_get_their_old_offsets_and_others_a_reason() -> None:
    _, log = ready()
    mine = {"producer_id": 7, "producer_epoch": 0}
    put(log)
    first = put(log, 3, base_sequence=0, **mine)
    again = put(log, 3, base_sequence=0, **mine)
    assert isinstance(first, Appended) and isinstance(again, Duplicate)
    assert (again.base_offset, again.last_offset) == (1, 3) == (first.base_offset, first.last_offset)
    refused = put(log, 1, base_sequence=9, **mine)
    assert isinstance(refused, Refused) and refused.code is Code.OUT_OF_ORDER_SEQUENCE and "9" in refused.why
    assert log.end_offset == 4


# --- reading


def test_reads_are_bounded_by_the_callers_end_and_by_size() -> None:
    _, log = ready()
    fill(log, 12)
    assert offsets(log.read(0, 10_000, 12, may_block=True)) == [0, 1, 2, 3, 4], "one segment at a time"
    assert offsets(log.read(1, 10_000, 3, may_block=True)) == [1, 2]
    assert offsets(log.read(10, 10_000, 11)) == [10]
    assert offsets(log.read(11, 1, 12)) == [11], "the first batch comes whole"
    assert offsets(log.read(11, 1, 12, whole_first_batch=False)) == []
    empty = log.read(7, 100, 7)
    assert isinstance(empty, Read) and empty.body is None and empty.size == 0
    assert offsets(log.read(12, 100, 12)) == []


def test_a_read_from_within_a_batch_begins_with_the_batch() -> None:
    _, log = ready()
    put(log, 3)
    put(log, 3)
    read = log.read(4, 10_000, 6)
    assert isinstance(read, Read) and read.first_offset == 3


@pytest.mark.parametrize("offset", [-1, 2, 8, 99])
def test_offsets_outside_are_refused(offset: int) -> None:
    _, log = ready()
    fill(log, 9)
    log.start_offset = 3
    refused = log.read(offset, 100, 7)
    assert isinstance(refused, Refused) and refused.code is Code.OFFSET_OUT_OF_RANGE and str(offset) in refused.why


def test_a_cold_read_says_so_and_is_warm_the_next_time() -> None:
    files, log = ready()
    fill(log, 12)
    flush(log)
    log.forget()
    files.chill()
    cold = log.read(1, 200, 12)
    assert isinstance(cold, Cold)
    cold.warm()
    assert offsets(log.read(1, 200, 12)) == [1, 2]
    files.chill()
    assert offsets(log.read(1, 200, 12, may_block=True)) == [1, 2], "asked again after warming, it never says cold"


def test_tail_reads_ask_the_disk_nothing() -> None:
    files, log = ready()
    fill(log, 12)
    files.chill()
    before = files.reads
    assert isinstance(log.read(11, 200, 12), Read) and isinstance(log.read(10, 200, 11), Read)
    assert files.reads == before


def test_a_wrong_index_is_built_again_off_the_loop() -> None:
    files, log = ready()
    fill(log, 12)
    flush(log)
    log.forget()
    files.content(f"{FOLDER}/{file_name(0, '.index')}")[7] ^= 3
    cold = log.read(3, 10, 12)
    assert isinstance(cold, Cold)
    cold.warm()
    assert offsets(log.read(3, 10, 12)) == [3]


def test_a_broken_header_is_an_error_with_file_and_offset() -> None:
    files, log = ready()
    fill(log, 12)
    flush(log)
    log.forget()
    files.content(f"{FOLDER}/{file_name(5, LOG)}")[16] = 0
    refused = log.read(5, 100, 12, may_block=True)
    assert isinstance(refused, Refused) and refused.code is Code.CORRUPT_BATCH
    assert file_name(5, LOG) in refused.why and "offset 5" in refused.why


# --- a flush that fails


def failed(files: MemoryFiles, log: Log, **also: OSError) -> list[int]:
    """Fail the next flush; the offsets that are gone."""
    plan = log.flush_plan()
    assert plan is not None
    files.fail_next = {"sync": BROKEN}
    with pytest.raises(OSError) as raised:
        plan.run()
    files.fail_next = dict(also)
    cut, removals = log.flush_failed(plan, raised.value)
    for path in removals:
        files.remove(path)
    return list(range(cut.first_offset, cut.end_offset))


def test_the_log_goes_back_to_its_last_flush_and_on_in_a_new_segment() -> None:
    files, log = ready()
    fill(log, 3, epoch=1)
    flush(log)
    before = (log.size_bytes, log.epochs.entries(), log.active.max_timestamp)
    fill(log, 9, epoch=2, time=5_000)
    assert bases(log) == [0, 5, 10]
    assert failed(files, log) == list(range(3, 12))
    assert (log.end_offset, log.flushed_offset, log.dirty, log.readonly) == (3, 3, 0, None)
    assert bases(log) == [0, 3] and log.active.size == 0
    assert (log.size_bytes, log.epochs.entries(), log.segments[0].max_timestamp) == before
    assert [n for n in files.list(FOLDER) if n.endswith(LOG)] == [file_name(0, LOG), file_name(3, LOG)]
    fill(log, 2, epoch=2)
    flush(log)
    assert offsets(log.read(3, 1_000, 5)) == [3, 4] and log.segments[0].settled
    again = reopen(files.after_crash())
    assert (again.end_offset, bases(again), again.report) == (5, [0, 3], [])


def test_nothing_was_ever_flushed() -> None:
    files, log = ready()
    fill(log, 7)
    assert failed(files, log) == list(range(7))
    assert bases(log) == [0] and log.active.size == 0 == files.names[log.active.path(LOG)].size()
    fill(log, 2)
    flush(log)
    assert reopen(files.after_crash()).end_offset == 2


def test_all_was_flushed_up_to_a_roll() -> None:
    files, log = ready()
    fill(log, 5)
    flush(log)
    fill(log, 2)
    assert failed(files, log) == [5, 6]
    assert bases(log) == [0, 5]
    fill(log, 1)
    flush(log)
    assert files.exists(f"{FOLDER}/{file_name(5, SNAPSHOT)}"), "the plan that failed had it to write"
    assert reopen(files.after_crash()).end_offset == 6


def test_a_segment_that_was_cut_away_cannot_end_the_log_by_coming_back() -> None:
    files, log = ready()
    put(log, 5)
    log.roll(0)
    put(log)
    files.sync_folder(FOLDER)  # the kernel wrote the names by itself
    failed(files, log)
    put(log, 5)
    put(log, 3)
    flush(log)
    assert reopen(files.after_crash()).end_offset == 8


def test_what_was_cut_is_synced_by_the_next_flush_even_if_nothing_was_appended() -> None:
    files, log = ready()
    put(log)
    failed(files, log)
    plan = log.flush_plan()
    assert plan is not None and plan.data == [log.active.file] and plan.folders == [FOLDER]


def test_producers_go_back_too() -> None:
    files, log = ready()
    for sequence in range(3):
        put(log, producer_id=7, producer_epoch=0, base_sequence=sequence)
        if sequence == 0:
            flush(log)
    assert failed(files, log) == [1, 2]
    done = put(log, producer_id=7, producer_epoch=0, base_sequence=1)
    assert isinstance(done, Appended) and not isinstance(done, Duplicate) and done.base_offset == 1


@pytest.mark.parametrize("kind", ["rename", "truncate", "create"])
def test_a_disk_that_goes_on_failing_makes_the_log_read_only_until_it_recovers(kind: str) -> None:
    files, log = ready()
    fill(log, 3)
    flush(log)
    fill(log, 9)
    failed(files, log, **{kind: BROKEN})
    assert isinstance(put(log), Refused) and log.end_offset == 3
    assert offsets(log.read(0, 1_000, 3, may_block=True)) == [0, 1, 2]
    assert log.resume() is None and bases(log)[-1] == 3
    fill(log, 2)
    flush(log)
    again = reopen(files.after_crash())
    assert (again.start_offset, again.end_offset) == (0, 5)
    assert [h for o in (0, 3) for h in offsets(again.read(o, 1_000, 5, may_block=True))] == [0, 1, 2, 3, 4]


def test_appends_during_a_flush_wait_for_the_next_one() -> None:
    _, log = ready()
    fill(log, 3)
    plan = log.flush_plan()
    assert plan is not None
    fill(log, 9)
    plan.run()
    log.flushed(plan)
    assert (log.flushed_offset, log.dirty) == (3, 9 * SIZE)
    assert not log.segments[0].settled and log.segments[0].mark.size == 3 * SIZE
    flush(log)
    assert log.flushed_offset == 12 and log.segments[0].settled and log.dirty == 0


# --- what shortens the log


def test_retention_takes_segments_and_the_start_moves() -> None:
    files, log = ready(LogSettings(segment_bytes=500, retention_ms=1_000))
    fill(log, 12, epoch=3)
    flush(log)
    assert log.expired(2_041, upto_offset=12) == log.segments[:1]
    assert log.expired(2_041, upto_offset=4) == []
    size = log.size_bytes
    removal = log.detach(log.expired(2_041, upto_offset=12))
    assert (log.start_offset, bases(log), log.size_bytes, removal.size) == (5, [5, 10], size - 5 * SIZE, 5 * SIZE)
    assert log.epochs.entries() == [(3, 5)]
    assert files.exists(f"{FOLDER}/{file_name(0, LOG)}.deleted"), "readers on their way may finish"
    refused = log.read(4, 100, 12)
    assert isinstance(refused, Refused) and refused.code is Code.OFFSET_OUT_OF_RANGE
    removal.run()
    assert not [n for n in files.list(FOLDER) if n.startswith("00000000000000000000.")]
    assert reopen(files.after_crash()).start_offset == 5


def test_a_segment_that_cannot_be_renamed_stays() -> None:
    files, log = ready()
    fill(log, 17)
    flush(log)

    class Stubborn(MemoryFiles):
        def rename(self, old: str, new: str) -> None:
            if file_name(5, LOG) in old:
                raise BROKEN
            super().rename(old, new)

    files.__class__ = Stubborn
    log.detach(log.segments[:2]).run()
    assert (log.start_offset, bases(log)) == (5, [5, 10, 15])
    with pytest.raises(OSError, match="input/output"):
        log.detach(log.segments[:1])
    assert bases(log) == [5, 10, 15] and offsets(log.read(5, 100, 17, may_block=True)) == [5]


def test_an_idle_log_rolls_so_that_retention_can_take_it() -> None:
    settings = LogSettings(retention_ms=1_000, segment_ms=50_000)
    files, log = ready(settings)
    put(log, time=5_000)
    assert not log.roll_if_due(6_001), "not before it is flushed"
    flush(log)
    assert not log.roll_if_due(6_000) and log.roll_if_due(6_001) and bases(log) == [0, 1]
    assert log.expired(6_001, upto_offset=1) == [], "the new segment's name is not durable yet"
    flush(log)
    log.detach(log.expired(6_001, upto_offset=1)).run()
    assert (log.start_offset, log.end_offset) == (1, 1)
    assert reopen(files.after_crash(), settings).end_offset == 1
    assert not log.roll_if_due(10**9), "nothing is in it"


def test_a_segment_rolls_by_age() -> None:
    _, log = ready(LogSettings(segment_ms=1_000, retention_ms=-1))
    put(log, time=5_000)
    assert not log.roll_if_due(5_999) and log.roll_if_due(6_000)


def test_records_are_deleted_up_to_an_offset_once_that_is_durable() -> None:
    files, log = ready()
    fill(log, 12)
    flush(log)
    refused = log.delete_records(13)
    assert isinstance(refused, Refused) and refused.code is Code.OFFSET_OUT_OF_RANGE
    assert log.delete_records(7) is None and log.delete_records(3) is None
    assert log.start_offset == 0
    plan = log.start_plan()
    assert plan is not None and log.start_plan() is None
    assert log.delete_records(8) is None
    plan.run()
    log.start_moved(plan)
    assert log.start_offset == 7 and reopen(files.after_crash()).start_offset == 7
    assert log.expired(0, upto_offset=12) == log.segments[:1], "what lies before the start goes whatever its age"
    plan = log.start_plan()
    assert plan is not None and plan.start_offset == 8
    refused = log.start_failed(plan, FULL)
    assert refused.code is Code.STORAGE_FAILED and log.start_offset == 7 and log.start_plan() is None
    assert log.delete_records(5) is None and log.start_plan() is None, "it is so already"


def test_everything_may_be_deleted() -> None:
    files, log = ready()
    fill(log, 3)
    flush(log)
    log.delete_records(3)
    plan = log.start_plan()
    assert plan is not None
    plan.run()
    log.start_moved(plan)
    assert log.roll_if_due(0)
    flush(log)
    log.detach(log.expired(0, upto_offset=3)).run()
    assert bases(log) == [3] and reopen(files.after_crash()).end_offset == 3


def test_internal_topics_drop_what_was_written_again() -> None:
    _, log = ready(LogSettings(segment_bytes=500, delete=False, compact=True))
    fill(log, 12)
    flush(log)
    removal = log.drop_before(11, 0)
    assert removal is not None
    removal.run()
    assert log.start_offset == 10
    assert log.drop_before(12, 0) is None and bases(log) == [10, 12], "rolled, and gone once that is durable"
    flush(log)
    assert log.drop_before(12, 0) is not None and log.start_offset == 12


# --- questions


def test_offsets_by_time_are_exact_to_the_record() -> None:
    _, log = ready()
    put(log, 3, time=100, epoch=1)  # 100 101 102
    put(log, 3, time=50, epoch=1)  # 50 51 52
    put(log, 3, time=110, epoch=2, codec=1)  # 110 111 112
    assert log.find_by_timestamp(0, 9) == (0, 100, 1)
    assert log.find_by_timestamp(101, 9) == (1, 101, 1)
    assert log.find_by_timestamp(103, 9) == (6, 110, 2)
    assert log.find_by_timestamp(112, 9) == (8, 112, 2)
    assert log.find_by_timestamp(112, 8) is None, "not beyond what may be seen"
    assert log.find_by_timestamp(113, 9) is None
    assert log.max_timestamp(9) == (8, 112, 2)
    assert log.max_timestamp(6) == (2, 102, 1)
    assert log.max_timestamp(0) is None
    log.start_offset = 4
    assert log.find_by_timestamp(0, 9) == (4, 51, 1) and log.max_timestamp(6) == (5, 52, 1)


def test_a_rotten_batch_in_the_way_is_a_refusal() -> None:
    files, log = ready()
    fill(log, 3)
    files.content(log.active.path(LOG))[61:70] = b"\xff" * 9
    for answer in (log.find_by_timestamp(0, 3),):
        assert isinstance(answer, Refused) and answer.code is Code.CORRUPT_BATCH


def test_epochs() -> None:
    _, log = ready()
    for epoch in (2, 2, 5):
        put(log, epoch=epoch)
    assert log.latest_epoch == 5
    assert log.epoch_end(5) == (5, 3) and log.epoch_end(3) == (2, 2) and log.epoch_end(9) == (-1, -1)
    log.begin_epoch(7)
    assert log.epoch_end(5) == (5, 3) and log.epoch_end(7) == (7, 3)


# --- clean ends and beginnings


def test_a_clean_start_looks_at_nothing_and_knows_all() -> None:
    files, log = ready()
    fill(log, 11, epoch=2)
    put(log, producer_id=7, producer_epoch=0, base_sequence=4, epoch=2)
    clean = msgspec.json.decode(msgspec.json.encode(log.close()), type=CleanState)
    fresh = files.after_crash()
    log = Log.open(fresh, FOLDER, SMALL, clean=clean, now_ms=0)
    assert (fresh.opens, fresh.lists) == (0, 0)
    assert (log.end_offset, log.flushed_offset, bases(log), log.latest_epoch) == (12, 12, [0, 5, 10], 2)
    assert log.flush_plan() is None and log.producers_are_cold
    again = put(log, producer_id=7, producer_epoch=0, base_sequence=4)
    assert isinstance(again, Duplicate) and again.base_offset == 11
    assert offsets(log.read(4, 100, 12, may_block=True)) == [4]
    assert log.find_by_timestamp(1_100, 12) == (10, 1_100, 2)
    fill(log, 3)
    flush(log)
    assert offsets(log.read(13, 1_000, 15)) == [13, 14]


def test_closing_again_without_a_change_writes_nothing() -> None:
    files, log = ready()
    fill(log, 7)
    clean = log.close()
    log = Log.open(files, FOLDER, SMALL, clean=clean, now_ms=0)
    syncs, opens = files.syncs, files.opens
    assert log.close() == clean and (files.syncs, files.opens) == (syncs, opens)


def test_many_clean_restarts_leave_few_files() -> None:
    files, log = ready()
    for _ in range(20):
        fill(log, 2)
        log = Log.open(files, FOLDER, SMALL, clean=log.close(), now_ms=0)
    assert len([n for n in files.list(FOLDER) if n.endswith(SNAPSHOT)]) == 2


def test_a_lost_snapshot_is_noticed() -> None:
    files, log = ready()
    put(log, producer_id=7, producer_epoch=0, base_sequence=0)
    clean = log.close()
    files.remove(f"{FOLDER}/{file_name(1, SNAPSHOT)}")
    log = Log.open(files, FOLDER, SMALL, clean=clean, now_ms=0)
    assert isinstance(put(log, producer_id=7, producer_epoch=0, base_sequence=1), Appended)
    assert log.producers_lost is not None and "missing" in log.producers_lost


def test_what_cannot_be_flushed_is_not_clean() -> None:
    files, log = ready()
    put(log)
    files.fail_next["sync"] = BROKEN
    with pytest.raises(OSError, match="input/output"):
        log.close()


# --- the rest


def test_write_back_is_hinted_in_large_steps() -> None:
    _, log = ready(LogSettings())
    assert log.write_back_range() is None
    put(log, size=5 << 20)
    hint = log.write_back_range()
    assert hint is not None and hint[1:] == (0, log.active.size) and log.write_back_range() is None


def test_index_entries_are_spilled_with_a_flush_and_memory_stays_small() -> None:
    files, log = ready(LogSettings(index_interval_bytes=50))
    fill(log, 3_000)
    flush(log)
    assert len(log.active.offsets.new[0]) == 0 and log.active.offsets.disk_count == 2_999
    assert offsets(log.read(3, SIZE, 3_000, may_block=True)) == [3]
    log.forget()
    held = sum(
        sys.getsizeof(thing)
        for thing in (
            *(log.active.offsets.new + log.active.times.new),
            *(log.active.recent_offsets, log.active.recent_positions, log.segments, log._base_offsets),
        )
    )
    assert held < 2_000
    assert reopen(files.after_crash(), LogSettings(index_interval_bytes=50)).end_offset == 3_000


def test_producers_are_described_and_expire() -> None:
    _, log = ready()
    put(log, 2, time=5_000, producer_id=7, producer_epoch=3, base_sequence=0)
    (view,) = log.describe_producers()
    assert (view.producer_id, view.epoch, view.last_sequence, view.last_timestamp) == (7, 3, 1, 5_001)
    assert log.expire_producers(5_000 + SMALL.producer_expiry_ms) == 1 and log.describe_producers() == []
