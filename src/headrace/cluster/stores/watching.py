"""Watches of a store that lives in this process: a queue for each watcher, filled as changes become durable."""

from __future__ import annotations

import asyncio
from collections import deque

from headrace.base import limits
from headrace.cluster.store import Change, Compacted
from headrace.cluster.stores.state import State, part_under


class LocalWatch:
    """One watcher's queue. A watcher that falls too far behind gets `Compacted`, and the queue is given up."""

    __slots__ = ("_ended", "_items", "_next_revision", "_waiter", "prefix")

    def __init__(self, prefix: str, from_revision: int) -> None:
        self.prefix = prefix
        self._next_revision = from_revision
        self._items: deque[Change | Compacted] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False

    async def next(self) -> Change | Compacted | None:
        assert self._waiter is None, "one task consumes a watch"
        while not self._items and not self._ended:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._items.popleft() if self._items else None

    def close(self) -> None:
        self._items.clear()
        self._end()

    @property
    def ended(self) -> bool:
        return self._ended

    def begin(self, missed: list[Change] | Compacted) -> None:
        if isinstance(missed, Compacted):
            self.give_up(missed.revision)
        else:
            for change in missed:
                self.deliver(change)

    def deliver(self, change: Change) -> None:
        if self._ended or change.revision < self._next_revision:
            return
        part = part_under(change, self.prefix)
        if part is None:
            return
        if len(self._items) >= limits.STORE_WATCH_BACKLOG_MAX:
            self.give_up(change.revision)
            return
        self._next_revision = change.revision + 1
        self._items.append(part)
        self._wake()

    def give_up(self, revision: int) -> None:
        """What is queued is worth nothing any more: the watcher starts again from a range."""
        if not self._ended:
            self._items.clear()
            self._items.append(Compacted(revision))
            self._end()

    def _end(self) -> None:
        self._ended = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Watchers:
    """All watches of one store."""

    __slots__ = ("_watches",)

    def __init__(self) -> None:
        self._watches: list[LocalWatch] = []

    def open(self, prefix: str, from_revision: int, state: State, durable_revision: int) -> LocalWatch:
        """A watch that has missed the changes up to the durable revision and is told of later ones by `deliver`."""
        watch = LocalWatch(prefix, from_revision)
        watch.begin(state.changes_between(prefix, from_revision, durable_revision))
        self._keep(watch)
        return watch

    def deliver(self, change: Change | None) -> None:
        if change is not None:
            for watch in self._watches:
                watch.deliver(change)

    def give_up(self, revision: int) -> None:
        for watch in self._watches:
            watch.give_up(revision)
        self._watches.clear()

    def close(self) -> None:
        for watch in self._watches:
            watch.close()
        self._watches.clear()

    def _keep(self, watch: LocalWatch) -> None:
        self._watches = [w for w in self._watches if not w.ended]
        if not watch.ended:
            self._watches.append(watch)
