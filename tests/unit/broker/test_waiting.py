"""Waiting: each listener hears once, in the order of offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.base.errors import Code, Refused
from headrace.broker.waiting import Later, PositionWaiters

WHY = Refused(Code.STORAGE_FAILED, "gone")


def test_a_value_that_comes_later():
    later: Later[int] = Later()
    seen: list[int] = []
    later.then(seen.append)
    assert (later.done, seen) == (False, [])
    later.complete(5)
    assert (later.done, later.value, seen) == (True, 5, [5])
    with pytest.raises(AssertionError):
        later.complete(6)


def test_a_value_that_is_there():
    later: Later[None] = Later()
    later.complete(None)
    seen: list[None] = []
    later.then(seen.append)
    assert seen == [None]


@given(
    st.lists(
        st.one_of(st.tuples(st.just("add"), st.integers(0, 5)), st.tuples(st.sampled_from(["reached", "fail"]), st.integers(0, 5)))
    )
)
def test_positions_against_a_model(steps):
    """Whoever is added hears exactly once: what it waits for was reached, or was lost above the cut."""
    waiters = PositionWaiters()
    model: list[tuple[int, int]] = []
    heard: list[tuple[int, object]] = []
    for number, (verb, offset) in enumerate(steps):
        if verb == "add":
            waiters.add(offset, lambda why, number=number: heard.append((number, why)))
            model.append((offset, number))
            continue
        before = len(heard)
        if verb == "reached":
            waiters.reached(offset)
            told = sorted(((o, n) for o, n in model if o <= offset))
        else:
            waiters.fail(offset, WHY)
            told = sorted((o, n) for o, n in model if o > offset)
        assert heard[before:] == [(n, None if verb == "reached" else WHY) for _, n in told]
        model = [entry for entry in model if entry not in told]
        assert len(waiters) == len(model)


def test_who_hears_may_wait_again():
    """A listener that adds another one, or reaches further, while the queue is walked."""
    waiters = PositionWaiters()
    heard: list[str] = []

    def first(why: Refused | None) -> None:
        heard.append("first")
        waiters.add(1, lambda why: heard.append("again"))
        waiters.add(9, lambda why: heard.append("later"))
        waiters.reached(2)

    waiters.add(1, first)
    waiters.add(2, lambda why: heard.append("second"))
    waiters.reached(2)
    assert heard == ["first", "again", "second"]
    waiters.fail(8, WHY)
    assert heard[-1] == "later" and not waiters
