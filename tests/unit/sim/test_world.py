"""The simulated world: time that can be set, chance from the seed, work that takes its time."""

from __future__ import annotations

import asyncio
import random

import pytest

from headrace.base.world import World
from sim.disk import SimDisk
from sim.faults import DiskFaults
from sim.loop import run
from sim.world import EPOCH_MS, SimWorld


def make(seed=1, **options):
    disk = SimDisk(random.Random(seed), DiskFaults(sync_ms=(100.0, 100.0)))
    world = SimWorld(asyncio.get_running_loop(), disk.mount(), random.Random(seed), **options)  # type: ignore[arg-type]
    as_interface: World = world
    assert as_interface is world
    return world


def test_the_wall_clock_may_jump_and_the_other_not():
    async def main():
        world = make()
        assert world.now_ms() == EPOCH_MS
        await asyncio.sleep(1.5)
        assert (world.now_ms(), world.monotonic_ms()) == (EPOCH_MS + 1500, 1500)
        world.clock.step(-3_600_000)
        assert (world.now_ms(), world.monotonic_ms()) == (EPOCH_MS + 1500 - 3_600_000, 1500)

    run(main())


def test_chance_comes_from_the_seed():
    async def main():
        return make(1).random_bytes(16), make(1).random_bytes(16), make(2).random_bytes(16)

    one, again, other = run(main())
    assert one == again != other


def test_work_begins_later_and_ends_later_still():
    async def main():
        world = make()
        loop = asyncio.get_running_loop()
        began = []
        future = world.offload(lambda: began.append(loop.time()) or "done")
        assert not began
        assert await future == "done"
        assert 0 < began[0] < loop.time()

    run(main())


def test_what_the_disk_takes_is_waited_for():
    async def main():
        world = make()
        file = world.files.open("x", create=True)
        await world.offload(file.sync)
        assert world.monotonic_ms() >= 100

    run(main())


def test_errors_of_work_come_to_whoever_waits():
    async def main():
        world = make()

        def fail():
            raise OSError("no")

        with pytest.raises(OSError, match="no"):
            await world.offload(fail)

    run(main())


def test_cancelled_work_does_not_begin():
    async def main():
        world = make()
        began = []
        world.offload(lambda: began.append(1)).cancel()
        await asyncio.sleep(1)
        assert not began

    run(main())
