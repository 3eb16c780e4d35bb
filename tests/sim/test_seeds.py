"""The real node in the simulator: seeds hold, one seed is one run, and planted bugs are found.

`make sim SEED=n` runs one seed by hand; a failing one prints the end of its trace.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headrace.broker.partition import Partition
from headrace.log.flush import FlushPlan
from headrace.log.log import Log
from sim.node import boot
from sim.run import Run

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 30.0


@pytest.mark.parametrize("seed", range(1, 25))
def test_a_seed_holds(seed):
    result = Run(seed, SECONDS, boot).go()
    assert result.failure is None, "\n".join([*(line[:300] for line in result.tail[-40:]), result.line(), result.failure])


def traced(seed: int, hash_seed: str) -> tuple[str, str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "sim", "--seed", str(seed), "--seconds", "20"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"trace (\w+)  (.*)", done.stdout)
    assert found is not None, done.stdout + done.stderr
    return found[1], found[2]


def test_one_seed_is_one_run_whatever_the_process():
    """Also where Python puts its dictionaries and sets in another order."""
    assert traced(5, "1") == traced(5, "2")
    assert traced(5, "1") != traced(6, "1")


def found_out(seeds=range(1, 31), **options) -> bool:
    return any(Run(seed, SECONDS, boot, **options).go().failure is not None for seed in seeds)


def test_a_disk_that_lies_about_sync_is_found_out():
    def change(run: Run) -> None:
        run.faults.disk.lies_about_sync = True

    assert found_out(change=change)


def test_an_ack_before_the_flush_is_found_out(monkeypatch):
    append = Partition.append

    def too_early(self, data, header, now_ms):
        result = append(self, data, header, now_ms)
        self.advance(self.log.end_offset)
        return result

    monkeypatch.setattr(Partition, "append", too_early)
    assert found_out()


def test_a_flush_that_forgets_the_folder_is_found_out(monkeypatch):
    run = FlushPlan.run

    def without_folders(self):
        self.folders = []
        run(self)

    monkeypatch.setattr(FlushPlan, "run", without_folders)
    assert found_out()


def test_a_failed_flush_that_is_trusted_is_found_out(monkeypatch):
    run = FlushPlan.run

    def again(self):
        try:
            run(self)
        except OSError:
            run(self)

    monkeypatch.setattr(FlushPlan, "run", again)
    assert found_out(range(1, 120))


def test_a_forgotten_log_start_is_found_out(monkeypatch):
    monkeypatch.setattr("headrace.log.recovery.decode_start", lambda data: None)
    assert Log  # the log itself is as it was
    assert found_out()
