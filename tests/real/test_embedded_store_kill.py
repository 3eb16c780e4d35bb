"""kill -9 of a process that writes to the embedded store: whatever it was told is durable must be there afterwards."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from headrace.cluster.stores.embedded import EmbeddedStore, open_embedded

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = 5

WRITER = """
import asyncio, os, sys
from headrace.cluster.store import Put
from headrace.cluster.stores.embedded import open_embedded

class World:
    def monotonic_ms(self): return 0.0
    def offload(self, work): return asyncio.get_running_loop().run_in_executor(None, work)

async def write(store, name):
    number = int((await store.get(name)).value) if await store.get(name) else 0
    while True:
        number += 1
        outcome = await store.txn([], [Put(name, b"%d" % number), Put(name + "/twin", b"%d" % number)])
        os.write(1, b"%s %d %d\\n" % (name.encode(), number, outcome.revision))

async def main():
    store = await open_embedded(sys.argv[1], World())
    await asyncio.gather(*(write(store, f"/{i}") for i in range(4)))

asyncio.run(main())
"""


class World:
    def monotonic_ms(self) -> float:
        return 0.0

    def offload(self, work):
        return asyncio.get_running_loop().run_in_executor(None, work)


def test_what_was_answered_survives_kill_9(tmp_path):
    path = str(tmp_path / "cluster.db")
    told: dict[str, int] = {}
    revision = 0
    for round_number in range(ROUNDS):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
        )
        assert writer.stdout is not None
        for _ in range(50 + 37 * round_number):
            assert writer.stdout.readline(), "the writer ended by itself"
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate(timeout=10)
        # The last whole lines in the pipe count too: they were answered before the kill.
        for line in rest.split(b"\n")[:-1]:
            name, number, at = line.split()
            told[name.decode()] = int(number)
            revision = max(revision, int(at))
        stored = asyncio.run(everything(path))
        assert stored["revision"] >= revision
        for name, number in told.items():
            assert stored[name] >= number, f"{name}: told {number}, kept {stored[name]}"
            assert stored[name] == stored[name + "/twin"], "a transaction was kept by halves"


async def everything(path: str) -> dict[str, int]:
    store = await open_embedded(path, World())
    assert isinstance(store, EmbeddedStore), store
    found = await store.range("/")
    await store.close()
    return {"revision": found.revision, **{entry.key: int(entry.value) for entry in found.entries}}
