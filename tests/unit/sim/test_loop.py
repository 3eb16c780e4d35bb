"""The loop: asyncio works on it, time is virtual, order is certain, errors end the run, processes die at once."""

from __future__ import annotations

import asyncio
import gc
import random

import pytest

from sim.loop import Crashed, Process, RunFailed, SimLoop, current_process, run


def test_an_hour_costs_nothing():
    async def main():
        loop = asyncio.get_running_loop()
        await asyncio.sleep(3600)
        return loop.time()

    assert run(main()) == 3600


def test_callbacks_and_timers_run_in_order():
    async def main():
        loop = asyncio.get_running_loop()
        seen = []
        loop.call_later(2, seen.append, "later")
        loop.call_later(1, seen.append, "a")
        loop.call_later(1, seen.append, "b")
        loop.call_later(1, seen.append, "c").cancel()
        loop.call_soon(seen.append, "soon 1")
        loop.call_soon(seen.append, "soon 2")
        await asyncio.sleep(3)
        return seen

    assert run(main()) == ["soon 1", "soon 2", "a", "b", "later"]


def test_equal_times_are_shuffled_by_the_seed_and_callbacks_never():
    async def main():
        loop = asyncio.get_running_loop()
        timers, callbacks = [], []
        for number in range(10):
            loop.call_later(1, timers.append, number)
            loop.call_soon(callbacks.append, number)
        await asyncio.sleep(2)
        assert callbacks == list(range(10))
        return timers

    assert run(main(), random.Random(1)) == run(main(), random.Random(1))
    assert run(main(), random.Random(1)) != run(main(), random.Random(2))
    assert sorted(run(main(), random.Random(1))) == list(range(10))


def test_events_queues_timeouts_groups_and_gather():
    async def main():
        event = asyncio.Event()
        queue: asyncio.Queue[int] = asyncio.Queue(1)
        asyncio.get_running_loop().call_later(5, event.set)

        async def feed():
            for number in range(3):
                await queue.put(number)
            return "fed"

        async with asyncio.TaskGroup() as group:
            fed = group.create_task(feed())
            got = [await queue.get() for _ in range(3)]
        assert got == [0, 1, 2] and fed.result() == "fed"
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(event.wait(), 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await event.wait()
        await event.wait()
        assert await asyncio.gather(asyncio.sleep(1, "a"), asyncio.sleep(2, "b")) == ["a", "b"]
        done, _ = await asyncio.wait({asyncio.create_task(asyncio.sleep(1))}, timeout=2)
        assert len(done) == 1
        lock = asyncio.Lock()
        async with lock:
            pass
        return asyncio.get_running_loop().time()

    assert run(main()) == 8


def test_cancelling_works():
    async def main():
        task = asyncio.create_task(asyncio.sleep(10))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time()

    assert run(main()) == 1


def test_an_error_in_a_callback_ends_the_run():
    async def main():
        asyncio.get_running_loop().call_soon(lambda: 1 // 0)
        await asyncio.sleep(1)

    with pytest.raises(RunFailed, match="ZeroDivisionError"):
        run(main())


def test_an_error_in_a_task_nobody_waits_for_ends_the_run():
    async def fail():
        raise ValueError("lost")

    async def main():
        tasks = [asyncio.create_task(fail())]
        await asyncio.sleep(1)
        tasks.clear()
        gc.collect()  # the error's frames may hold the task in a ring
        await asyncio.sleep(1)

    with pytest.raises(RunFailed, match="lost"):
        run(main())


def test_waiting_for_nothing_ends_the_run():
    async def main():
        await asyncio.get_running_loop().create_future()

    with pytest.raises(RunFailed, match="nothing is left"):
        run(main())


def test_running_in_circles_ends_the_run(monkeypatch):
    monkeypatch.setattr("sim.loop.CALLBACKS_PER_MOMENT_MAX", 1000)

    async def main():
        while True:
            await asyncio.sleep(0)

    with pytest.raises(RunFailed, match="circles"):
        run(main())


def test_there_are_no_threads():
    async def main():
        await asyncio.to_thread(print)

    with pytest.raises(NotImplementedError):
        run(main())


def test_what_a_process_starts_belongs_to_it_and_dies_with_it():
    seen = []

    async def work(name):
        try:
            seen.append(current_process().name)
            while True:
                await asyncio.sleep(1)
                seen.append(name)
        finally:
            seen.append(f"{name} cleans up")

    async def main():
        process = Process("node")
        loop = asyncio.get_running_loop()

        def start():
            process.tasks = [asyncio.create_task(work("a"))]
            loop.call_later(2.5, seen.append, "timer")

        process.run(start)
        assert current_process() is None
        await asyncio.sleep(1.5)
        process.kill()
        await asyncio.sleep(5)
        return list(seen)

    assert run(main()) == ["node", "a"]


def test_a_crash_within_a_call_is_no_failure_of_the_run():
    seen = []

    async def main():
        process = Process("node")

        async def work():
            process.kill()
            raise Crashed

        process.run(lambda: asyncio.get_running_loop().create_task(work()))
        await asyncio.sleep(1)
        seen.append("goes on")

    run(main())
    assert seen == ["goes on"]


def test_the_loop_wakes_late_now_and_then():
    async def main():
        loop = asyncio.get_running_loop()
        late = 0.0
        for _ in range(1000):
            due = loop.time() + 1
            await asyncio.sleep(1)
            late = max(late, loop.time() - due)
        return late

    loop = SimLoop(random.Random(1), late_ms_max=100)
    late = loop.run_until_complete(main())
    loop.close()
    assert 0.05 < late <= 0.1
