"""OffsetCommit and what OffsetFetch makes of it: names and ids, versions, topics that are not there."""

from __future__ import annotations

from uuid import UUID

from headrace.base.limits import COMMIT_RETENTION_MS_MAX
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.offset_commit import _retention, handle
from headrace.protocols.kafka.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.support.broker_harness import Harness, play


def request(*parts: tuple[str | UUID, int, int], generation: int = -1, member: str = "") -> OffsetCommitRequest:
    topics = []
    for topic, index, offset in parts:
        named = {"topic_id": topic} if isinstance(topic, UUID) else {"name": topic}
        topics.append(OffsetCommitRequestTopic(**named, partitions=[OffsetCommitRequestPartition(index, offset, -1, None)]))
    return OffsetCommitRequest("g", generation, member, topics=topics)


async def codes(node: Harness, asked: OffsetCommitRequest, version: int) -> list[int]:
    answer = await node.ask(handle, asked, version)
    return [part.error_code for topic in answer.topics for part in topic.partitions]


def test_each_partition_has_its_own_answer():
    async def main(node: Harness) -> None:
        topic_id = (await node.create("t", partitions=2)).topic_id
        assert await codes(node, request(("t", 0, 1)), 8) == [errors.NOT_COORDINATOR]
        assert await node.broker.make_offsets_topic() is None
        unknown = errors.UNKNOWN_TOPIC_OR_PARTITION
        assert await codes(node, request(("t", 0, 1), ("u", 0, 1), ("t", 2, 1), ("t", 1, 1)), 8) == [0, unknown, unknown, 0]
        assert await codes(node, request((topic_id, 0, 2), (UUID(int=9), 0, 1)), 10) == [0, errors.UNKNOWN_TOPIC_ID]
        assert await codes(node, request(("u", 0, 1)), 8) == [unknown]
        assert await codes(node, request(), 8) == []

    play(main)


def test_a_member_of_a_group_that_does_not_exist():
    async def main(node: Harness) -> None:
        await node.create("t")
        assert await node.broker.make_offsets_topic() is None
        asked = request(("t", 0, 1), ("u", 0, 1), generation=3, member="m")
        assert await codes(node, asked, 8) == [errors.ILLEGAL_GENERATION, errors.UNKNOWN_TOPIC_OR_PARTITION]
        assert await codes(node, asked, 9) == [errors.GROUP_ID_NOT_FOUND, errors.UNKNOWN_TOPIC_OR_PARTITION]

    play(main)


def test_too_much_metadata_is_said_of_its_partition():
    async def main(node: Harness) -> None:
        await node.create("t", partitions=2)
        assert await node.broker.make_offsets_topic() is None
        asked = request(("t", 0, 1), ("t", 1, 1))
        asked.topics[1].partitions[0].committed_metadata = "x" * 5_000
        assert await codes(node, asked, 8) == [0, errors.OFFSET_METADATA_TOO_LARGE]

    play(main)


def test_retention():
    assert [_retention(asked) for asked in (-1, -500, 0, 7)] == [-1, -1, 0, 7]
    assert _retention(2**63 - 1) == COMMIT_RETENTION_MS_MAX
