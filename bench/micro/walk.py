"""What a produced batch costs before it is stored: header and checksum, the walk of its records, and inflating.

    python -m bench.micro.walk

Best of seven, in microseconds a batch. The walk is shown record by record, with runs (as it runs interpreted), and compiled by
mypyc (into a temporary folder; left out where there is no C compiler).
"""

from __future__ import annotations

import importlib.util
import platform
import random
import sys
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path

import headrace.records
from headrace.base.errors import Refused
from headrace.base.limits import INFLATED_SIZE_MAX, RECORD_LABELS_MAX
from headrace.records import walk as plain
from headrace.records.build import build_batch
from headrace.records.compression import Codec
from headrace.records.header import HEADER_SIZE, BatchHeader, check_batch, read_header
from headrace.records.record import Record, read_records
from headrace.records.stamp import stamp
from headrace.records.validation import walk_records
from tools.compile import compile_modules, has_c_compiler

Walk = Callable[..., object]
_chance = random.Random(1)

SHAPES: dict[str, Callable[[int], Record]] = {
    "100 B, no key": lambda i: Record(i, 1_000 + i // 40, None, b"v" * 100),
    "100 B, key": lambda i: Record(i, 1_000 + i // 40, b"key-%08d" % i, b"v" * 100),
    "100 B, key, 2 labels": lambda i: Record(
        i, 1_000 + i // 40, b"key-%08d" % i, b"v" * 100, [(b"trace", b"x" * 16), (b"b", None)]
    ),
    "60 to 140 B, key": lambda i: Record(
        i, 1_000 + i // 4, b"key-%d" % _chance.randrange(10**6), b"v" * _chance.randrange(60, 140)
    ),
}


def best_us(work: Callable[[], object], count: int) -> float:
    work()
    return min(timeit.repeat(work, number=count, repeat=7)) / count * 1e6


def compiled_walk(folder: str) -> Walk | None:
    if not has_c_compiler():
        return None
    (extension,) = compile_modules(Path(folder), ("headrace.records.walk",))
    headrace.records.__path__.append(str(extension.parent))
    spec = importlib.util.spec_from_file_location("headrace.records.walk", extension)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["headrace.records.walk"] = plain  # the extension has entered itself
    return module.walk  # type: ignore[no-any-return]


def measure_header() -> None:
    batch = build_batch([SHAPES["100 B, no key"](i) for i in range(149)])
    data = memoryview(batch)
    assert isinstance(check_batch(data, size_max=1 << 20), BatchHeader)
    print(f"one batch of {len(batch)} B")
    print(f"  read_header             {best_us(lambda: read_header(data), 20_000):8.2f}")
    print(f"  check_batch (with CRC)  {best_us(lambda: check_batch(data, size_max=1 << 20), 20_000):8.2f}")
    print(f"  stamp                   {best_us(lambda: stamp(data, 5, 1), 20_000):8.2f}")


def measure_walk(compiled: Walk | None) -> None:
    print(f"\n{'walk':24}{'records':>8}{'bytes':>10}{'one by one':>12}{'with runs':>12}{'compiled':>12}")
    for name, shape in SHAPES.items():
        for count in (150, 2_000):
            data = bytes(build_batch([shape(i) for i in range(count)]))
            rest = (data, HEADER_SIZE, len(data), count, count - 1, True, RECORD_LABELS_MAX)
            turns = max(3, 30_000 // count)
            figures = [best_us(lambda r=rest, x=runs: plain.walk(*r, x), turns) for runs in (False, True)]  # type: ignore[misc,call-arg]
            if compiled is not None:
                figures.append(best_us(lambda r=rest: compiled(*r, False), turns * 10))  # type: ignore[misc]
            print(f"{name:24}{count:8}{len(data):10}" + "".join(f"{figure:12.1f}" for figure in figures))


def measure_codecs() -> None:
    print(f"\n{'walk_records, 150 x 100 B':28}{'bytes':>8}{'us':>10}{'read_records':>14}{'build_batch':>13}")
    records = [SHAPES["100 B, key"](i) for i in range(150)]
    for codec in Codec:
        batch = build_batch(records, codec=codec)
        header = read_header(batch)
        assert not isinstance(walk_records(batch, header), Refused)
        walked = best_us(lambda b=batch, h=header: walk_records(b, h, inflated_size_max=INFLATED_SIZE_MAX), 500)  # type: ignore[misc]
        read = best_us(lambda b=batch: list(read_records(b)), 50)  # type: ignore[misc]
        built = best_us(lambda c=codec: build_batch(records, codec=c), 50)  # type: ignore[misc]
        print(f"{codec.name.lower():28}{len(batch):8}{walked:10.1f}{read:14.1f}{built:13.1f}")


def main() -> None:
    print(f"Python {platform.python_version()} ({platform.python_compiler()})\n")
    with tempfile.TemporaryDirectory(prefix="headrace-walk-") as folder:
        measure_header()
        measure_walk(compiled_walk(folder))
        measure_codecs()


if __name__ == "__main__":
    main()
