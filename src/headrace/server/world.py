"""The real world: clock, chance, disk, and threads for what would hold the loop."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from headrace.base.files import Files

T = TypeVar("T")


class RealWorld:
    """One node's world. Made inside the running loop."""

    def __init__(self, files: Files, *, threads: int = 8) -> None:
        self.files = files
        self._loop = asyncio.get_running_loop()
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="headrace")
        # All threads begin now: making one holds the interpreter's lock, and with it the loop.
        together = threading.Barrier(threads)
        for _ in range(threads):
            self._pool.submit(together.wait)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> float:
        return time.monotonic() * 1000.0

    def random_bytes(self, size: int) -> bytes:
        return os.urandom(size)

    def offload(self, work: Callable[[], T]) -> asyncio.Future[T]:
        return self._loop.run_in_executor(self._pool, work)

    def close(self) -> None:
        self._pool.shutdown(wait=True, cancel_futures=False)
