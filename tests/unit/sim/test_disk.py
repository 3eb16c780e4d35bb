"""The simulated disk keeps the contract of real files, keeps what was synced, and loses what was not."""

from __future__ import annotations

import errno
import random

import pytest

from headrace.base.files import Files
from sim.disk import PAGE, NameModel, SimDisk
from sim.faults import DiskFaults
from sim.loop import Crashed
from tests.support.files_contract import FilesContract


class TestStrict(FilesContract):
    @pytest.fixture
    def files(self) -> Files:
        return SimDisk(random.Random(1)).mount()


class TestOrdered(FilesContract):
    @pytest.fixture
    def files(self) -> Files:
        return SimDisk(random.Random(1), names=NameModel.ORDERED).mount()


MODELS = pytest.mark.parametrize("names", list(NameModel))


@MODELS
def test_what_was_synced_survives_every_crash(names):
    for seed in range(200):
        disk = SimDisk(random.Random(seed), DiskFaults(rot_chance=0.5), names=names)
        files = disk.mount()
        files.make_folder("t")
        file = files.open("t/log", create=True)
        data = random.Random(seed).randbytes(10_000)
        file.write(0, [data])
        file.sync()
        files.sync_folder("t")
        files.sync_folder("")
        file.write(10_000, [b"x" * 9_000])
        disk.crash()
        after = disk.mount().open("t/log").read(0, 20_000)
        assert after[:10_000] == data
        assert len(after) <= 19_000


def outcomes(names, story, look, seeds=300):
    """All the ways in which a crash after `story` may look."""
    seen = set()
    for seed in range(seeds):
        disk = SimDisk(random.Random(seed), names=names)
        files = disk.mount()
        story(files)
        disk.crash()
        seen.add(look(disk.mount()))
    return seen


@MODELS
def test_unsynced_bytes_are_kept_lost_torn_or_zero(names):
    def story(files):
        file = files.open("x", create=True)
        file.sync()
        files.sync_folder("")
        file.write(0, [b"a" * PAGE, b"b" * PAGE, b"c" * PAGE])

    seen = outcomes(names, story, lambda files: files.open("x").read(0, 4 * PAGE))
    assert b"" in seen
    assert b"a" * PAGE + b"b" * PAGE + b"c" * PAGE in seen
    assert b"a" * PAGE + b"b" * PAGE in seen
    assert any(len(data) % PAGE for data in seen), "torn within a page"
    assert bytes(PAGE) + b"b" * PAGE in seen, "a later page came without the earlier one"
    assert bytes(3 * PAGE) in seen, "the size came without the bytes"


@MODELS
def test_an_unsynced_truncate_may_come_back(names):
    def story(files):
        file = files.open("x", create=True)
        file.write(0, [b"a" * 100])
        file.sync()
        files.sync_folder("")
        file.truncate(10)

    assert outcomes(names, story, lambda files: files.open("x").size()) == {10, 100}


def test_a_synced_truncate_leaves_nothing_of_the_old_bytes():
    disk = SimDisk(random.Random(1))
    files = disk.mount()
    file = files.open("x", create=True)
    files.sync_folder("")
    file.write(0, [b"a" * 3 * PAGE])
    file.sync()
    file.truncate(PAGE + 10)
    file.truncate(2 * PAGE + 10)
    file.sync()
    disk.crash()
    assert disk.mount().open("x").read(0, 4 * PAGE) == b"a" * (PAGE + 10) + bytes(PAGE)


@MODELS
def test_unsynced_names_come_and_go_in_order(names):
    def story(files):
        files.open("one", create=True)
        files.open("two", create=True)
        files.rename("one", "three")

    seen = outcomes(names, story, lambda files: tuple(files.list("")))
    assert seen == {(), ("one",), ("one", "two"), ("three", "two")}


def test_strict_folders_are_independent_and_ordered_ones_are_not():
    def story(files):
        files.make_folder("a")
        files.make_folder("b")
        files.sync_folder("")
        files.open("a/x", create=True)
        files.open("b/y", create=True)

    def look(files):
        return files.exists("a/x"), files.exists("b/y")

    both = {(False, False), (True, False), (True, True)}
    assert outcomes(NameModel.STRICT, story, look) == both | {(False, True)}
    assert outcomes(NameModel.ORDERED, story, look) == both


@MODELS
def test_a_rename_over_a_file_is_atomic(names):
    def story(files):
        old = files.open("x", create=True)
        old.write(0, [b"old"])
        old.sync()
        files.sync_folder("")
        new = files.open("x.new", create=True)
        new.write(0, [b"new"])
        new.sync()
        files.rename("x.new", "x")

    assert outcomes(names, story, lambda files: files.open("x").read(0, 9)) == {b"old", b"new"}


@MODELS
def test_a_renamed_folder_takes_its_files_along(names):
    def story(files):
        files.make_folder("t")
        files.open("t/x", create=True)
        files.sync_folder("t")
        files.sync_folder("")
        files.rename("t", "t.gone")

    def look(files):
        return tuple(files.list("")), files.exists("t/x") or files.exists("t.gone/x")

    assert outcomes(names, story, look) == {(("t",), True), (("t.gone",), True)}


def test_a_file_sync_does_not_keep_the_name_in_the_strict_model():
    def story(files):
        file = files.open("x", create=True)
        file.write(0, [b"abc"])
        file.sync()

    assert outcomes(NameModel.STRICT, story, lambda files: files.exists("x")) == {True, False}
    assert outcomes(NameModel.ORDERED, story, lambda files: files.exists("x")) == {True}


def test_a_failed_sync_cannot_be_repeated_into_trust():
    lost = 0
    for seed in range(100):
        disk = SimDisk(random.Random(seed), DiskFaults(sync_error_chance=1.0))
        file = disk.mount().open("x", create=True)
        disk.mount().sync_folder("")
        file.write(0, [b"a" * PAGE * 3])
        with pytest.raises(OSError):
            file.sync()
        disk.faults.sync_error_chance = 0.0
        file.sync()
        assert file.read(0, 4 * PAGE) == b"a" * PAGE * 3, "until the crash it looks well"
        disk.crash()
        lost += disk.mount().open("x").read(0, 4 * PAGE) != b"a" * PAGE * 3
    assert lost > 50


def test_dropping_the_cache_shows_what_a_failed_sync_has_lost():
    shown = 0
    for seed in range(100):
        disk = SimDisk(random.Random(seed), DiskFaults(sync_error_chance=1.0))
        file = disk.mount().open("x", create=True)
        disk.mount().sync_folder("")
        file.write(0, [b"a" * PAGE * 3])
        with pytest.raises(OSError):
            file.sync()
        disk.faults.sync_error_chance = 0.0
        file.sync()
        file.drop_cached()
        seen = file.read(0, 4 * PAGE)
        disk.crash()
        assert disk.mount().open("x").read(0, 4 * PAGE).ljust(3 * PAGE, b"\0") == seen
        shown += seen != b"a" * PAGE * 3
    assert shown > 50


def test_a_full_disk_says_so_and_may_keep_a_part():
    disk = SimDisk(random.Random(1), DiskFaults(capacity_bytes=1000))
    files = disk.mount()
    file = files.open("x", create=True)
    file.write(0, [b"a" * 900])
    assert files.free_bytes() == 100
    with pytest.raises(OSError) as refused:
        file.write(900, [b"b" * 200])
    assert refused.value.errno == errno.ENOSPC
    assert file.size() == 1000
    file.write(0, [b"c" * 1000])  # what replaces takes no space
    file.truncate(0)
    file.write(0, [b"d" * 1000])


def test_write_and_read_errors():
    disk = SimDisk(random.Random(1), DiskFaults(write_error_chance=1.0, read_error_chance=1.0))
    file = disk.mount().open("x", create=True)
    with pytest.raises(OSError):
        file.write(0, [b"abc"])
    with pytest.raises(OSError):
        file.read(0, 1)


def test_after_a_crash_reads_are_cold_until_someone_waited():
    disk = SimDisk(random.Random(1))
    files = disk.mount()
    file = files.open("x", create=True)
    file.write(0, [b"abc"])
    file.sync()
    files.sync_folder("")
    assert file.read_cached(0, 3) == b"abc"
    disk.crash()
    file = disk.mount().open("x")
    assert not file.is_cached(0, 3)
    assert file.read_cached(0, 3) is None
    file.read_ahead(0, 3)
    assert file.read_cached(0, 3) == b"abc"


def test_the_planned_crash_strikes_in_the_middle_and_the_dead_mount_swallows_the_rest():
    disk = SimDisk(random.Random(1))
    files = disk.mount()
    file = files.open("x", create=True)
    files.crash_after = 2
    file.write(0, [b"a"])
    with pytest.raises(Crashed):
        file.write(1, [b"b"])
    file.write(1, [b"c"])
    file.sync()
    files.remove("x")
    assert disk.mount().open("x").read(0, 9) == b"a"


def test_a_disk_that_lies_keeps_nothing_for_sure():
    lost = 0
    for seed in range(50):
        disk = SimDisk(random.Random(seed), DiskFaults(lies_about_sync=True))
        files = disk.mount()
        file = files.open("x", create=True)
        file.write(0, [b"abc"])
        file.sync()
        files.sync_folder("")
        disk.crash()
        lost += not disk.mount().exists("x")
    assert lost


def test_one_seed_one_crash():
    def run(seed):
        disk = SimDisk(random.Random(seed), DiskFaults(rot_chance=0.5))
        files = disk.mount()
        for number in range(20):
            files.open(f"f{number}", create=True).write(0, [bytes([number]) * 5_000 * number])
        disk.crash()
        return [(name, disk.mount().open(name).read(0, 100_000)) for name in disk.mount().list("")]

    assert run(7) == run(7)
    assert run(7) != run(8)
