"""Waiting: a value that comes later, and positions in a log that somebody waits for.

There are three things to wait for: a position in a log, a time, an answer from a peer. `Later` is how the hot path
hands on "not yet": lighter than a future (no task, no extra turn of the loop), completed once, with one listener.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from headrace.base.errors import Refused

T = TypeVar("T")


class Later(Generic[T]):
    """A value that is not there yet."""

    __slots__ = ("_then", "done", "value")

    def __init__(self) -> None:
        self.done = False
        self.value: T | None = None
        self._then: Callable[[T], None] | None = None

    def complete(self, value: T) -> None:
        assert not self.done
        self.done = True
        self.value = value
        if self._then is not None:
            then, self._then = self._then, None
            then(value)

    def then(self, listener: Callable[[T], None]) -> None:
        """Call `listener` with the value: at once when it is there."""
        assert self._then is None
        if self.done:
            listener(self.value)  # type: ignore[arg-type]
        else:
            self._then = listener


class PositionWaiters:
    """Who waits until a log's committed end has reached an offset.

    Offsets are handed in rising order by nearly everyone (each append waits for its own end), so the queue is
    kept sorted by appending; the rare lower one (a recognised duplicate) is put in its place.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, Callable[[Refused | None], None]]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, offset: int, listener: Callable[[Refused | None], None]) -> None:
        waiting = self._waiting
        if not waiting or waiting[-1][0] <= offset:
            waiting.append((offset, listener))
            return
        at = len(waiting)
        while at and waiting[at - 1][0] > offset:
            at -= 1
        waiting.insert(at, (offset, listener))

    def reached(self, offset: int) -> None:
        """The committed end is now `offset`: all that waited for it or less go on."""
        waiting = self._waiting
        while waiting and waiting[0][0] <= offset:
            waiting.popleft()[1](None)

    def fail(self, above: int, why: Refused) -> None:
        """What lay above this offset is gone: those who waited for it hear why."""
        lost = [entry for entry in self._waiting if entry[0] > above]
        self._waiting = deque(entry for entry in self._waiting if entry[0] <= above)
        for _, listener in lost:
            listener(why)
