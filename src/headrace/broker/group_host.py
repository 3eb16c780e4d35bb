"""The host of a group machine: one partition of `__consumer_offsets`, and the requests that wait at it.

The machine (`groups.coordinator`) decides; this room carries out: it appends the durable facts as one batch, applies all
facts, and lets each answer go when the log has committed what it depends on. The protocol between the two is written
down in the machine's essay.

When an append or a flush fails, the machine has applied facts that the log does not have. Nothing is rolled back: every
waiter hears "not coordinator", the machine is dropped, and a new one is loaded from the log.

The internal topic does not grow for ever. When the log has grown by more than a snapshot's worth several times over, the
machine's state is appended again as facts, group by group, and what lies before is dropped once that is committed.
Between two pieces of a snapshot other decisions may be appended: they stand behind the snapshot's beginning, each fact
replaces what was known of its key, so reading from there gives the same state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from headrace.base.errors import Code, Refused
from headrace.base.files import Buffer
from headrace.base.limits import MIB
from headrace.base.world import World
from headrace.broker.partition import Partition
from headrace.broker.tasks import Tasks
from headrace.broker.waiting import Later
from headrace.groups.coordinator import Coordinator
from headrace.groups.decision import Decision, Result, When
from headrace.groups.facts import DurableFact, encode_fact, is_durable
from headrace.groups.settings import GroupSettings
from headrace.log.log import Appended
from headrace.records.build import build_batch
from headrace.records.header import has_right_checksum, read_header
from headrace.records.record import Record, RecordsError, read_batches, read_records

LOADING = Refused(Code.COORDINATOR_LOADING, "the groups of this partition are being loaded")
_LOST = Refused(Code.NOT_COORDINATOR, "the coordinator could not write to its log and starts anew")
# One batch of facts, of which one alone may be larger (a group of many members): a snapshot of 10,000 groups is a few batches.
_FACTS_PER_BATCH = 1_000
_BATCH_SIZE = MIB
_LOAD_PIECE = MIB
_LOAD_AGAIN_S = 1.0
# The log may grow by this much before a snapshot is worth its writing, and by this multiple of the last snapshot.
_GROWTH_MIN = 16 * MIB
_GROWTH_FACTOR = 4

Decide = Callable[[Coordinator, int, int], Decision]
"""(machine, now_ms, waiter) -> decision"""


class GroupHost:
    """The groups of one partition."""

    def __init__(
        self,
        world: World,
        tasks: Tasks,
        partition: Partition,
        settings: GroupSettings,
        log: Callable[..., None],
    ) -> None:
        self.partition = partition
        self._world = world
        self._tasks = tasks
        self._settings = settings
        self._log = log
        self._machine: Coordinator | None = None
        self._loaded: Later[None] = Later()
        self._waiters: dict[int, Later[Any]] = {}
        self._last_waiter = 0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        # Sessions must not end because somebody sets the clock: wall time at the start, and steady from there.
        self._epoch_ms = world.now_ms() - world.monotonic_ms()
        self._snapshot_bytes = 0
        self._bytes_before = 0
        self._snapshotting = False
        self._losses = 0
        self._closed = False

    def now_ms(self) -> int:
        return int(self._epoch_ms + self._world.monotonic_ms())

    @property
    def machine(self) -> Coordinator | None:
        """The groups, for those who only look; None while they are loaded."""
        return self._machine

    # asking

    def ask(self, decide: Decide) -> Later[Any]:
        """Let the machine decide; the result comes when it may be told."""
        later: Later[Any] = Later()
        machine = self._machine
        if machine is None:
            later.complete(LOADING)
            return later
        self._last_waiter += 1
        waiter = self._last_waiter
        self._waiters[waiter] = later
        self._carry_out(decide(machine, self.now_ms(), waiter))
        return later

    def decide(self, decide: Callable[[Coordinator], Decision]) -> None:
        """A decision that nobody waits for."""
        if self._machine is not None:
            self._carry_out(decide(self._machine))

    def _carry_out(self, decision: Decision) -> None:
        machine = self._machine
        assert machine is not None
        facts = decision.facts
        end = machine.position
        if facts:
            durable = [fact for fact in facts if is_durable(fact)]
            if durable:
                appended = self._append(durable)  # type: ignore[arg-type]
                if appended is None:
                    self._start_anew()
                    return
                end = appended
            machine.apply(facts, end)
        for reply in decision.replies:
            later = self._waiters.pop(reply.waiter, None)
            if later is None:
                continue
            if reply.when is When.NOW:
                later.complete(reply.result)
            else:
                position = end if reply.when is When.APPENDED else decision.position
                self._answer_at(position, later, reply.result)
        self._arm()

    def _answer_at(self, position: int, later: Later[Any], result: Result) -> None:
        def committed(why: Refused | None) -> None:
            if not later.done:
                later.complete(result if why is None else _LOST)

        self.partition.when_committed(position, committed)

    def _append(self, facts: list[DurableFact]) -> int | None:
        """Append facts as batches; the log's end after them, or None when the log refused."""
        now_ms = self._world.now_ms()
        end = 0
        for records in _batches(facts, now_ms):
            data = build_batch(records)
            result = self.partition.append(memoryview(data), read_header(data), now_ms)
            if not isinstance(result, Appended):
                self._log("group facts were not written", partition=self.partition.index, why=str(result))
                return None
            end = result.last_offset + 1
        return end

    # time

    def _arm(self) -> None:
        machine = self._machine
        if machine is None or self._closed:
            return
        deadline = machine.deadline_ms()
        if deadline is None:
            return
        if self._timer is not None:
            if deadline >= self._timer_ms:
                return
            self._timer.cancel()
        self._timer_ms = deadline
        wait_ms = max(deadline - self.now_ms(), 0) + 1
        self._timer = asyncio.get_running_loop().call_later(wait_ms / 1000, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._machine is not None and not self._closed:
            self._carry_out(self._machine.tick(self.now_ms()))
            self._arm()

    # loading

    async def load(self) -> None:
        """Read the log from its start and begin the sessions of all members."""
        began = self._world.monotonic_ms()
        machine = Coordinator(self._settings)
        partition = self.partition
        offset = partition.log.start_offset
        count = 0
        losses = self._losses
        while (offset < partition.log.end_offset or losses != self._losses) and not self._closed:
            if losses != self._losses:
                # The log was cut back meanwhile. With `pagecache` some of what was replayed may be gone.
                losses = self._losses
                machine, offset, count = Coordinator(self._settings), partition.log.start_offset, 0
                continue
            read = await partition.read_slowly(self._world, offset, _LOAD_PIECE, whole_first_batch=True)
            records: list[Record] | None = None
            if isinstance(read, Refused):
                why = read.why
            elif read.body is not None:
                try:
                    records = await self._world.offload(lambda body=read.body, offset=offset: _records(body, offset))  # type: ignore[misc]
                except (OSError, RecordsError) as error:
                    why = str(error)
            elif partition.committed_end < partition.log.end_offset:
                await asyncio.sleep(0.01)  # facts appended before us are being flushed
                continue
            else:
                why = f"nothing to read at offset {offset}, the log ends at {partition.log.end_offset}"
            if records is None:
                if partition.closed is not None:
                    return
                # A disk that fails may be well again; until then clients hear that the groups are being loaded.
                self._log("groups could not be loaded, trying again", partition=partition.index, why=why)
                await asyncio.sleep(_LOAD_AGAIN_S)
                continue
            for record in records:
                assert record.key is not None
                machine.replay(record.key, record.value, record.offset + 1)
                count += 1
                if count % 5_000 == 0:
                    await asyncio.sleep(0)
            offset = records[-1].offset + 1
        if self._closed:
            return
        self._machine = machine
        self._bytes_before = partition.log.size_bytes
        self._carry_out(machine.loaded(self.now_ms()))
        if not self._loaded.done:
            self._loaded.complete(None)
        if count:
            took = self._world.monotonic_ms() - began
            self._log("groups loaded", partition=partition.index, groups=len(machine.groups), records=count, ms=round(took))

    def _start_anew(self) -> None:
        """The log and the machine have parted: everybody hears it, and the log tells what is true."""
        self._machine = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiters, self._waiters = self._waiters, {}
        for later in waiters.values():
            if not later.done:
                later.complete(_LOST)
        if not self._closed:
            self._tasks.spawn(self._load_again())

    async def _load_again(self) -> None:
        await asyncio.sleep(1.0)  # the disk has just failed
        await self.load()

    def lost(self) -> None:
        """A flush failed and the log was cut back."""
        self._losses += 1
        if self._machine is not None:
            self._start_anew()

    def close(self) -> None:
        self._closed = True
        self._start_anew()

    # snapshots

    def wants_snapshot(self) -> bool:
        grown = self.partition.log.size_bytes - self._bytes_before
        return (
            self._machine is not None and not self._snapshotting and grown > max(_GROWTH_MIN, _GROWTH_FACTOR * self._snapshot_bytes)
        )

    async def snapshot(self) -> None:
        """Append the state as facts and drop what lies before."""
        machine = self._machine
        if machine is None or self._snapshotting:
            return
        self._snapshotting = True
        try:
            log = self.partition.log
            log.roll(self._world.now_ms())  # segments go as a whole: the snapshot begins with one
            before = log.size_bytes
            start = log.end_offset
            end = start
            for group_ids in _pieces(sorted(machine.groups), 200):
                if self._machine is not machine:
                    return
                facts = machine.snapshot_of(group_ids)
                if facts:
                    appended = self._append(facts)
                    if appended is None:
                        self._start_anew()
                        return
                    end = appended
                await asyncio.sleep(0)
            self._snapshot_bytes = log.size_bytes - before
            if await self._committed(end) is None and self._machine is machine:
                removal = log.drop_before(start, self._world.now_ms())
                if removal is not None:
                    await self.partition.offload(self._world, removal.run)
                self._bytes_before = log.size_bytes
        except OSError as error:
            # The state is in the log all the same, twice at worst; the next snapshot drops both.
            self._log("a snapshot of groups failed", partition=self.partition.index, error=str(error))
        finally:
            self._snapshotting = False

    async def _committed(self, end: int) -> Refused | None:
        future: asyncio.Future[Refused | None] = asyncio.get_running_loop().create_future()

        def tell(why: Refused | None) -> None:
            if not future.done():
                future.set_result(why)

        self.partition.when_committed(end, tell)
        return await future


def _records(body: Any, offset: int) -> list[Record]:
    data: Buffer = body.read() if hasattr(body, "read") else b"".join(part.read() for part in body.slices)
    records: list[Record] = []
    for at, header in read_batches(data):
        if not has_right_checksum(data, header, at):  # facts are not checked, they are asserted: a checksum has vouched for them
            raise RecordsError(f"the batch at offset {header.base_offset} does not have its checksum")
        records += [record for record in read_records(memoryview(data)[at : at + header.size], header) if record.offset >= offset]
    if not records:
        raise RecordsError(f"no whole batch at offset {offset}")
    return records


def _batches(facts: list[DurableFact], now_ms: int) -> Iterator[list[Record]]:
    records: list[Record] = []
    size = 0
    for fact in facts:
        key, value = encode_fact(fact)
        more = len(key) + len(value or b"")
        if records and (len(records) >= _FACTS_PER_BATCH or size + more > _BATCH_SIZE):
            yield records
            records, size = [], 0
        records.append(Record(0, now_ms, key, value))
        size += more
    if records:
        yield records


def _pieces(names: list[str], size: int) -> Iterable[list[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]
