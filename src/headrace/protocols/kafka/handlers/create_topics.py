"""CreateTopics.

v2    validate only, error texts; v3 throttling; v4 defaults by -1 (KIP-464); v5 flexible, answers with settings (KIP-525)
v6    quotas' error; v7 topic ids (KIP-516)

The answer leaves when the topic can be written to.
"""

from __future__ import annotations

from collections import Counter

from headrace.base import topic_settings
from headrace.base.errors import Code, Refused
from headrace.broker.broker import Broker
from headrace.cluster.metadata import NewTopic, TopicCreated
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)


async def handle(broker: Broker, request: CreateTopicsRequest, context: Context) -> CreateTopicsResponse:
    times = Counter(topic.name for topic in request.topics)
    rows = []
    answered: set[str] = set()
    for topic in request.topics:
        if times[topic.name] > 1:
            if topic.name not in answered:
                rows.append(_refused(broker, topic.name, Refused(Code.BAD_REQUEST, "Duplicate topic name.")))
        else:
            rows.append(await _one(broker, topic, request.validate_only))
        answered.add(topic.name)
    return CreateTopicsResponse(topics=rows)


async def _one(broker: Broker, topic: CreatableTopic, check_only: bool) -> CreatableTopicResult:
    indexes = [assignment.partition_index for assignment in topic.assignments]
    if len(set(indexes)) != len(indexes):
        return _refused(broker, topic.name, Refused(Code.BAD_ASSIGNMENT, "a partition is assigned twice"))
    if topic.name in broker.internal_topics and not check_only:
        return _refused(broker, topic.name, Refused(Code.BAD_TOPIC_NAME, f"{topic.name} is made by the broker itself"))
    new = NewTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        assignments={assignment.partition_index: assignment.broker_ids for assignment in topic.assignments},
        configs={config.name: config.value for config in topic.configs},
    )
    created = await broker.create_topic(new, check_only=check_only)
    if isinstance(created, Refused):
        return _refused(broker, topic.name, created)
    return CreatableTopicResult(
        topic.name,
        created.id,
        errors.NONE,
        None,
        num_partitions=created.partitions,
        replication_factor=created.replicas,
        configs=_configs(broker, created),
    )


def _configs(broker: Broker, created: TopicCreated) -> list[CreatableTopicConfigs]:
    return [
        CreatableTopicConfigs(row.name, row.value, row.read_only, row.source, row.sensitive)
        for row in topic_settings.describe(created.configs, broker.image.layers)
    ]


def _refused(broker: Broker, name: str, why: Refused) -> CreatableTopicResult:
    return CreatableTopicResult(name, error_code=errors.tell(why, broker.metrics), error_message=why.why)
