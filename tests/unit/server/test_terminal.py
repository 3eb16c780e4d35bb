"""What commands see of the world, as far as it can be seen without a person."""

from __future__ import annotations

import io
import os
import signal

import pytest

from headrace.server.terminal import Terminal


def test_an_interrupt_within_a_shield_waits_for_its_end():
    terminal = Terminal()
    done = []
    with pytest.raises(KeyboardInterrupt), terminal.shielded():
        terminal._interrupt(signal.SIGINT, None)
        done.append("the step")
    assert done == ["the step"]
    with terminal.shielded():
        pass  # it was delivered once


def test_shields_may_lie_within_each_other():
    terminal = Terminal()
    done = []
    with pytest.raises(KeyboardInterrupt), terminal.shielded():
        with terminal.shielded():
            terminal._interrupt(signal.SIGINT, None)
        done.append("the outer step goes on")
    assert done


def test_a_second_interrupt_does_not_wait():
    terminal = Terminal()
    with pytest.raises(KeyboardInterrupt), terminal.shielded():
        terminal._interrupt(signal.SIGINT, None)
        terminal._interrupt(signal.SIGINT, None)
        raise AssertionError("not reached")


def test_without_a_shield_an_interrupt_is_at_once():
    with pytest.raises(KeyboardInterrupt):
        Terminal()._interrupt(signal.SIGINT, None)


def test_an_error_within_a_shield_is_not_hidden():
    terminal = Terminal()
    with pytest.raises(ValueError), terminal.shielded():
        raise ValueError


def test_a_reader_that_has_gone_is_noticed():
    terminal = Terminal()
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "w") as out:
        terminal.out = out
        assert not terminal.reader_has_gone()
        os.close(ours)
        assert terminal.reader_has_gone()
    terminal.out = io.StringIO()
    assert not terminal.reader_has_gone()


def test_clocks_go_on():
    terminal = Terminal()
    assert terminal.now_ms() > 1_700_000_000_000
    assert terminal.monotonic_s() <= terminal.monotonic_s()
    assert terminal.chance(1) == 0
