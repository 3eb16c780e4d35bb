"""aiokafka: clients of asyncio programs."""

import asyncio
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

Unique = Callable[[str], str]


async def make(bootstrap: str, name: str, partitions: int = 1) -> str:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(name, partitions, 1)])
    await admin.close()
    return name


async def produce(bootstrap: str, topic: str, *values: bytes, codec: str | None = None, idempotent: bool = False) -> list[int]:
    async with AIOKafkaProducer(
        bootstrap_servers=bootstrap, compression_type=codec, enable_idempotence=idempotent, acks="all", linger_ms=5
    ) as producer:
        futures = [await producer.send(topic, value, key=b"k", headers=[("h", b"1")], partition=0) for value in values]
        return [(await asyncio.wait_for(f, 30)).offset for f in futures]


async def take(consumer: AIOKafkaConsumer, count: int) -> list[bytes | None]:
    taken: list[bytes | None] = []
    async with asyncio.timeout(30):
        while len(taken) < count:
            taken.append((await consumer.getone()).value)
    return taken


@pytest.mark.parametrize("codec", [None, "gzip", "lz4", "snappy", "zstd"])
@pytest.mark.parametrize("idempotent", [False, True], ids=["plain", "idempotent"])
def test_what_was_produced_is_read_again(bootstrap: str, unique: Unique, codec: str | None, idempotent: bool) -> None:
    async def story() -> None:
        topic = await make(bootstrap, unique("codec"))
        sent = [b"value %d" % i for i in range(50)]
        try:
            offsets = await produce(bootstrap, topic, *sent, codec=codec, idempotent=idempotent)
        except RuntimeError as absent:  # the client wants a package for this codec that is not here
            pytest.skip(f"aiokafka has no {codec} here: {absent}")
        assert offsets == list(range(50))
        consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", enable_auto_commit=False)
        consumer.assign([TopicPartition(topic, 0)])
        async with consumer:
            assert await take(consumer, 50) == sent

    asyncio.run(story())


def test_a_group_resumes_where_it_committed(bootstrap: str, unique: Unique) -> None:
    async def story() -> None:
        topic, group = await make(bootstrap, unique("resume")), unique("group")

        def member() -> AIOKafkaConsumer:
            return AIOKafkaConsumer(
                topic, bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False
            )

        await produce(bootstrap, topic, b"a", b"b", b"c")
        async with member() as first:
            assert await take(first, 3) == [b"a", b"b", b"c"]
            await first.commit()
        await produce(bootstrap, topic, b"d")
        async with member() as second:
            assert await take(second, 1) == [b"d"]
            assert await second.committed(TopicPartition(topic, 0)) == 3

    asyncio.run(story())


def test_members_share_the_partitions(bootstrap: str, unique: Unique) -> None:
    async def story() -> None:
        topic, group = await make(bootstrap, unique("share"), 4), unique("group")

        def member() -> AIOKafkaConsumer:
            return AIOKafkaConsumer(
                topic, bootstrap_servers=bootstrap, group_id=group, heartbeat_interval_ms=200, session_timeout_ms=6000
            )

        async with asyncio.timeout(40), member() as a:
            while len(a.assignment()) != 4:
                await asyncio.sleep(0.05)
            async with member() as b:
                while not len(a.assignment()) == len(b.assignment()) == 2:
                    await asyncio.sleep(0.05)
                assert not a.assignment() & b.assignment()
            while len(a.assignment()) != 4:
                await asyncio.sleep(0.05)

    asyncio.run(story())


def test_seek_and_offsets(bootstrap: str, unique: Unique) -> None:
    async def story() -> None:
        topic = await make(bootstrap, unique("seek"))
        await produce(bootstrap, topic, *(b"%d" % i for i in range(10)))
        part = TopicPartition(topic, 0)
        consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        consumer.assign([part])
        async with consumer:
            assert await consumer.beginning_offsets([part]) == {part: 0}
            assert await consumer.end_offsets([part]) == {part: 10}
            consumer.seek(part, 7)
            assert await take(consumer, 3) == [b"7", b"8", b"9"]
            await consumer.seek_to_beginning(part)
            assert await take(consumer, 1) == [b"0"]

    asyncio.run(story())
