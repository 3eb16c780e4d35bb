"""One node's way to the cluster store, which outlives the node.

The store is `cluster.stores.memory` and belongs to the run. A call travels there and back with a delay; it is carried
out in the run's own context, so that a node that dies in between leaves a transaction that was carried out and whose
answer nobody heard, and takes no timer of the store along.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from headrace.cluster.store import Compare, Entry, Operation, Outcome, Range, Watch
from headrace.cluster.stores.memory import MemoryStore
from sim.loop import SimLoop

T = TypeVar("T")


class NodeStore:
    """`ClusterStore`, as seen by one node."""

    def __init__(
        self,
        loop: SimLoop,
        store: MemoryStore,
        context: contextvars.Context,
        chance: random.Random,
        *,
        delay_ms: tuple[float, float] = (0.02, 2.0),
    ) -> None:
        self._loop = loop
        self._store = store
        self._context = context  # of the run, not of a node
        self._chance = chance
        self._delay_ms = delay_ms
        self._watches: list[Watch] = []

    async def get(self, key: str) -> Entry | None:
        return await self._call(lambda: self._store.get(key))

    async def range(self, prefix: str) -> Range:
        return await self._call(lambda: self._store.range(prefix))

    async def txn(self, compares: Sequence[Compare], then: Sequence[Operation], otherwise: Sequence[Operation] = ()) -> Outcome:
        return await self._call(lambda: self._store.txn(compares, then, otherwise))

    async def grant(self, ttl_ms: int) -> int:
        return await self._call(lambda: self._store.grant(ttl_ms))

    async def keep_alive(self, lease: int) -> bool:
        return await self._call(lambda: self._store.keep_alive(lease))

    async def revoke(self, lease: int) -> bool:
        return await self._call(lambda: self._store.revoke(lease))

    def watch(self, prefix: str, from_revision: int) -> Watch:
        watch = self._store.watch(prefix, from_revision)
        self._watches.append(watch)
        return watch

    async def close(self) -> None:
        self.abandon()

    def abandon(self) -> None:
        """The node is gone."""
        for watch in self._watches:
            watch.close()
        self._watches.clear()

    def _call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Future[T]:
        answer: asyncio.Future[T] = self._loop.create_future()

        def carry_out() -> None:
            task: asyncio.Task[T] = self._loop.create_task(work())
            task.add_done_callback(carried_out)

        def carried_out(task: asyncio.Task[T]) -> None:
            self._loop.call_later(self._delay_s(), tell, task)

        def tell(task: asyncio.Task[T]) -> None:
            error = task.exception()
            if answer.done():
                return
            if error is not None:
                answer.set_exception(error)
            else:
                answer.set_result(task.result())

        self._loop.call_later(self._delay_s(), carry_out, context=self._context)
        return answer

    def _delay_s(self) -> float:
        low, high = self._delay_ms
        return (low + (high - low) * self._chance.random()) / 1000
