"""The README does what it says: its blocks run, in order, against a real broker, and print what stands below them.

A block that is run has `<!-- run -->` before it. A text block right behind it is what it prints; times are not compared.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from headrace.testing import broker

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^<!-- run -->\n```(sh|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def blocks() -> list[tuple[str, str, str | None]]:
    return [(kind, code, output or None) for kind, code, output in BLOCK.findall(README)]


def test_what_the_readme_shows_is_what_happens(tmp_path):
    found = blocks()
    assert len(found) == README.count("<!-- run -->") >= 5, "a block is marked but not read"
    bin_folder = Path(sys.executable).parent
    assert (bin_folder / "headrace").exists(), "the command is not installed"
    with broker() as running:
        environment = {**os.environ, "HEADRACE_SERVER": running.bootstrap, "PATH": f"{bin_folder}:{os.environ['PATH']}"}
        for kind, code, wanted in found:
            code = code.replace("127.0.0.1:9092", running.bootstrap)
            command = ["bash", "-euo", "pipefail", "-c", code] if kind == "sh" else [sys.executable, "-c", code]
            ran = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=60)
            assert ran.returncode == 0, (code, ran.stdout, ran.stderr)
            if wanted is not None:
                # What is said about the work goes to standard error; a person sees both.
                said = ran.stderr + ran.stdout if kind == "sh" else ran.stdout
                assert TIME.sub("TIME", said) == TIME.sub("TIME", wanted), code
