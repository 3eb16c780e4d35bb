"""The log against a model, on the simulator's disk: any order of appends, flushes that fail, power cuts, restarts.

The disk loses, tears and reorders whatever was not synced, under both models of names; a power cut may strike at any call,
within recovery too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from headrace.base.errors import Code, Refused
from headrace.log.flush import FlushPlan, StartPlan
from headrace.log.log import Appended, CleanState, Cold, Duplicate, Log, LogSettings, Read
from headrace.log.offset_index import OffsetIndex
from headrace.log.segment import Segment
from headrace.log.time_index import TimeIndex
from headrace.records.build import build_batch
from headrace.records.header import read_header
from headrace.records.record import Record, read_batches, read_records
from sim.disk import NameModel, SimDisk, SimFiles
from sim.faults import DiskFaults
from sim.loop import Crashed
from tests.unit.log.log_model import Batch, Model

SETTINGS = LogSettings(segment_bytes=700, segment_ms=5_000, index_interval_bytes=150, retention_ms=20_000, retention_bytes=4_000)
T = TypeVar("T")


def read_all(log: Log, size_max: int, end: int) -> list[Batch]:
    found: list[Batch] = []
    offset = log.start_offset
    while offset < end:
        read = log.read(offset, size_max, end)
        if isinstance(read, Cold):
            read.warm()
            read = log.read(offset, size_max, end, may_block=True)
        assert isinstance(read, Read) and read.body is not None, (read, offset)
        data = read.body.read()
        assert len(data) == read.size
        for at, header in read_batches(data):
            records = list(read_records(data[at : at + header.size]))
            assert header.base_offset <= offset <= header.last_offset, "the read begins with another batch"
            producer = None
            if header.producer_id >= 0:
                producer = (header.producer_id, header.producer_epoch, header.base_sequence)
            values = [(r.timestamp, r.value or b"") for r in records]
            found.append(Batch(header.base_offset, header.last_offset, header.leader_epoch, values, producer))
            offset = header.last_offset + 1
    return found


class LogAgainstModel(RuleBasedStateMachine):
    @initialize(seed=st.integers(0, 2**32), strict=st.booleans())
    def begin(self, seed: int, strict: bool) -> None:
        self.chance = random.Random(seed)
        self.faults = DiskFaults(evict_chance=0.1)
        self.disk = SimDisk(self.chance, self.faults, names=NameModel.STRICT if strict else NameModel.ORDERED)
        self.files = self.disk.mount()
        self.model = Model()
        self.now = 100_000
        self.epoch = 1
        self.plan: FlushPlan | None = None
        self.start_plan: StartPlan | None = None
        self.durable_start = 0
        self.log = Log.create(self.files, "t-0", SETTINGS, now_ms=self.now)
        self.flush(0)  # a topic counts as made when its folders are durable

    # --- life

    @rule(
        count=st.integers(1, 4),
        shift=st.integers(-3_000, 3_000),
        size=st.integers(0, 120),
        codec=st.sampled_from([0, 0, 1, 3]),
        producer=st.sampled_from([None, 5, 5, 6]),
        bump=st.integers(0, 9),
        crash_after=st.sampled_from([0] * 15 + [1, 2, 3]),
    )
    def append(self, count: int, shift: int, size: int, codec: int, producer: int | None, bump: int, crash_after: int) -> None:
        self.now += 50
        model = self.model
        values = [(self.now + shift + self.chance.randrange(100), b"%d" % (model.end + i) + b"v" * size) for i in range(count)]
        who = None
        if producer is not None:
            epoch, marks = model.producers().get(producer, (0, []))
            who = (producer, epoch + 1, 0) if not bump else (producer, epoch, marks[-1][0] + 1 if marks else 0)
        batch = Batch(model.end, model.end + count - 1, self.epoch, values, who)
        model.batches.append(batch)
        done = self.at_risk(crash_after, lambda: self.put(batch, codec))
        if done is not None:
            assert type(done) is Appended, done
            assert (done.base_offset, done.last_offset) == (batch.base, batch.last)

    def put(self, batch: Batch, codec: int = 0) -> Appended | Refused:
        who = batch.producer or (-1, -1, -1)
        data = build_batch(
            [Record(0, timestamp, b"k", value) for timestamp, value in batch.records],
            codec=codec,
            producer_id=who[0],
            producer_epoch=who[1],
            base_sequence=who[2],
        )
        return self.log.append(memoryview(data), read_header(data), leader_epoch=self.epoch, now_ms=self.now)

    @rule(back=st.integers(1, 7))
    def repeat(self, back: int) -> None:
        """A producer sends a batch again: one of its last five gets its old answer, an older one is refused."""
        sent = [b for b in self.model.batches if b.producer is not None]
        if not sent:
            return
        batch = sent[-min(back, len(sent))]
        assert batch.producer is not None
        epoch, marks = self.model.producers()[batch.producer[0]]
        end = self.log.end_offset
        done = self.put(batch)
        if batch.producer[1] < epoch:
            assert isinstance(done, Refused) and done.code is Code.PRODUCER_FENCED
        elif (batch.last_sequence, batch.last) in marks:
            assert isinstance(done, Duplicate) and (done.base_offset, done.last_offset) == (batch.base, batch.last)
        else:
            assert isinstance(done, Refused) and done.code is Code.OUT_OF_ORDER_SEQUENCE
        assert self.log.end_offset == end

    @rule(ahead=st.integers(2, 9))
    def skip_sequence(self, ahead: int) -> None:
        for producer_id, (epoch, marks) in self.model.producers().items():
            end = self.model.end
            done = self.put(Batch(end, end, self.epoch, [(1, b"")], (producer_id, epoch, marks[-1][0] + ahead)))
            assert isinstance(done, Refused) and done.code is Code.OUT_OF_ORDER_SEQUENCE

    @rule()
    def fail_write(self) -> None:
        self.faults.write_error_chance = 1.0
        done = self.put(Batch(self.model.end, self.model.end, self.epoch, [(1, b"never")], None))
        self.faults.write_error_chance = 0.0
        assert isinstance(done, Refused) and done.code is Code.STORAGE_FAILED and self.log.readonly is done
        assert self.log.resume() is None and self.log.readonly is None

    @rule()
    def new_epoch(self) -> None:
        self.epoch += 1

    @rule(ms=st.integers(1, 12_000))
    def wait(self, ms: int) -> None:
        self.now += ms

    # --- flushing

    @precondition(lambda self: self.plan is None)
    @rule()
    def flush_begins(self) -> None:
        self.plan = self.log.flush_plan()
        if self.plan is None:
            assert self.model.flushed == self.model.end

    @precondition(lambda self: self.plan is not None)
    @rule(crash_after=st.sampled_from([0] * 6 + [1, 2, 3, 4, 6, 9, 14]))
    def flush_ends(self, crash_after: int) -> None:
        plan = self.plan
        assert plan is not None

        def run() -> bool:
            is_wide = self.is_wide()
            plan.run(is_synced=is_wide)
            return True

        if self.at_risk(crash_after, run):
            self.log.flushed(plan)
            assert plan.trouble is None
            self.model.flush(plan.end_offset)
            self.plan = None

    @precondition(lambda self: self.plan is not None)
    @rule(crash_after=st.sampled_from([0] * 9 + [1, 2, 3, 5]))
    def flush_fails(self, crash_after: int) -> None:
        plan = self.plan
        assert plan is not None
        if not plan.data:
            return
        self.faults.sync_error_chance = 1.0
        try:
            plan.run()
            raise AssertionError("the sync was to fail")
        except OSError as error:
            failure = error
        self.faults.sync_error_chance = 0.0
        self.plan = None
        self.model.cut_back()
        answer = self.at_risk(crash_after, lambda: self.log.flush_failed(plan, failure))
        if answer is not None:
            cut, paths = answer
            assert self.log.readonly is None
            assert (cut.first_offset, self.log.end_offset) == (self.model.flushed, self.model.flushed)
            for path in paths:
                self.files.remove(path)

    @rule(crash_after=st.sampled_from([0, 0, 0, 1, 2, 3, 4, 5, 7, 10, 15]))
    def flush(self, crash_after: int) -> None:
        if self.plan is None:
            self.flush_begins()
        if self.plan is not None:
            self.flush_ends(crash_after)

    # --- what shortens the log

    @rule(crash_after=st.sampled_from([0] * 6 + [1, 2, 3, 5]))
    def retain(self, crash_after: int) -> None:
        log = self.log
        log.roll_if_due(self.now)
        gone = log.expired(self.now, upto_offset=self.model.flushed)
        before = log.size_bytes
        if gone:
            end = gone[-1].end_offset
            assert end <= self.model.flushed
            excess = before - SETTINGS.retention_bytes
            for segment in gone:
                times = [t for b in self.model.batches if segment.base_offset <= b.base < segment.end_offset for t, _ in b.records]
                # A batch's time is at most 3,100 ms ahead; the append's own time counts then.
                is_past = self.now - max(times) > SETTINGS.retention_ms - 3_100
                assert is_past or excess >= segment.size or segment.end_offset <= self.model.start
                excess -= segment.size
            self.at_risk(crash_after, lambda: log.detach(gone).run() or True)
            if self.log is log:
                assert log.start_offset >= end and log.size_bytes == before - sum(s.size for s in gone)
                self.model.start = log.start_offset

    @rule(share=st.floats(0, 1), crash_after=st.sampled_from([0] * 6 + [1, 2, 3, 5]))
    def delete_records(self, share: float, crash_after: int) -> None:
        log, model = self.log, self.model
        offset = model.start + int((model.flushed - model.start) * share)
        assert log.delete_records(offset) is None
        plan = log.start_plan()
        if plan is not None and self.at_risk(crash_after, lambda: plan.run() or True):
            log.start_moved(plan)
            model.start = self.durable_start = log.start_offset
            assert model.start == offset

    @rule()
    def drop_before(self) -> None:
        removal = self.log.drop_before(self.model.flushed, self.now)
        if removal is not None:
            removal.run()
        assert self.log.start_offset <= max(self.model.flushed, self.model.start)
        self.model.start = self.log.start_offset

    # --- ends and beginnings

    def at_risk(self, crash_after: int, work: Callable[[], T]) -> T | None:
        """Do it; the power may go at the n-th call to the disk, and then None comes back, from a recovered log."""
        self.files.crash_after = crash_after or None
        try:
            return work()
        except Crashed:
            self.power_cut(0)
            return None
        finally:
            self.files.crash_after = None

    @rule(again_after=st.integers(0, 12))
    def power_cut(self, again_after: int) -> None:
        self.disk.crash()
        self.recover(again_after)

    @rule(again_after=st.integers(0, 12))
    def kill(self, again_after: int) -> None:
        """The process dies, the machine does not."""
        self.recover(again_after)
        assert self.model.end == self.log.end_offset

    def recover(self, again_after: int) -> None:
        self.plan = self.start_plan = None
        self.files = self.disk.mount()
        self.files.crash_after = again_after or None
        try:
            self.open(None)
        except Crashed:
            self.disk.crash()
            self.files = self.disk.mount()
            self.open(None)
        self.files.crash_after = None
        assert all(damage.is_cut for damage in self.log.report), self.log.report
        start = self.log.start_offset
        assert self.durable_start <= start <= max(self.model.start, self.model.end)
        self.model.crashed(read_all(self.log, 400, self.log.end_offset), start)
        self.model.start = start
        assert self.log.flushed_offset == self.log.end_offset

    def open(self, clean: CleanState | None) -> None:
        is_wide = clean is None and self.is_wide()
        self.log = Log.open(self.files, "t-0", SETTINGS, clean=clean, now_ms=self.now, is_synced=is_wide)

    def is_wide(self) -> bool:
        """Sometimes the whole disk is synced before the logs do their own part, as for many partitions at once."""
        if self.chance.random() < 0.3:
            self.files.sync_all()
            return True
        return False

    @precondition(lambda self: self.plan is None)
    @rule(crash_after=st.sampled_from([0] * 6 + [1, 2, 3, 5, 8, 12]))
    def restart(self, crash_after: int) -> None:
        def close() -> CleanState:
            is_wide = self.is_wide()
            clean = self.log.close(is_synced=is_wide)
            if is_wide:
                self.files.sync_all()
            return clean

        clean = self.at_risk(crash_after, close)
        if clean is None:
            return
        self.model.flush(self.model.end)
        self.files = self.disk.mount()
        self.open(clean)
        assert self.files.calls == 0, "a clean start looks at nothing"

    @rule()
    def forget(self) -> None:
        self.log.forget()

    # --- what must hold

    @invariant()
    def agrees(self) -> None:
        log, model = self.log, self.model
        assert (log.start_offset, log.flushed_offset, log.end_offset) == (model.start, model.flushed, max(model.end, model.start))
        assert read_all(log, self.chance.choice([1, 100, 300, 1_000, 10_000]), log.end_offset) == model.readable()
        assert read_all(log, 500, max(log.start_offset, model.flushed)) == [b for b in model.readable() if b.last < model.flushed]
        assert log.size_bytes == sum(segment.size for segment in log.segments)
        assert log.dirty == sum(segment.size - segment.mark.size for segment in log.segments)

    @invariant()
    def answers_questions(self) -> None:
        log, model = self.log, self.model
        upto = self.chance.choice([model.flushed, model.end])
        times = [t for b in model.readable() for t, _ in b.records]
        for timestamp in [0, self.now, *self.chance.sample(times, min(3, len(times)))]:
            wanted = timestamp + self.chance.choice([-1, 0, 1])
            found, expected = log.find_by_timestamp(wanted, upto), model.find_by_timestamp(wanted, upto)
            assert found == expected, (wanted, upto, found, expected)
        assert log.max_timestamp(upto) == model.max_timestamp(upto)
        if not model.start:
            for epoch in range(self.epoch + 1):
                answer = log.epoch_end(epoch)
                assert answer == model.epoch_end(epoch) or answer[0] == -1 or epoch not in {b.epoch for b in model.batches}

    @invariant()
    def knows_producers(self) -> None:
        log = self.log
        log.warm_producers()
        assert log._producers is not None
        found = {p: (e.epoch, [(m[0], m[1]) for m in e.batches]) for p, e in log._producers.entries.items()}
        assert found == self.model.producers(), (found, self.model.producers())

    @invariant()
    def keeps_exact_indexes(self) -> None:
        """What is kept entry by entry through restarts and cuts is what a scan of the log would build."""
        for segment in self.log.segments:
            rebuilt = Segment(self.files, "t-0", segment.base_offset, 0)
            rebuilt.size = segment.size
            rebuilt.rebuild_indexes(SETTINGS.index_interval_bytes, segment is not self.log.active)
            assert whole_index(self.files, segment.offsets) == whole_index(self.files, rebuilt.offsets)
            assert whole_index(self.files, segment.times) == whole_index(self.files, rebuilt.times)


def whole_index(files: SimFiles, index: OffsetIndex | TimeIndex) -> bytes:
    kept = files.open(index.path).read(0, index.disk_count * index.ENTRY_SIZE) if index.disk_count else b""
    return kept + index.encode(index.new, len(index.new[0]))


LogAgainstModel.TestCase.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestLogAgainstModel = LogAgainstModel.TestCase
