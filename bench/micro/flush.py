"""How to flush many dirty partitions: `python -m bench.micro.flush [FOLDER]`.

Each round appends 16 kB to each of 1, 10 and 100 files and makes all of them durable: one thread after another file, four
threads, eight, or one `syncfs` for the whole file system. Prints the median time of a round. Only ratios of one run count.
"""

from __future__ import annotations

import ctypes
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

ROUNDS = 30
SIZE = 16 * 1024


def main() -> None:
    base = sys.argv[1] if len(sys.argv) > 1 else None
    libc = ctypes.CDLL(None, use_errno=True)
    pools = {threads: ThreadPoolExecutor(threads) for threads in (1, 4, 8)}
    block = os.urandom(SIZE)

    def by_threads(threads: int) -> Callable[[list[int]], None]:
        def flush(files: list[int]) -> None:
            share = -(-len(files) // threads)
            parts = [files[start : start + share] for start in range(0, len(files), share)]
            list(pools[threads].map(lambda part: [os.fdatasync(fd) for fd in part], parts))

        return flush

    def whole(files: list[int]) -> None:
        pools[1].submit(lambda: libc.syncfs(files[0])).result()

    ways: dict[str, Callable[[list[int]], None]] = {
        "1 thread": by_threads(1),
        "4 threads": by_threads(4),
        "8 threads": by_threads(8),
        "syncfs": whole,
    }
    print(f"{'files':>6}" + "".join(f"{name:>12}" for name in ways) + "   ms a round, median")
    with tempfile.TemporaryDirectory(prefix="headrace-flush-", dir=base) as folder:
        for count in (1, 10, 100):
            files = [os.open(f"{folder}/{count}-{i}", os.O_RDWR | os.O_CREAT) for i in range(count)]
            times: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(ROUNDS):
                for name, flush in ways.items():  # in turn, so that a noisy minute hits all
                    for fd in files:
                        os.lseek(fd, 0, os.SEEK_END)
                        os.write(fd, block)
                    began = time.perf_counter()
                    flush(files)
                    times[name].append(time.perf_counter() - began)
            print(f"{count:>6}" + "".join(f"{statistics.median(times[name]) * 1000:>12.2f}" for name in ways))
            for fd in files:
                os.close(fd)


if __name__ == "__main__":
    main()
