"""What every `base.files.Files` promises, whoever implements it. Fakes pass the same tests as the real thing.

A test module subclasses `FilesContract` and gives it a fixture `files`.
"""

from __future__ import annotations

import pytest

from headrace.base.files import Files


class FilesContract:
    def test_bytes_come_back_as_they_were_written(self, files: Files) -> None:
        files.make_folder("a")
        file = files.open("a/x", create=True)
        assert file.write(0, [b"one", bytearray(b"two"), memoryview(b"three")]) == 11
        assert file.read(0, 100) == b"onetwothree"
        assert file.read(3, 3) == b"two"
        assert file.read(11, 5) == b""
        assert file.size() == 11

    def test_a_write_beyond_the_end_leaves_zeros_between(self, files: Files) -> None:
        file = files.open("x", create=True)
        file.write(5, [b"tail"])
        assert file.read(0, 100) == b"\0\0\0\0\0tail"

    def test_a_write_in_the_middle_replaces(self, files: Files) -> None:
        file = files.open("x", create=True)
        file.write(0, [b"abcdef"])
        file.write(2, [b"XY"])
        assert file.read(0, 100) == b"abXYef"

    def test_no_buffers_are_no_bytes(self, files: Files) -> None:
        assert files.open("x", create=True).write(0, []) == 0

    def test_many_buffers_in_one_write(self, files: Files) -> None:
        file = files.open("x", create=True)
        assert file.write(0, [bytes([i % 256]) for i in range(3000)]) == 3000
        assert file.read(0, 3000) == bytes(i % 256 for i in range(3000))

    def test_truncate_cuts_and_stretches(self, files: Files) -> None:
        file = files.open("x", create=True)
        file.write(0, [b"abcdef"])
        file.truncate(2)
        assert file.read(0, 100) == b"ab"
        file.truncate(4)
        assert file.read(0, 100) == b"ab\0\0"
        assert file.size() == 4

    def test_a_missing_file_is_not_made_unless_asked(self, files: Files) -> None:
        with pytest.raises(FileNotFoundError):
            files.open("x")
        assert not files.exists("x")
        files.open("x", create=True)
        assert files.exists("x")
        files.open("x")

    def test_a_file_needs_its_folder(self, files: Files) -> None:
        with pytest.raises(FileNotFoundError):
            files.open("nowhere/x", create=True)

    def test_create_keeps_what_is_there(self, files: Files) -> None:
        files.open("x", create=True).write(0, [b"abc"])
        assert files.open("x", create=True).read(0, 9) == b"abc"

    def test_two_opens_see_one_file(self, files: Files) -> None:
        one = files.open("x", create=True)
        two = files.open("x")
        one.write(0, [b"abc"])
        assert two.read(0, 9) == b"abc"

    def test_a_closed_file_opens_again(self, files: Files) -> None:
        file = files.open("x", create=True)
        file.write(0, [b"abc"])
        file.close()
        file.close()
        assert file.size() == 3
        assert file.read(0, 9) == b"abc"
        file.write(3, [b"d"])
        assert file.read(0, 9) == b"abcd"

    def test_list_is_sorted_and_empty_where_nothing_is(self, files: Files) -> None:
        files.make_folder("a/b/c")
        files.open("a/z", create=True)
        files.open("a/m", create=True)
        assert files.list("a") == ["b", "m", "z"]
        assert files.list("a/b") == ["c"]
        assert files.list("none") == []
        assert "a" in files.list("")

    def test_make_folder_twice_is_no_error(self, files: Files) -> None:
        files.make_folder("a/b")
        files.make_folder("a/b")
        assert files.exists("a/b")

    def test_rename_replaces_and_open_files_follow(self, files: Files) -> None:
        old = files.open("old", create=True)
        old.write(0, [b"abc"])
        files.open("new", create=True).write(0, [b"gone"])
        files.rename("old", "new")
        assert not files.exists("old")
        assert old.path == "new"
        old.write(3, [b"d"])
        assert files.open("new").read(0, 9) == b"abcd"

    def test_rename_of_a_missing_file(self, files: Files) -> None:
        with pytest.raises(FileNotFoundError):
            files.rename("old", "new")

    def test_files_of_a_renamed_folder_follow(self, files: Files) -> None:
        files.make_folder("t-0")
        file = files.open("t-0/x", create=True)
        file.write(0, [b"abc"])
        files.rename("t-0", "t-0.gone")
        assert file.path == "t-0.gone/x"
        assert file.read(0, 9) == b"abc"
        file.close()
        assert file.read(0, 9) == b"abc"
        assert not files.exists("t-0")
        assert files.list("t-0.gone") == ["x"]

    def test_a_new_file_may_take_a_renamed_name(self, files: Files) -> None:
        old = files.open("x", create=True)
        old.write(0, [b"old"])
        files.rename("x", "y")
        new = files.open("x", create=True)
        new.write(0, [b"new"])
        assert old.read(0, 9) == b"old"
        assert files.open("x").read(0, 9) == b"new"

    def test_remove(self, files: Files) -> None:
        file = files.open("x", create=True)
        files.remove("x")
        files.remove("x")
        assert not files.exists("x")
        with pytest.raises(FileNotFoundError):
            file.read(0, 1)
        with pytest.raises(FileNotFoundError):
            files.open("x")

    def test_remove_folder_takes_all_in_it(self, files: Files) -> None:
        files.make_folder("a/b")
        files.open("a/x", create=True)
        files.open("a/b/y", create=True)
        files.remove_folder("a")
        files.remove_folder("a")
        assert not files.exists("a")
        assert not files.exists("a/b/y")

    def test_reads_that_must_not_wait(self, files: Files) -> None:
        file = files.open("x", create=True)
        file.write(0, [bytes(100_000)])
        file.read_ahead(0, 100_000)
        assert file.is_cached(0, 0)
        data = file.read_cached(10, 20)
        assert data is None or data == bytes(20)
        if file.is_cached(0, 100_000):  # a real kernel promises nothing
            assert file.read_cached(99_990, 100) in (bytes(10), None)

    def test_sync_write_back_and_sync_folder_are_accepted(self, files: Files) -> None:
        files.make_folder("a")
        file = files.open("a/x", create=True)
        file.write(0, [b"abc"])
        file.write_back(0, 3)
        file.sync()
        files.sync_folder("a")
        files.sync_folder("")
        files.sync_all()
        assert file.read(0, 9) == b"abc"

    def test_dropping_the_cache_loses_nothing(self, files: Files) -> None:
        file = files.open("x", create=True)
        file.write(0, [b"a" * 10_000])
        file.sync()
        file.write(10_000, [b"b" * 10_000])
        file.drop_cached()
        assert file.read(0, 30_000) == b"a" * 10_000 + b"b" * 10_000

    def test_there_is_space(self, files: Files) -> None:
        assert files.free_bytes() > 0
