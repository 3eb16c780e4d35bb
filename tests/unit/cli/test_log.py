"""`headrace log`: a sound log passes, and every kind of damage is found at its place. Real files: reading them is the command."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from headrace.records.build import build_batch
from headrace.records.record import Record
from headrace.records.stamp import seal, stamp
from tests.support.fake_kafka import run

T0 = 1_795_000_000_000


def batch(first: int, count: int, **more) -> bytes:
    records = [Record(0, T0 + first + n, b"k%d" % n, b"v" * 50, [(b"a", b"1")]) for n in range(count)]
    made = build_batch(records, **more)
    stamp(memoryview(made), first, 0)
    return bytes(made)


@pytest.fixture
def log(tmp_path) -> Path:
    """Two segments of a partition: offsets 0 to 8 and 9 to 11, with indexes as a broker writes them."""
    folder = tmp_path / "orders-0"
    folder.mkdir()
    batches = [batch(0, 4), batch(4, 3, codec=4), batch(7, 2, producer_id=5, producer_epoch=0, base_sequence=0)]
    (folder / f"{0:020}.log").write_bytes(b"".join(batches))
    second, third = len(batches[0]), len(batches[0]) + len(batches[1])
    (folder / f"{0:020}.index").write_bytes(struct.pack(">iiii", 6, second, 8, third))
    (folder / f"{0:020}.timeindex").write_bytes(struct.pack(">qiqi", T0 + 6, 6, T0 + 8, 8))
    (folder / f"{9:020}.log").write_bytes(batch(9, 3))
    (folder / f"{9:020}.index").write_bytes(bytes(80))  # Kafka's active index: filled up with zeros
    (folder / f"{9:020}.timeindex").write_bytes(bytes(120))
    return folder


def verify(folder: Path) -> tuple[int, dict]:
    ran = run(["log", "verify", str(folder), "-o", "json"])
    return ran.status, json.loads(ran.out)


def spoil(file: Path, at: int, data: bytes) -> None:
    content = bytearray(file.read_bytes())
    content[at : at + len(data)] = data
    file.write_bytes(content)


def test_a_sound_log_passes(log):
    status, found = verify(log)
    assert (status, found["findings"]) == (0, [])
    assert (found["segments"], found["batches"], found["records"]) == (2, 4, 12)


def test_the_data_folder_finds_its_partitions(log):
    assert verify(log.parent)[1]["segments"] == 2


def test_nothing_is_changed_and_nothing_needs_to_be_writable(log):
    before = {path.name: path.read_bytes() for path in log.iterdir()}
    for path in log.iterdir():
        path.chmod(0o400)
    assert verify(log)[0] == 0
    assert {path.name: path.read_bytes() for path in log.iterdir()} == before


def test_a_changed_byte_is_found_at_its_batch(log):
    second = len(batch(0, 4))
    spoil(log / f"{0:020}.log", second + 70, b"\x00\xff")
    status, found = verify(log)
    assert status == 4
    assert (found["findings"][0]["position"], found["findings"][0]["offset"]) == (second, 4)
    assert "CRC" in found["findings"][0]["what"]
    assert found["batches"] == 3, "what lies behind it is checked, too"


def test_records_that_do_not_chain_are_found_although_the_checksum_fits(log):
    made = bytearray(batch(9, 3))
    made[61] += 2  # the first record's length
    seal(made)
    (log / f"{9:020}.log").write_bytes(made)
    status, found = verify(log)
    assert status == 4 and found["findings"][0]["offset"] == 9


def test_a_torn_tail_is_found(log):
    file = log / f"{9:020}.log"
    file.write_bytes(file.read_bytes() + batch(12, 1)[:40])
    status, found = verify(log)
    assert status == 4 and found["findings"][0]["offset"] == 12


def test_a_missing_segment_is_a_hole(log):
    (log / f"{9:020}.log").rename(log / f"{19:020}.log")
    status, found = verify(log)
    assert status == 4
    assert any("the one before it ends at 9" in finding["what"] for finding in found["findings"])


@pytest.mark.parametrize(("suffix", "at"), [("index", 7), ("index", 3), ("timeindex", 7), ("timeindex", 11)])
def test_an_index_entry_that_lies_is_found(log, suffix, at):
    spoil(log / f"{0:020}.{suffix}", at, b"\x01")
    status, found = verify(log)
    assert status == 4 and found["findings"][0]["file"].endswith(suffix)


def test_a_missing_index_is_no_damage(log):
    (log / f"{0:020}.index").unlink()
    assert verify(log)[0] == 0


def test_a_rotten_folder_is_not_told_without_end(log):
    (log / f"{0:020}.index").write_bytes(struct.pack(">ii", 1, 3) * 500)
    assert len(verify(log)[1]["findings"]) == 20 and verify(log)[1]["more"] == 480


def test_people_get_a_summary_and_what_to_do(log):
    ran = run(["log", "verify", str(log)])
    assert ran.out == f"2 segments, {sum(p.stat().st_size for p in log.glob('*.log'))} bytes, 4 batches, 12 records checked\n"
    spoil(log / f"{0:020}.log", 70, b"\xff\xff")
    ran = run(["log", "verify", str(log)])
    assert ran.status == 4 and "error log-damaged" in ran.err and "keep a copy" in ran.err


def test_dump_shows_batches(log):
    ran = run(["log", "dump", str(log), "-o", "json"])
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [(row["first"], row["last"], row["codec"]) for row in rows] == [
        (0, 3, "none"),
        (4, 6, "zstd"),
        (7, 8, "none"),
        (9, 11, "none"),
    ]
    assert rows[2]["producer"] == "5/0 from 0"


def test_dump_shows_records_up_to_a_bound(log):
    ran = run(["log", "dump", str(log / f"{0:020}.log"), "--records", "--max", "2", "-o", "json"])
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["offset"] for row in rows if "key" in row] == [0, 1, 2, 3, 4, 5, 6]
    assert rows[1]["labels"] == {"a": "1"}


def test_dump_goes_on_behind_damage_and_says_so(log):
    spoil(log / f"{0:020}.log", 70, b"\xff\xff")
    ran = run(["log", "dump", str(log)])
    assert ran.status == 4 and "position 0 to" in ran.err and "zstd" in ran.out


@pytest.mark.parametrize("name", ["none", "empty", "notes.log"])
def test_what_is_no_log_is_named(tmp_path, name):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.log").write_text("x")
    ran = run(["log", "verify", str(tmp_path / name)])
    assert ran.status == 1 and "error not-a-log" in ran.err
