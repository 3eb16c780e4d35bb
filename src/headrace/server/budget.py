"""The node's budget for unfinished requests and unsent answers.

Each connection reports what it holds; while the sum is over the budget, connections in the middle of a frame stop
reading, all but the one whose frame is the oldest. So there is always one that can finish and give bytes back, and
no number of claims can make the node grow. The one that may go on is watched by the frame's deadline as any other.
"""

from __future__ import annotations

from typing import Protocol


class Holder(Protocol):
    def resume(self) -> None: ...


class Budget:
    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.held_bytes = 0  # Invariant: the sum of what the connections hold.
        self._waiting: dict[Holder, None] = {}  # paused holders, the one that waits longest first
        self._waking = False

    def change(self, delta: int) -> None:
        self.held_bytes += delta
        assert self.held_bytes >= 0
        if delta < 0 and self._waiting:
            self._wake()

    @property
    def spent(self) -> bool:
        return self.held_bytes >= self.bytes_max

    def wait(self, holder: Holder) -> bool:
        """Whether this holder must stop reading. The first that asks may go on, so that somebody finishes."""
        if not self.spent:
            return False
        if holder in self._waiting:
            return next(iter(self._waiting)) is not holder
        self._waiting[holder] = None
        return len(self._waiting) > 1

    def forget(self, holder: Holder) -> None:
        """It has finished its frame or gone: the next in line may go on."""
        if self._waiting and holder in self._waiting:
            del self._waiting[holder]
            self._wake()

    def _wake(self) -> None:
        """Let those go on that may. Who is resumed may leave the line or call for this again, so it is a loop and no recursion."""
        if self._waking:
            return
        self._waking = True
        try:
            while self._waiting:
                first = next(iter(self._waiting))
                if not self.spent:
                    del self._waiting[first]
                first.resume()
                if self.spent and first in self._waiting:
                    return
        finally:
            self._waking = False
