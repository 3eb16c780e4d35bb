"""Waiting for several answers at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from headrace.broker.waiting import Later

R = TypeVar("R")


def gather(asked: Sequence[Later[Any]], answer: Callable[[list[Any]], R]) -> Later[R]:
    """When all are there: the answer made from their values, in order."""
    out: Later[R] = Later()
    left = len(asked)
    if not left:
        out.complete(answer([]))
        return out

    def one(_: Any) -> None:
        nonlocal left
        left -= 1
        if not left:
            out.complete(answer([later.value for later in asked]))

    for later in asked:
        later.then(one)
    return out
