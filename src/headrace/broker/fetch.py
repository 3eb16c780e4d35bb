"""Reading from many partitions at once, and waiting until there is enough.

A read answers at once when something is wrong with a partition, when enough bytes lie there, or when the client does
not want to wait. Else it waits for the committed end of any of its partitions to rise, and is answered when enough
has come or the time is up. Bytes are counted by what was committed meanwhile, so that a wait for many bytes does not
look into the log at each commit.

A cold part of the log (an index or a header that is not in memory) is fetched in a thread and the read goes on then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from headrace.base.errors import Refused
from headrace.base.world import World
from headrace.broker.partition import Partition
from headrace.broker.tasks import Tasks
from headrace.broker.waiting import Later
from headrace.log.log import Cold, Read


class Want:
    """What to read from one partition, and what came of it."""

    __slots__ = ("offset", "partition", "read", "size_max")

    def __init__(self, partition: Partition | Refused, offset: int, size_max: int) -> None:
        self.partition = partition
        self.offset = offset
        self.size_max = size_max
        self.read: Read | Refused | None = partition if isinstance(partition, Refused) else None


def fetch(world: World, tasks: Tasks, wants: Sequence[Want], *, size_min: int, size_max: int, wait_ms: int) -> Later[None] | None:
    """Fill `read` of each want: at once (None), or later."""
    got = _read_all(wants, size_max)
    if got >= size_min or (got >= 0 and wait_ms <= 0):
        return None
    waiting = _Waiting(world, tasks, wants, size_min, size_max, wait_ms)
    if got < 0:
        waiting.read_slowly()
    else:
        waiting.begin(got)
    return waiting.later


def _read_all(wants: Sequence[Want], size_max: int) -> int:
    """Bytes read; -1 when a thread has to fetch something first. A refusal counts as enough of anything."""
    total = 0
    enough = False
    for want in wants:
        partition = want.partition
        if isinstance(partition, Refused):
            enough = True
            continue
        left = size_max - total
        if total and left <= 0:
            want.read = Read(None, want.offset, 0)
            continue
        result = partition.read(want.offset, min(want.size_max, left), whole_first_batch=not total)
        if isinstance(result, Cold):
            return -1
        want.read = result
        if isinstance(result, Refused):
            enough = True
        else:
            total += result.size
    return 1 << 62 if enough else total


class _Waiting:
    """A read that is not answered yet."""

    __slots__ = ("_before", "_got", "_size_max", "_size_min", "_tasks", "_timer", "_wait_ms", "_wants", "_world", "later")

    def __init__(self, world: World, tasks: Tasks, wants: Sequence[Want], size_min: int, size_max: int, wait_ms: int) -> None:
        self._world = world
        self._tasks = tasks
        self._wants = wants
        self._size_min = size_min
        self._size_max = size_max
        self._wait_ms = wait_ms
        self._timer: asyncio.TimerHandle | None = None
        self._got = 0
        self._before = 0
        self.later: Later[None] = Later()

    def begin(self, got: int) -> None:
        self._got = got
        self._before = self._sum_committed()
        for want in self._wants:
            if isinstance(want.partition, Partition):
                want.partition.readers[self._rose] = None
        self._timer = asyncio.get_running_loop().call_later(self._wait_ms / 1000, self._finish)

    def _sum_committed(self) -> int:
        return sum(want.partition.bytes_committed for want in self._wants if isinstance(want.partition, Partition))

    def _rose(self) -> None:
        if self._size_min > 1:
            closed = any(isinstance(want.partition, Partition) and want.partition.closed is not None for want in self._wants)
            if not closed and self._got + self._sum_committed() - self._before < self._size_min:
                return
            # What was counted may be more than may be handed out, or than is left after a failed flush.
            if 0 <= _read_all(self._wants, self._size_max) < self._size_min:
                return
        self._finish()

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for want in self._wants:
            if isinstance(want.partition, Partition):
                want.partition.readers.pop(self._rose, None)
        if self.later.done:
            return
        if _read_all(self._wants, self._size_max) < 0:
            self.read_slowly()
        else:
            self.later.complete(None)

    def read_slowly(self) -> None:
        self._tasks.spawn(self._read_slowly())

    async def _read_slowly(self) -> None:
        total = 0
        for want in self._wants:
            partition = want.partition
            if isinstance(partition, Refused):
                continue
            left = self._size_max - total
            if total and left <= 0:
                want.read = Read(None, want.offset, 0)
                continue
            want.read = await partition.read_slowly(self._world, want.offset, min(want.size_max, left), whole_first_batch=not total)
            if isinstance(want.read, Read):
                total += want.read.size
        self.later.complete(None)
