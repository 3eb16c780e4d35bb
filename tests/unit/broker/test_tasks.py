"""Background work: no task fails in silence."""

from __future__ import annotations

import asyncio

from headrace.broker.tasks import Tasks
from sim.loop import run


def test_a_task_that_fails_is_told_and_one_that_is_cancelled_is_not():
    async def main() -> None:
        broken: list[BaseException] = []
        tasks = Tasks(broken.append)

        async def fail() -> None:
            await asyncio.sleep(1)
            raise ValueError("a bug")

        tasks.spawn(fail())
        tasks.spawn(asyncio.sleep(2))
        forever = tasks.spawn(asyncio.sleep(1_000))
        assert len(tasks) == 3
        await asyncio.sleep(5)
        assert [str(error) for error in broken] == ["a bug"]
        assert len(tasks) == 1
        await tasks.cancel()
        await asyncio.sleep(0)
        assert forever.cancelled() and not len(tasks) and len(broken) == 1

    run(main())
