"""Produce: what is appended, when it is answered, what is refused."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest

from headrace.base.errors import ProtocolError
from headrace.broker.broker import OFFSETS_TOPIC
from headrace.broker.waiting import Later
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.produce import handle
from headrace.protocols.kafka.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from tests.support.broker_harness import Harness, batch, play, when


def request(*parts: tuple[str | UUID, int, bytearray | None], acks: int = -1, timeout_ms: int = 5_000) -> ProduceRequest:
    topics = []
    for topic, index, data in parts:
        named = {"topic_id": topic} if isinstance(topic, UUID) else {"name": topic}
        records = memoryview(data) if data is not None else None
        topics.append(TopicProduceData(**named, partition_data=[PartitionProduceData(index, records)]))
    return ProduceRequest(acks=acks, timeout_ms=timeout_ms, topic_data=topics)


def rows(response) -> list[PartitionProduceResponse]:
    return [row for topic in response.responses for row in topic.partition_responses]


def new_batch(node: Harness, *values: bytes, **fields) -> bytearray:
    return batch(*values, now_ms=node.world.now_ms(), **fields)


@pytest.mark.parametrize("acks", [1, -1])
def test_the_answer_waits_for_the_disk(acks: int):
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        later = node.call(handle, request(("t", 0, new_batch(node, b"a", b"b")), acks=acks), 9)
        assert isinstance(later, Later) and not later.done and partition.committed_end == 0
        (row,) = rows(await when(later))
        assert (row.error_code, row.base_offset, row.log_start_offset, row.log_append_time_ms) == (0, 0, 0, -1)
        assert partition.log.flushed_offset == 2
        assert (partition.metrics.produces, partition.metrics.records_in) == (1, 2)

    play(main)


def test_acks_0_is_not_answered():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        assert node.call(handle, request(("t", 0, new_batch(node)), acks=0), 9) is None
        assert partition.log.end_offset == 1
        wide = new_batch(node, *[b"v"] * 10_001)
        assert await node.ask(handle, request(("t", 0, wide), acks=0), 9) is None
        assert partition.log.end_offset == 10_002

    play(main)


def test_acks_0_that_is_refused_ends_the_connection():
    """Found by reading. A producer with acks=0 whose topic had been deleted and made again wrote into nothing, and never knew."""

    async def main(node: Harness) -> None:
        await node.create("t")
        gone = UUID(int=77)
        assert isinstance(
            await node.ask(handle, request(("t", 0, new_batch(node)), (gone, 0, new_batch(node)), acks=0), 13), ProtocolError
        )
        assert node.partition().log.end_offset == 1  # what could be taken was taken
        wide = new_batch(node, *[b"v"] * 10_001)
        assert isinstance(await node.ask(handle, request(("t", 0, wide), ("u", 0, None), acks=0), 9), ProtocolError)
        asked = request(("t", 0, new_batch(node)), acks=0)
        asked.transactional_id = "x"
        assert isinstance(await node.ask(handle, asked, 9), ProtocolError)

    play(main)


def test_what_is_refused():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.create("min", min_insync_replicas="2")
        await node.broker.make_offsets_topic()
        torn = new_batch(node)
        torn[-1] ^= 1
        asked = request(
            ("t", 0, torn), ("t", 0, None), ("t", 1, new_batch(node)), ("u", 0, new_batch(node)), (UUID(int=9), 0, new_batch(node)),
            ("min", 0, new_batch(node)), (OFFSETS_TOPIC, 0, new_batch(node)), ("t", 0, new_batch(node)),
        )  # fmt: skip
        answer = rows(await node.ask(handle, asked, 13))
        assert [row.error_code for row in answer] == [
            errors.CORRUPT_MESSAGE, errors.INVALID_RECORD, errors.UNKNOWN_TOPIC_OR_PARTITION, errors.UNKNOWN_TOPIC_OR_PARTITION,
            errors.UNKNOWN_TOPIC_ID, errors.NOT_ENOUGH_REPLICAS, errors.INVALID_TOPIC_EXCEPTION, errors.NONE,
        ]  # fmt: skip
        assert [row.base_offset for row in answer] == [-1] * 7 + [0]
        assert all(row.error_message for row in answer[:7]) and partition.log.end_offset == 1
        assert sum(node.metrics.refused.values()) == 7
        (row,) = rows(await node.ask(handle, request(("min", 0, new_batch(node)), acks=1), 9))
        assert row.error_code == errors.NONE  # the minimum counts for acks=all

    play(main)


def test_acks_that_do_not_exist_and_transactions():
    async def main(node: Harness) -> None:
        await node.create("t")
        (row,) = rows(await node.ask(handle, request(("t", 0, new_batch(node)), acks=2), 9))
        assert row.error_code == errors.INVALID_REQUIRED_ACKS
        asked = request(("t", 0, new_batch(node)))
        asked.transactional_id = "x"
        (row,) = rows(await node.ask(handle, asked, 9))
        assert row.error_code == errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        assert node.partition().log.end_offset == 0

    play(main)


def test_a_batch_that_takes_long_is_judged_on_a_copy():
    """The receive buffer is given to the next request as soon as the handler has returned."""

    async def main(node: Harness) -> None:
        partition = await node.create("t")
        data = new_batch(node, *[b"v"] * 10_001)
        work = node.call(handle, request(("t", 0, data), ("t", 0, new_batch(node, b"small"))), 9)
        data[:] = bytes(len(data))
        answer = await work
        assert [row.base_offset for row in rows(await when(answer))] == [0, 10_001]
        assert partition.committed_end == 10_002

    play(main)


def test_a_topic_that_is_deleted_while_a_batch_is_looked_at():
    async def main(node: Harness) -> None:
        await node.create("t")
        work = asyncio.get_running_loop().create_task(node.ask(handle, request(("t", 0, new_batch(node, *[b"v"] * 10_001))), 9))
        await asyncio.sleep(0)
        await node.delete("t")
        (row,) = rows(await work)
        assert row.error_code == errors.UNKNOWN_TOPIC_OR_PARTITION

    play(main)


def test_the_time_is_up():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await asyncio.sleep(1)
        node.faults.sync_ms = (3_000.0, 3_000.0)
        began = node.loop.time()
        (row,) = rows(await node.ask(handle, request(("t", 0, new_batch(node)), timeout_ms=500), 9))
        assert (row.error_code, row.base_offset) == (errors.REQUEST_TIMED_OUT, -1)
        assert round(node.loop.time() - began, 6) == 0.5
        await asyncio.sleep(20)
        assert partition.committed_end == 1  # it was kept after all: nobody hears twice

    play(main)


def test_a_flush_that_fails_is_told_and_a_retry_is_no_duplicate():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await asyncio.sleep(1)
        fields = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0}
        node.faults.sync_error_chance = 1.0
        data = new_batch(node, **fields)
        both = [
            node.call(handle, request(("t", 0, bytearray(data))), 9) for _ in range(2)
        ]  # the second is a duplicate of the first
        answers = [rows(await when(later))[0].error_code for later in both]
        assert answers == [errors.KAFKA_STORAGE_ERROR] * 2
        node.faults.sync_error_chance = 0.0
        (row,) = rows(await node.ask(handle, request(("t", 0, data)), 9))
        assert (row.error_code, row.base_offset) == (0, 0)
        (row,) = rows(await node.ask(handle, request(("t", 0, new_batch(node, **fields))), 9))
        assert (row.error_code, row.base_offset, partition.log.end_offset) == (0, 0, 1)

    play(main)


def test_an_empty_request():
    async def main(node: Harness) -> None:
        assert rows(node.call(handle, request(), 9)) == []
        assert node.call(handle, request(acks=0), 9) is None

    play(main)
