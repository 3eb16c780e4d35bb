"""The real files keep the contract of `base.files`."""

from pathlib import Path

import pytest

from headrace.base.files import Files
from headrace.server.disk import DiskFiles
from tests.support.files_contract import FilesContract


class TestDiskFiles(FilesContract):
    @pytest.fixture
    def files(self, tmp_path: Path) -> Files:
        return DiskFiles(str(tmp_path), open_files_max=100)


class TestDiskFilesWithFewDescriptors(FilesContract):
    @pytest.fixture
    def files(self, tmp_path: Path) -> Files:
        return DiskFiles(str(tmp_path), open_files_max=1)
