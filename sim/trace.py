"""What happened, in order: a hash over all of it, and the last lines for those who must read it."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable

TAIL_LINES = 400


class Trace:
    def __init__(self, clock: Callable[[], float], *, show: bool = False, tail_lines: int = TAIL_LINES) -> None:
        self.lines = 0
        self.show = show
        self.tail: deque[str] = deque(maxlen=tail_lines)
        self._clock = clock
        self._hash = hashlib.blake2b(digest_size=8)

    def __call__(self, who: str, what: str) -> None:
        line = f"{self._clock():12.6f} {who}: {what}"
        self._hash.update(line.encode())
        self.lines += 1
        self.tail.append(line)
        if self.show:
            print(line)

    def hash(self) -> str:
        return self._hash.hexdigest()
