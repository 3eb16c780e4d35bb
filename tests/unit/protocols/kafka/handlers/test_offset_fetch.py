"""OffsetFetch: the shapes of its versions, and topics that were made again."""

from __future__ import annotations

from uuid import UUID

from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers import offset_commit
from headrace.protocols.kafka.handlers.offset_fetch import handle
from headrace.protocols.kafka.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from headrace.protocols.kafka.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from tests.support.broker_harness import Harness, play


async def commit(node: Harness, offset: int, topic: str = "t") -> None:
    parts = [OffsetCommitRequestPartition(0, offset, -1, "note")]
    answer = await node.ask(
        offset_commit.handle, OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic(topic, partitions=parts)]), 8
    )
    assert answer.topics[0].partitions[0].error_code == 0


async def start(node: Harness) -> None:
    await node.create("t")
    assert await node.broker.make_offsets_topic() is None
    await commit(node, 5)


def test_old_and_new_shapes():
    async def main(node: Harness) -> None:
        await start(node)
        asked = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0, 7]), OffsetFetchRequestTopic("u", [0])])
        for version in (1, 5, 7):
            answer = await node.ask(handle, asked, version)
            found = [(topic.name, [p.committed_offset for p in topic.partitions]) for topic in answer.topics]
            assert found == [("t", [5, -1]), ("u", [-1])] and answer.topics[0].partitions[0].metadata == "note"
        answer = await node.ask(handle, OffsetFetchRequest("g", None), 7)
        assert [topic.name for topic in answer.topics] == ["t"]
        groups = [
            OffsetFetchRequestGroup("g", topics=[OffsetFetchRequestTopics("t", partition_indexes=[0])]),
            OffsetFetchRequestGroup("none"),
        ]
        answer = await node.ask(handle, OffsetFetchRequest(groups=groups), 8)
        found = [(g.group_id, g.error_code, [p.committed_offset for t in g.topics for p in t.partitions]) for g in answer.groups]
        assert found == [("g", 0, [5]), ("none", 0, [])]

    play(main)


def test_by_id():
    async def main(node: Harness) -> None:
        await start(node)
        ids = [node.partition().topic_id, UUID(int=9)]
        topics = [OffsetFetchRequestTopics(topic_id=topic_id, partition_indexes=[0]) for topic_id in ids]
        (group,) = (await node.ask(handle, OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=topics)]), 10)).groups
        assert [(t.topic_id, t.partitions[0].committed_offset, t.partitions[0].error_code) for t in group.topics] == [
            (ids[0], 5, 0), (ids[1], -1, errors.UNKNOWN_TOPIC_ID),
        ]  # fmt: skip

    play(main)


def test_a_topic_that_was_made_again_has_nothing_of_the_old_one():
    """Found by reading. A topic that was deleted while the groups were being loaded kept its offsets in the log, and the next one
    of its name inherited them: its consumers began in the middle.
    """

    async def main(node: Harness) -> None:
        await start(node)
        (host,) = node.broker.group_hosts()
        machine, host._machine = host._machine, None  # as while it is loaded
        await node.delete("t")
        host._machine = machine
        await node.create("t")
        asked = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])])
        answer = await node.ask(handle, asked, 7)
        assert answer.topics[0].partitions[0].committed_offset == -1
        await commit(node, 1)
        answer = await node.ask(handle, asked, 7)
        assert answer.topics[0].partitions[0].committed_offset == 1

    play(main)


def test_an_error_stands_where_the_version_has_room_for_it():
    async def main(node: Harness) -> None:
        asked = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])])
        assert (await node.ask(handle, asked, 1)).topics[0].partitions[0].error_code == errors.NOT_COORDINATOR
        assert (await node.ask(handle, asked, 2)).error_code == errors.NOT_COORDINATOR
        (group,) = (await node.ask(handle, OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g")]), 9)).groups
        assert group.error_code == errors.NOT_COORDINATOR

    play(main)
