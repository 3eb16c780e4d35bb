"""The broker's verbs: topics, deletion of records, producer ids, the topic of groups."""

from __future__ import annotations

import asyncio

import pytest

from headrace.base.errors import Code, Refused
from headrace.base.settings import Address
from headrace.broker.broker import OFFSETS_TOPIC, PRODUCER_IDS_PER_BLOCK
from headrace.log.flush import StartPlan
from tests.support.broker_harness import Harness, play
from tests.unit.broker.test_group_host import commit, committed_offset, host_of


def code(found: object) -> Code:
    assert isinstance(found, Refused), found
    return found.code


def test_where_clients_are_told_to_come():
    async def main(node: Harness) -> None:
        assert node.broker.advertised("10.0.0.5", 9999) == ("10.0.0.5", 9999)
        assert node.broker.advertised("", 0) == ("127.0.0.1", 9092)

    async def told(node: Harness) -> None:
        assert node.broker.advertised("10.0.0.5", 9999) == ("example.org", 1)

    play(main)
    play(told, advertise=Address("example.org", 1))


def test_topics_that_come_into_being():
    async def main(node: Harness) -> None:
        assert await node.broker.auto_create("t") is None
        assert await node.broker.auto_create("t") is None  # somebody else was quicker
        assert code(await node.broker.auto_create("a b")) is Code.BAD_TOPIC_NAME
        assert await node.broker.auto_create(OFFSETS_TOPIC) is None
        topic = node.image.topic(OFFSETS_TOPIC)
        assert topic is not None and topic.internal and topic.settings.compact and len(topic.partitions) == 1
        results = await asyncio.gather(*(node.broker.auto_create("same") for _ in range(5)))
        assert results == [None] * 5

    async def off(node: Harness) -> None:
        assert code(await node.broker.auto_create("t")) is Code.UNKNOWN_TOPIC
        await node.create("t")
        topic = node.image.topic("t")
        assert topic is not None and code(await node.broker.delete_topic(topic)) is Code.TOPIC_DELETION_OFF

    play(main)
    play(off, auto_create_topics=False, delete_topics=False)


def test_more_partitions():
    async def main(node: Harness) -> None:
        await node.create("t")
        assert await node.broker.add_partitions("t", 3, None, check_only=True) == 3
        assert code(node.broker.partition("t", 2)) is Code.UNKNOWN_TOPIC
        assert await node.broker.add_partitions("t", 3, None, check_only=False) == 3
        assert await node.put(node.partition("t", 2)) == 0
        assert code(await node.broker.add_partitions("t", 3, None, check_only=False)) is Code.BAD_PARTITIONS

    play(main)


def test_producer_ids_are_given_once_also_through_a_crash():
    async def main(node: Harness) -> None:
        ids = await asyncio.gather(*(node.broker.new_producer_id() for _ in range(PRODUCER_IDS_PER_BLOCK + 5)))
        await node.kill()
        await node.start()
        ids.append(await node.broker.new_producer_id())
        assert len(set(ids)) == PRODUCER_IDS_PER_BLOCK + 6

    play(main)


def test_the_topic_of_groups_is_made_once_by_all_who_ask():
    async def main(node: Harness) -> None:
        assert code(node.broker.group_host("g")) is Code.NOT_COORDINATOR and not node.broker.has_offsets_topic()
        assert await asyncio.gather(*(node.broker.make_offsets_topic() for _ in range(5))) == [None] * 5
        assert len(node.broker.group_hosts()) == 4 and node.broker.has_offsets_topic()
        await node.delete(OFFSETS_TOPIC)
        assert code(node.broker.group_host("g")) is Code.NOT_COORDINATOR
        assert await node.broker.make_offsets_topic() is None
        assert not isinstance(node.broker.group_host("g"), Refused)

    play(main, offsets_partitions=4)


def test_the_topic_of_groups_on_a_disk_that_is_full():
    """Found by reading. Everybody who asked for a coordinator waited for ever, and a new waiter turned at each deletion."""

    async def main(node: Harness) -> None:
        node.faults.capacity_bytes = 0
        assert code(await asyncio.wait_for(node.broker.make_offsets_topic(), 10)) is Code.COORDINATOR_UNAVAILABLE
        node.faults.capacity_bytes = 1 << 40
        await asyncio.sleep(2)
        assert await node.broker.make_offsets_topic() is None

    play(main)


def test_what_groups_committed_of_a_deleted_topic_is_forgotten():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        await node.create("t")
        commit(host, 5)
        assert await committed_offset(host) == 5
        await node.delete("t")
        assert await committed_offset(host) is None

    play(main)


@pytest.mark.parametrize("durability", ["fsynced", "pagecache"])
def test_records_are_deleted(durability: str):
    async def main(node: Harness) -> None:
        partition = await node.create("t", durability=durability)
        for _ in range(5):
            await node.put(partition)
        delete = node.broker.delete_records
        assert await delete(partition, 2) == 2
        assert code(partition.read(1, 100, whole_first_batch=True)) is Code.OFFSET_OUT_OF_RANGE
        assert await delete(partition, 1) == 2  # it is so already
        assert [code(await delete(partition, offset)) for offset in (6, -2)] == [Code.OFFSET_OUT_OF_RANGE] * 2
        assert await asyncio.gather(delete(partition, 3), delete(partition, 4)) == [4, 4] or partition.log.start_offset == 4
        assert await delete(partition, -1) == 5
        await node.kill()
        node.disk.crash()
        await node.start()
        assert node.partition().log.start_offset == 5

    play(main)


def test_two_delete_records_and_the_disk_fails_the_first():
    """Found by reading. The failure made the log forget what both had asked for, and the second one turned for ever."""

    async def main(node: Harness) -> None:
        partition = await node.create("t")
        for _ in range(5):
            await node.put(partition)
        run, failed = StartPlan.run, []

        def fail_once(plan: StartPlan) -> None:
            if not failed:
                failed.append(plan)
                raise OSError(5, "input/output error")
            run(plan)

        StartPlan.run = fail_once  # type: ignore[method-assign]
        try:
            both = asyncio.gather(node.broker.delete_records(partition, 2), node.broker.delete_records(partition, 3))
            one, two = await asyncio.wait_for(both, 5)
        finally:
            StartPlan.run = run  # type: ignore[method-assign]
        assert code(one) is Code.STORAGE_FAILED and two == 3

    play(main)


def test_records_of_a_topic_that_is_deleted_meanwhile():
    async def main(node: Harness) -> None:
        partition = await node.create("t", durability="pagecache")
        await node.put(partition)
        task = asyncio.get_running_loop().create_task(node.broker.delete_records(partition, -1))
        await asyncio.sleep(0)
        await node.delete("t")
        assert code(await asyncio.wait_for(task, 5)) is Code.UNKNOWN_TOPIC

    play(main)
