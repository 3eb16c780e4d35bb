"""Work on many things, in turns: others get the loop again after a few milliseconds.

A bound by time, not by count, because the same work may take ten times longer than usual (a slow rename, a busy machine).
A bound by count as well, so that a simulated clock, which stands still within a turn, sees several turns too.
"""

from __future__ import annotations

import asyncio

from headrace.base.world import World

_TURN_MS = 2.0
_TURN_COUNT = 100


class Pace:
    """`await pace.step()` between two pieces of work."""

    __slots__ = ("_began_ms", "_count", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._began_ms = world.monotonic_ms()
        self._count = 0

    async def step(self) -> None:
        self._count += 1
        if self._count >= _TURN_COUNT or self._world.monotonic_ms() - self._began_ms >= _TURN_MS:
            await asyncio.sleep(0)
            self._count = 0
            self._began_ms = self._world.monotonic_ms()
