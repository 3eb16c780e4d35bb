"""Progress: a line that moves for people, few lines for logs, an estimate for both."""

from __future__ import annotations

from headrace.cli.progress import Progress, spell_seconds
from tests.support.fake_kafka import FakeTerminal


def work(terminal: FakeTerminal, steps: int, seconds: float, **more) -> str:
    with Progress(terminal, "verify", steps, "files", **more) as progress:  # type: ignore[arg-type]
        for number in range(steps):
            terminal.sleep(seconds)
            progress.step(1, f"file {number}")
    return terminal.err.getvalue()


def test_elsewhere_a_line_every_two_seconds_and_at_the_end():
    lines = work(FakeTerminal(), 10, 1.0).splitlines()
    assert 4 <= len(lines) <= 7
    assert lines[0].startswith("verify:  20% (2 of 10 files), 8 s left file 1")
    assert lines[-1] == "verify: 100% (10 of 10 files) done"


def test_on_a_terminal_one_line_moves_and_goes():
    text = work(FakeTerminal(terminal=True), 10, 1.0)
    assert "\n" not in text and text.count("\r") >= 10
    assert text.endswith("\r\x1b[K")


def test_quick_work_says_nothing():
    assert work(FakeTerminal(), 10, 0.0) == ""


def test_quiet_is_quiet():
    assert work(FakeTerminal(), 10, 5.0, quiet=True) == ""


def test_spelled_seconds():
    assert [spell_seconds(s) for s in (0.2, 80, 600, 9000)] == ["1 s", "80 s", "10 min", "2.5 h"]
