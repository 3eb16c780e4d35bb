"""Fetch: sizes, sessions, epochs, and what a reader may know."""

from __future__ import annotations

import asyncio
from uuid import UUID

from headrace.broker.waiting import Later
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.fetch import handle
from headrace.protocols.kafka.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from tests.support.broker_harness import Harness, arrived, play


def request(*parts: tuple[str | UUID, int, int], wait_ms: int = 0, **fields) -> FetchRequest:
    topics = []
    for topic, index, offset in parts:
        named = {"topic_id": topic} if isinstance(topic, UUID) else {"topic": topic}
        topics.append(FetchTopic(**named, partitions=[FetchPartition(index, fetch_offset=offset, partition_max_bytes=1 << 20)]))
    return FetchRequest(max_wait_ms=wait_ms, min_bytes=1, topics=topics, **fields)


def rows(response: FetchResponse) -> dict[tuple[str | UUID, int], PartitionData]:
    return {(topic.topic or topic.topic_id, row.partition_index): row for topic in response.responses for row in topic.partitions}


def test_records_and_the_committed_end():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition, b"a", b"b")
        node.append(partition, b"c")
        row = rows(node.call(handle, request(("t", 0, 0), isolation_level=1), 12))["t", 0]
        assert (row.error_code, row.high_watermark, row.last_stable_offset, row.log_start_offset) == (0, 2, 2, 0)
        assert len(row.records) == 77  # type: ignore[arg-type]
        assert (partition.metrics.records_out, partition.metrics.fetches, partition.metrics.bytes_out) == (2, 1, 77)
        assert rows(node.call(handle, request(("t", 0, 3)), 12))["t", 0].error_code == errors.OFFSET_OUT_OF_RANGE
        assert rows(node.call(handle, request(("t", 0, -1)), 12))["t", 0].error_code == errors.OFFSET_OUT_OF_RANGE

    play(main)


def test_a_long_poll():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        later = node.call(handle, request(("t", 0, 0), wait_ms=5_000), 12)
        assert isinstance(later, Later) and not later.done
        await node.put(partition)
        row = rows(await arrived(later))["t", 0]
        assert row.high_watermark == 1 and len(row.records) == 69  # type: ignore[arg-type]

    play(main)


def test_what_is_refused():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        topic_id = partition.topic_id
        found = rows(node.call(handle, request((topic_id, 0, 0), (topic_id, 7, 0), (UUID(int=9), 0, 0)), 13))
        assert [row.error_code for row in found.values()] == [0, errors.UNKNOWN_TOPIC_OR_PARTITION, errors.UNKNOWN_TOPIC_ID]
        for version, epoch, code in ((12, 5, errors.UNKNOWN_LEADER_EPOCH), (12, -1, 0)):
            asked = request(("t", 0, 0))
            asked.topics[0].partitions[0].current_leader_epoch = epoch
            assert rows(node.call(handle, asked, version))["t", 0].error_code == code
        partition.leader_epoch = 3
        asked = request((topic_id, 0, 0))
        asked.topics[0].partitions[0].current_leader_epoch = 2
        answer = node.call(handle, asked, 16)
        row = rows(answer)[topic_id, 0]
        assert row.error_code == errors.FENCED_LEADER_EPOCH
        assert row.current_leader is not None and (row.current_leader.leader_id, row.current_leader.leader_epoch) == (0, 3)
        assert [node.node_id for node in answer.node_endpoints] == [0]

    play(main)


def test_a_follower_is_refused():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        asked = request(("t", 0, 0), replica_id=3)
        assert rows(node.call(handle, asked, 12))["t", 0].error_code == errors.NOT_LEADER_OR_FOLLOWER
        asked = request((partition.topic_id, 0, 0), replica_state=ReplicaState(3, 1))
        assert rows(node.call(handle, asked, 15))[partition.topic_id, 0].error_code == errors.NOT_LEADER_OR_FOLLOWER

    play(main)


def test_a_client_whose_history_has_parted_from_ours():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        partition.leader_epoch = 2
        for _ in range(3):
            await node.put(partition)
        partition.leader_epoch = 5
        await node.put(partition)

        def ask(offset: int, last_epoch: int) -> PartitionData:
            asked = request(("t", 0, offset))
            asked.topics[0].partitions[0].last_fetched_epoch = last_epoch
            return rows(node.call(handle, asked, 12))["t", 0]

        assert ask(3, 2).diverging_epoch is None and ask(4, 5).diverging_epoch is None
        parted = ask(4, 2)  # it read one record of epoch 2 that we do not have
        assert parted.error_code == 0 and parted.diverging_epoch is not None
        assert (parted.diverging_epoch.epoch, parted.diverging_epoch.end_offset) == (2, 3)
        parted = ask(4, 4)
        assert parted.diverging_epoch is not None and (parted.diverging_epoch.epoch, parted.diverging_epoch.end_offset) == (2, 3)

    play(main)


def test_a_session_tells_only_what_is_new():
    """KIP-227."""

    async def main(node: Harness) -> None:
        one, two = await node.create("one"), await node.create("two")
        answer = node.call(handle, request(("one", 0, 0), ("two", 0, 0), session_epoch=0), 12)
        session = answer.session_id
        assert session and set(rows(answer)) == {("one", 0), ("two", 0)}

        def go_on(epoch: int, *parts: tuple[str, int, int], **fields) -> FetchResponse:
            return node.call(handle, request(*parts, session_id=session, session_epoch=epoch, **fields), 12)

        assert rows(go_on(1)) == {}
        await node.put(one)
        assert set(rows(go_on(2))) == {("one", 0)}
        assert set(rows(go_on(3, ("one", 0, 1)))) == set()
        await node.broker.delete_records(two, 0)
        await node.put(two)
        assert set(rows(go_on(4))) == {("two", 0)}
        assert go_on(4).error_code == errors.INVALID_FETCH_SESSION_EPOCH
        forget = [ForgottenTopic("two", partitions=[0])]
        assert rows(go_on(5, forgotten_topics_data=forget)) == {}
        await node.put(two)
        assert rows(go_on(6)) == {}
        assert node.call(handle, request(session_id=session, session_epoch=7), 13).error_code == errors.FETCH_SESSION_TOPIC_ID_ERROR
        assert node.call(handle, request(session_id=999, session_epoch=1), 12).error_code == errors.FETCH_SESSION_ID_NOT_FOUND

    play(main)


def test_a_session_without_partitions_ends():
    """Found by reading, against Kafka: it went on for nothing, and took a place from others."""

    async def main(node: Harness) -> None:
        await node.create("t")
        session = node.call(handle, request(("t", 0, 0), session_epoch=0), 12).session_id
        asked = request(session_id=session, session_epoch=1, forgotten_topics_data=[ForgottenTopic("t", partitions=[0])])
        assert node.call(handle, asked, 12).session_id == 0
        assert len(node.sessions) == 0 == node.sessions.tracked

    play(main)


def test_the_end_of_a_session_is_answered_in_full():
    async def main(node: Harness) -> None:
        await node.create("t")
        session = node.call(handle, request(("t", 0, 0), session_epoch=0), 12).session_id
        answer = node.call(handle, request(("t", 0, 0), session_id=session, session_epoch=-1), 12)
        assert answer.session_id == 0 and set(rows(answer)) == {("t", 0)} and len(node.sessions) == 0

    play(main)


def test_a_full_answer_does_not_starve_those_behind():
    async def main(node: Harness) -> None:
        names = ["a", "b", "c"]
        for name in names:
            await node.put(await node.create(name), b"x" * 1_000)
        first = node.call(handle, request(*((name, 0, 0) for name in names), session_epoch=0, max_bytes=1_000), 12)
        given = [key for key, row in rows(first).items() if row.records is not None and len(row.records)]
        for epoch in (1, 2):
            answer = node.call(handle, request(session_id=first.session_id, session_epoch=epoch, max_bytes=1_000), 12)
            given += [key for key, row in rows(answer).items() if row.records is not None and len(row.records)]
        assert given == [("a", 0), ("b", 0), ("c", 0)]

    play(main)


def test_the_node_bounds_what_one_fetch_gets():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        for _ in range(10):
            await node.put(partition, b"x" * 1_000)
        row = rows(node.call(handle, request(("t", 0, 0)), 12))["t", 0]
        assert len(row.records) == 3 * 1_070  # type: ignore[arg-type]

    play(main, fetch_size_max=4_000)


def test_a_topic_that_is_deleted_under_a_long_poll():
    async def main(node: Harness) -> None:
        await node.create("t")
        later = node.call(handle, request(("t", 0, 0), wait_ms=50_000), 12)
        await asyncio.sleep(1)
        await node.delete("t")
        assert rows(await arrived(later))["t", 0].error_code == errors.UNKNOWN_TOPIC_OR_PARTITION
        assert node.loop.time() < 2

    play(main)
