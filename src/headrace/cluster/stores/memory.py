"""The cluster store in memory: for the simulator and for tests. It forgets when the process ends.

Every call yields to the loop once before it is carried out, as a store behind a file or a socket would, so that code
which forgets that others run meanwhile fails here too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from headrace.cluster.store import Compare, Entry, Operation, Outcome, Range
from headrace.cluster.stores.lease_timer import LeaseTimer
from headrace.cluster.stores.state import State
from headrace.cluster.stores.watching import LocalWatch, Watchers


class MemoryStore:
    """`ClusterStore` without a disk."""

    def __init__(self, now_ms: Callable[[], float]) -> None:
        self._now_ms = now_ms
        self._state = State()
        self._watchers = Watchers()
        self._timer = LeaseTimer(now_ms, self.expire)
        self._closed = False

    async def get(self, key: str) -> Entry | None:
        await self._turn()
        return self._state.get(key)

    async def range(self, prefix: str) -> Range:
        await self._turn()
        return self._state.range(prefix)

    async def txn(self, compares: Sequence[Compare], then: Sequence[Operation], otherwise: Sequence[Operation] = ()) -> Outcome:
        await self._turn()
        outcome, change = self._state.txn(compares, then, otherwise)
        self._watchers.deliver(change)
        return outcome

    async def grant(self, ttl_ms: int) -> int:
        await self._turn()
        lease = self._state.grant(ttl_ms, self._now_ms())
        self._timer.arm(self._state.deadline_ms())
        return lease

    async def keep_alive(self, lease: int) -> bool:
        await self._turn()
        return self._state.keep_alive(lease, self._now_ms())

    async def revoke(self, lease: int) -> bool:
        await self._turn()
        return self._revoke(lease)

    def watch(self, prefix: str, from_revision: int) -> LocalWatch:
        assert not self._closed
        return self._watchers.open(prefix, from_revision, self._state, self._state.revision)

    async def close(self) -> None:
        self._closed = True
        self._timer.cancel()
        self._watchers.close()

    def expire(self) -> None:
        """End the leases that are due. The timer calls it; a test may."""
        for lease in self._state.due_leases(self._now_ms()):
            self._revoke(lease)
        self._timer.arm(self._state.deadline_ms())

    def compact(self, revision: int) -> None:
        """Forget the changes up to `revision`, as a store does that has run for long."""
        self._state.compact(revision)

    def _revoke(self, lease: int) -> bool:
        ended, change = self._state.revoke(lease)
        self._watchers.deliver(change)
        return ended

    async def _turn(self) -> None:
        await asyncio.sleep(0)
        if self._closed:
            raise ConnectionError("the cluster store is closed")
