"""Kafka's own `DumpLogSegments` reads what our log wrote to a real disk, and finds nothing wrong with it.

`--deep-iteration` walks every record of a segment; `--verify-index-only` holds each index entry against the log. The tool
ends with 0 whatever it finds, so its words are judged: it names what is wrong under a heading that begins with one of
`COMPLAINTS`. A test breaks an index to see it complain.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from headrace.log.log import Appended, Duplicate, Log, LogSettings
from headrace.records.build import build_batch
from headrace.records.header import read_header
from headrace.records.record import Record
from headrace.records.stamp import stamp_append_time
from headrace.server.disk import DiskFiles
from tests.support import kafka_jars

COMPLAINTS = (
    "Mismatches",
    "Non-consecutive",
    "Found timestamp mismatch",
    "Found out of order",
    "Index offset",
    "failed",
    "Exception",
    "rror",
)
SETTINGS = LogSettings(segment_bytes=25_000, index_interval_bytes=1000)


def dump(*arguments: str) -> str:
    try:
        command = kafka_jars.java("org.apache.kafka.tools.DumpLogSegments", *arguments)
    except kafka_jars.Unavailable as why:
        pytest.skip(f"DumpLogSegments NOT run: {why}")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=110)
    return done.stdout + done.stderr + (f"Exception: it ended with {done.returncode}" if done.returncode else "")


def complaints(text: str) -> list[str]:
    # The tool expects offset 0 after "-1" at the beginning of every file, Kafka's own included.
    text = re.sub(r"Non-consecutive offsets in \S*/0*(\d+)\.log\n  -1 is followed by \1\n", "", text)
    return [line for line in text.splitlines() if any(word in line for word in COMPLAINTS)]


def append(log: Log, records: list[Record], now_ms: int, *, append_time: bool = False, **batch: int) -> Appended:
    data = build_batch(records, **batch)
    if append_time:
        stamp_append_time(data, now_ms)
    done = log.append(memoryview(data), read_header(data), leader_epoch=now_ms // 5000, now_ms=now_ms)
    assert isinstance(done, Appended) and not isinstance(done, Duplicate)
    return done


def flush(log: Log) -> None:
    plan = log.flush_plan()
    assert plan is not None
    plan.run()
    log.flushed(plan)
    assert plan.trouble is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with all codecs, both kinds of timestamps, producers, rolled segments, one clean restart and one without."""
    root = tmp_path_factory.mktemp("log")
    files = DiskFiles(str(root), 100)
    log = Log.create(files, "t-0", SETTINGS, now_ms=0)
    sequence = count = 0
    for life in range(3):
        for i in range(200):
            count += 1
            timestamp = 1_000 + (count * 37) % 9_000 + count * 20  # mostly rising, sometimes not
            records = [Record(0, timestamp + 7 * j, b"k%d" % j, b"v" * (i % 90), [(b"l", b"x")]) for j in range(1 + i % 5)]
            size = len(records)
            if i % 3:
                append(log, records, count * 20, codec=i % 5, producer_id=9, producer_epoch=0, base_sequence=sequence)
                sequence += size
            else:
                append(log, records, count * 20, append_time=i % 2 == 0, codec=i % 5)
            if i % 50 == 49:
                flush(log)
        if life == 0:
            log = Log.open(files, "t-0", SETTINGS, clean=log.close(), now_ms=count)
        elif life == 1:
            log = Log.open(DiskFiles(str(root), 100), "t-0", SETTINGS, now_ms=count)
            assert log.report == []
    log.close()
    assert len(log.segments) > 2
    return root / "t-0"


def paths(folder: Path, pattern: str) -> str:
    return ",".join(str(path) for path in sorted(folder.glob(pattern)))


def test_every_record_is_read(folder: Path) -> None:
    text = dump("--deep-iteration", "--files", paths(folder, "*.log"))
    assert complaints(text) == []
    offsets = [int(found) for found in re.findall(r"^\| offset: (\d+) ", text, re.M)]
    assert offsets == list(range(len(offsets))) and len(offsets) == 1800
    assert text.count("isvalid: true") == 600


def test_indexes_agree_with_the_log(folder: Path) -> None:
    assert complaints(dump("--index-sanity-check", "--files", paths(folder, "*index"))) == []
    text = dump("--verify-index-only", "--files", paths(folder, "*index"))
    assert complaints(text) == []
    assert text.count("Dumping") == 2 * len(list(folder.glob("*.log")))


def test_the_tool_would_complain(folder: Path, tmp_path: Path) -> None:
    for path in folder.glob("00000000000000000000.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    for suffix, at in (("index", 7), ("timeindex", 7)):
        broken = tmp_path / f"00000000000000000000.{suffix}"
        data = bytearray(broken.read_bytes())
        data[at] ^= 1
        broken.write_bytes(data)
        assert complaints(dump("--verify-index-only", "--files", str(broken))), suffix
        data[at] ^= 1
        broken.write_bytes(data)
        assert complaints(dump("--verify-index-only", "--files", str(broken))) == [], suffix


def test_producers_are_read(folder: Path) -> None:
    newest = max(folder.glob("*.snapshot"))
    text = dump("--files", str(newest))
    assert complaints(text) == []
    assert re.search(r"producerId: 9 producerEpoch: 0 .*lastSequence: \d+", text), text
