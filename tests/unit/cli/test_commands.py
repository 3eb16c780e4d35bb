"""The table of commands and docs/cli.md say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headrace.cli.commands import COMMANDS, Argument, find
from headrace.cli.errors import DAMAGED, DONE, FAILED, INTERRUPTED, NO_BROKER, WRONG_USAGE

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()
SECTIONS = dict(re.findall(r"^## headrace ([a-z ]+)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))


def test_every_command_has_a_section_and_nothing_else_has():
    assert sorted(SECTIONS) == sorted(" ".join(command.words) for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command.words))
def test_every_argument_is_explained(command):
    section = SECTIONS[" ".join(command.words)]
    rows = re.findall(r"^\| `(?:-\w, )?(\S+?)(?: [^`]*)?` \|", section, re.M)
    assert rows == [argument.name for argument in command.arguments]
    assert command.help in section


def test_statuses_are_the_documented_ones():
    assert (DONE, FAILED, WRONG_USAGE, NO_BROKER, DAMAGED, INTERRUPTED) == (0, 1, 2, 3, 4, 130)
    for status in ("0 done", "1 refused", "2 wrong usage", "3 no broker", "4 log damaged", "130 interrupted"):
        assert status in PAGE


def test_keys_and_finding():
    assert Argument("--to-time", "").key == "to_time" and not Argument("--to-time", "").is_place
    assert Argument("TOPIC", "").is_place
    assert {command.words[1] for command in find(("group",))} == {"list", "describe", "reset", "delete"}
