"""docs/errors.md has a section for every code, with Kafka's right name, and for nothing else; hints lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from headrace.base.errors import Code
from headrace.cli.errors import CliError, Trouble, error_text
from headrace.cli.refusals import HINTS, NAMES, OURS, refusal
from headrace.protocols.kafka import errors

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "errors.md").read_text()
SECTIONS = re.findall(r"^### (\S+)\n\n(.*?)(?=^##|\Z)", PAGE, re.M | re.S)


def raised_at_start() -> set[str]:
    """The codes of StartRefused, read from the source: they are plain strings at the place where they are raised."""
    found = set()
    for path in (ROOT / "src" / "headrace").rglob("*.py"):
        found |= set(re.findall(r"StartRefused\(\s*\"([a-z-]+)\"", path.read_text()))
    return found


def test_every_code_has_one_section_and_nothing_else_has():
    assert len(raised_at_start()) >= 5
    wanted = {code.value for code in Code} | {trouble.value for trouble in Trouble} | raised_at_start()
    headings = [name for name, _ in SECTIONS]
    assert sorted(headings) == sorted(wanted)


def test_each_section_says_what_why_and_what_to_do():
    for name, text in SECTIONS:
        assert "- likely: " in text and "- to do: " in text, name


@pytest.mark.parametrize("code", Code)
def test_kafkas_name_is_the_one_that_is_sent(code):
    number = errors.CODES[code]
    assert f"`{NAMES[number]} ({number})`" in dict(SECTIONS)[code.value]


def test_every_trouble_is_raised_somewhere():
    source = "".join(path.read_text() for path in (ROOT / "src" / "headrace" / "cli").glob("*.py"))
    for trouble in Trouble:
        assert source.count(f"Trouble.{trouble.name}") >= 1, trouble


def test_a_refusal_reads_the_same_on_both_sides():
    for code, number in errors.CODES.items():
        assert errors.CODES[OURS[number]] == number
        assert refusal(number, "x").code in {c.value for c, n in errors.CODES.items() if n == number}, code


def test_an_unknown_number_is_shown_as_it_is():
    found = refusal(999, "it failed", message="why")
    assert (found.code, found.evidence) == ("broker-refused", "the broker answered error 999 (999): why")


def test_hints_name_the_thing():
    assert HINTS[Code.TOPIC_EXISTS][1].format(name="t") == "headrace topic describe t"
    assert "describe t" in refusal(errors.TOPIC_ALREADY_EXISTS, "x", name="t").next


def test_the_text_leaves_out_what_is_not_known():
    error = CliError(Trouble.BAD_VALUE, "what", next="do this")
    text = error_text(error.code, error.what, error.evidence, error.likely, error.next)
    assert text == "error bad-value: what\n  next:     do this\n  more:     docs/errors.md#bad-value\n"
