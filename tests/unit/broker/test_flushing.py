"""Group commit: one flush for what came together, errors that are told, nobody who waits for ever."""

from __future__ import annotations

import asyncio

from headrace.base.errors import Code, Refused
from headrace.broker.flushing import IDLE
from headrace.broker.partition import WRITE_BACK_SIZE
from tests.support.broker_harness import Harness, committed, play


def test_what_comes_together_is_flushed_together():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition)
        await asyncio.sleep(1)
        before = node.disk.syncs
        for _ in range(100):
            node.append(partition)
        assert await committed(partition, 101) is None
        assert node.disk.syncs - before == 1

    play(main)


def test_what_comes_while_a_flush_is_under_way_waits_for_the_next():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await asyncio.sleep(1)
        node.append(partition)
        await asyncio.sleep(0.0005)  # under way
        node.append(partition)
        began = node.loop.time()
        assert await committed(partition, 1) is None
        assert partition.committed_end == 1
        assert await committed(partition, 2) is None
        assert node.loop.time() - began < 0.005
        await asyncio.sleep(1)
        assert partition.flush_state == IDLE and partition.guests == 0

    play(main)


def test_many_partitions_take_few_jobs():
    async def main(node: Harness) -> None:
        await node.create("t", partitions=40)
        await asyncio.sleep(5)
        before = node.world.works
        for index in range(40):
            node.append(node.partition("t", index))
        await node.flusher.drain()
        assert node.world.works - before == 4
        assert all(node.partition("t", index).committed_end == 1 for index in range(40))

    play(main)


def test_one_partitions_failure_is_not_the_others():
    async def main(node: Harness) -> None:
        bad, good = await node.create("bad"), await node.create("good")
        await asyncio.sleep(1)
        lost: list[object] = []
        node.flusher.lost = lambda partition, why: lost.append((partition, partition.committed_end))
        node.append(bad)
        node.append(good)
        file = bad.log.segments[-1].file
        sync = type(file).sync

        def fail(self: object) -> None:
            if self.path.startswith("log/bad"):  # type: ignore[attr-defined]
                raise OSError(5, "input/output error")
            sync(self)

        type(file).sync = fail  # type: ignore[method-assign]
        try:
            told = await asyncio.gather(committed(bad, 1), committed(good, 1))
        finally:
            type(file).sync = sync  # type: ignore[method-assign]
        assert isinstance(told[0], Refused) and told[0].code is Code.STORAGE_FAILED
        assert told[1] is None
        assert lost == [(bad, 0)] and node.metrics.flush_failures == 1

    play(main)


def test_the_host_of_groups_hears_of_a_loss_before_those_who_waited():
    """Found by reading. Who was told first could ask at once, and was answered from a state that the log had just lost."""

    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await asyncio.sleep(1)
        order: list[str] = []
        node.flusher.lost = lambda partition, why: order.append("host")
        node.append(partition)
        partition.when_committed(1, lambda why: order.append("client"))
        node.faults.sync_error_chance = 1.0
        await node.flusher.drain()
        assert order == ["host", "client"]

    play(main)


def test_flushed_waits_for_its_own_partition_only():
    """Found by reading. DeleteRecords of a `pagecache` topic waited until nothing at all was flushed, which under load is never."""

    async def main(node: Harness) -> None:
        busy = await node.create("busy")
        quiet = await node.create("quiet", durability="pagecache")
        await asyncio.sleep(1)
        node.append(quiet)

        def write_on(why: Refused | None) -> None:
            node.append(busy)
            busy.when_committed(busy.log.end_offset, write_on)

        write_on(None)
        await asyncio.sleep(0.0005)  # from here on a flush is always under way
        write_on(None)
        assert await asyncio.wait_for(node.broker.delete_records(quiet, -1), 1) == 1

    play(main)


def test_flushed_that_fails():
    async def main(node: Harness) -> None:
        partition = await node.create("t", durability="pagecache")
        await asyncio.sleep(1)
        assert await node.flusher.flushed(partition, 0) is None
        node.append(partition)
        node.faults.sync_error_chance = 1.0
        why = await node.flusher.flushed(partition, 1)
        assert isinstance(why, Refused) and why.code is Code.STORAGE_FAILED
        assert partition.committed_end == 0  # what was visible is gone: that is what `pagecache` says
        node.faults.sync_error_chance = 0.0
        node.append(partition)
        waits = asyncio.get_running_loop().create_task(node.flusher.flushed(partition, 1))
        await asyncio.sleep(0)
        await node.delete("t")
        why = await waits
        assert isinstance(why, Refused) and why.code is Code.UNKNOWN_TOPIC
        assert await node.flusher.flushed(partition, 9) is partition.closed

    play(main)


def test_pagecache_hands_dirty_pages_on_in_stretches():
    async def main(node: Harness) -> None:
        partition = await node.create("t", durability="pagecache", record_validation="header", max_message_bytes="2000000")
        await asyncio.sleep(1)
        hinted: list[int] = []
        node.world.files.write_back = lambda inode, position, size: hinted.append(size)  # type: ignore[attr-defined]
        for _ in range(20):
            node.append(partition, b"x" * 1_000_000)
            await asyncio.sleep(0.01)
        assert partition.log.flushed_offset == 0
        assert len(hinted) == 2 and all(size >= WRITE_BACK_SIZE for size in hinted)

    play(main)


def test_a_partition_that_is_deleted_while_it_is_flushed():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await asyncio.sleep(1)
        node.append(partition)
        await asyncio.sleep(0.0005)
        await node.delete("t")
        await node.flusher.drain()
        assert partition.guests == 0 and partition.committed_end == 0

    play(main)
