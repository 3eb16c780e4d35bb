"""One real Headrace process for tests and benchmarks: free ports, a folder of its own, stopped or killed at will."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS_MAX = 30.0


class Broker:
    """`with Broker(folder) as broker:` serves on `broker.kafka`. `kill` and `start` again keep folder and, by default, port."""

    def __init__(self, folder: Path, *flags: str, kafka: str = "127.0.0.1:0", http: str = "127.0.0.1:0", python: str = "") -> None:
        self.folder = folder
        self.flags = list(flags)
        self.kafka = kafka
        self.http = http
        self.python = python or sys.executable
        self.log = folder.parent / f"{folder.name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.ready_seconds = 0.0

    def start(self) -> "Broker":
        assert self.process is None
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        main = "import sys; from headrace.cli.main import main; sys.exit(main())"
        command = [self.python, "-c", main, "serve", "--kafka", self.kafka, "--http", self.http]
        began = time.monotonic()
        with open(self.log, "ab") as errors:
            self.process = subprocess.Popen(
                [*command, "--data", str(self.folder), *self.flags],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        ready = self._await_ready(began + READY_SECONDS_MAX)
        self.ready_seconds = time.monotonic() - began
        places = dict(word.split("=", 1) for word in ready.split() if "=" in word)
        self.kafka, self.http = places["kafka"], places.get("http", self.http)
        return self

    def _await_ready(self, deadline: float) -> str:
        """The line that begins with `ready`. What else the broker prints goes to the log, before and (unread) after it."""
        assert self.process is not None and self.process.stdout is not None
        out = self.process.stdout
        os.set_blocking(out.fileno(), False)
        text = b""
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            while (left := deadline - time.monotonic()) > 0:
                if not selector.select(left):
                    continue
                piece = os.read(out.fileno(), 65536)
                text += piece
                for line in text.split(b"\n")[:-1]:
                    if line.startswith(b"ready"):
                        return line.decode()
                if not piece:
                    break
        status = self.process.poll()
        self.kill()
        raise AssertionError(
            f"the broker did not become ready (exit status {status}); it said:\n{text.decode(errors='replace')}\n{self.tail()}"
        )

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def port(self) -> int:
        return int(self.kafka.rpartition(":")[2])

    def tail(self, lines: int = 60) -> str:
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except FileNotFoundError:
            return ""

    def stop(self, seconds: float = 10.0) -> int:
        """SIGTERM, and the exit status. A broker that does not stop in time is killed and reported."""
        assert self.process is not None
        self.process.terminate()
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the broker did not stop within {seconds} s\n{self.tail()}") from None
        self._forget()
        return status

    def kill(self) -> None:
        """kill -9, at once."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._forget()

    def _forget(self) -> None:
        assert self.process is not None
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None

    def restart(self) -> "Broker":
        self.stop()
        return self.start()

    def __enter__(self) -> "Broker":
        return self if self.process else self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.process is None:
            return
        if kind is None:
            self.stop()
        else:
            self.kill()
            print(f"--- log of the broker ---\n{self.tail()}", file=sys.stderr)


def children(pid: int) -> Iterable[int]:
    """The process and all below it."""
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            yield from children(int(child))
