"""The world as the node sees it: time, chance, files and work off the loop.

Everything that is not deterministic comes through here, so that the simulator can run the same node from a seed.
Inside the node, asyncio's futures, tasks and `call_later` are used as they are: the simulator brings a loop of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

from headrace.base.files import Files

T = TypeVar("T")


class World(Protocol):
    files: Files

    def now_ms(self) -> int:
        """The wall clock, in milliseconds since 1970. It may jump."""
        ...

    def monotonic_ms(self) -> float:
        """For waits and latencies. It never goes back."""
        ...

    def random_bytes(self, size: int) -> bytes: ...

    def offload(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Run blocking work off the loop; the future is completed on the loop."""
        ...
