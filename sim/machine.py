"""One simulated machine: a disk, a clock, and the node that runs on it, is killed, and is started again.

A node is a process (`sim.loop.Process`). Three ways lead out of it: `stop` (SIGTERM: it drains), `kill` (kill -9: the page
cache stays), `cut_power` (the page cache goes, and what lay in it unsynced with it). Each may strike at any moment, also
while the node starts, and the last two also within a call to the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import random
from collections.abc import Awaitable, Callable
from typing import Protocol

from headrace.cluster.stores.memory import MemoryStore
from sim.disk import NameModel, SimDisk, SimFiles
from sim.faults import Faults
from sim.loop import Process, SimLoop
from sim.network import SimNetwork
from sim.store import NodeStore
from sim.trace import Trace
from sim.world import SimClock, SimWorld

ADDRESS = ("10.0.0.1", 9092)
# A clean stop must not take longer; the real promise is 5 s, and slow disks are slow.
STOP_S_MAX = 60.0


class Node(Protocol):
    async def stop(self) -> None: ...


# Starts the node's code in the world it is given, and comes back when it serves.
Boot = Callable[[SimWorld, NodeStore, SimNetwork, Trace], Awaitable[Node]]


class Machine:
    def __init__(
        self,
        loop: SimLoop,
        network: SimNetwork,
        store: MemoryStore,
        boot: Boot,
        chance: random.Random,
        faults: Faults,
        trace: Trace,
    ) -> None:
        self.faults = faults
        self.clock = SimClock(loop)
        self.disk = SimDisk(chance, faults.disk, names=chance.choice(list(NameModel)), trace=lambda text: trace("disk", text))
        self.cache_lost: Callable[[], None] = lambda: None
        self.last_words = True  # what the node had written to the network arrives, perhaps, after a power cut
        self.starts = 0
        self.start_failures = 0
        self.kills = 0
        self.power_cuts = 0
        self.clean_stops = 0
        self._loop = loop
        self._network = network
        self._store = store
        self._boot = boot
        self._chance = chance
        self._trace = trace
        self._context = contextvars.copy_context()
        self._process: Process | None = None
        self._files: SimFiles | None = None
        self._node_store: NodeStore | None = None
        self._node: Node | None = None
        self._died: asyncio.Event = asyncio.Event()

    @property
    def up(self) -> bool:
        return self._process is not None and self._process.alive

    @property
    def serving(self) -> bool:
        return self.up and self._node is not None

    async def start(self) -> bool:
        """Whether the node serves; it may die before, or give up over a disk that fails."""
        assert not self.up
        self.starts += 1
        self._trace("machine", f"start {self.starts}")
        process = self._process = Process(f"node.{self.starts}")
        files = self._files = self.disk.mount()
        store = self._node_store = NodeStore(self._loop, self._store, self._context, self._chance)
        world = SimWorld(self._loop, files, self._chance, clock=self.clock, faults=self.faults.machine)
        self._died = asyncio.Event()
        task: asyncio.Task[Node] = self._loop.create_task(self._booted(world, store), context=process.context())
        died = asyncio.ensure_future(self._died.wait())
        await asyncio.wait({task, died}, return_when=asyncio.FIRST_COMPLETED)
        died.cancel()
        if not process.alive:
            return False
        error = task.exception()
        if error is None:
            self._node = task.result()
            self._trace("machine", "serves")
            return True
        if not isinstance(error, OSError):
            raise error
        # A node that cannot read or write its folder says so and ends.
        self._trace("machine", f"cannot start: {error}")
        self.start_failures += 1
        self._end(silent=False)
        return False

    async def _booted(self, world: SimWorld, store: NodeStore) -> Node:
        return await self._boot(world, store, self._network, self._trace)

    async def stop(self) -> None:
        """SIGTERM. Comes back when the process has ended, cleanly or not."""
        node, process = self._node, self._process
        if node is None or process is None or not process.alive:
            self.kill()
            return
        self._trace("machine", "stop")
        task = self._loop.create_task(node.stop(), context=process.context())
        died = asyncio.ensure_future(self._died.wait())
        done, _ = await asyncio.wait({task, died}, timeout=STOP_S_MAX, return_when=asyncio.FIRST_COMPLETED)
        died.cancel()
        if not self.up:
            return
        if not done and self.faults.disk.slow_sync_chance:
            self.kill()  # hundreds of syncs of a second each: an operator does not wait that long
            return
        if not done:
            raise AssertionError(f"the node did not stop within {STOP_S_MAX} s")
        error = task.exception()
        if error is not None and not isinstance(error, OSError):
            raise error
        self._trace("machine", "stopped")
        self.clean_stops += 1
        self._end(silent=False)

    def kill(self) -> None:
        if self.up:
            self.kills += 1
            self._trace("machine", "kill")
            self._end(silent=False)

    def cut_power(self) -> None:
        if self.up:
            self._trace("machine", "power cut")
            self._end(silent=True)
        self.power_cuts += 1
        self.disk.crash()
        self.cache_lost()

    async def crash_in_call(self, *, power: bool) -> None:
        """Crash within one of the next calls to the disk; between two callbacks if there is none soon."""
        files, process = self._files, self._process
        if files is None or process is None or not process.alive:
            return
        files.on_crash = self.cut_power if power else self.kill
        files.crash_after = self._chance.randint(1, self._chance.choice((3, 30, 300)))
        self._trace("machine", f"{'power cut' if power else 'kill'} after {files.crash_after} calls")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._died.wait(), 5.0)
        if self._process is process and self.up:
            files.on_crash()

    def _end(self, *, silent: bool) -> None:
        process, files, store = self._process, self._files, self._node_store
        assert process is not None and files is not None and store is not None
        process.kill()
        files.alive = False
        store.abandon()
        self._network.process_died(process, silent=silent, last_words=self.last_words or not silent)
        self._node = None
        self._died.set()
