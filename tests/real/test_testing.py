"""`headrace.testing`: a broker for other people's tests, quick to start, gone afterwards, whatever happens to the test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from headrace.testing import BrokerDidNotStart, broker

ROOT = Path(__file__).parents[2]
pytest_plugins = () if "headrace.testing_plugin" in sys.modules else ("headrace.testing_plugin",)


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_it_starts_in_under_a_second_and_leaves_nothing():
    seconds = []
    for _ in range(3):
        with broker() as running:
            seconds.append(running.seconds_to_start)
            pid, folder = running.pid, running.folder
            assert is_alive(pid) and running.port > 0
        assert not is_alive(pid) and not folder.exists()
    assert min(seconds) < 1.0, seconds


def test_a_real_client_speaks_to_it():
    from kafka import KafkaConsumer, KafkaProducer

    with broker() as running:
        producer = KafkaProducer(bootstrap_servers=running.bootstrap)
        producer.send("t", b"hello").get(10)
        producer.close()
        consumer = KafkaConsumer("t", bootstrap_servers=running.bootstrap, auto_offset_reset="earliest", consumer_timeout_ms=10_000)
        assert next(consumer).value == b"hello"
        consumer.close()


def test_stop_and_start_keep_port_and_data(tmp_path):
    with broker(folder=tmp_path, durability="fsynced") as running:
        port, pid = running.port, running.pid
        assert running.stop() == 0
        running.start()
        assert (running.port, is_alive(pid)) == (port, False)
        running.kill()
        running.start()
        assert running.port == port
    assert (tmp_path / "data").is_dir()


def test_settings_are_given_by_name():
    import pytest

    with pytest.raises(BrokerDidNotStart, match="no-such"), broker(no_such=1):
        pass


def test_a_test_process_that_is_killed_leaves_no_broker():
    script = "import time, headrace.testing as t\nwith t.broker() as b:\n    print(b.pid, b.folder, flush=True)\n    time.sleep(60)"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
    )
    assert process.stdout is not None
    pid, folder = process.stdout.readline().split()
    assert is_alive(int(pid))
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    deadline = time.monotonic() + 5
    while is_alive(int(pid)) or Path(folder).exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_fixture(headrace_broker):
    assert is_alive(headrace_broker.pid) and headrace_broker.bootstrap.startswith("127.0.0.1:")
