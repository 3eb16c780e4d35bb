"""Keeps the image: fills it from a range, follows the store's watch, begins again when the history was cut.

Owner: the node's loop. The keeper decides nothing; what it learns it hands to `on_delta`, in order, before anybody who
waits for that revision goes on. So after `await reach(revision)` the image and whoever listens have seen it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import assert_never

from headrace.cluster import keys
from headrace.cluster.image import Delta, Image
from headrace.cluster.store import Change, ClusterStore, Compacted, Watch


class ImageKeeper:
    """`begin` once, then `run` as a task until `close`."""

    def __init__(self, store: ClusterStore, image: Image, on_delta: Callable[[Delta], None]) -> None:
        self.image = image
        self._store = store
        self._on_delta = on_delta
        self._watch: Watch | None = None
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._closed = False

    async def begin(self) -> None:
        """The image is filled when this returns; the first delta has everything."""
        found = await self._store.range(keys.EVERYTHING)
        self._watch = self._store.watch(keys.EVERYTHING, found.revision + 1)
        self._tell(self.image.apply_range(found))

    async def run(self) -> None:
        """Follow the store. Ends when it is closed; OSError when the store cannot be read any more."""
        assert self._watch is not None, "begin first"
        try:
            while not self._closed:
                item = await self._watch.next()
                match item:
                    case Change():
                        self._tell(self.image.apply(item))
                        await asyncio.sleep(0)  # Changes that have piled up must not hold the loop together.
                    case Compacted():
                        await self.begin()
                    case None:
                        return
                    case _:
                        assert_never(item)
        finally:
            self.close()

    async def reach(self, revision: int) -> None:
        """Wait until the image is at least as new. A transaction of one's own is in it afterwards."""
        if self.image.revision >= revision:
            return
        if self._closed:
            raise ConnectionError("the image of the cluster is not kept any more")
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((revision, waiter))
        await waiter

    def close(self) -> None:
        self._closed = True
        if self._watch is not None:
            self._watch.close()
        for _, waiter in self._waiting:
            if not waiter.done():
                waiter.set_exception(ConnectionError("the image of the cluster is not kept any more"))
        self._waiting.clear()

    def _tell(self, delta: Delta) -> None:
        self._on_delta(delta)
        still = []
        for revision, waiter in self._waiting:
            if revision > self.image.revision:
                still.append((revision, waiter))
            elif not waiter.done():
                waiter.set_result(None)
        self._waiting = still
