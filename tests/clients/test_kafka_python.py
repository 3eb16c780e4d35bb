"""kafka-python: a client without C, with request building of its own."""

import time
from collections.abc import Callable

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic

Unique = Callable[[str], str]


def make(bootstrap: str, name: str, partitions: int = 1) -> str:
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    admin.create_topics([NewTopic(name=name, num_partitions=partitions, replication_factor=1)])
    admin.close()
    return name


def read(consumer: KafkaConsumer, count: int) -> list[bytes]:
    taken: list[bytes] = []
    deadline = time.monotonic() + 30
    while len(taken) < count and time.monotonic() < deadline:
        for records in consumer.poll(200).values():
            taken += [r.value for r in records]
    return taken


@pytest.mark.parametrize("codec", [None, "gzip", "lz4"])
@pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
def test_what_was_produced_is_read_again(bootstrap: str, unique: Unique, codec: str | None, idempotent: bool) -> None:
    topic = make(bootstrap, unique("codec"))
    producer = KafkaProducer(
        bootstrap_servers=bootstrap, compression_type=codec, acks="all", enable_idempotence=idempotent, linger_ms=5
    )
    sent = [b"value %d" % i for i in range(50)]
    futures = [producer.send(topic, value, key=b"k", headers=[("h", b"1")], partition=0) for value in sent]
    assert [f.get(30).offset for f in futures] == list(range(50))
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
    consumer.assign([TopicPartition(topic, 0)])
    assert read(consumer, 50) == sent
    consumer.close()


def test_a_group_resumes_where_it_committed(bootstrap: str, unique: Unique) -> None:
    topic, group = make(bootstrap, unique("resume")), unique("group")
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    for value in (b"a", b"b", b"c"):
        producer.send(topic, value).get(30)

    def member() -> KafkaConsumer:
        return KafkaConsumer(
            topic, bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False
        )

    first = member()
    assert read(first, 3) == [b"a", b"b", b"c"]
    first.commit()
    first.close()
    producer.send(topic, b"d").get(30)
    producer.close()
    second = member()
    assert read(second, 1) == [b"d"]
    assert second.committed(TopicPartition(topic, 0)) == 3
    second.close()


def test_offsets_and_times(bootstrap: str, unique: Unique) -> None:
    topic = make(bootstrap, unique("time"), 2)
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    start = int(time.time() * 1000) - 60_000
    for i in range(5):
        producer.send(topic, b"%d" % i, partition=1, timestamp_ms=start + i * 1000).get(30)
    producer.close()
    consumer = KafkaConsumer(bootstrap_servers=bootstrap)
    part = TopicPartition(topic, 1)
    assert consumer.beginning_offsets([part]) == {part: 0}
    assert consumer.end_offsets([part]) == {part: 5}
    found = consumer.offsets_for_times({part: start + 1500})
    assert found[part].offset == 2 and found[part].timestamp == start + 2000
    assert consumer.partitions_for_topic(topic) == {0, 1}
    consumer.close()
