"""kill -9 in a loop while real clients produce and consume: nothing acknowledged is lost, nothing is doubled where the producer is
idempotent, the order of a partition is kept, and committed offsets never go back. All is read again in the end.

`KILL_ROUNDS=200` kills more often.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaConsumer
from kafka.errors import KafkaError as OtherKafkaError

from headrace.protocols.kafka.messages.metadata import MetadataRequest, MetadataResponse
from tests.support.broker import Broker
from tests.support.wire import Wire

ROUNDS = int(os.environ.get("KILL_ROUNDS", "6"))
PARTITIONS = 3
GROUP = "readers"
QUIET: dict[str, Any] = {
    "log_level": 0,
    "logger": __import__("logging").getLogger("quiet"),
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
}


class Writer(threading.Thread):
    """A librdkafka producer that numbers its records, and what it was told of each."""

    def __init__(self, address: str, topic: str, *, idempotent: bool) -> None:
        super().__init__(daemon=True)
        self.topic = topic
        self.idempotent = idempotent
        self.acknowledged: dict[int, dict[int, int]] = defaultdict(dict)  # partition -> number -> offset
        self.fatal: KafkaError | None = None
        self.done = threading.Event()
        self.producer = Producer(
            {
                **QUIET,
                "bootstrap.servers": address,
                "enable.idempotence": idempotent,
                "acks": "all",
                "linger.ms": 2,
                "retry.backoff.ms": 20,
                "message.timeout.ms": 60_000,
                "error_cb": self._failed,
            }
        )

    def _failed(self, error: KafkaError) -> None:
        if error.fatal():
            self.fatal = error

    def _told(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            value, partition, offset = message.value(), message.partition(), message.offset()
            assert value is not None and partition is not None and offset is not None
            self.acknowledged[partition][int(value)] = offset

    def run(self) -> None:
        number = 0
        while not self.done.is_set() and self.fatal is None:
            if len(self.producer) < 500:
                for _ in range(20):
                    self.producer.produce(self.topic, str(number), partition=number % PARTITIONS, on_delivery=self._told)
                    number += 1
            self.producer.poll(0.005)
        self.producer.flush(60)


class Member(threading.Thread):
    """A kafka-python group member that commits what it has read, and what it saw its group's offsets do."""

    def __init__(self, address: str, topics: list[str]) -> None:
        super().__init__(daemon=True)
        self.address = address
        self.topics = topics
        self.done = threading.Event()
        self.committed: dict[tuple[str, int], int] = {}
        self.gone_back: list[str] = []
        self.read = 0

    def run(self) -> None:
        while not self.done.is_set():
            try:
                self._consume()
            except OtherKafkaError:
                time.sleep(0.05)

    def _consume(self) -> None:
        consumer = KafkaConsumer(
            bootstrap_servers=self.address,
            group_id=GROUP,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            reconnect_backoff_ms=20,
            reconnect_backoff_max_ms=200,
            session_timeout_ms=6_000,
            heartbeat_interval_ms=500,
            request_timeout_ms=10_000,
        )
        consumer.subscribe(self.topics)
        try:
            while not self.done.is_set():
                found = consumer.poll(timeout_ms=100, max_records=500)
                self.read += sum(map(len, found.values()))
                if not found:
                    continue
                positions = {where: records[-1].offset + 1 for where, records in found.items()}
                consumer.commit()
                # Only what the broker has confirmed counts.
                for where, offset in positions.items():
                    self._note(where.topic, where.partition, offset)
        finally:
            consumer.close(autocommit=False)

    def _note(self, topic: str, partition: int, offset: int) -> None:
        known = self.committed.get((topic, partition), 0)
        if offset < known:
            self.gone_back.append(f"{topic}-{partition}: {offset} after {known}")
        self.committed[(topic, partition)] = offset


def read_all(address: str, topic: str) -> dict[int, list[tuple[int, int]]]:
    """Every record of a topic: by partition, (offset, number)."""
    consumer = Consumer({**QUIET, "bootstrap.servers": address, "group.id": "the end", "enable.partition.eof": True})
    consumer.assign([TopicPartition(topic, index, OFFSET_BEGINNING) for index in range(PARTITIONS)])
    found: dict[int, list[tuple[int, int]]] = {index: [] for index in range(PARTITIONS)}
    ended: set[int] = set()
    deadline = time.monotonic() + 60
    while len(ended) < PARTITIONS and time.monotonic() < deadline:
        for message in consumer.consume(1000, 0.5):
            partition, offset, value, error = message.partition(), message.offset(), message.value(), message.error()
            assert partition is not None and offset is not None
            if error is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                ended.add(partition)
            else:
                assert value is not None
                found[partition].append((offset, int(value)))
    consumer.close()
    assert len(ended) == PARTITIONS
    return found


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def check(writer: Writer, found: dict[int, list[tuple[int, int]]]) -> None:
    assert writer.fatal is None, writer.fatal
    assert sum(map(len, writer.acknowledged.values())) > 0
    for partition, records in found.items():
        offsets = [offset for offset, _ in records]
        assert offsets == list(range(len(records))), "offsets have no holes"
        at = dict(records)
        for number, offset in writer.acknowledged[partition].items():
            assert at.get(offset) == number, (
                f"{writer.topic}-{partition}: {number} was acknowledged at {offset}, there is {at.get(offset)}"
            )
        if writer.idempotent:
            numbers = [number for _, number in records]
            assert len(numbers) == len(set(numbers)), f"{writer.topic}-{partition}: doubled"
            assert numbers == sorted(numbers), f"{writer.topic}-{partition}: out of order"


@pytest.mark.slow
@pytest.mark.timeout(120 + 5 * ROUNDS)
def test_nothing_acknowledged_is_lost_and_nothing_is_doubled(tmp_path: Path) -> None:
    chance = random.Random(20)
    broker = Broker(tmp_path / "data", "--group-initial-delay", "0s").start()
    address = broker.kafka
    admin = AdminClient({**QUIET, "bootstrap.servers": address})
    kinds = {"safe": "fsynced", "swift": "pagecache", "plain": "fsynced"}
    topics = [NewTopic(name, PARTITIONS, 1, config={"durability": durability}) for name, durability in kinds.items()]
    for made in admin.create_topics(topics).values():
        made.result(10)
    writers = [Writer(address, name, idempotent=name != "plain") for name in kinds]
    member = Member(address, list(kinds))
    for thread in (*writers, member):
        thread.start()
    until(lambda: member.read > 0, 20, "the group reads nothing")
    for _ in range(ROUNDS):
        time.sleep(chance.uniform(0.2, 1.2))
        broker.kill()
        broker.start()
        assert broker.kafka == address
    for writer in writers:
        writer.done.set()
    for writer in writers:
        writer.join(90)
        assert not writer.is_alive()
    found = {name: read_all(address, name) for name in kinds}
    ends = {(name, index): len(records) for name in kinds for index, records in found[name].items()}
    until(lambda: member.committed == ends, 30, "the group has not come to the end")
    member.done.set()
    member.join(30)
    assert not member.is_alive()

    for writer in writers:
        check(writer, found[writer.topic])
    assert not member.gone_back
    asked = Consumer({**QUIET, "bootstrap.servers": address, "group.id": GROUP})
    offsets = asked.committed([TopicPartition(name, index) for name, index in ends], 10)
    asked.close()
    assert {(row.topic, row.partition): row.offset for row in offsets} == ends
    counts = {writer.topic: sum(map(len, writer.acknowledged.values())) for writer in writers}
    assert broker.stop() == 0
    print(f"{ROUNDS} kills; acknowledged: {counts}; read by the group: {member.read}")


@pytest.mark.slow
@pytest.mark.timeout(120 + 5 * ROUNDS)
def test_the_folders_are_those_of_the_store_after_a_kill_amid_making_and_deleting(tmp_path: Path) -> None:
    chance = random.Random(21)
    broker = Broker(tmp_path / "data").start()
    admin = AdminClient({**QUIET, "bootstrap.servers": broker.kafka})
    done = threading.Event()
    turns = 0

    def churn() -> None:
        nonlocal turns
        while not done.is_set():
            name = f"t{chance.randrange(6)}"
            if chance.random() < 0.6:
                futures = admin.create_topics([NewTopic(name, chance.choice((1, 3, 200)), 1)], request_timeout=5)
            else:
                futures = admin.delete_topics([name], request_timeout=5)
            for future in futures.values():
                future.exception(10)
            turns += 1

    worker = threading.Thread(target=churn, daemon=True)
    worker.start()
    for _ in range(ROUNDS):
        seen = turns
        until(lambda seen=seen: turns > seen + 2, 20, "no topic is made or deleted")  # type: ignore[misc]
        time.sleep(chance.uniform(0.0, 0.15))
        broker.kill()
        broker.start()
    done.set()
    worker.join(20)
    broker.kill()
    broker.start()
    with Wire(broker.kafka) as wire:
        answer = wire.ask(3, 9, MetadataRequest(None))
    assert isinstance(answer, MetadataResponse)
    wanted = {f"{topic.name}-{partition.partition_index}" for topic in answer.topics for partition in topic.partitions}
    assert all(not partition.error_code for topic in answer.topics for partition in topic.partitions)
    folder = tmp_path / "data" / "log"
    until(
        lambda: set(os.listdir(folder)) == wanted,
        20,
        f"folders without a topic, or topics without: {set(os.listdir(folder)) ^ wanted}",
    )
    for topic in answer.topics:
        for partition in topic.partitions:
            kept = (folder / f"{topic.name}-{partition.partition_index}" / "partition.metadata").read_text()
            assert "topic_id: " in kept
    assert broker.stop() == 0
    print(f"{ROUNDS + 1} kills amid {turns} changes; {len(wanted)} partitions in the end")
