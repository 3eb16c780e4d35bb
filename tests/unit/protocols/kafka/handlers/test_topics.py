"""CreateTopics, DeleteTopics, CreatePartitions, DeleteRecords, DescribeConfigs, AlterConfigs: what they check, in one place."""

from __future__ import annotations

from uuid import UUID

from headrace.base.ids import NO_TOPIC_ID
from headrace.broker.broker import OFFSETS_TOPIC
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers import alter_configs, create_partitions, create_topics, delete_topics, describe_configs
from headrace.protocols.kafka.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from headrace.protocols.kafka.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from headrace.protocols.kafka.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from headrace.protocols.kafka.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from headrace.protocols.kafka.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.support.broker_harness import Harness, play

TOPIC, NODE = 2, 4


async def create(node: Harness, *topics: CreatableTopic, check_only: bool = False) -> list[tuple[str, int]]:
    answer = await node.ask(create_topics.handle, CreateTopicsRequest(topics, 1_000, check_only), 7)
    return [(row.name, row.error_code) for row in answer.topics]


def test_create_topics():
    async def main(node: Harness) -> None:
        assert await create(node, CreatableTopic("t", 2, 1)) == [("t", 0)]
        assert await create(node, CreatableTopic("t", 1, 1)) == [("t", errors.TOPIC_ALREADY_EXISTS)]
        assert await create(node, CreatableTopic("u", 1, 1), CreatableTopic("v", 1, 1), CreatableTopic("u", 2, 1)) == [
            ("u", errors.INVALID_REQUEST), ("v", 0),
        ]  # fmt: skip
        bad = CreatableTopicConfig("retention.ms", "soon")
        assert await create(
            node, CreatableTopic("a b", 1, 1), CreatableTopic("p", 0, 1), CreatableTopic("r", 1, 3),
            CreatableTopic("c", 1, 1, configs=[bad]), CreatableTopic(OFFSETS_TOPIC, 1, 1),
        ) == [
            ("a b", errors.INVALID_TOPIC_EXCEPTION), ("p", errors.INVALID_PARTITIONS), ("r", errors.INVALID_REPLICATION_FACTOR),
            ("c", errors.INVALID_CONFIG), (OFFSETS_TOPIC, errors.INVALID_TOPIC_EXCEPTION),
        ]  # fmt: skip
        assert await create(node, CreatableTopic("w", -1, -1), check_only=True) == [("w", 0)]
        assert node.image.topic("w") is None and node.image.topic("u") is None

    play(main)


def test_delete_topics():
    async def main(node: Harness) -> None:
        ids = [(await node.create(name)).topic_id for name in ("a", "b", "c")]

        async def delete(*topics: DeleteTopicState) -> list[int]:
            answer = await node.ask(delete_topics.handle, DeleteTopicsRequest(topics), 6)
            return [row.error_code for row in answer.responses]

        assert await delete(DeleteTopicState("a"), DeleteTopicState(None, ids[1])) == [0, 0]
        assert await delete(DeleteTopicState("a"), DeleteTopicState(None, ids[1])) == [
            errors.UNKNOWN_TOPIC_OR_PARTITION, errors.UNKNOWN_TOPIC_ID,
        ]  # fmt: skip
        wrong = errors.INVALID_REQUEST
        assert await delete(DeleteTopicState("c", ids[2]), DeleteTopicState(None, NO_TOPIC_ID)) == [wrong, wrong]
        assert await delete(DeleteTopicState("c"), DeleteTopicState("c")) == [wrong]
        assert node.image.topic("c") is not None
        answer = await node.ask(delete_topics.handle, DeleteTopicsRequest(topic_names=["c"]), 5)
        assert [(row.name, row.error_code) for row in answer.responses] == [("c", 0)]
        assert await delete(DeleteTopicState(None, UUID(int=4))) == [errors.UNKNOWN_TOPIC_ID]

    play(main)


def test_create_partitions():
    async def main(node: Harness) -> None:
        await node.create("t")
        await node.broker.make_offsets_topic()

        async def grow(*topics: CreatePartitionsTopic, check_only: bool = False) -> list[int]:
            answer = await node.ask(create_partitions.handle, CreatePartitionsRequest(topics, 0, check_only), 3)
            return [row.error_code for row in answer.results]

        more = CreatePartitionsTopic("t", 3, None)
        assert await grow(more, check_only=True) == [0] and len(node.shelf) == 2
        assert await grow(more, more) == [errors.INVALID_REQUEST]
        assert await grow(more, CreatePartitionsTopic("u", 3, None), CreatePartitionsTopic(OFFSETS_TOPIC, 9, None)) == [
            0, errors.UNKNOWN_TOPIC_OR_PARTITION, errors.INVALID_TOPIC_EXCEPTION,
        ]  # fmt: skip
        assert await node.put(node.partition("t", 2)) == 0

    play(main)


def test_settings_are_described_and_replaced():
    async def main(node: Harness) -> None:
        await node.create("t", retention_ms="1000")

        def describe(kind: int, name: str, keys: list[str] | None = None):
            asked = DescribeConfigsRequest([DescribeConfigsResource(kind, name, keys)], True, False)
            (result,) = node.call(describe_configs.handle, asked, 4).results
            return result.error_code, {row.name: row.value for row in result.configs}

        code, found = describe(TOPIC, "t", ["retention.ms", "segment.bytes", "no.such"])
        assert (code, found) == (0, {"retention.ms": "1000", "segment.bytes": str(2**30)})
        assert len(describe(TOPIC, "t")[1]) == len(describe(TOPIC, "t", [])[1]) > 20
        assert describe(TOPIC, "u") == (errors.UNKNOWN_TOPIC_OR_PARTITION, {})
        assert describe(NODE, "7")[0] == describe(NODE, "x")[0] == errors.INVALID_REQUEST
        assert describe(NODE, "0", ["node.id"]) == (0, {"node.id": "0"})

        async def alter(*configs: AlterableConfig, name: str = "t", check_only: bool = False) -> int:
            asked = AlterConfigsRequest([AlterConfigsResource(TOPIC, name, configs)], check_only)
            return (await node.ask(alter_configs.handle, asked, 2)).responses[0].error_code

        size = AlterableConfig("max.message.bytes", "5000")
        assert await alter(size, check_only=True) == 0 and node.partition().policy.batch_size_max != 5_000
        assert await alter(size) == 0
        assert node.partition().policy.batch_size_max == 5_000  # in force, and what is not named falls back
        assert describe(TOPIC, "t", ["retention.ms"])[1] != {"retention.ms": "1000"}
        assert await alter(size, size) == errors.INVALID_REQUEST
        assert await alter(AlterableConfig("max.message.bytes", "-5")) == errors.INVALID_CONFIG
        assert await alter(size, name="u") == errors.UNKNOWN_TOPIC_OR_PARTITION

    play(main)
