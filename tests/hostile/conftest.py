"""One broker for each file of hostile tests: what one test leaves behind, the next one finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headrace.protocols.kafka.messages.find_coordinator import FindCoordinatorRequest
from tests.hostile.attack import make_topic
from tests.support.broker import Broker
from tests.support.wire import Wire


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder: Path = tmp_path_factory.mktemp("hostile") / "data"
    with Broker(
        folder, "--group-session-timeout-min", "1s", "--group-initial-delay", "0s", "--request-memory-max", "96MiB"
    ) as node:
        with Wire(node.kafka) as wire:
            make_topic(wire, "orders", 4)
            wire.ask(10, 3, FindCoordinatorRequest("g", 0))  # makes the topic of the groups
        yield node
