"""The event loop of a real node is never held for long: by its own stall meter, while everything slow happens at once.

A cold consumer reads a topic that is not in memory any more, producers write with and without fsync, retention rolls and deletes
small segments, and a topic of 1,000 partitions is made and removed. Every figure is the node's own: time in which the machine
gave the CPU to others is taken off (see `server/stall.py`), waiting for the disk or the interpreter's lock is not.

On a machine that others keep busy, the kernel may hold a write to the page cache for longer (the journal of the file system is
being committed) and an innocent run fails; so the best of three counts. What the node's own code does to the loop, it does
in each of them.

`STALL_GB=10` reads ten gigabytes instead of one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from bench.load import frames
from headrace.protocols.kafka.codec import decode_response
from headrace.protocols.kafka.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from headrace.protocols.kafka.messages.fetch import FetchResponse
from headrace.records.record import read_batches
from tests.support.broker import ROOT, Broker
from tests.support.wire import Wire

STALL_MS_MAX = 20.0
RUNS_MAX = 3
GIGABYTES = float(os.environ.get("STALL_GB", "1"))
FETCH_SIZE = 8 << 20


def metric(broker: Broker, name: str) -> float:
    with urllib.request.urlopen(f"http://{broker.http}/metrics", timeout=10) as answer:
        found = re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)
    assert found is not None, name
    return float(found[1])


def stall_ms(broker: Broker) -> float:
    return metric(broker, "headrace_loop_stall_max_seconds") * 1000


def load(broker: Broker, topic: str, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bench.load", "produce", broker.kafka, "--topic", topic, "--warm", "0", *more]
    return subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, stdout=subprocess.DEVNULL)


def fill(broker: Broker, topic: str, size: int, *configs: str) -> None:
    words = [word for config in configs for word in ("--create", config)]
    done = load(broker, topic, *words, "--batch", "1000000", "--seconds", "600", "--bytes-max", str(size)).wait(600)
    assert done == 0


def chill(folder: Path) -> int:
    """Take a partition's segments out of the page cache; their size."""
    size = 0
    for path in folder.iterdir():
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        size += os.fstat(fd).st_size
        os.close(fd)
    return size


def read_all(broker: Broker, topic: str, end_bytes: int) -> int:
    """Read a partition from its beginning as a consumer does; how many bytes of records there were."""
    done = offset = 0
    fetch = frames.FetchFrame(topic, 0, FETCH_SIZE)
    with Wire(broker.kafka) as wire:
        while done < end_bytes:
            wire.socket.sendall(fetch.at(offset))
            _, answer = decode_response(frames.FETCH, frames.FETCH_VERSION, memoryview(wire.receive()))
            assert isinstance(answer, FetchResponse)
            partition = answer.responses[0].partitions[0]
            assert not partition.error_code
            records = memoryview(partition.records or b"")
            if not records:
                return done
            for position, header in read_batches(records):
                if position + header.size <= len(records):
                    assert header.base_offset == offset
                    offset = header.last_offset + 1
                    done += header.size
    return done


@pytest.mark.slow
@pytest.mark.timeout(120 + 120 * GIGABYTES)
def test_nothing_holds_the_loop(tmp_path: Path) -> None:
    flags = ("--retention-check", "1s", "--segment-size", "64MiB")
    broker = Broker(tmp_path / "data", *flags)
    with broker:
        fill(broker, "cold", int(GIGABYTES * 1e9), "durability=pagecache")
    size = chill(tmp_path / "data" / "log" / "cold-0")
    assert size >= GIGABYTES * 1e9
    longest = [everything_at_once(broker)]
    while longest[-1] > STALL_MS_MAX and len(longest) < RUNS_MAX:
        chill(tmp_path / "data" / "log" / "cold-0")
        longest.append(everything_at_once(broker))
    assert longest[-1] <= STALL_MS_MAX, f"the longest stall of each run was {longest} ms"


def everything_at_once(broker: Broker) -> float:
    """The longest stall in milliseconds."""
    logs = broker.folder / "log"
    size = sum(path.stat().st_size for path in (logs / "cold-0").iterdir())
    with broker.start(), Wire(broker.kafka) as wire:
        read: list[int] = []
        reader = threading.Thread(target=lambda: read.append(read_all(broker, "cold", int(GIGABYTES * 1e9))))
        # Rolled about once a second and deleted two seconds later.
        short = ("--create", "segment.bytes=4000000", "--create", "retention.ms=2000", "--create", "file.delete.delay.ms=500")
        endless = ("--seconds", "600", "--connections", "1", "--in-flight", "1")
        writers = [
            load(broker, "kept", *short, *endless, "--batch", "16384"),
            load(broker, "short", *short, *endless, "--create", "durability=pagecache", "--batch", "2048"),
        ]
        try:
            began = time.monotonic()
            reader.start()
            frames.create_topic(wire, "wide", 1_000, {})
            time.sleep(2)
            gone = wire.ask(20, 4, DeleteTopicsRequest(topic_names=["wide"], timeout_ms=10_000))
            assert isinstance(gone, DeleteTopicsResponse) and not gone.responses[0].error_code
            reader.join()
            seconds = time.monotonic() - began
            time.sleep(max(0.0, 8 - seconds))  # retention has its rounds also where the read is quick
            assert [writer.poll() for writer in writers] == [None, None]
        finally:
            for writer in writers:
                writer.kill()
                writer.wait()
        assert read and read[0] >= GIGABYTES * 1e9
        assert not list(logs.glob("wide-*"))
        for topic in ("kept", "short"):
            names = sorted(path.name for path in (logs / f"{topic}-0").glob("*.log"))
            assert names[0] != f"{0:020d}.log", f"retention has deleted nothing of {topic}"
        longest = stall_ms(broker)
        starved = metric(broker, "headrace_loop_starved_seconds_total")
        print(f"{size / 1e9:.1f} GB cold in {seconds:.1f} s, longest stall {longest:.1f} ms, starved {starved:.1f} s in all")
        for topic in ("kept", "short"):
            gone = wire.ask(20, 4, DeleteTopicsRequest(topic_names=[topic], timeout_ms=10_000))
            assert isinstance(gone, DeleteTopicsResponse) and not gone.responses[0].error_code
        return longest
