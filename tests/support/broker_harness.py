"""A whole broker without sockets: the node's parts below its listeners, in the simulator's world, with clients' requests as values.

    async def main(node):
        await node.create("t")
        answer = await node.ask(PRODUCE, 9, ...)
    play(main)

`play` runs a coroutine on the simulator's loop: time is virtual, work off the loop takes 0.1 ms each way, the disk 1 ms a sync.
Whatever a background task raises fails the test. Faults are set on `node.faults` while the broker runs.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from uuid import UUID

from headrace.base.errors import Refused
from headrace.base.ids import NodeId
from headrace.base.metrics import Metrics
from headrace.base.settings import Settings
from headrace.broker.broker import Broker
from headrace.broker.flushing import Flusher
from headrace.broker.housekeeping import Housekeeping
from headrace.broker.lag import LagSampler
from headrace.broker.partition import Partition
from headrace.broker.shelf import Progress, Shelf
from headrace.broker.tasks import Tasks
from headrace.broker.waiting import Later
from headrace.cluster.image import Delta, Image
from headrace.cluster.keeper import ImageKeeper
from headrace.cluster.metadata import Metadata, NewTopic
from headrace.cluster.stores.memory import MemoryStore
from headrace.log.log import Appended, Duplicate
from headrace.protocols.kafka.codec import RequestHeader
from headrace.protocols.kafka.handlers.context import Context, Peer
from headrace.protocols.kafka.handlers.fetch_sessions import FetchSessions
from headrace.records.build import build_batch
from headrace.records.header import BatchHeader
from headrace.records.record import Record
from sim.disk import SimDisk
from sim.faults import DiskFaults, MachineFaults
from sim.loop import SimLoop
from sim.world import SimWorld

T = TypeVar("T")

# Every call of the disk takes the same time, so that a test can say what happens while one is under way.
SYNC_MS = 1.0
THREAD_MS = 0.1


class Harness:
    """One node's broker, its disk and its store. `stop` and `start` again, on the same disk, as often as a test likes."""

    def __init__(self, **settings: Any) -> None:
        chance = random.Random(1)
        self.faults = DiskFaults(sync_ms=(SYNC_MS, SYNC_MS), write_back_chance=0.0)
        self.disk = SimDisk(chance, self.faults)
        self.loop = asyncio.get_running_loop()
        assert isinstance(self.loop, SimLoop)
        self.chance = chance
        self.settings = Settings(data="/data", **{"offsets_partitions": 1, "group_initial_delay": 0, **settings})
        self.store = MemoryStore(lambda: self.loop.time() * 1000)
        self.said: list[tuple[str, dict[str, object]]] = []

    async def start(self) -> Harness:
        world = self.world = SimWorld(
            self.loop, self.disk.mount(), self.chance, faults=MachineFaults(thread_ms=(THREAD_MS, THREAD_MS))
        )
        settings = self.settings
        self.metrics = Metrics()
        self.tasks = Tasks(self._broken)
        self.image = Image(NodeId(settings.node_id), settings.topic_defaults())
        self.opened = False
        self.keeper = ImageKeeper(self.store, self.image, self._image_changed)
        self.flusher = Flusher(world, self.metrics, self._log)
        self.shelf = Shelf(world, self.image, self.flusher, self.metrics, self._log, producer_expiry_ms=settings.producer_expiry)
        self.metadata = Metadata(self.store, self.keeper, world.random_bytes)
        self.broker = Broker(
            world, settings, self.image, self.metadata, self.shelf, self.flusher, self.tasks, self.metrics, self._log, "/data"
        )
        self.housekeeping = Housekeeping(self.broker, settings.retention_check, self._log)
        self.lag = LagSampler(self.broker)
        self.sessions = FetchSessions(settings.fetch_sessions_max, lambda: int.from_bytes(world.random_bytes(4), "big") >> 1)
        self.peer = Peer()
        await self.keeper.begin()
        self.tasks.spawn(self.keeper.run())
        await self.metadata.found_cluster(None, "hcluster")
        await self.metadata.register_node(NodeId(settings.node_id), "localhost", 9092, UUID(int=1))
        self.recovered = await self.shelf.open_all(Progress())
        self.opened = True
        self.tasks.spawn(self.shelf.run())
        return self

    async def stop(self) -> None:
        """A clean shutdown, but for the store, which outlives it."""
        self.broker.close_groups()
        await self.flusher.drain()
        await self.tasks.cancel()
        await self.housekeeping.finish()
        await self.shelf.close()
        self.keeper.close()

    async def kill(self) -> None:
        """kill -9: the page cache stays."""
        self.world._mount.alive = False
        await self.tasks.cancel()
        self.keeper.close()

    def _image_changed(self, delta: Delta) -> None:
        if self.opened:
            self.shelf.on_delta(delta)

    def _log(self, event: str, **facts: object) -> None:
        self.said.append((event, facts))

    def _broken(self, error: BaseException) -> None:
        raise error

    # -- topics and records

    async def create(self, name: str = "t", partitions: int = 1, **configs: str) -> Partition:
        """Settings with `_` for `.`; the first partition."""
        values = {key.replace("_", "."): value for key, value in configs.items()}
        created = await self.broker.create_topic(NewTopic(name, partitions, configs=values))
        assert not isinstance(created, Refused), created
        return self.partition(name)

    async def delete(self, name: str) -> None:
        topic = self.image.topic(name)
        assert topic is not None
        assert await self.broker.delete_topic(topic) is None

    def partition(self, name: str = "t", index: int = 0) -> Partition:
        found = self.broker.partition(name, index)
        assert isinstance(found, Partition), found
        return found

    def append(self, partition: Partition, *values: bytes, **fields: Any) -> Appended | Duplicate | Refused:
        """As a producer's batch comes: judged, then appended. Nobody has waited for the flush yet."""
        data = batch(*values, now_ms=self.world.now_ms(), **fields)
        header = partition.prepare(memoryview(data), self.world.now_ms())
        assert isinstance(header, BatchHeader), header
        return partition.append(memoryview(data), header, self.world.now_ms())

    async def put(self, partition: Partition, *values: bytes, **fields: Any) -> int:
        """Append and wait until it is committed; the base offset."""
        done = self.append(partition, *values, **fields)
        assert isinstance(done, Appended), done
        assert await committed(partition, done.last_offset + 1) is None
        return done.base_offset

    # -- requests

    def context(self, key: int, version: int) -> Context:
        return Context(RequestHeader(key, version, 1, "test"), self.peer, self.sessions)

    def call(self, handle: Callable[..., Any], request: Any, version: int) -> Any:
        """What the handler answers in this turn: the answer, a `Later`, a coroutine or None."""
        return handle(self.broker, request, self.context(0, version))

    async def ask(self, handle: Callable[..., Any], request: Any, version: int) -> Any:
        """The answer, when it comes."""
        return await arrived(self.call(handle, request, version))


def batch(*values: bytes, now_ms: int = 1_000, key: bytes | None = None, **fields: Any) -> bytearray:
    return build_batch([Record(0, now_ms, key, value) for value in values or (b"v",)], **fields)


async def arrived(answer: Any) -> Any:
    """Wait out a coroutine, a `Later`, or the one behind the other."""
    if isinstance(answer, Coroutine):
        answer = await answer
    if isinstance(answer, Later):
        answer = await when(answer)
    return answer


async def when(later: Later[T]) -> T:
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    later.then(future.set_result)
    return await future


async def committed(partition: Partition, end: int) -> Refused | None:
    future: asyncio.Future[Refused | None] = asyncio.get_running_loop().create_future()
    partition.when_committed(end, future.set_result)
    return await future


def play(main: Callable[[Harness], Awaitable[T]], **settings: Any) -> T:
    """Run a test's coroutine against a started broker."""

    async def run() -> T:
        node = await Harness(**settings).start()
        try:
            return await main(node)
        finally:
            await node.tasks.cancel()

    loop = SimLoop()  # type: ignore[abstract]  # what asks for sockets is not answered here
    try:
        result: T = loop.run_until_complete(run())
        return result
    finally:
        loop.close()
