"""The one timer of a store: it wakes when the next lease may end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class LeaseTimer:
    __slots__ = ("_expire", "_handle", "_now_ms")

    def __init__(self, now_ms: Callable[[], float], expire: Callable[[], None]) -> None:
        self._now_ms = now_ms
        self._expire = expire
        self._handle: asyncio.TimerHandle | None = None

    def arm(self, deadline_ms: float | None) -> None:
        """Wake at the deadline, or never. A lease kept alive meanwhile only makes the waking a look for nothing."""
        self.cancel()
        if deadline_ms is not None:
            wait_s = max(0.0, deadline_ms - self._now_ms()) / 1000
            self._handle = asyncio.get_running_loop().call_later(wait_s, self._fire)

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        self._expire()
