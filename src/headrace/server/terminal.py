"""What a command sees of the world: its three streams, the clock, the environment, Ctrl-C, and brokers to call.

Commands are given a `Terminal` and touch nothing else, so that tests run them whole with streams of their own.

Ctrl-C raises `KeyboardInterrupt`, as ever, but not within `shielded()`: there it is kept until the step is done, so that nothing
is left half done. A second Ctrl-C within a step is taken at its word.
"""

from __future__ import annotations

import os
import random
import select
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from headrace.server.dial import Line, dial

INPUT_PIECE_SIZE = 256 * 1024


class Terminal:
    """The real one."""

    def __init__(self) -> None:
        self.out: TextIO = sys.stdout
        self.err: TextIO = sys.stderr
        self.env: Mapping[str, str] = os.environ
        self.dial: Callable[[str, int, float], Line] = dial
        self._shields = 0
        self._interrupted = False

    # --- streams -----------------------------------------------------------------------------------------------------

    def abandon_output(self) -> None:
        """Whoever read our output has gone: what Python still wants to write at its end goes nowhere."""
        if self.out is sys.stdout:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def is_terminal(self, stream: TextIO) -> bool:
        try:
            return stream.isatty()
        except ValueError:  # closed
            return False

    def input_is_terminal(self) -> bool:
        return self.is_terminal(sys.stdin)

    def width(self) -> int:
        try:
            return os.get_terminal_size().columns
        except OSError:
            return 100

    def read_input(self) -> bytes:
        """What standard input has, up to a bound, as soon as it has something; empty at its end."""
        return os.read(0, INPUT_PIECE_SIZE)

    def reader_has_gone(self) -> bool:
        """Whether nobody can read our output any more (`| head` has had enough). Only a write would tell otherwise."""
        poll = select.poll()
        try:
            poll.register(self.out.fileno(), 0)
        except (OSError, ValueError):
            return False
        return any(event & select.POLLERR for _, event in poll.poll(0))

    def ask(self, question: str) -> str:
        self.err.write(question)
        self.err.flush()
        return sys.stdin.readline().strip()

    def read_text(self, path: str) -> str:
        with open(path, encoding="utf-8") as file:
            return file.read()

    def command_name(self) -> str:
        """How this very command is called again: its name where the shell finds the same one by it, else its path."""
        used = sys.argv[0]
        found = shutil.which("headrace")
        if found is not None and os.path.realpath(found) == os.path.realpath(used):
            return "headrace"
        if os.path.basename(used) == "headrace":
            return shlex.quote(os.path.abspath(used))
        return f"{shlex.quote(sys.executable)} -c 'import sys; from headrace.cli.main import main; sys.exit(main())'"

    # --- time and chance ---------------------------------------------------------------------------------------------

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_s(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def chance(self, end: int) -> int:
        """A number from 0 to before `end`."""
        return random.randrange(end)

    # --- Ctrl-C ------------------------------------------------------------------------------------------------------

    def catch_interrupts(self) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, number: int, frame: object) -> None:
        if self._shields and not self._interrupted:
            self._interrupted = True
            return
        raise KeyboardInterrupt

    @contextmanager
    def shielded(self) -> Iterator[None]:
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
        if self._interrupted and not self._shields:
            self._interrupted = False
            raise KeyboardInterrupt
