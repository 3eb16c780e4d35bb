"""What a flush syncs, and in which order: the order is the promise."""

from __future__ import annotations

import pytest

from headrace.log.flush import decode_start, encode_start, replace_file
from tests.unit.log.batches import FOLDER, fill, flush, new_log, put
from tests.unit.log.memory_files import MemoryFile, MemoryFiles


class Witness(MemoryFiles):
    """Files that write down what is done to the disk."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def open(self, path: str, *, create: bool = False) -> MemoryFile:
        file = super().open(path, create=create)
        file.sync = lambda: (MemoryFile.sync(file), self.tell("sync", file.path))[0]  # type: ignore[method-assign]
        return file

    def tell(self, what: str, path: str) -> None:
        self.told.append(f"{what} {path.removeprefix(FOLDER + '/').lstrip('0')}")

    def rename(self, old: str, new: str) -> None:
        super().rename(old, new)
        self.tell("rename", new)

    def sync_folder(self, path: str) -> None:
        super().sync_folder(path)
        self.told.append(f"folder {path}")


def test_the_order_of_a_flush_with_a_roll() -> None:
    files = Witness()
    log = new_log(files)
    flush(log)
    assert files.told == [f"folder {FOLDER}", "folder "]
    files.told.clear()
    fill(log, 8, epoch=3)
    flush(log)
    assert files.told == [
        *("sync .log", "sync 5.log", f"folder {FOLDER}"),
        *("sync .index", "sync .timeindex"),
        *("sync leader-epoch-checkpoint.tmp", "rename leader-epoch-checkpoint"),
        *(f"folder {FOLDER}", "sync 5.snapshot.tmp", "rename 5.snapshot"),
    ]
    files.told.clear()
    fill(log, 1, epoch=3)
    flush(log)
    assert files.told == ["sync 5.log"]


def test_one_plan_at_a_time_and_none_when_there_is_nothing_to_do() -> None:
    log = new_log()
    flush(log)
    assert log.flush_plan() is None
    put(log)
    plan = log.flush_plan()
    assert plan is not None and log.flush_plan() is None
    put(log)
    plan.run()
    log.flushed(plan)
    assert (log.flushed_offset, log.end_offset, log.dirty) == (1, 2, plan.size)
    assert log.flush_plan() is not None


@pytest.mark.parametrize("kind", ["create", "rename"])
def test_trouble_with_the_housekeeping_takes_nothing_back(kind: str) -> None:
    files = MemoryFiles()
    log = new_log(files)
    flush(log)
    fill(log, 8)
    plan = log.flush_plan()
    assert plan is not None
    files.fail_next[kind] = OSError(28, "full")
    plan.run()
    log.flushed(plan)
    assert plan.trouble is not None and log.flushed_offset == 8 and not log.segments[0].settled
    assert log.flush_plan() is None, "it is not tried in a loop"
    put(log)
    flush(log)
    assert log.segments[0].settled and files.exists(f"{FOLDER}/00000000000000000005.snapshot")


def test_a_small_file_is_replaced_as_a_whole() -> None:
    files = MemoryFiles()
    files.make_folder("t-0")
    replace_file(files, "t-0/x", b"a long first text")
    files.names["t-0/x.tmp"] = files.open("t-0/y", create=True)
    files.open("t-0/x.tmp").write(0, (b"left behind by a crash",))
    replace_file(files, "t-0/x", b"short")
    assert files.content("t-0/x") == b"short" and files.names["t-0/x"].inode.kept == b"short"


def test_the_start_file() -> None:
    assert decode_start(encode_start(2**62)) == 2**62
    for rubbish in (b"", b"0\n", b"1\n5\n", b"0\nx\n", b"0\n-5\n", bytes(4)):
        assert decode_start(rubbish) is None
