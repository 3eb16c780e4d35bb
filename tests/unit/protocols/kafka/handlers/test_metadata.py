"""Metadata: sorted answers, topics by id, topics that come into being."""

from __future__ import annotations

from uuid import UUID

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.metadata import handle
from headrace.protocols.kafka.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.support.broker_harness import Harness, play


async def ask(
    node: Harness, *names: str | UUID, version: int = 13, make: bool = True, all_topics: bool = False
) -> MetadataResponse:
    topics = [
        MetadataRequestTopic(name, None) if isinstance(name, UUID) else MetadataRequestTopic(NO_TOPIC_ID, name) for name in names
    ]
    return await node.ask(handle, MetadataRequest(None if all_topics else topics, make), version)


def brief(response: MetadataResponse) -> list[tuple[str | None, int, int]]:
    return [(topic.name, topic.error_code, len(topic.partitions)) for topic in response.topics]


def test_all_and_none():
    async def main(node: Harness) -> None:
        for name in ("b", "a"):
            await node.create(name, partitions=2)
        assert brief(await ask(node, all_topics=True)) == [("a", 0, 2), ("b", 0, 2)]
        assert brief(await ask(node, version=0)) == [("a", 0, 2), ("b", 0, 2)]
        assert brief(await ask(node)) == []
        answer = await ask(node, "a")
        assert [(one.node_id, one.host, one.port) for one in answer.brokers] == [(0, "127.0.0.1", 9092)]
        assert (answer.controller_id, answer.cluster_id) == (0, "hcluster")
        (part, _) = answer.topics[0].partitions
        assert (part.leader_id, list(part.replica_nodes), list(part.isr_nodes)) == (0, [0], [0])

    play(main)


def test_answers_are_sorted_and_name_nothing_twice():
    async def main(node: Harness) -> None:
        for name in "cab":
            await node.create(name)
        assert [name for name, _, _ in brief(await ask(node, "c", "a", "c", "b", "a"))] == ["a", "b", "c"]

    play(main)


def test_topics_by_id():
    async def main(node: Harness) -> None:
        topic_id = (await node.create("t")).topic_id
        assert brief(await ask(node, topic_id)) == [("t", 0, 1)]
        assert brief(await ask(node, UUID(int=9))) == [(None, errors.UNKNOWN_TOPIC_ID, 0)]
        assert [code for _, code, _ in brief(await ask(node, topic_id, version=10))] == [errors.INVALID_REQUEST]

    play(main)


def test_a_topic_is_made_when_client_and_node_allow_it():
    async def main(node: Harness) -> None:
        assert brief(await ask(node, "t", make=False)) == [("t", errors.UNKNOWN_TOPIC_OR_PARTITION, 0)]
        assert brief(await ask(node, "t")) == [("t", 0, 1)]
        assert await node.put(node.partition("t")) == 0
        assert brief(await ask(node, "old", version=3, make=False)) == [("old", 0, 1)]  # the field came with version 4
        assert brief(await ask(node, "a b", "..")) == [
            ("..", errors.INVALID_TOPIC_EXCEPTION, 0),
            ("a b", errors.INVALID_TOPIC_EXCEPTION, 0),
        ]

    async def off(node: Harness) -> None:
        assert brief(await ask(node, "t")) == [("t", errors.UNKNOWN_TOPIC_OR_PARTITION, 0)]

    play(main)
    play(off, auto_create_topics=False)


def test_operations_are_told_to_who_asks():
    async def main(node: Harness) -> None:
        await node.create("t")
        plain = await ask(node, "t")
        assert plain.topics[0].topic_authorized_operations == plain.cluster_authorized_operations == -(2**31)
        asked = MetadataRequest([MetadataRequestTopic(NO_TOPIC_ID, "t")], False, True, True)
        full = await node.ask(handle, asked, 8)
        assert full.topics[0].topic_authorized_operations > 0 < full.cluster_authorized_operations

    play(main)
