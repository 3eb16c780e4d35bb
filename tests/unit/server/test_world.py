"""The real world: two clocks, and threads whose answers come back to the loop."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from headrace.base.world import World
from headrace.server.disk import DiskFiles
from headrace.server.world import RealWorld


def test_clocks_chance_and_threads(tmp_path: Path):
    async def main() -> None:
        world = RealWorld(DiskFiles(str(tmp_path), 10), threads=1)
        as_interface: World = world
        assert as_interface is world
        assert world.now_ms() > 1_600_000_000_000
        before = world.monotonic_ms()
        assert world.monotonic_ms() >= before
        assert len(world.random_bytes(7)) == 7 and world.random_bytes(16) != world.random_bytes(16)
        assert await world.offload(threading.get_ident) != threading.get_ident()

        def fail() -> None:
            raise OSError(5, "input/output error")

        with pytest.raises(OSError, match="input/output"):
            await world.offload(fail)
        last = world.offload(lambda: "done")
        world.close()  # what was begun is finished
        assert await last == "done"

    asyncio.run(main())
