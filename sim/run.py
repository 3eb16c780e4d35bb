"""One run: a seed decides the faults, the actors and every delay; the book is checked all along and at the end.

The story of a run: the node starts on an empty disk; actors work while the machine is killed, cut from power, stopped
and started; then all faults end (it *heals*) and everything must come right by itself within `HEAL_S_MAX`: every
partition takes a record again, every request is answered, the group goes on. Then the actors stop, the power is cut
once more, and everything that was acknowledged or seen is read again.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from headrace.cluster.stores.memory import MemoryStore
from sim.client import Client, Lost
from sim.faults import DiskFaults, MachineFaults, NetworkFaults, draw
from sim.ledger import Broken, Ledger
from sim.loop import RunFailed, SimLoop
from sim.machine import ADDRESS, Boot, Machine
from sim.network import SimNetwork
from sim.trace import Trace
from sim.workload import LATEST, Actor, Administrator, Fetching, Member, Producer, Reader, Scene

# After the last fault: sessions of 6 s, rebalances of 10 s, clogs of 5 s that are still on their way, waits between tries.
HEAL_S_MAX = 60.0


@dataclass(slots=True)
class Result:
    seed: int
    failure: str | None
    virtual_s: float
    real_s: float
    trace_hash: str
    trace_lines: int
    counts: dict[str, int] = field(default_factory=dict)
    tail: list[str] = field(default_factory=list)

    def line(self) -> str:
        counts = "  ".join(f"{name} {number:,}" for name, number in sorted(self.counts.items()))
        state = "ok" if self.failure is None else "FAILED"
        return (
            f"seed {self.seed}  {state}  {self.virtual_s:,.0f} virtual s in {self.real_s:.1f} s  trace {self.trace_hash}  {counts}"
        )


class Run:
    def __init__(
        self, seed: int, seconds: float, boot: Boot, *, show: bool = False, change: Callable[[Run], None] | None = None
    ) -> None:
        self.seed = seed
        self.seconds = seconds
        # Each part has chance of its own, so that one more draw in one part leaves the others as they were.
        self.faults = draw(self.chance("faults"))
        self.loop = SimLoop(self.chance("loop"), late_ms_max=self.faults.machine.late_ms_max)  # type: ignore[abstract]
        self.trace = Trace(self.loop.time, show=show)
        self.ledger = Ledger(self.loop.time)
        self.network = SimNetwork(
            self.loop, self.chance("network"), self.faults.network, trace=lambda text: self.trace("net", text)
        )
        self.store = MemoryStore(lambda: self.loop.time() * 1000)
        self.boot = boot
        self.change = change
        self.machine: Machine

    def chance(self, part: str) -> random.Random:
        return random.Random(f"{self.seed}/{part}")

    def go(self) -> Result:
        began = time.perf_counter()
        failure = None
        try:
            # A context of its own, so that what one run leaves in context variables does not reach the next.
            contextvars.Context().run(self.loop.run_until_complete, self._story())
        except Broken as broken:
            failure = str(broken)
        except RunFailed as failed:
            cause = failed.__cause__
            failure = str(cause) if isinstance(cause, Broken) else _told(failed)
        except Exception as failed:  # an assert, or anything else that has no place in a run
            failure = _told(failed)
        finally:
            virtual_s = self.loop.time()
            self.loop.close()
        return Result(
            self.seed,
            failure,
            virtual_s,
            time.perf_counter() - began,
            self.trace.hash(),
            self.trace.lines,
            self._counts(),
            list(self.trace.tail),
        )

    def _counts(self) -> dict[str, int]:
        machine = self.machine
        return self.ledger.counts | {
            "starts": machine.starts,
            "kills": machine.kills,
            "power cuts": machine.power_cuts,
            "clean stops": machine.clean_stops,
            "syncs": machine.disk.syncs,
            "failed syncs": machine.disk.sync_failures,
            "connections": self.network.connections,
        }

    # -- the story

    async def _story(self) -> None:
        self.machine = Machine(self.loop, self.network, self.store, self.boot, self.chance("machine"), self.faults, self.trace)
        if self.change is not None:
            self.change(self)
        self.machine.cache_lost = self.ledger.cache_lost
        self.trace("run", f"seed {self.seed}: {self.faults}")
        scene = Scene(
            self.chance("scene"), self.ledger, self.machine.clock.now_ms, pagecache=not self.faults.disk.sync_error_chance
        )
        await self._bring_up()
        first = self._client("first")
        administrator = Administrator("admin", scene, self._client("admin"), self.chance("admin"))
        await administrator.create(scene.draw_first())
        actors = self._actors(scene, administrator)
        tasks = [self.loop.create_task(actor.run()) for actor in actors]
        watchdog = self.loop.create_task(self._watch(tasks))
        await self._chaos(until_s=self.loop.time() + self.seconds)
        self._heal()
        await self._bring_up()
        await self._comes_right(scene, first)
        scene.stopping = True
        _, late = await asyncio.wait(tasks, timeout=HEAL_S_MAX)
        for task, actor in zip(tasks, actors, strict=True):
            if task in late:
                self.ledger.broken(f"{actor.name} has not come to an end {HEAL_S_MAX:.0f} s after all faults ended")
            task.result()
        watchdog.cancel()
        self.machine.cut_power()
        await self._bring_up()
        await self._all_is_there(scene)
        await self.machine.stop()
        await self._bring_up()
        await self._all_is_there(scene)

    def _client(self, name: str) -> Client:
        return Client(name, self.network, ADDRESS, self.chance(f"client {name}"), self.ledger, self.trace)

    def _actors(self, scene: Scene, administrator: Administrator) -> list[Actor]:
        chance = self.chance("actors")
        actors: list[Actor] = [administrator]
        for number in range(chance.randint(1, 4)):
            name = f"p{number}"
            actors.append(Producer(name, scene, self._client(name), self.chance(name), idempotent=chance.random() < 0.6))
        for number in range(chance.randint(1, 3)):
            name = f"m{number}"
            actors.append(Member(name, scene, self._client(name), self.chance(name), "g1", scene.topics["t1"]))
        for number in range(chance.randint(1, 2)):
            name = f"r{number}"
            actors.append(Reader(name, scene, self._client(name), self.chance(name)))
        return actors

    async def _watch(self, tasks: list[asyncio.Task[None]]) -> None:
        """Requests that wait for too long, and actors that found a law broken."""
        while True:
            await asyncio.sleep(1)
            self.ledger.check_answers()
            for task in tasks:
                if task.done():
                    task.result()

    async def _bring_up(self) -> None:
        for _ in range(1_000):
            if self.machine.up or await self.machine.start():
                return
            await asyncio.sleep(1)
        raise AssertionError("the node does not start")

    async def _chaos(self, until_s: float) -> None:
        """What happens to the machine until the run heals."""
        chance = self.chance("chaos")
        faults = self.faults.machine
        kinds = {
            "power": faults.power_cut_s,
            "kill": faults.kill_s,
            "restart": faults.restart_s,
            "clock": faults.clock_step_s,
        }
        rates = {kind: 1 / seconds for kind, seconds in kinds.items() if seconds}
        while True:
            left_s = until_s - self.loop.time()
            wait_s = chance.expovariate(sum(rates.values())) if rates else left_s
            await asyncio.sleep(max(0.0, min(wait_s, left_s)))
            if wait_s >= left_s:
                return
            kind = chance.choices(list(rates), list(rates.values()))[0]
            if kind == "clock":
                self.machine.clock.step(chance.randint(-600_000, 600_000))
                continue
            if kind == "restart":
                await self.machine.stop()
            elif chance.random() < faults.crash_in_call_chance:
                await self.machine.crash_in_call(power=kind == "power")
            elif kind == "power":
                self.machine.cut_power()
            else:
                self.machine.kill()
            await asyncio.sleep(chance.uniform(*faults.down_s))
            # A disk that is full or failing may keep the node down until the run heals.
            while not self.machine.up and self.loop.time() < until_s:
                starting = self.loop.create_task(self.machine.start())
                if chance.random() < 0.2:  # and again, while it recovers
                    await asyncio.sleep(0)
                    await self.machine.crash_in_call(power=kind == "power")
                await starting
                if not self.machine.up:
                    await asyncio.sleep(chance.uniform(0.1, 2.0))

    def _heal(self) -> None:
        self.trace("run", "heals")
        for part, fresh in (
            (self.faults.disk, DiskFaults()),
            (self.faults.network, NetworkFaults()),
            (self.faults.machine, MachineFaults()),
        ):
            for name in fresh.__slots__:
                if name != "lies_about_sync":
                    setattr(part, name, getattr(fresh, name))

    async def _comes_right(self, scene: Scene, client: Client) -> None:
        """Every partition takes a record, within a bound."""
        deadline = self.loop.time() + HEAL_S_MAX
        prober = Producer("probe", scene, client, self.chance("probe"), idempotent=False)
        for topic in list(scene.topics.values()):
            for partition in range(topic.partitions):
                while topic.name not in self.ledger.gone:
                    values = prober.values(topic.name, partition)
                    await client.connect()
                    losses = self.ledger.cache_losses
                    try:
                        answer = await client.produce(topic.name, partition, prober.batch(values), -1)
                    except Lost as lost:
                        answer = lost
                    if prober.took(values, topic.name, partition, answer, losses):
                        break
                    self.ledger.check(
                        self.loop.time() < deadline,
                        f"{topic.name}-{partition} takes no record {HEAL_S_MAX:.0f} s after all faults ended: {answer!r}",
                    )
                    await asyncio.sleep(0.5)

    async def _all_is_there(self, scene: Scene) -> None:
        client = self._client("last")
        reader = Fetching("last", scene, client, self.chance("last"))
        listed = await client.metadata(None)
        names = {topic.name or "" for topic in listed.topics if topic.error_code == 0 and not topic.is_internal}
        self.ledger.check(scene.topics.keys() <= names, f"topics are missing: {sorted(scene.topics.keys() - names)}")
        back = sorted(names & scene.deleted)
        self.ledger.check(not back, f"deleted topics are back: {back}")
        for topic in scene.topics.values():
            for partition in range(topic.partitions):
                await self._whole(reader, topic.name, partition)
        group, topic_name = "g1", "t1"
        partitions = list(range(scene.topics[topic_name].partitions))
        known = {partition: self.ledger.commit_known(group, topic_name, partition) for partition in partitions}
        committed = await client.committed(group, topic_name, partitions)
        while isinstance(committed, int):  # the group is being loaded
            await asyncio.sleep(0.1)
            committed = await client.committed(group, topic_name, partitions)
        for partition in partitions:
            self.ledger.commit_is(group, topic_name, partition, known[partition], committed.get(partition, -1))

    async def _whole(self, reader: Fetching, topic: str, partition: int) -> None:
        start = await reader.start_of(topic, partition)
        known = self.ledger.known(topic, partition)
        code, end = await reader.client.list_offset(topic, partition, LATEST)
        self.ledger.check(start is not None and code == 0, f"{topic}-{partition} is not served: error {code}")
        assert start is not None
        self.ledger.ends_are(topic, partition, known, start, end)
        positions = {partition: start}
        reader.seen = {}
        while positions[partition] < end:
            moved = await reader.fetch(topic, positions, size_max=1 << 20, wait_ms_max=100, size_min=1)
            self.ledger.check(moved is not None and moved != positions, f"{topic}-{partition} cannot be read at {positions}")
            assert moved is not None
            positions = moved
        assert reader.seen is not None
        self.ledger.whole(topic, partition, start, end, reader.seen)


def _told(failed: BaseException) -> str:
    cause = failed.__cause__
    return f"{type(failed).__name__}: {failed}" + (f" (from {cause!r})" if cause is not None else "")
