"""The simulator on trial: an honest toy broker passes, each way of lying is found out, and one seed is one run."""

from __future__ import annotations

import functools

import pytest

from sim.run import Run
from tests.support.toy_node import LIES, boot

SEEDS = range(1, 40)


def results(lie=None, seconds=20.0):
    for seed in SEEDS:
        yield Run(seed, seconds, functools.partial(boot, lie=lie)).go()


def test_an_honest_broker_passes():
    for seed in range(1, 9):
        result = Run(seed, 20.0, boot).go()
        assert result.failure is None, result.line()


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found_out(lie):
    assert any(result.failure for result in results(lie))


def test_a_disk_that_lies_about_sync_is_found_out():
    def change(run: Run) -> None:
        run.faults.disk.lies_about_sync = True

    for seed in SEEDS:
        result = Run(seed, 20.0, boot, change=change).go()
        if result.failure is not None:
            return
    raise AssertionError("a disk that keeps nothing was never noticed")


def test_one_seed_is_one_run_and_two_are_two():
    one, again, other = (Run(seed, 20.0, boot).go() for seed in (3, 3, 4))
    assert (one.trace_hash, one.trace_lines, one.counts) == (again.trace_hash, again.trace_lines, again.counts)
    assert one.trace_hash != other.trace_hash


def test_a_bug_of_the_node_fails_the_run():
    async def broken(world, store, network, trace):
        raise AssertionError("an invariant does not hold")

    result = Run(1, 20.0, broken).go()
    assert result.failure is not None and "an invariant does not hold" in result.failure
