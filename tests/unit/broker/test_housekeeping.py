"""What recurs: retention, rolling, coming back from a full disk."""

from __future__ import annotations

import asyncio

from headrace.base.errors import Refused
from tests.support.broker_harness import Harness, committed, play


async def keep_house(node: Harness) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(node.housekeeping.run())


def files_of(node: Harness, folder: str) -> list[str]:
    return node.world.files.list(f"log/{folder}")


def test_old_records_go_where_nobody_writes_any_more():
    async def main(node: Harness) -> None:
        partition = await node.create("t", retention_ms="60000", file_delete_delay_ms="1000")
        for _ in range(3):
            await node.put(partition)
        task = await keep_house(node)
        await asyncio.sleep(50)
        assert partition.log.start_offset == 0
        await asyncio.sleep(40)
        assert (partition.log.start_offset, partition.log.end_offset, partition.log.size_bytes) == (3, 3, 0)
        await asyncio.sleep(5)
        assert not any(name.endswith(".deleted") for name in files_of(node, "t-0"))
        assert await node.put(partition) == 3
        task.cancel()

    play(main, retention_check=10_000)


def test_retention_takes_nothing_that_is_not_committed_and_nothing_of_a_compacted_topic():
    async def main(node: Harness) -> None:
        kept = await node.create("kept", cleanup_policy="compact", retention_ms="1000", segment_ms="1000")
        await node.put(kept, key=b"k")
        task = await keep_house(node)
        await asyncio.sleep(60)
        assert kept.log.start_offset == 0 and kept.log.size_bytes > 0
        task.cancel()

    play(main, retention_check=10_000)


def test_a_full_disk_is_tried_again():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition)
        task = await keep_house(node)
        node.faults.write_error_chance = 1.0
        assert isinstance(node.append(partition), Refused)
        node.faults.write_error_chance = 0.0
        assert isinstance(node.append(partition), Refused)  # not before somebody has looked
        await asyncio.sleep(6)
        assert await node.put(partition) == 1
        assert any(event == "writing resumed" for event, _ in node.said)
        task.cancel()

    play(main)


def test_dirty_pages_of_pagecache_topics_reach_the_disk_in_the_end():
    async def main(node: Harness) -> None:
        partition = await node.create("t", durability="pagecache")
        await asyncio.sleep(1)
        node.append(partition)
        task = await keep_house(node)
        await asyncio.sleep(20)
        assert partition.log.flushed_offset == 0
        await asyncio.sleep(20)
        assert partition.log.flushed_offset == 1
        task.cancel()

    play(main)


def test_idle_logs_give_memory_back_and_are_read_all_the_same():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition, b"a")
        await node.housekeeping.retain()
        assert not partition.log.active.recent_offsets
        found = await partition.read_slowly(node.world, 0, 100, whole_first_batch=True)
        assert not isinstance(found, Refused) and found.size == 69
        await node.put(partition, b"b")
        assert await committed(partition, 2) is None

    play(main)


def test_a_clean_stop_removes_what_was_to_be_removed_later():
    """The next start looks at no folder: what lay there would lie there for ever."""

    async def main(node: Harness) -> None:
        partition = await node.create("t", retention_ms="1000", file_delete_delay_ms="3600000")
        await node.put(partition)
        await asyncio.sleep(5)
        await node.housekeeping.retain()
        await asyncio.sleep(1)
        await node.housekeeping.retain()
        assert partition.log.start_offset == 1
        await node.stop()
        assert not any(name.endswith(".deleted") for name in files_of(node, "t-0"))
        await node.start()
        assert node.partition().log.start_offset == 1

    play(main)


def test_a_disk_that_fails_retention_is_no_bug():
    async def main(node: Harness) -> None:
        partition = await node.create("t", retention_ms="1000")
        await node.put(partition)
        await asyncio.sleep(5)
        node.faults.capacity_bytes = 0
        await node.housekeeping.retain()
        assert partition.log.start_offset == 0
        node.faults.capacity_bytes = 1 << 40
        await node.housekeeping._revive()
        await node.housekeeping.retain()
        await asyncio.sleep(1)
        await node.housekeeping.retain()
        assert partition.log.start_offset == 1

    play(main)
