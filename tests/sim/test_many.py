"""What is done for many partitions at once (the whole disk synced instead of each file), done for few: seeds hold."""

from __future__ import annotations

import pytest

from headrace.broker import flushing, shelf
from sim.node import boot
from sim.run import Run


@pytest.mark.parametrize("seed", range(101, 113))
def test_a_seed_holds_with_wide_flushes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flushing, "WIDE_COUNT", 2)
    monkeypatch.setattr(shelf, "_CLOSED_ONE_BY_ONE_MAX", 0)
    result = Run(seed, 30.0, boot).go()
    assert result.failure is None, "\n".join([*(line[:300] for line in result.tail[-40:]), result.line(), result.failure])
