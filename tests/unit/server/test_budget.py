"""The node's byte budget: beyond it everybody waits but one, and that one is always there."""

from __future__ import annotations

import random

from headrace.server.budget import Budget


class Connection:
    """Takes part as a socket does: it holds a frame, and is paused or not."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.held = 0
        self.paused = False
        self.resumed = 0
        self.leaves = False  # at its next turn it has a reason of its own not to read

    def take(self, size: int) -> None:
        assert not self.paused
        self.held += size
        self.budget.change(size)
        self.regulate()

    def finish(self) -> None:
        held, self.held = self.held, 0
        self.budget.change(-held)
        self.regulate()

    def regulate(self) -> None:
        if not self.held or self.leaves:
            self.budget.forget(self)
            self.paused = self.leaves
        else:
            self.paused = self.budget.wait(self)

    def resume(self) -> None:
        self.resumed += 1
        self.regulate()


def test_below_the_bound_nobody_waits():
    budget = Budget(100)
    one, two = Connection(budget), Connection(budget)
    one.take(50)
    two.take(49)
    assert not one.paused and not two.paused and not budget.spent


def test_beyond_the_bound_the_first_that_asks_goes_on():
    budget = Budget(100)
    some = [Connection(budget) for _ in range(5)]
    for one in some:
        one.take(30) if not one.paused else None
    assert budget.spent
    some[0].regulate()
    assert [one.paused for one in some].count(False) >= 1


def test_when_the_first_has_finished_the_next_goes_on():
    budget = Budget(10)
    one, two, three = (Connection(budget) for _ in range(3))
    one.take(10)
    two.take(10)
    three.take(10)
    assert [one.paused, two.paused, three.paused] == [False, True, True]
    one.finish()
    assert [two.paused, three.paused] == [False, True]
    two.finish()
    assert not three.paused
    three.finish()
    assert budget.held_bytes == 0


def test_room_wakes_all():
    budget = Budget(100)
    big = Connection(budget)
    big.take(150)
    others = [Connection(budget) for _ in range(3)]
    for other in others:
        other.take(1)
    assert all(other.paused for other in others)
    big.finish()
    assert not any(other.paused for other in others)


def test_a_first_that_cannot_go_on_leaves_the_line():
    # The first in line stopped reading because its peer took no answers; everybody behind it starved.
    budget = Budget(10)
    one, two = Connection(budget), Connection(budget)
    one.take(10)
    two.take(10)
    assert two.paused
    one.leaves = True
    one.regulate()
    assert not two.paused


def test_a_line_of_thousands_that_all_leave_does_not_overflow_the_stack():
    # Each that left woke the next, which left and woke the next: 2,000 of them at the stop of a node ended in RecursionError.
    budget = Budget(10)
    line = [Connection(budget) for _ in range(5_000)]
    for one in line:
        one.take(10)
    for one in line:
        one.leaves = True
    line[0].regulate()
    assert all(one.resumed for one in line[1:])


def test_somebody_may_always_go_on():
    chance = random.Random(7)
    budget = Budget(1_000)
    some = [Connection(budget) for _ in range(20)]
    finished = 0
    for _ in range(20_000):
        one = chance.choice(some)
        if chance.random() < 0.02:
            one.finish()  # it went away, paused or not
        elif not one.paused:
            if one.held > 150:
                one.finish()
                finished += 1
            else:
                one.take(chance.randrange(1, 60))
        assert any(not other.paused for other in some)
        assert budget.held_bytes == sum(other.held for other in some)
        assert budget.held_bytes <= 1_000 + 20 * 60 + 150
    assert finished > 100
