"""A real broker for the tests of your own project.

    with headrace.testing.broker() as broker:
        producer = KafkaProducer(bootstrap_servers=broker.bootstrap)

It is a process of its own on a free port, with a folder of its own that is gone afterwards. With pytest, ask for the fixture
`headrace_broker`. Settings are given by name (`broker(auto_create_topics=False, retention="1h")`); two differ from `headrace
serve`, because tests want speed and their data is thrown away: `durability` is "pagecache" and `group_initial_delay` is 0.

The broker ends with the block. When the whole test process dies instead, by whatever signal, a small guard process notices
that the pipe from it is closed, kills the broker by its process id and removes the folder.
"""

from __future__ import annotations

import atexit
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

START_WAIT_S_MAX = 60.0  # a folder of thousands of partitions after a crash; an empty one takes half a second
STOP_WAIT_S_MAX = 10.0
_MAIN = "import sys; from headrace.cli.main import main; sys.exit(main())"
# The guard waits for the end of its input. `kill` and `rm` are all it can do.
_GUARD = 'read -r _; kill -9 "$1" 2>/dev/null; rm -rf "$2"'


class BrokerDidNotStart(Exception):
    """The text has what the broker said."""


class Broker:
    """A running broker. `bootstrap` is what clients connect to; `http` serves /healthz, /readyz and /metrics."""

    def __init__(self, folder: Path, settings: Mapping[str, object]) -> None:
        self.folder = folder
        self.settings = {"durability": "pagecache", "group_initial_delay": "0ms", **settings}
        self.kafka, self.http = "127.0.0.1:0", "127.0.0.1:0"
        self.seconds_to_start = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap(self) -> str:
        return self.kafka

    @property
    def host(self) -> str:
        return self.kafka.rpartition(":")[0]

    @property
    def port(self) -> int:
        return int(self.kafka.rpartition(":")[2])

    @property
    def pid(self) -> int:
        assert self._process is not None, "the broker is stopped"
        return self._process.pid

    @property
    def log(self) -> str:
        """What the broker has written to its log so far."""
        try:
            return (self.folder / "broker.log").read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def start(self) -> None:
        """Start it; again after `stop` or `kill` on the same ports, with the same data."""
        assert self._process is None, "the broker is running"
        began = time.monotonic()
        flags = {"kafka": self.kafka, "http": self.http, "data": str(self.folder / "data"), **self.settings}
        command = [sys.executable, "-c", _MAIN, "serve"]
        command += [f"--{name.replace('_', '-')}={_written(value)}" for name, value in flags.items()]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HEADRACE_")}
        # The broker must come from the same place as this module, also when the tests only set sys.path.
        home = str(Path(__file__).resolve().parents[1])
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (home, environment.get("PYTHONPATH"))))
        with open(self.folder / "broker.log", "ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, env=environment, start_new_session=True
            )
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "guard", str(self._process.pid), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        atexit.register(self.kill)
        places = dict(word.split("=", 1) for word in self._ready_line(began + START_WAIT_S_MAX).split()[1:] if "=" in word)
        self.kafka, self.http = places["kafka"], places["http"]
        self.seconds_to_start = time.monotonic() - began

    def _ready_line(self, deadline_s: float) -> str:
        assert self._process is not None and self._process.stdout is not None
        out, text = self._process.stdout, b""
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            while (left_s := deadline_s - time.monotonic()) > 0:
                if not selector.select(left_s):
                    break
                piece = os.read(out.fileno(), 65536)
                text += piece
                for line in text.split(b"\n")[:-1]:
                    if line.startswith(b"ready "):
                        return line.decode()
                if not piece:
                    break
        said = text.decode(errors="replace") + self.log
        self.kill()
        raise BrokerDidNotStart(f"no ready line within {START_WAIT_S_MAX:g} s; it said:\n{said}")

    def stop(self) -> int:
        """Ask it to stop (SIGTERM) and wait; the exit status."""
        assert self._process is not None, "the broker is stopped"
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(STOP_WAIT_S_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self._forget()
        return status

    def kill(self) -> None:
        """kill -9; no error when it is not running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()

    def _forget(self) -> None:
        """The process is gone: so must be the guard, before its process id could mean another."""
        assert self._process is not None
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None
        atexit.unregister(self.kill)
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
            if self._guard.stdin is not None:
                self._guard.stdin.close()
            self._guard = None


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@contextmanager
def broker(folder: str | os.PathLike[str] | None = None, **settings: object) -> Iterator[Broker]:
    """A broker that runs as long as the block. Without a `folder` it gets a temporary one that is removed afterwards."""
    place = Path(folder) if folder is not None else Path(tempfile.mkdtemp(prefix="headrace-"))
    place.mkdir(parents=True, exist_ok=True)
    running = Broker(place, settings)
    try:
        running.start()
        yield running
    finally:
        running.kill()
        if folder is None:
            shutil.rmtree(place, ignore_errors=True)
