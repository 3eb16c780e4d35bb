"""The stall meter: how long the event loop was held by one piece of work.

A timer is set for a known moment; when it fires late, something held the loop. Three corrections make the figure honest:
- The machine may have given the CPU to another process while we were ready to run. Linux counts that time per thread
  (`/proc/thread-self/schedstat`, second field, nanoseconds); it is taken off and counted apart as `starved_ms`.
- The machine may be a virtual one, and its host may have given the CPU to another: then nothing in it runs, and no thread counts
  as waiting. (Seen with a host that lets a machine have so much CPU in 100 ms: threads of the highest priority on both CPUs
  stood still together for up to 41 ms, ten times a second.) The host tells by CPU, in steps of 10 ms, in `/proc/stat`. Looked
  at when a tick is late, and four times a second, so that what was stolen long ago is not taken off: 10 µs each.
- A stall that begins just after a tick and ends just before the next one is due is seen shortened by up to one
  interval. The interval is 5 ms while the loop works: a tick is 7 µs then, 0.1 % of a core. While the loop idles a tick is also
  a wake-up (some 100 µs of CPU), so the meter falls back to 50 ms (20 x 100 µs = 0.2 %); one busy interval brings it back.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable

from headrace.base.metrics import Metrics

BUSY_INTERVAL_S = 0.005
IDLE_INTERVAL_S = 0.050
BUSY_SHARE = 0.02  # of a core, over one interval
IDLE_AFTER_S = 1.0
LATE_S = 0.005  # from here on it matters whether the time was stolen
LOOK_S = 0.25


class StarvedClock:
    """Seconds this thread has waited for a CPU since it began. Always zero where the system does not tell."""

    __slots__ = ("descriptor",)

    def __init__(self, path: str = "/proc/thread-self/schedstat") -> None:
        try:
            self.descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.descriptor = -1

    def __call__(self) -> float:
        if self.descriptor < 0:
            return 0.0
        try:
            return int(os.pread(self.descriptor, 128, 0).split()[1]) / 1e9
        except (OSError, IndexError, ValueError):
            return 0.0

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class StolenClock:
    """Seconds that the host has taken from the CPU this thread is on, since it was asked last. Zero where nobody tells.

    A thread may have been moved since: of the CPU it was on before and the one it is on now, the one that lost more counts.
    """

    __slots__ = ("cpu", "descriptors", "known", "tick_s")

    def __init__(self, machine: str = "/proc/stat", thread: str = "/proc/thread-self/stat") -> None:
        self.descriptors: list[int] = []
        self.known: dict[int, int] = {}
        self.cpu = -1
        self.tick_s = 1 / os.sysconf("SC_CLK_TCK")
        try:
            for path in (machine, thread):
                self.descriptors.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            self.close()
        self()

    def __call__(self) -> float:
        if not self.descriptors:
            return 0.0
        try:
            cpu = int(os.pread(self.descriptors[1], 1024, 0).rpartition(b")")[2].split()[36])
            before, self.cpu = self.cpu, cpu
            known, self.known = self.known, self._read()
            taken = [self.known[one] - known[one] for one in (before, cpu) if one in known and one in self.known]
            return max([0, *taken]) * self.tick_s
        except (OSError, IndexError, ValueError, KeyError):
            return 0.0

    def _read(self) -> dict[int, int]:
        found = {}
        for line in os.pread(self.descriptors[0], 65536, 0).split(b"\n")[1:]:
            if not line.startswith(b"cpu"):
                break
            words = line.split(None, 9)
            found[int(words[0][3:])] = int(words[8])
        return found

    def close(self) -> None:
        while self.descriptors:
            os.close(self.descriptors.pop())


class StallMeter:
    """Writes `metrics.stall_ms` and `metrics.starved_ms`. Make it, start it and stop it on the loop it measures."""

    def __init__(
        self,
        metrics: Metrics,
        *,
        clock: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.thread_time,
        starved: Callable[[], float] | None = None,
        stolen: Callable[[], float] | None = None,
    ) -> None:
        self.metrics = metrics
        self.clock = clock
        self.cpu = cpu
        self.own_starved = None if starved is not None else StarvedClock()
        self.starved: Callable[[], float] = starved if starved is not None else self.own_starved or StarvedClock()
        self.own_stolen = None if stolen is not None else StolenClock()
        self.stolen: Callable[[], float] = stolen if stolen is not None else self.own_stolen or StolenClock()
        self.interval_s = BUSY_INTERVAL_S
        self.loop: asyncio.AbstractEventLoop | None = None
        self.handle: asyncio.TimerHandle | None = None
        self.set_at_s = 0.0
        self.last_busy_s = 0.0
        self.last_cpu_s = 0.0
        self.last_starved_s = 0.0
        self.last_look_s = 0.0

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.last_cpu_s = self.cpu()
        self.last_starved_s = self.starved()
        self.stolen()
        self.last_busy_s = self.last_look_s = self.clock()
        self.arm()

    def stop(self) -> None:
        if self.handle is not None:
            self.handle.cancel()
            self.handle = None
        if self.own_starved is not None:
            self.own_starved.close()
        if self.own_stolen is not None:
            self.own_stolen.close()

    def arm(self) -> None:
        assert self.loop is not None
        self.set_at_s = self.clock()
        self.handle = self.loop.call_later(self.interval_s, self.tick)

    def tick(self) -> None:
        now_s, cpu_s, starved_s = self.clock(), self.cpu(), self.starved()
        passed_s = now_s - self.set_at_s
        waited_s = starved_s - self.last_starved_s
        late_s = passed_s - self.interval_s - waited_s
        if late_s > LATE_S or now_s - self.last_look_s > LOOK_S:
            self.last_look_s = now_s
            stolen_s = self.stolen()
            if late_s > LATE_S:
                waited_s += min(stolen_s, late_s)
        self.metrics.starved_ms += waited_s * 1000
        self.metrics.stall_ms.observe(max(0.0, passed_s - self.interval_s - waited_s) * 1000)
        if cpu_s - self.last_cpu_s > BUSY_SHARE * passed_s:
            self.last_busy_s = now_s
        self.interval_s = BUSY_INTERVAL_S if now_s - self.last_busy_s < IDLE_AFTER_S else IDLE_INTERVAL_S
        self.last_cpu_s, self.last_starved_s = cpu_s, starved_s
        self.arm()
