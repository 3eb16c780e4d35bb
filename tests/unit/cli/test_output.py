"""Tables are aligned, JSON is whole, and nothing a client wrote can steer a terminal."""

from __future__ import annotations

import json

from headrace.cli.output import Output, aligned, cell, printable
from tests.support.fake_kafka import FakeTerminal

ROWS = [{"name": "a", "count": 5, "list": [1, 2]}, {"name": "longer", "count": None, "list": None}]


def test_text_is_aligned_numbers_to_the_right():
    assert aligned(ROWS, ["name", "count", "list"]) == "name    count  list\na           5  1,2\nlonger      -  -\n"


def test_no_rows_show_the_head():
    assert aligned([], ["name", "count"]) == "name  count\n"


def test_json_has_all_keys_whatever_the_columns():
    terminal = FakeTerminal()
    Output(terminal, "json").rows(ROWS, columns=["name"])  # type: ignore[arg-type]
    assert json.loads(terminal.out.getvalue()) == ROWS


def test_a_terminal_gets_a_table():
    terminal = FakeTerminal(terminal=True)
    Output(terminal).rows(ROWS, columns=["name", "count"], title="two [bold]rows")  # type: ignore[arg-type]
    text = terminal.out.getvalue()
    assert "two [bold]rows" in text and "longer" in text and "─" in text


def test_control_characters_are_shown_not_sent():
    assert printable("a\x1b]0;evil\x07b") == "a\\x1b]0;evil\\x07b"
    assert cell("two\nlines") == "two\\nlines"
    assert cell("grün ✓") == "grün ✓"


def test_cells():
    assert [cell(v) for v in (None, True, False, 0, [1, None], {"a": 1})] == ["-", "yes", "no", "0", "1,-", "a=1"]
