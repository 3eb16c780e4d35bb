"""The simulated world of one node: virtual time, seeded chance, the simulated disk, and work "off the loop".

Work that production gives to a thread runs here at one moment of virtual time, some time after it was asked for; its
answer comes some time later again, and what the disk took for it is added. In between the loop goes on, so that code
which looks at its state before or after the work instead of at the right moment is found out.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import TypeVar

from headrace.base.files import Files
from sim.disk import SimFiles
from sim.faults import MachineFaults
from sim.loop import SimLoop

T = TypeVar("T")

# 2026-01-01: any moment would do, but small numbers would hide mistakes of unit.
EPOCH_MS = 1_767_225_600_000


class SimClock:
    """A machine's wall clock. It may be set, forward and back; the loop's time is not touched by it."""

    def __init__(self, loop: SimLoop, start_ms: int = EPOCH_MS) -> None:
        self._loop = loop
        self._offset_ms = float(start_ms)

    def now_ms(self) -> int:
        return int(self._offset_ms + self._loop.time() * 1000)

    def step(self, ms: int) -> None:
        self._offset_ms += ms


class SimWorld:
    """One node's world (`base.world.World`)."""

    def __init__(
        self,
        loop: SimLoop,
        mount: SimFiles,
        chance: random.Random,
        *,
        clock: SimClock | None = None,
        faults: MachineFaults | None = None,
    ) -> None:
        self.files: Files = mount
        self._mount = mount
        self.clock = clock if clock is not None else SimClock(loop)
        self.works = 0
        self._faults = faults if faults is not None else MachineFaults()
        self._loop = loop
        self._chance = chance

    def now_ms(self) -> int:
        return self.clock.now_ms()

    def monotonic_ms(self) -> float:
        return self._loop.time() * 1000

    def random_bytes(self, size: int) -> bytes:
        return self._chance.randbytes(size)

    def offload(self, work: Callable[[], T]) -> asyncio.Future[T]:
        self.works += 1
        future: asyncio.Future[T] = self._loop.create_future()
        self._loop.call_later(self._latency_s(), self._work, work, future)
        return future

    def close(self) -> None:
        pass  # no threads to wait for

    def _work(self, work: Callable[[], T], future: asyncio.Future[T]) -> None:
        # As in a thread pool, work that has begun is finished even if nobody waits for it any longer; work that was
        # cancelled before it began is not.
        if future.cancelled():
            return
        error: Exception | None = None
        result: T | None = None
        before_ms = self._mount.spent_ms
        try:
            result = work()
        except Exception as raised:
            error = raised
        spent_s = (self._mount.spent_ms - before_ms) / 1000
        self._loop.call_later(self._latency_s() + spent_s, _answer, future, result, error)

    def _latency_s(self) -> float:
        low, high = self._faults.thread_ms
        return (low + (high - low) * self._chance.random()) / 1000


def _answer(future: asyncio.Future[T], result: T, error: Exception | None) -> None:
    if future.cancelled():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
