"""One partition: what is judged, what the world may know of, who is told."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.base.errors import Code, Refused
from headrace.broker.partition import Partition, Slow
from headrace.log.log import Appended, Duplicate, Read
from headrace.records.build import build_batch
from headrace.records.header import BatchHeader, read_header
from headrace.records.record import Record
from tests.support.broker_harness import Harness, batch, committed, play


def prepare(node: Harness, partition: Partition, data: bytearray) -> BatchHeader | Slow | Refused:
    return partition.prepare(memoryview(data), node.world.now_ms())


def code(found: object) -> Code:
    assert isinstance(found, Refused), found
    return found.code


def test_nothing_above_the_committed_end_is_visible():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        woken = []
        partition.readers[lambda: woken.append(partition.committed_end)] = None
        assert isinstance(node.append(partition, b"a", b"b"), Appended)
        assert (partition.log.end_offset, partition.committed_end) == (2, 0)
        found = partition.read(0, 1_000, whole_first_batch=True)
        assert isinstance(found, Read) and found.body is None
        assert code(partition.read(1, 1_000, whole_first_batch=True)) is Code.OFFSET_OUT_OF_RANGE
        assert await committed(partition, 2) is None
        assert woken == [2]
        found = partition.read(1, 1_000, whole_first_batch=True)
        assert isinstance(found, Read) and (found.first_offset, found.count) == (0, 1)

    play(main)


def test_a_repeated_batch_is_not_answered_before_the_first_one_is_kept():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        fields = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
        first = node.append(partition, **fields)
        again = node.append(partition, **fields)
        assert isinstance(again, Duplicate) and isinstance(first, Appended)
        assert again.last_offset == first.last_offset >= partition.committed_end
        assert await committed(partition, again.last_offset + 1) is None
        assert partition.log.flushed_offset == 1

    play(main)


def test_a_failed_flush_takes_back_what_nobody_saw():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition, b"kept")
        node.faults.sync_error_chance = 1.0
        fields = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}
        node.append(partition, **fields)
        node.append(partition, b"x", b"y")
        told = await asyncio.gather(committed(partition, 2), committed(partition, 4))
        assert [code(why) for why in told] == [Code.STORAGE_FAILED] * 2
        assert (partition.committed_end, partition.log.end_offset) == (1, 1)
        node.faults.sync_error_chance = 0.0
        retry = node.append(partition, **fields)
        assert type(retry) is Appended and retry.base_offset == 1  # no duplicate of a batch that is gone
        assert await committed(partition, 2) is None

    play(main)


def test_pagecache_commits_what_was_appended():
    async def main(node: Harness) -> None:
        partition = await node.create("t", durability="pagecache")
        await asyncio.sleep(1)
        node.append(partition)
        assert (partition.committed_end, partition.log.flushed_offset) == (1, 0)

    play(main)


def test_a_closed_partition_serves_nothing_and_wakes_everybody():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        heard: list[object] = []
        partition.readers[lambda: heard.append("reader")] = None
        node.append(partition)
        partition.when_committed(1, heard.append)
        why = Refused(Code.UNKNOWN_TOPIC, "deleted")
        partition.close(why)
        assert heard == [why, "reader"]
        partition.when_committed(5, heard.append)
        assert heard[2:] == [why]
        assert node.append(partition) is why and partition.read(0, 10, whole_first_batch=True) is why

    play(main)


def test_what_is_judged_at_once_and_what_takes_long():
    async def main(node: Harness) -> None:
        plain = await node.create("plain")
        trusted = await node.create("trusted", record_validation="header")
        zstd = await node.create("zstd", compression_type="zstd")
        small, wide = batch(b"v"), batch(*[b"v"] * 10_001)
        gzip = batch(b"v" * 100, codec=1)
        bomb = batch(b"\0" * 600_000, codec=1)  # 600 bytes, more than may be inflated on the loop
        assert isinstance(prepare(node, plain, small), BatchHeader)
        assert isinstance(prepare(node, plain, wide), Slow)
        assert isinstance(prepare(node, plain, gzip), BatchHeader)
        assert isinstance(prepare(node, plain, bomb), Slow)
        assert isinstance(prepare(node, trusted, wide), BatchHeader)
        assert isinstance(prepare(node, zstd, small), Slow)
        assert isinstance(prepare(node, zstd, batch(b"v", codec=4)), BatchHeader)
        now = node.world.now_ms()
        found = zstd.prepare_slowly(bytearray(small), read_header(small), now)
        assert not isinstance(found, Refused) and found[1].codec == 4
        found = plain.prepare_slowly(bytearray(bomb), read_header(bomb), now)
        assert not isinstance(found, Refused) and found[0] == bomb

    play(main)


def test_what_is_refused():
    async def main(node: Harness) -> None:
        partition = await node.create("t", max_message_bytes="500", message_timestamp_after_max_ms="1000")
        compact = await node.create("c", cleanup_policy="compact")
        now = node.world.now_ms()
        assert code(prepare(node, partition, batch(b"x" * 500))) is Code.BATCH_TOO_LARGE
        assert code(prepare(node, partition, batch(b"v", now_ms=now + 2_000))) is Code.TIMESTAMP_OUT_OF_RANGE
        assert isinstance(prepare(node, partition, batch(b"v", now_ms=now + 500)), BatchHeader)
        assert code(
            prepare(node, partition, batch(b"v", transactional=True, producer_id=1, producer_epoch=0, base_sequence=0))
        ) is (Code.TRANSACTIONS_NOT_SUPPORTED)
        torn = batch(b"v")
        torn[-1] ^= 1
        assert code(prepare(node, partition, torn)) is Code.CORRUPT_BATCH
        assert code(prepare(node, compact, batch(b"v"))) is Code.INVALID_RECORD
        assert isinstance(prepare(node, compact, batch(b"v", key=b"k")), BatchHeader)
        assert partition.log.end_offset == compact.log.end_offset == 0

    play(main)


def test_append_time_is_the_brokers():
    async def main(node: Harness) -> None:
        partition = await node.create("t", message_timestamp_type="LogAppendTime")
        data = batch(b"v", now_ms=5)
        header = prepare(node, partition, data)
        assert isinstance(header, BatchHeader) and header.is_append_time
        done = partition.append(memoryview(data), header, node.world.now_ms())
        assert isinstance(done, Appended) and done.append_time_ms == node.world.now_ms()

    play(main)


@pytest.mark.parametrize(
    ("epoch", "refused"), [(-1, None), (3, None), (2, Code.FENCED_LEADER_EPOCH), (4, Code.UNKNOWN_LEADER_EPOCH)]
)
def test_leader_epochs(epoch: int, refused: Code | None):
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        partition.leader_epoch = 3
        why = partition.check_leader_epoch(epoch)
        assert (None if why is None else why.code) is refused

    play(main)


@settings(max_examples=25)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(1, 2_000), st.booleans())
def test_records_handed_out_are_all_records(counts: list[int], size_max: int, forget: bool):
    """Read from end to end, the counts add up: exactly at the tail, nearly so where only the disk knows."""

    async def main(node: Harness) -> None:
        partition = await node.create("t", durability="pagecache")
        for count in counts:
            data = build_batch([Record(0, node.world.now_ms(), None, b"v" * 20)] * count)
            partition.append(memoryview(data), read_header(data), node.world.now_ms())
        if forget:
            partition.log.forget()
        offset = total = 0
        while offset < sum(counts):
            found = await partition.read_slowly(node.world, offset, size_max, whole_first_batch=True)
            assert isinstance(found, Read) and found.body is not None
            data = found.body.read()
            at = 0
            while len(data) - at >= 61 and (header := read_header(data, at)).size <= len(data) - at:
                at += header.size
                offset = header.last_offset + 1
            total += found.count
        if forget:
            assert total <= 3 * sum(counts)
        else:
            assert total == sum(counts)

    play(main)
