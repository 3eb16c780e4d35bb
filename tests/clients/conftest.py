"""One real broker for all tests of a session. `HEADRACE_TEST_BROKER=HOST:PORT` points them at any other: at Apache Kafka, say."""

import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.support.broker import Broker


@pytest.fixture(scope="session")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if given := os.environ.get("HEADRACE_TEST_BROKER"):
        yield given
        return
    with Broker(tmp_path_factory.mktemp("broker") / "data", "--group-initial-delay", "0s") as broker:
        yield broker.kafka


@pytest.fixture
def unique() -> Callable[[str], str]:
    """A name that no other test of this session has."""
    return lambda name: f"{name}-{uuid.uuid4().hex[:10]}"
