"""A deterministic event loop with virtual time.

What the room is for: the node's code uses asyncio as it is (futures, tasks, events, timeouts), and here is a loop on
which all of that happens in an order that depends on nothing but a seed. Time stands still while callbacks run and
jumps to the next timer when nothing is ready, so that an hour of waiting costs nothing.

Laws:
- Ready callbacks run first in, first out: asyncio promises that, and code may lean on it.
- Timers run by their time; equal times run first in, first out, or in a seeded order when `chance` is given, because
  no real loop promises more. With `chance` the loop also wakes late now and then, as a real one does under load.
- A callback that raises ends the run: `run_until_complete` raises `RunFailed`. So does a task that nobody waited for.
- There are no threads, no sockets, no signals and no wall clock here.

Processes: many machines live on one loop. Everything that a process starts carries the process in its context
(asyncio hands contexts on to callbacks and tasks by itself). `Process.kill` is a kill -9: from that moment on not a
single callback of the process runs again, no `finally` and no `except` either.

Garbage is collected at fixed steps only, because a collection runs `__del__` and may so change the order of things.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import heapq
import random
import sys
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

# Callbacks at one virtual moment beyond which we say that the code runs in circles.
CALLBACKS_PER_MOMENT_MAX = 2_000_000
# Callbacks between two collections of garbage.
GARBAGE_EVERY = 50_000


class RunFailed(Exception):
    """Something raised in a callback, was never awaited, or nothing is left that could ever happen."""


class Crashed(BaseException):
    """Unwinds the stack of a process that dies in the middle of a call. Not an `Exception`: nobody handles it."""


class Process:
    """A process that can be killed between two callbacks, or (by raising `Crashed`) within one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self._tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        # Kept from the garbage collector until the end of the run: a coroutine that is collected runs its `finally`.
        self._graves: list[asyncio.Task[Any]] = []

    def kill(self) -> None:
        self.alive = False
        for task in self._tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
            self._graves.append(task)

    def context(self) -> contextvars.Context:
        """A fresh context: what is called in it, and all that this starts, belongs to the process."""
        context = contextvars.copy_context()
        context.run(_process.set, self)
        return context

    def run(self, work: Callable[..., T], *args: Any) -> T:
        return self.context().run(work, *args)


_process: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


def current_process() -> Process | None:
    return _process.get()


class SimLoop(asyncio.AbstractEventLoop):
    def __init__(self, chance: random.Random | None = None, *, late_ms_max: float = 0.0) -> None:
        self.callbacks = 0  # run so far
        self._chance = chance
        self._late_s_max = late_ms_max / 1000
        self._now = 0.0
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[tuple[float, float, int, asyncio.TimerHandle]] = []
        self._sequence = 0
        self._failure: BaseException | None = None
        self._running = False
        self._stopping = False
        self._closed = False
        self._task_factory: Any = None
        self._asyncgens: weakref.WeakSet[Any] = weakref.WeakSet()

    # -- time and callbacks

    def time(self) -> float:
        return self._now

    def call_soon(  # type: ignore[override]
        self, callback: Any, *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Any, *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: contextvars.Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._sequence += 1
        tie = self._chance.random() if self._chance is not None else 0.0
        heapq.heappush(self._timers, (when, tie, self._sequence, handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        pass  # it is skipped when its time comes

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(self, coro: Any, **options: Any) -> Any:
        if self._task_factory is None:
            task = asyncio.Task(coro, loop=self, **options)
        else:
            task = self._task_factory(self, coro, **options)
        context = options.get("context")
        process = context.get(_process) if context is not None else _process.get()
        if process is not None:
            process._tasks.add(task)
        return task

    def set_task_factory(self, factory: Any) -> None:
        self._task_factory = factory

    def get_task_factory(self) -> Any:
        return self._task_factory

    # -- running

    def run_until_complete(self, future: Any) -> Any:
        main = asyncio.ensure_future(future, loop=self)
        collected = gc.isenabled()
        gc.disable()
        hooks = sys.get_asyncgen_hooks()
        sys.set_asyncgen_hooks(firstiter=self._asyncgens.add, finalizer=self._asyncgen_forgotten)
        asyncio.events._set_running_loop(self)
        self._running = True
        try:
            while not main.done() and not self._stopping:
                self._step()
        finally:
            self._running = False
            self._stopping = False
            asyncio.events._set_running_loop(None)
            sys.set_asyncgen_hooks(*hooks)
            if collected:
                gc.enable()
        if not main.done():
            raise RunFailed("the loop was stopped before its main task was done")
        return main.result()

    def run_forever(self) -> NoReturn:
        raise NotImplementedError("a simulated run has an end: run_until_complete")

    def run_for(self, seconds: float) -> None:
        """Let virtual time pass, with all that happens in it."""
        self.run_until_complete(asyncio.sleep(seconds))

    def _step(self) -> None:
        if not self._ready:
            self._advance()
        handle = self._ready.popleft()
        if handle._cancelled:
            return
        process = handle._context.get(_process)  # type: ignore[attr-defined]
        if process is not None and not process.alive:
            return
        handle._run()
        self.callbacks += 1
        self._moment += 1
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise RunFailed(f"{type(failure).__name__} in a callback at {self._now:.6f} s: {failure}") from failure
        if self._moment > CALLBACKS_PER_MOMENT_MAX:
            raise RunFailed(f"{self._moment} callbacks at {self._now:.6f} s and no end: something runs in circles ({handle!r})")
        if self.callbacks % GARBAGE_EVERY == 0:
            gc.collect()

    _moment = 0

    def _advance(self) -> None:
        """Move to the next timer and make ready all that is due."""
        timers = self._timers
        while timers and timers[0][3]._cancelled:
            heapq.heappop(timers)
        if not timers:
            raise RunFailed(f"nothing is left to happen at {self._now:.6f} s, and the main task waits")
        when = timers[0][0]
        if when > self._now:
            self._now = when
            self._moment = 0
            if self._chance is not None and self._late_s_max and self._chance.random() < 0.02:
                self._now += self._chance.random() * self._late_s_max
        while timers and timers[0][0] <= self._now:
            handle = heapq.heappop(timers)[3]
            if not handle._cancelled:
                self._ready.append(handle)

    # -- what goes wrong

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, Crashed):
            return  # a process died in the middle of a call: that was the plan
        process = _process.get()
        if process is not None and not process.alive:
            return
        if self._failure is None:
            self._failure = error if error is not None else RunFailed(str(context.get("message")))
            if error is not None:
                error.add_note(f"{context.get('message')}")

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        self.call_exception_handler(context)

    def set_exception_handler(self, handler: Any) -> None:
        pass  # every error ends the run, whoever asks to hear of it

    def get_exception_handler(self) -> Any:
        return None

    # -- the rest of what asyncio asks of a loop

    def get_debug(self) -> bool:
        return False

    def set_debug(self, enabled: bool) -> None:
        pass

    def is_running(self) -> bool:
        return self._running

    def is_closed(self) -> bool:
        return self._closed

    def stop(self) -> None:
        self._stopping = True

    def close(self) -> None:
        """Forget everything. What is still pending is dropped without a word."""
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        self._ready.clear()
        self._timers.clear()
        self._closed = True

    async def shutdown_asyncgens(self) -> None:
        for generator in list(self._asyncgens):
            await generator.aclose()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        pass

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> NoReturn:  # type: ignore[override]
        raise NotImplementedError("no threads here: blocking work goes through world.offload")

    def _asyncgen_forgotten(self, generator: Any) -> None:
        if not self._closed:
            self.call_soon(self.create_task, generator.aclose())


def run(main: Coroutine[Any, Any, T], chance: random.Random | None = None) -> T:
    """Run one coroutine on a fresh loop."""
    loop = SimLoop(chance)  # type: ignore[abstract]  # what asks for sockets is not answered here
    try:
        result: T = loop.run_until_complete(main)
        return result
    finally:
        loop.close()
