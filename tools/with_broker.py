"""Start a broker on free ports with a folder of its own, run a command against it, stop the broker.

    python tools/with_broker.py [--set name=value ...] -- COMMAND ... {kafka} ...

`{kafka}` and `{http}` in the command become the broker's addresses. The exit status is the command's; a broker that died
meanwhile makes it 1.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile


def main() -> int:
    words = sys.argv[1:]
    cut = words.index("--")
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", action="append", default=[], metavar="name=value")
    parser.add_argument("--keep-log", metavar="FILE", help="where the broker's log goes (default: shown when it dies)")
    options = parser.parse_args(words[:cut])
    flags = [f"--{item}" for item in options.set]
    with (
        tempfile.TemporaryDirectory(prefix="headrace-") as folder,
        open(options.keep_log or os.path.join(folder, "server.log"), "w+b") as log,
    ):
        server = subprocess.Popen(
            [
                os.path.join(os.path.dirname(sys.executable), "headrace"),
                "serve",
                "--kafka=127.0.0.1:0",
                "--http=127.0.0.1:0",
                f"--data={folder}/data",
                *flags,
            ],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        assert server.stdout is not None
        facts: dict[str, str] = {}
        for line in server.stdout:
            if line.startswith("ready "):
                facts = dict(word.split("=", 1) for word in line.split()[1:])
                break
        try:
            if not facts:
                return 1
            command = [word.format(**facts) if word in ("{kafka}", "{http}") else word for word in words[cut + 1 :]]
            status = subprocess.run(command, check=False).returncode
            if server.poll() is not None:
                print(f"the broker died with status {server.returncode}", file=sys.stderr)
                return 1
            return status
        finally:
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
            if server.returncode not in (0, None) and not options.keep_log:
                log.seek(0)
                sys.stderr.write(log.read().decode(errors="replace")[-4000:])


if __name__ == "__main__":
    sys.exit(main())
