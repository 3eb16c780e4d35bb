"""Run one outside suite and hold its result against docs/compatibility.md.

    python tools/ci_suite.py NAME [options of the suite]

Tests that Apache Kafka passes and Headrace does not stand in docs/compatibility.md, one table row each, with the reason:
`| SUITE | TEST | reason |`. One that fails and is not listed fails this run; one that is listed and passes fails it too,
so that the page stays true.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "compatibility.md"


def listed(suite: str, page: str) -> set[str]:
    return set(re.findall(rf"^\| {re.escape(suite)} \| `([^`]+)` \| .+ \|$", page, re.M))


def main() -> int:
    suite, options = sys.argv[1], sys.argv[2:]
    run = subprocess.Popen([str(ROOT / "tools" / "suite"), suite, *options], stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT)
    assert run.stdout is not None
    missing: set[str] = set()
    last = ""
    for line in run.stdout:
        print(line, end="", flush=True)
        last = line.strip() or last
        if found := re.match(r"\s+only Kafka passes: (.+) \([\w ]+\)$", line):
            missing.add(found[1])
    run.wait()
    if not re.match(rf"{re.escape(suite)}: \d+ of \d+ passed$", last):
        print(f"{suite} did not run to its end", file=sys.stderr)
        return 1
    known = listed(suite, PAGE.read_text())
    for test in sorted(missing - known):
        print(f"{suite}: {test} fails here, passes on Kafka, and docs/compatibility.md does not say why", file=sys.stderr)
    for test in sorted(known - missing):
        print(f"{suite}: {test} passes now: take it out of docs/compatibility.md", file=sys.stderr)
    return 1 if missing != known else 0


if __name__ == "__main__":
    sys.exit(main())
