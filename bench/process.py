"""What a process and its children cost, as the kernel counts it."""

import os
from pathlib import Path

from tests.support.broker import children

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """User and system time of the process and its living children, in steps of 10 ms."""
    total = 0
    for each in children(pid):
        try:
            # the name in brackets may hold spaces; utime and stime are the 12th and 13th field after it
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def machine_cpu_seconds() -> float:
    """Busy time of all cores since boot, by whomever."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(f) for i, f in enumerate(fields[:8]) if i not in (3, 4)) / TICKS  # all but idle and waiting for a disk


def memory_mb(pid: int) -> dict[str, float]:
    """`rss` (all resident pages) and `pss` (shared pages in proportion, mapped files of the log included), in MB of 10^6 bytes."""
    sums = {"rss": 0.0, "pss": 0.0, "anonymous": 0.0}
    for each in children(pid):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        for line in lines:
            name, _, rest = line.partition(":")
            if name.lower() in sums:
                sums[name.lower()] += int(rest.split()[0]) * 1024 / 1e6
    return sums
