"""confluent-kafka (librdkafka): the client most Python programs use."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

Unique = Callable[[str], str]
SECONDS_MAX = 30.0


@pytest.fixture(scope="module")
def admin(bootstrap: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": bootstrap})


def make(admin: AdminClient, name: str, partitions: int = 1, **config: str) -> str:
    settings = {key.replace("__", "."): value for key, value in config.items()}
    admin.create_topics([NewTopic(name, partitions, 1, config=settings)])[name].result(SECONDS_MAX)
    return name


def produce(bootstrap: str, topic: str, *values: str, partition: int = 0, **config: Any) -> list[Message]:
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, **config})
    delivered: list[Message] = []

    def report(error: KafkaError | None, message: Message) -> None:
        assert error is None, error
        delivered.append(message)

    for value in values:
        producer.produce(
            topic, value.encode(), key=b"k", partition=partition, headers=[("h", b"1"), ("h", None)], on_delivery=report
        )
    assert producer.flush(SECONDS_MAX) == 0
    return delivered


def consumer(bootstrap: str, group: str, **config: Any) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 200,
            **config,
        }
    )


def take(reader: Consumer, count: int) -> list[Message]:
    """Exactly so many records, or as many as come in time."""
    taken: list[Message] = []
    deadline = time.monotonic() + SECONDS_MAX
    while len(taken) < count and time.monotonic() < deadline:
        for message in reader.consume(count - len(taken), 0.2):
            assert message.error() is None, message.error()
            taken.append(message)
    return taken


def values(messages: list[Message]) -> list[str]:
    return [(m.value() or b"").decode() for m in messages]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
def test_what_was_produced_is_read_again(bootstrap: str, admin: AdminClient, unique: Unique, codec: str, idempotent: bool) -> None:
    topic = make(admin, unique("codec"))
    sent = [f"value {i} " + "x" * 100 for i in range(50)]
    how = {"compression.type": codec, "enable.idempotence": idempotent}
    assert [m.offset() for m in produce(bootstrap, topic, *sent, **how)] == list(range(50))
    reader = consumer(bootstrap, unique("group"))
    reader.assign([TopicPartition(topic, 0, 0)])
    read = take(reader, 50)
    assert values(read) == sent
    assert all(m.key() == b"k" and m.headers() == [("h", b"1"), ("h", None)] for m in read)
    reader.close()


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "cooperative-sticky"])
def test_members_share_the_partitions(bootstrap: str, admin: AdminClient, unique: Unique, strategy: str) -> None:
    topic, group = make(admin, unique("share"), 6), unique("group")
    members = [consumer(bootstrap, group, **{"partition.assignment.strategy": strategy}) for _ in range(3)]

    def owned() -> list[set[int]]:
        for member in members:
            member.poll(0.05)
        return [{p.partition for p in member.assignment()} for member in members]

    def settled(each: int) -> bool:
        shares = owned()
        return sorted(map(len, shares)) == [each] * len(members) and set().union(*shares) == set(range(6))

    for member in members:
        member.subscribe([topic])
    await_(lambda: settled(2), "three members with two partitions each")
    members.pop().close()
    await_(lambda: settled(3), "two members with three partitions each")
    for member in members:
        member.close()


def await_(true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not true():
        assert time.monotonic() < deadline, f"did not come about: {what}"


def test_a_group_resumes_where_it_committed(bootstrap: str, admin: AdminClient, unique: Unique) -> None:
    topic, group = make(admin, unique("resume")), unique("group")
    produce(bootstrap, topic, *"abcdef")
    first = consumer(bootstrap, group)
    first.subscribe([topic])
    assert values(take(first, 3)) == list("abc")
    first.commit(offsets=[TopicPartition(topic, 0, 3)], asynchronous=False)
    first.close()
    second = consumer(bootstrap, group)
    second.subscribe([topic])
    assert values(take(second, 3)) == list("def")
    assert second.committed([TopicPartition(topic, 0)], SECONDS_MAX)[0].offset == 3
    second.close()


def test_a_static_member_comes_back_without_a_rebalance(bootstrap: str, admin: AdminClient, unique: Unique) -> None:
    topic, group = make(admin, unique("static"), 2), unique("group")
    rebalances: list[str] = []

    def member(name: str) -> Consumer:
        one = consumer(bootstrap, group, **{"group.instance.id": name})
        one.subscribe(
            [topic],
            on_assign=lambda *_: rebalances.append(f"{name} assigned"),
            on_revoke=lambda *_: rebalances.append(f"{name} revoked"),
        )
        return one

    a, b = member("a"), member("b")

    def both() -> bool:
        a.poll(0.05)
        b.poll(0.05)
        return len(a.assignment()) == len(b.assignment()) == 1

    await_(both, "a partition each")
    before = {p.partition for p in b.assignment()}
    b.close()  # a static member says nothing when it goes
    rebalances.clear()
    b = member("b")
    await_(both, "a partition each again")
    assert {p.partition for p in b.assignment()} == before
    assert not any(r.startswith("a ") for r in rebalances), rebalances
    a.close()
    b.close()


def test_seek_and_offsets_by_time(bootstrap: str, admin: AdminClient, unique: Unique) -> None:
    topic = make(admin, unique("time"))
    producer = Producer({"bootstrap.servers": bootstrap})
    start = int(time.time() * 1000) - 100_000
    for i in range(10):
        producer.produce(topic, b"%d" % i, partition=0, timestamp=start + i * 1000)
        producer.flush()
    reader = consumer(bootstrap, unique("group"))
    assert reader.get_watermark_offsets(TopicPartition(topic, 0), SECONDS_MAX) == (0, 10)
    found = reader.offsets_for_times([TopicPartition(topic, 0, start + 3500)], SECONDS_MAX)
    assert found[0].offset == 4
    reader.assign([TopicPartition(topic, 0, found[0].offset)])
    assert values(take(reader, 1)) == ["4"]
    reader.seek(TopicPartition(topic, 0, 8))
    assert values(take(reader, 2)) == ["8", "9"]
    assert reader.offsets_for_times([TopicPartition(topic, 0, start + 99_000)], SECONDS_MAX)[0].offset == -1
    reader.close()


def test_topics_by_admin(admin: AdminClient, unique: Unique) -> None:
    name = make(admin, unique("admin"), 2, retention__ms="3600000")
    with pytest.raises(KafkaException) as refused:
        make(admin, name)
    assert refused.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS
    admin.create_partitions([NewPartitions(name, 5)])[name].result(SECONDS_MAX)
    await_(lambda: len(admin.list_topics(name, SECONDS_MAX).topics[name].partitions) == 5, "five partitions")
    resource = ConfigResource(ResourceType.TOPIC, name)
    assert admin.describe_configs([resource])[resource].result(SECONDS_MAX)["retention.ms"].value == "3600000"
    changed = ConfigResource(
        ResourceType.TOPIC,
        name,
        incremental_configs=[ConfigEntry("max.message.bytes", "2000", incremental_operation=AlterConfigOpType.SET)],
    )
    admin.incremental_alter_configs([changed])[changed].result(SECONDS_MAX)
    await_(
        lambda: admin.describe_configs([resource])[resource].result(SECONDS_MAX)["max.message.bytes"].value == "2000", "2000 bytes"
    )
    admin.delete_topics([name])[name].result(SECONDS_MAX)
    await_(lambda: name not in admin.list_topics(timeout=SECONDS_MAX).topics, "the topic is gone")


def test_records_are_deleted_from_the_front(bootstrap: str, admin: AdminClient, unique: Unique) -> None:
    topic = make(admin, unique("delete"))
    produce(bootstrap, topic, *"abcdef")
    part = TopicPartition(topic, 0, 4)
    assert admin.delete_records([part])[part].result(SECONDS_MAX).low_watermark == 4
    earliest = admin.list_offsets({TopicPartition(topic, 0): OffsetSpec.earliest()})
    assert next(iter(earliest.values())).result(SECONDS_MAX).offset == 4
    reader = consumer(bootstrap, unique("group"))
    reader.assign([TopicPartition(topic, 0, 0)])  # gone: goes to the earliest
    assert values(take(reader, 2)) == ["e", "f"]
    reader.close()


def test_a_compacted_topic_keeps_what_was_sent(bootstrap: str, admin: AdminClient, unique: Unique) -> None:
    topic = make(admin, unique("compacted"), cleanup__policy="compact")
    produce(bootstrap, topic, *"abc")
    reader = consumer(bootstrap, unique("group"))
    reader.assign([TopicPartition(topic, 0, 0)])
    assert values(take(reader, 3)) == list("abc")
    reader.close()


def test_groups_by_admin(bootstrap: str, admin: AdminClient, unique: Unique) -> None:
    topic, group = make(admin, unique("groups")), unique("group")
    produce(bootstrap, topic, *"abc")
    member = consumer(bootstrap, group)
    member.subscribe([topic])
    take(member, 3)
    member.commit(asynchronous=False)
    described = admin.describe_consumer_groups([group])[group].result(SECONDS_MAX)
    assert described.state.name == "STABLE" and len(described.members) == 1
    assert described.members[0].assignment.topic_partitions == [TopicPartition(topic, 0)]
    assert group in {g.group_id for g in admin.list_consumer_groups().result(SECONDS_MAX).valid}
    with pytest.raises(KafkaException) as refused:
        admin.delete_consumer_groups([group])[group].result(SECONDS_MAX)
    assert refused.value.args[0].code() == KafkaError.NON_EMPTY_GROUP
    member.close()
    await_(lambda: admin.describe_consumer_groups([group])[group].result(SECONDS_MAX).state.name == "EMPTY", "an empty group")
    admin.delete_consumer_groups([group])[group].result(SECONDS_MAX)
    assert group not in {g.group_id for g in admin.list_consumer_groups().result(SECONDS_MAX).valid}


def test_a_topic_is_made_by_producing_to_it(bootstrap: str, unique: Unique) -> None:
    topic = unique("auto")
    assert [m.offset() for m in produce(bootstrap, topic, "a", partition=0)] == [0]


def test_a_record_over_the_limit_is_refused(bootstrap: str, admin: AdminClient, unique: Unique) -> None:
    topic = make(admin, unique("limit"), max__message__bytes="500")
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(topic, b"x" * 1000, on_delivery=lambda error, _: errors.append(error))
    producer.flush(SECONDS_MAX)
    assert [e and e.code() for e in errors] == [KafkaError.MSG_SIZE_TOO_LARGE]
