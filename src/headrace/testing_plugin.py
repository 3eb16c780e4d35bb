"""The pytest plugin: the fixture `headrace_broker`, a broker of its own for each test that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from headrace.testing import Broker


@pytest.fixture
def headrace_broker() -> Iterator[Broker]:
    """`headrace_broker.bootstrap` is the address. For one broker per session, write a fixture over `headrace.testing.broker()`."""
    from headrace.testing import broker

    with broker() as running:
        yield running
