"""A disk that takes no more bytes: writers are told, readers go on, and it all comes back by itself.

The disk is not filled: the running broker is forbidden to write files beyond a size (`RLIMIT_FSIZE`), which fails its
writes all the same.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headrace.testing import Broker, broker

MAIN = [sys.executable, "-c", "import sys; from headrace.cli.main import main; sys.exit(main())"]
ROOT = Path(__file__).parents[2]


def headrace(running: Broker, words: str, *, input: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HEADRACE_SERVER": running.bootstrap}
    return subprocess.run([*MAIN, *words.split()], input=input, capture_output=True, text=True, env=environment, timeout=30)


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs Linux")
def test_writers_are_told_readers_go_on_and_it_comes_back():
    with broker(durability="fsynced") as running:
        assert headrace(running, "produce kept", input="one\n").returncode == 0
        before = resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (1, before_hard(running.pid)))

        refused = headrace(running, "produce kept", input="two\n")
        assert refused.returncode == 1 and "error storage-failed" in refused.stderr, refused
        unmade = headrace(running, "topic create unmade")
        assert unmade.returncode == 1 and "error storage-failed" in unmade.stderr, unmade
        read = headrace(running, "consume kept --from earliest --max 1 --values")
        assert read.stdout == "one\n", (read, running.log)

        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, before)
        deadline = time.monotonic() + 20
        while headrace(running, "produce kept", input="three\n").returncode:
            assert time.monotonic() < deadline, running.log
            time.sleep(0.5)
        assert headrace(running, "consume kept --from earliest --max 2 --values").stdout == "one\nthree\n"
        assert headrace(running, "topic create made").returncode == 0
        assert "writing resumed" in running.log


def before_hard(pid: int) -> int:
    """The hard limit stays, so that the soft one can be lifted again."""
    return resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
