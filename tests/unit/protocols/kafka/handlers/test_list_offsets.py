"""ListOffsets: by name and by time, never above the committed end."""

from __future__ import annotations

import pytest

from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.list_offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    handle,
)
from headrace.protocols.kafka.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from headrace.records.header import read_header
from tests.support.broker_harness import Harness, batch, committed, play


async def ask(node: Harness, wanted: int, *, version: int = 11, topic: str = "t", index: int = 0, epoch: int = -1):
    request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, [ListOffsetsPartition(index, epoch, wanted)])])
    row = (await node.ask(handle, request, version)).topics[0].partitions[0]
    assert isinstance(row, ListOffsetsPartitionResponse)
    return row


def test_names_and_times_stop_at_the_committed_end():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        now = node.world.now_ms()
        for time in (now - 30, now - 10, now - 20):
            await put_at(node, time)
        node.append(partition, b"not kept yet")

        async def offset(wanted: int) -> tuple[int, int]:
            row = await ask(node, wanted)
            assert row.error_code == 0
            return row.offset, row.timestamp

        end = partition.committed_end
        assert (await offset(LATEST))[0] == end == 3
        assert await offset(EARLIEST) == await offset(EARLIEST_LOCAL) == (0, -1)
        assert await offset(LATEST_TIERED) == await offset(EARLIEST_PENDING_UPLOAD) == (-1, -1)

    play(main)


async def put_at(node: Harness, time: int) -> None:
    data = batch(b"v", now_ms=time)
    done = node.partition().append(memoryview(data), read_header(data), node.world.now_ms())
    assert await committed(node.partition(), done.last_offset + 1) is None  # type: ignore[union-attr]


def test_times():
    async def main(node: Harness) -> None:
        await node.create("t")
        for time in (1_000, 3_000, 2_000):
            await put_at(node, time)
        found = [(await ask(node, wanted)).offset for wanted in (0, 1_000, 1_001, 3_000, 3_001)]
        assert found == [0, 0, 1, 1, -1]
        row = await ask(node, MAX_TIMESTAMP)
        assert (row.offset, row.timestamp, row.leader_epoch) == (1, 3_000, 0)

    play(main)


def test_what_is_not_committed_is_not_found_by_time():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await put_at(node, 1_000)
        node.faults.sync_ms = (10_000.0, 10_000.0)
        node.append(partition, b"new")
        assert (await ask(node, 1_001)).offset == -1
        row = await ask(node, MAX_TIMESTAMP)
        assert (row.offset, row.timestamp) == (0, 1_000)

    play(main)


@pytest.mark.parametrize(
    ("wanted", "first"),
    [(LATEST, 1), (EARLIEST, 1), (MAX_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (LATEST_TIERED, 9), (EARLIEST_PENDING_UPLOAD, 11)],
)
def test_names_have_a_first_version(wanted: int, first: int):
    async def main(node: Harness) -> None:
        await node.create("t")
        assert (await ask(node, wanted, version=first)).error_code == 0
        if first > 1:
            assert (await ask(node, wanted, version=first - 1)).error_code == errors.UNSUPPORTED_VERSION
        assert (await ask(node, -7)).error_code == errors.UNSUPPORTED_VERSION

    play(main)


def test_what_is_refused():
    async def main(node: Harness) -> None:
        await node.create("t")
        assert (await ask(node, LATEST, topic="u")).error_code == errors.UNKNOWN_TOPIC_OR_PARTITION
        assert (await ask(node, LATEST, index=4)).error_code == errors.UNKNOWN_TOPIC_OR_PARTITION
        assert (await ask(node, LATEST, epoch=9)).error_code == errors.UNKNOWN_LEADER_EPOCH
        await put_at(node, 1_000)
        node.partition().log.forget()
        node.faults.read_error_chance = 1.0
        assert (await ask(node, 500)).error_code == errors.KAFKA_STORAGE_ERROR

    play(main)
