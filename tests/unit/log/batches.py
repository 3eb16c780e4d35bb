"""Small batches and logs for the tests of this folder."""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.log.log import Appended, Log, LogSettings
from headrace.records.build import build_batch
from headrace.records.header import BatchHeader, read_header
from headrace.records.record import Record
from headrace.records.stamp import stamp_append_time
from tests.unit.log.memory_files import MemoryFiles

FOLDER = "t-0"
SMALL = LogSettings(segment_bytes=500, index_interval_bytes=100)


def batch(count: int = 1, *, time: int = 1_000, size: int = 20, base_offset: int = 0, **fields: int) -> bytearray:
    """`count` records, a millisecond apart. One of 20 bytes makes a batch of 89."""
    return build_batch(
        [Record(0, time + i, None, b"%d" % i + b"v" * (size - 1)) for i in range(count)], base_offset=base_offset, **fields
    )


def header(count: int = 1, *, base_offset: int = 0, **fields: int) -> BatchHeader:
    return read_header(batch(count, base_offset=base_offset, **fields))


def new_log(files: MemoryFiles | None = None, settings: LogSettings = SMALL, *, start_offset: int = 0) -> Log:
    return Log.create(files or MemoryFiles(), FOLDER, settings, now_ms=1_000, start_offset=start_offset)


def put(
    log: Log, count: int = 1, *, time: int = 1_000, epoch: int = 0, append_time: bool = False, **fields: int
) -> Appended | Refused:
    data = batch(count, time=time, **fields)
    if append_time:
        stamp_append_time(data, time)
    return log.append(memoryview(data), read_header(data), leader_epoch=epoch, now_ms=time)


def fill(log: Log, batches: int, count: int = 1, *, time: int = 1_000, step: int = 10, **fields: int) -> None:
    for i in range(batches):
        done = put(log, count, time=time + i * step, **fields)
        assert isinstance(done, Appended), done


def flush(log: Log) -> None:
    plan = log.flush_plan()
    if plan is not None:
        plan.run()
        log.flushed(plan)
        assert plan.trouble is None


def reopen(files: MemoryFiles, settings: LogSettings = SMALL, **options: int) -> Log:
    return Log.open(files, FOLDER, settings, now_ms=9_000, **options)
