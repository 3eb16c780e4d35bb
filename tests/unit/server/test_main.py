"""The process: one of them a data folder."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.broker.shelf import Progress
from headrace.server.main import LOCK_FILE, start_unless_told, take_lock
from headrace.server.start_errors import StartRefused


def test_a_data_folder_has_one_process(tmp_path: Path):
    folder = tmp_path / "new" / "data"
    lock = take_lock(str(folder))
    assert (folder / LOCK_FILE).read_text() == f"{os.getpid()}\n"
    with pytest.raises(StartRefused) as refused:
        take_lock(str(folder))
    assert refused.value.code == "data-folder-locked" and str(os.getpid()) in str(refused.value.evidence)
    os.close(lock)
    os.close(take_lock(str(folder)))


def test_a_folder_that_cannot_be_used(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StartRefused) as refused:
        take_lock(str(tmp_path / "file"))
    assert refused.value.code == "data-folder-unusable"


class _Starting:
    """A node whose start takes long, or fails."""

    def __init__(self, *, recovering: bool = True, error: OSError | None = None) -> None:
        self.recovering = recovering
        self.progress = Progress()
        self.error = error
        self.started = False

    async def start(self) -> None:
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        await asyncio.sleep(0.01 if not self.recovering else 60)
        self.started = True


def start(node: _Starting, tell: Callable[[asyncio.Event], None]) -> bool:
    async def main() -> bool:
        stop = asyncio.Event()
        tell(stop)
        return await start_unless_told(node, stop, [])  # type: ignore[arg-type]

    return asyncio.run(main())


def test_who_recovers_can_be_stopped() -> None:
    node = _Starting()
    assert not start(node, lambda stop: stop.set())
    assert node.progress.given_up and not node.started


def test_logs_that_are_open_are_closed_in_order_not_left() -> None:
    node = _Starting(recovering=False)
    assert start(node, lambda stop: stop.set())
    assert node.started and not node.progress.given_up


def test_a_disk_that_fails_at_the_start_is_told_in_words() -> None:
    with pytest.raises(StartRefused) as refused:
        start(_Starting(error=NotADirectoryError(20, "Not a directory", "/data/log")), lambda stop: None)
    assert refused.value.code == "data-folder-unusable" and "/data/log" in refused.value.evidence
