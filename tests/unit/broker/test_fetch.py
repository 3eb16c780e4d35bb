"""Reading from many partitions: how much, and when."""

from __future__ import annotations

import asyncio

from headrace.base.errors import Code, Refused
from headrace.broker.fetch import Want, fetch
from headrace.log.log import Read
from tests.support.broker_harness import Harness, play, when


def ask(node: Harness, wants: list[Want], *, size_min: int = 1, size_max: int = 1 << 20, wait_ms: int = 500):
    return fetch(node.world, node.tasks, wants, size_min=size_min, size_max=size_max, wait_ms=wait_ms)


def sizes(wants: list[Want]) -> list[int | Code]:
    return [want.read.size if isinstance(want.read, Read) else want.read.code for want in wants]  # type: ignore[union-attr]


def test_what_lies_there_is_given_at_once():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition)
        wants = [Want(partition, 0, 1_000)]
        assert ask(node, wants) is None
        assert sizes(wants) == [69]

    play(main)


def test_a_long_poll_ends_with_the_next_commit_and_leaves_nothing_behind():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        wants = [Want(partition, 0, 1_000)]
        later = ask(node, wants, wait_ms=10_000)
        assert later is not None and not later.done
        await asyncio.sleep(1)
        node.append(partition)
        assert not later.done  # not before it is kept
        await when(later)
        assert 1.0 < node.loop.time() < 1.1 and sizes(wants) == [69]
        assert not partition.readers

    play(main)


def test_a_long_poll_ends_when_its_time_is_up():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        wants = [Want(partition, 0, 1_000)]
        began = node.loop.time()
        later = ask(node, wants, wait_ms=300)
        assert later is not None
        await when(later)
        assert round(node.loop.time() - began, 6) == 0.3
        assert sizes(wants) == [0] and not partition.readers

    play(main)


def test_nobody_waits_who_does_not_want_to_or_has_something_wrong():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        for wants, wait_ms in (
            ([Want(partition, 0, 100)], 0),
            ([Want(partition, 5, 100), Want(partition, 0, 100)], 500),
            ([Want(Refused(Code.UNKNOWN_TOPIC, ""), 0, 100), Want(partition, 0, 100)], 500),
        ):
            assert ask(node, wants, wait_ms=wait_ms) is None
        assert sizes([Want(Refused(Code.UNKNOWN_TOPIC, ""), 0, 0)]) == [Code.UNKNOWN_TOPIC]
        assert not partition.readers

    play(main)


def test_a_wait_for_much_is_not_ended_by_what_is_not_kept_yet():
    """Found by reading. Bytes were counted when they were appended, and the wait ended with the next commit, of whatever size: a
    consumer with `fetch.min.bytes` got single small batches.
    """

    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await asyncio.sleep(1)
        wants = [Want(partition, 0, 1 << 20)]
        later = ask(node, wants, size_min=10_000, wait_ms=60_000)
        assert later is not None
        node.append(partition)
        await asyncio.sleep(0.0005)  # the flush of the small one is under way
        node.append(partition, b"x" * 20_000)
        await when(later)
        assert partition.committed_end == 2 and sizes(wants)[0] > 20_000
        assert node.loop.time() < 1.1

    play(main)


def test_a_wait_for_much_counts_what_was_on_its_way_when_it_began():
    """Found by reading. What had been appended and was not kept yet when the wait began counted for nothing: the consumer slept
    through it until its time was up.
    """

    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await asyncio.sleep(1)
        node.append(partition, b"x" * 20_000)
        wants = [Want(partition, 0, 1 << 20)]
        later = ask(node, wants, size_min=10_000, wait_ms=60_000)
        assert later is not None
        await when(later)
        assert node.loop.time() < 1.1 and sizes(wants)[0] > 20_000

    play(main)


def test_a_wait_for_much_counts_what_comes_bit_by_bit():
    async def main(node: Harness) -> None:
        one, two = await node.create("one"), await node.create("two")
        await node.put(one)
        wants = [Want(one, 0, 1 << 20), Want(two, 0, 1 << 20)]
        later = ask(node, wants, size_min=69 * 4, wait_ms=60_000)
        assert later is not None
        for partition in (two, one):
            await node.put(partition)
            assert not later.done
        await node.put(two)
        assert later.done and sizes(wants) == [138, 138]

    play(main)


def test_a_wait_for_more_than_may_be_given():
    """As at Kafka: what does not fit into the partition's share counts for nothing, and the wait ends by time."""

    async def main(node: Harness) -> None:
        partition = await node.create("t")
        wants = [Want(partition, 0, 200)]
        later = ask(node, wants, size_min=1_000, wait_ms=5_000)
        assert later is not None
        for _ in range(5):
            await node.put(partition, b"x" * 500)
        assert not later.done
        await when(later)
        assert node.loop.time() > 5 and sizes(wants) == [570]

    play(main)


def test_a_deleted_topic_ends_the_wait():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        wants = [Want(partition, 0, 100)]
        later = ask(node, wants, size_min=1_000, wait_ms=60_000)
        assert later is not None
        await node.delete("t")
        assert later.done and sizes(wants) == [Code.UNKNOWN_TOPIC]

    play(main)


def test_sizes():
    """KIP-74: the first batch there is comes whole, whatever the limits; behind it the limits hold."""

    async def main(node: Harness) -> None:
        partitions = [await node.create(name) for name in "abc"]
        for partition in partitions[1:]:
            for _ in range(3):
                await node.put(partition, b"x" * 100)
        batch = 170
        a, b, c = partitions

        def read(size_max: int, *each: int) -> list[int | Code]:
            wants = [Want(p, 0, size) for p, size in zip((a, b, c), each, strict=True)]
            assert ask(node, wants, size_max=size_max) is None
            return sizes(wants)

        assert read(1 << 20, 1_000, 1_000, 1_000) == [0, 3 * batch, 3 * batch]
        assert read(1 << 20, 1_000, 2 * batch, 2 * batch - 1) == [0, 2 * batch, batch]
        assert read(1 << 20, 1, 1, 1) == [0, batch, 0]
        assert read(1, 1_000, 1_000, 1_000) == [0, batch, 0]
        assert read(4 * batch, 1_000, 1_000, 1_000) == [0, 3 * batch, batch]
        assert read(3 * batch, 1_000, 1_000, 1_000) == [0, 3 * batch, 0]
        assert read(0, -5, -5, -5) == [0, batch, 0]

    play(main)


def test_cold_parts_are_fetched_in_a_thread():
    async def main(node: Harness) -> None:
        partition = await node.create("t", segment_bytes="1048576", index_interval_bytes="100")
        for i in range(30):
            await node.put(partition, b"%d" % i * 50_000)
        await asyncio.sleep(1)
        for segment in partition.log.segments:
            segment.forget()
        node.faults.evict_chance = 1.0
        wants = [Want(partition, 3, 1 << 20), Want(Refused(Code.UNKNOWN_TOPIC, ""), 0, 0)]
        later = ask(node, wants)
        assert later is not None and not later.done
        await when(later)
        assert isinstance(wants[0].read, Read) and wants[0].read.first_offset == 3
        node.faults.read_error_chance = 1.0
        wants = [Want(partition, 3, 1 << 20)]
        later = ask(node, wants)
        assert later is not None
        await when(later)
        assert sizes(wants) == [Code.STORAGE_FAILED]

    play(main)
