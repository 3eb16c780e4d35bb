"""Many partitions at once: few syncs, nothing lost, nothing left behind."""

from __future__ import annotations

import asyncio

from headrace.broker.flushing import WIDE_COUNT
from headrace.broker.pace import Pace
from headrace.broker.shelf import CHECKPOINT
from tests.support.broker_harness import Harness, committed, play

COUNT = 2 * WIDE_COUNT


def test_new_partitions_are_flushed_together():
    async def main(node: Harness) -> None:
        before = node.disk.syncs
        await node.create("t", partitions=COUNT)
        await node.flusher.drain()
        assert node.disk.syncs - before <= COUNT // 2, "one by one it takes four for each"
        assert all(node.partition("t", index).identity is None for index in range(COUNT))
        node.disk.crash()
        await node.kill()
        await node.start()
        assert len(node.recovered) == COUNT, "a power cut after the flush takes no folder"

    play(main)


def test_a_wide_flush_that_fails_is_told_to_all():
    async def main(node: Harness) -> None:
        await node.create("t", partitions=COUNT)
        await node.flusher.drain()
        partitions = [node.partition("t", index) for index in range(COUNT)]
        node.faults.sync_error_chance = 1.0
        for partition in partitions:
            node.append(partition)
        refused = await asyncio.gather(*(committed(partition, 1) for partition in partitions))
        assert None not in refused
        node.faults.sync_error_chance = 0.0
        assert {partition.log.end_offset for partition in partitions} == {0}
        for partition in partitions:
            assert await node.put(partition) == 0

    play(main)


def test_many_logs_are_closed_and_recovered_with_few_syncs():
    async def main(node: Harness) -> None:
        await node.create("t", partitions=COUNT)
        for index in range(COUNT):
            node.append(node.partition("t", index))
        await node.flusher.drain()
        before = node.disk.syncs
        await node.stop()
        assert node.disk.syncs - before <= 4
        node.disk.crash()
        await node.start()
        assert node.recovered == []
        await node.kill()
        before = node.disk.syncs
        await node.start()
        assert len(node.recovered) == COUNT
        assert node.disk.syncs - before <= 2
        node.disk.crash()
        await node.kill()
        await node.start()
        assert all(node.partition("t", index).committed_end == 1 for index in range(COUNT))

    play(main)


def test_a_stop_amid_a_deletion_leaves_nothing_for_good():
    async def main(node: Harness) -> None:
        await node.create("t", partitions=COUNT)
        await node.flusher.drain()
        await node.delete("t")
        await node.shelf.reach(node.image.revision)
        await node.stop()
        assert node.world.files.exists(CHECKPOINT)
        assert node.world.files.list("log") != []
        await node.start()
        await node.world.offload(lambda: None)
        while node.shelf._doomed:
            await node.world.offload(lambda: None)
        assert node.world.files.list("log") == []

    play(main)


def test_a_disk_that_cannot_be_synced_leaves_no_checkpoint():
    async def main(node: Harness) -> None:
        await node.create("t", partitions=COUNT)
        for index in range(COUNT):
            node.append(node.partition("t", index))
        await node.flusher.drain()
        node.faults.sync_error_chance = 1.0
        await node.stop()
        assert not node.world.files.exists(CHECKPOINT)
        node.faults.sync_error_chance = 0.0
        await node.start()
        assert len(node.recovered) == COUNT
        assert node.partition("t", COUNT - 1).committed_end == 1

    play(main)


def test_others_get_their_turn():
    async def main(node: Harness) -> None:
        turns = 0

        def count() -> None:
            nonlocal turns
            turns += 1
            if turns < 1_000:
                node.loop.call_soon(count)

        node.loop.call_soon(count)
        pace = Pace(node.world)
        for _ in range(1_000):
            await pace.step()
        assert 10 <= turns <= 1_000

    play(main)
