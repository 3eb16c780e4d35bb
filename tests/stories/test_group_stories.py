"""Plays every story about groups and wants the same words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.stories.group_stage import play

STORIES = sorted((Path(__file__).parent / "groups").glob("*.story"))


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_story(path: Path) -> None:
    written = path.read_text()
    came_out = play(written)
    if os.environ.get("HEADRACE_STORIES") == "write":
        path.write_text(came_out)
    else:
        assert came_out == written


def test_there_are_stories() -> None:
    assert len(STORIES) >= 25
