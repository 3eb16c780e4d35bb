"""Files that are only looked at."""

from __future__ import annotations

import pytest

from headrace.server.read_only import ReadOnlyFile, find_files


def test_reads_and_refuses_to_change(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"abcdef")
    with ReadOnlyFile(str(path)) as file:
        assert (file.size(), file.read(2, 3), file.read(5, 10), file.read_cached(0, 1)) == (6, b"cde", b"f", b"a")
        with pytest.raises(OSError, match="reading only"):
            file.write(0, [b"x"])
        with pytest.raises(OSError, match="reading only"):
            file.truncate(0)
    assert path.read_bytes() == b"abcdef"


def test_files_are_found_in_order_and_hidden_folders_passed_over(tmp_path):
    for name in ("b/2.log", "b/1.log", "a/1.log", ".git/1.log", "b/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = find_files(str(tmp_path), lambda name: name.endswith(".log"))
    assert [path.removeprefix(f"{tmp_path}/") for path in found] == ["a/1.log", "b/1.log", "b/2.log"]
    with pytest.raises(FileNotFoundError):
        find_files(str(tmp_path / "none"), lambda name: True)
