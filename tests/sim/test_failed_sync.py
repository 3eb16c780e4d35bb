"""A sync fails, the node dies before it can cut the log back, and the next node finds pages that look clean.

The story of a bug that seed 478 told: recovery read the record from the page cache, synced the file (nothing was dirty, so that
meant nothing), wrote a snapshot that called it durable, and handed it out. The next power cut took it back.
"""

from __future__ import annotations

import random

import pytest

from headrace.log.log import Log, LogSettings
from headrace.records.build import build_batch
from headrace.records.header import read_header
from headrace.records.record import Record
from sim.disk import SimDisk

NOW_MS = 1_767_225_600_000


@pytest.mark.parametrize("seed", range(40))
def test_what_recovery_shows_outlives_the_next_power_cut(seed: int) -> None:
    disk = SimDisk(random.Random(seed))
    files = disk.mount()
    files.make_folder("log")
    files.sync_folder("")
    log = Log.create(files, "log/t-0", LogSettings(), now_ms=NOW_MS)
    for value in (b"flushed", b"lost by a sync that failed"):
        data = build_batch([Record(0, NOW_MS, None, value)])
        log.append(memoryview(data), read_header(data), leader_epoch=0, now_ms=NOW_MS)
        plan = log.flush_plan()
        assert plan is not None
        if value == b"flushed":
            plan.run()
            log.flushed(plan)
        else:
            disk.faults.sync_error_chance = 1.0
            with pytest.raises(OSError):
                plan.run()
            disk.faults.sync_error_chance = 0.0
    # kill -9: a new mount of the same disk, the page cache as it was
    shown = Log.open(disk.mount(), "log/t-0", LogSettings(), now_ms=NOW_MS)
    disk.crash()
    after = Log.open(disk.mount(), "log/t-0", LogSettings(), now_ms=NOW_MS)
    assert shown.end_offset >= 1
    assert after.end_offset == shown.end_offset
    assert not after.report
