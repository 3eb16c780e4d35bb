"""The process: one of them a data folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from headrace.server.main import LOCK_FILE, take_lock
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
