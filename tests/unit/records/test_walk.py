"""The walk, interpreted with and without runs, and compiled: one set of cases for all."""

from __future__ import annotations

import importlib.util
import random
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace.records
from headrace.records import walk as plain
from headrace.records.build import build_batch, put_varint
from headrace.records.header import HEADER_SIZE
from headrace.records.record import Record
from tools import compile as compiler

Walk = Callable[..., tuple[int, int, int, int] | str]


def walk_of(module: ModuleType, runs: bool) -> Walk:
    def walk(section: bytes, count: int, *, last: int | None = None, dense: bool = True, labels_max: int = 100) -> tuple | str:
        last = count - 1 if last is None else last
        found = module.walk(section, 0, len(section), count, last, dense, labels_max, runs)
        # A section is walked where it lies: what stands before and behind must not matter.
        around = module.walk(b"\x02\x80" + section + b"\x00\xff", 2, 2 + len(section), count, last, dense, labels_max, runs)
        assert found == around or (isinstance(found, str) and isinstance(around, str))
        return found

    return walk


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    if not compiler.has_c_compiler():
        pytest.skip("no C compiler: the walk is tested interpreted only")
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        pytest.skip("Python's headers are not installed: the walk is tested interpreted only")
    folder = tmp_path_factory.mktemp("compiled")
    # An extension enters itself among the modules, and asks for a sibling by its full name.
    (extension,) = compiler.compile_modules(folder, ("headrace.records.walk",))
    headrace.records.__path__.append(str(extension.parent))
    try:
        spec = importlib.util.spec_from_file_location("headrace.records.walk", extension)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        headrace.records.__path__.remove(str(extension.parent))
        sys.modules["headrace.records.walk"] = plain
        headrace.records.walk = plain


@pytest.fixture(params=["one by one", "runs", pytest.param("compiled", marks=pytest.mark.slow)])
def walk(request: pytest.FixtureRequest) -> Walk:
    if request.param == "compiled":
        return walk_of(request.getfixturevalue("compiled"), runs=False)
    return walk_of(plain, runs=request.param == "runs")


ONE_BY_ONE, RUNS = walk_of(plain, False), walk_of(plain, True)


def section(records: list[Record]) -> bytes:
    return bytes(build_batch(records)[HEADER_SIZE:])


def varint(number: int) -> bytes:
    out = bytearray()
    put_varint(out, number)
    return bytes(out)


def long(number: int, width: int) -> bytes:
    """A zig-zag varint in more bytes than it needs."""
    number = (number << 1) ^ (number >> 63)
    return bytes((number >> 7 * i & 0x7F) | (0x80 if i < width - 1 else 0) for i in range(width))


def record(
    *,
    timestamp: bytes = b"\0",
    offset: bytes = b"\0",
    key: bytes = b"\2k",
    value: bytes = b"\2v",
    labels: bytes = b"\0",
    length_more: int = 0,
    length: Callable[[int], bytes] = varint,
) -> bytes:
    body = b"\0" + timestamp + offset + key + value + labels
    return length(len(body) + length_more) + body


def test_what_it_learns(walk: Walk) -> None:
    records = [Record(0, 100, b"k", b"v"), Record(1, 150, None, b"v"), Record(2, 150, None, None), Record(3, 90, b"", b"")]
    assert walk(section(records), 4) == (50, 1, -10, 1)
    assert walk(section(records[:1]), 1) == (0, 0, 0, -1)


@pytest.mark.parametrize(
    ("name", "data", "count", "words"),
    [
        ("nothing", b"", 1, "end in the middle"),
        ("one is missing", record(), 2, "record 1: the records end in the middle"),
        ("one too many", record() + record(offset=b"\2"), 1, "bytes follow the last of 1 records"),
        ("bytes behind", record() + b"xx", 1, "2 bytes follow"),
        ("negative length", b"\x01", 1, "length is negative"),
        ("length beyond the end", b"\x7e\0\0\0", 1, "its length is 63, 3 bytes are left"),
        ("length of 2^31-1", long(2**31 - 1, 5) + bytes(10), 1, "its length is 2147483647"),
        ("length in 6 bytes", record(length=lambda n: long(n, 6)), 1, "more than 5 bytes"),
        ("length too small", record(length_more=-1), 1, "record 0: its fields end -1 bytes before"),
        ("length too large", record(length_more=1) + b"\0", 1, "its fields end 1 bytes before"),
        ("length 0", b"\0", 1, "record 0"),
        ("attributes of 0x80", b"\x10\x80" + record()[2:], 1, "attributes are 0x80"),
        ("offset 1 first", record(offset=b"\2"), 1, "offset delta is 1"),
        ("offset twice", record() + record(), 2, "record 1: its offset delta is 0"),
        ("offset -1", record() + record(offset=b"\1"), 2, "offset delta is -1"),
        ("offset of 6 bytes", record(offset=long(0, 6)), 1, "more than 5 bytes"),
        ("timestamp of 11 bytes", record(timestamp=long(0, 11)), 1, "more than 10 bytes"),
        ("timestamp of 70 bits", record(timestamp=b"\xff" * 9 + b"\x7f"), 1, "64 bits"),
        ("key length -2", record(key=b"\3"), 1, "key's length is -2"),
        ("key too long", record(key=b"\x7e"), 1, "its key of 63 bytes does not fit"),
        ("key too long, 5 bytes", record(key=long(2**31 - 1, 5)), 1, "does not fit"),
        ("value length -4", record(value=b"\7"), 1, "value's length is -4"),
        ("value too long", record(value=b"\x7e"), 1, "its value of 63 bytes does not fit"),
        ("value length of 6 bytes", record(value=long(1, 6) + b"v"), 1, "more than 5 bytes"),
        ("labels -1", record(labels=b"\1"), 1, "count of labels is negative"),
        ("labels that are not there", record(labels=b"\6"), 1, "record 0"),
        ("more labels than allowed", record(labels=long(101, 2)), 1, "it has 101 labels, 100 are allowed"),
        ("label without key", record(labels=b"\2\1\2x"), 1, "label's key is null"),
        ("label's key too long", record(labels=b"\2\x7ea\0"), 1, "label's key of 63 bytes"),
        ("label's value too long", record(labels=b"\2\2a\x7e"), 1, "label's value of 63 bytes"),
        ("label's value length -2", record(labels=b"\2\2a\3"), 1, "label's value has the length -2"),
    ],
)
def test_what_is_refused(walk: Walk, name: str, data: bytes, count: int, words: str) -> None:
    outcome = walk(data, count)
    assert isinstance(outcome, str), name
    assert words in outcome, name


@pytest.mark.parametrize(
    "data",
    [
        record(
            length=lambda n: long(n, 5), timestamp=long(0, 10), offset=long(0, 5), key=long(1, 5) + b"k", value=long(1, 3) + b"v"
        ),
        record(labels=long(0, 5)),
        record(labels=b"\4\2a\1\0\0"),  # a null value; an empty key and an empty value
        record(key=b"\1", value=b"\1"),
        record(labels=long(100, 2) + b"\0\0" * 100),
    ],
)
def test_what_passes(walk: Walk, data: bytes) -> None:
    assert not isinstance(walk(data, 1), str)


def test_timestamps_to_the_edge_of_64_bits(walk: Walk) -> None:
    data = record(timestamp=varint(2**63 - 1)) + record(timestamp=b"\xff" * 9 + b"\x01", offset=b"\2")
    assert walk(data, 2) == (2**63 - 1, 0, -(2**63), -1)


def test_gaps_are_for_the_cleaner_only(walk: Walk) -> None:
    data = record(offset=b"\4") + record(offset=varint(500))
    assert "offset delta is 2" in walk(data, 2)
    assert walk(data, 2, dense=False, last=500) == (0, 0, 0, -1)
    assert walk(data, 2, dense=False, last=600) == (0, 0, 0, -1)
    assert "the batch's last is 499" in walk(data, 2, dense=False, last=499)
    assert "the one before has 500" in walk(record(offset=varint(500)) + record(offset=varint(500)), 2, dense=False, last=500)
    assert walk(b"", 0, dense=False, last=10) == (-(1 << 70), 0, 1 << 70, -1)


def test_every_cut_is_refused(walk: Walk) -> None:
    data = section([Record(i, i * 50, b"k%d" % i, b"v" * 70 * i, [(b"a", b"b")] * (i % 2)) for i in range(5)])
    for end in range(len(data)):
        assert isinstance(walk(data[:end], 5), str), end


SHAPES = {
    "alike": lambda i: Record(i, 1_000, None, b"v" * 100),
    "with a key": lambda i: Record(i, 1_000 + i // 40, b"key-%08d" % i, b"v" * 100),
    "with labels": lambda i: Record(i, 1_000 + i // 40, b"k", b"v" * 30, [(b"trace", b"%016d" % i), (b"none", None), (b"", b"")]),
    "earlier and earlier": lambda i: Record(i, 1_000_000 - i, b"k", None),
    "wide timestamps": lambda i: Record(i, i * 5_000, b"k", b"v"),
    "zigzag timestamps": lambda i: Record(i, 1_000_000 + (i % 50) * (-1) ** i, b"k", b"v"),
    "one odd one": lambda i: Record(i, 1_000, b"k", b"v" * (100 + (i == 777))),
    "two in turn": lambda i: Record(i, 1_000, b"k" * (1 + i % 2), b"v" * (2 - i % 2)),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [1, 2, 17, 18, 64, 65, 80, 81, 1_000, 8_192, 8_193, 8_209, 20_000])
def test_runs_change_nothing(walk: Walk, shape: str, count: int) -> None:
    if count > 1_000 and shape not in ("alike", "wide timestamps"):
        count %= 8_000
    records = [SHAPES[shape](i) for i in range(count)]
    times = [r.timestamp - records[0].timestamp for r in records]
    keyless = next((i for i, r in enumerate(records) if r.key is None), -1)
    assert walk(section(records), count) == (max(times), times.index(max(times)), min(times), keyless)


@pytest.mark.parametrize("shape", SHAPES)
def test_runs_see_every_wrong_byte_that_the_plain_walk_sees(shape: str) -> None:
    """Runs are looked at by columns: each byte of a record in their middle, made wrong, must lead to the same words."""
    records = [SHAPES[shape](i) for i in range(200)]
    data = section(records)
    start = len(section(records[:120]))
    for at in range(start, start + len(section(records[:121])) - start + 3):
        for wrong in (0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF, data[at] ^ 1, data[at] ^ 2, data[at] ^ 0x80):
            broken = data[:at] + bytes([wrong]) + data[at + 1 :]
            assert RUNS(broken, 200) == ONE_BY_ONE(broken, 200), (at - start, wrong)


def test_runs_are_taken_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    whole = plain._walk_run

    def count_run(*arguments: object) -> tuple[int, int, int, int]:
        found = whole(*arguments)  # type: ignore[arg-type]
        taken.append(found[0])
        return found

    monkeypatch.setattr(plain, "_walk_run", count_run)
    RUNS(section([SHAPES["alike"](i) for i in range(20_000)]), 20_000)
    # The helper walks twice. Offsets change their width at 64 and 8,192, and their third byte at 16,384: a few records each time.
    assert sum(taken) > 2 * (20_000 - 20)


def test_runs_see_wrong_offsets_of_three_bytes() -> None:
    good = section([SHAPES["alike"](i) for i in range(9_000)])
    size = len(good) - len(section([SHAPES["alike"](i) for i in range(8_999)]))
    at = len(good) - 300 * size + 4  # the offset delta of record 8,700, behind length, attributes and timestamp
    assert good[at : at + 3] == varint(8_700)
    for wrong in (varint(8_701), varint(8_700 + 64), varint(8_700 + 8_192), varint(-8_701)):
        broken = good[:at] + wrong + good[at + 3 :]
        assert "record 8700: its offset delta" in RUNS(broken, 9_000)
        assert RUNS(broken, 9_000) == ONE_BY_ONE(broken, 9_000)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_mutated_sections(seed: int) -> None:
    rnd = random.Random(seed)
    records = [SHAPES[rnd.choice(list(SHAPES))](i) if rnd.random() < 0.2 else SHAPES["with labels"](i) for i in range(60)]
    data = bytearray(section(records))
    for _ in range(rnd.randrange(1, 4)):
        at = rnd.randrange(len(data))
        if rnd.random() < 0.7:
            data[at] = rnd.choice((0, 1, 0x7F, 0x80, 0xFF, rnd.randrange(256)))
        else:
            del data[at : at + rnd.randrange(1, 5)]
    assert RUNS(bytes(data), 60) == ONE_BY_ONE(bytes(data), 60)


@pytest.mark.slow
def test_the_compiled_walk_says_the_same(compiled: ModuleType) -> None:
    rnd = random.Random(5)
    walk = walk_of(compiled, False)
    whole = section([Record(i, i * 7, b"key", b"v" * (i % 90), [(b"a", b"b")] * (i % 3)) for i in range(100)])
    for _ in range(3_000):
        data = bytearray(whole)
        for _ in range(rnd.randrange(0, 3)):
            data[rnd.randrange(len(data))] = rnd.choice((0, 1, 0x7F, 0x80, 0xFF, rnd.randrange(256)))
        data = data[: rnd.choice((len(data), rnd.randrange(len(data))))]
        assert walk(bytes(data), 100) == ONE_BY_ONE(bytes(data), 100)


@pytest.mark.slow
def test_the_compiled_walk_is_compiled_and_runs_are_right_there_too(compiled: ModuleType) -> None:
    assert type(compiled.walk) is not type(plain.walk)
    for make in SHAPES.values():
        data = section([make(i) for i in range(300)])
        assert walk_of(compiled, True)(data, 300) == ONE_BY_ONE(data, 300)
