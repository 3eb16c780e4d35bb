"""The two brokers that are compared. `DIFFERENTIAL_BROKER` and `DIFFERENTIAL_PEER` name running ones instead."""

import os
from collections.abc import Iterator

import pytest

from bench.peer import Peer, Unavailable
from tests.support.broker import Broker


@pytest.fixture(scope="session")
def peer_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if given := os.environ.get("DIFFERENTIAL_PEER"):
        yield given
        return
    # It lives for half a minute: the second compiler would take more than it gives.
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    try:
        peer = Peer(tmp_path_factory.mktemp("peer") / "kafka", heap="512m").start()
    except Unavailable as why:
        pytest.skip(f"DIFFERENTIAL TEST NOT RUN, Apache Kafka cannot be had: {why}")
    finally:
        monkeypatch.undo()
    with peer:
        yield peer.kafka


@pytest.fixture(scope="session")
def our_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if given := os.environ.get("DIFFERENTIAL_BROKER"):
        yield given
        return
    with Broker(tmp_path_factory.mktemp("ours") / "data", "--group-initial-delay", "0s") as broker:
        yield broker.kafka
