"""DescribeTopicPartitions: topics page by page (KIP-966).

v0
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.cluster import topic_names
from headrace.cluster.image import PartitionImage, TopicImage
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.operations import TOPIC_OPERATIONS
from headrace.protocols.kafka.messages.describe_topic_partitions import (
    CursorResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

PARTITIONS_MAX = 2_000  # Kafka's max.request.partition.size.limit


def handle(broker: Broker, request: DescribeTopicPartitionsRequest, context: Context) -> DescribeTopicPartitionsResponse:
    names = sorted({topic.name for topic in request.topics}) or [topic.name for topic in broker.image.topics()]
    cursor = request.cursor
    start = 0
    unnamed = cursor is not None and bool(request.topics) and cursor.topic_name not in names
    if cursor is not None and (cursor.partition_index < 0 or unnamed):
        return DescribeTopicPartitionsResponse(
            topics=[DescribeTopicPartitionsResponseTopic(errors.INVALID_REQUEST, name) for name in names], next_cursor=None
        )
    if cursor is not None:
        names = [name for name in names if name >= cursor.topic_name]
        start = cursor.partition_index if names and names[0] == cursor.topic_name else 0
    room = max(min(request.response_partition_limit, PARTITIONS_MAX), 1)  # with no room at all a client would come back for ever
    rows = []
    next_cursor = None
    for name in names:
        topic = broker.image.topic(name)
        if topic is None:
            bad = topic_names.check(name)
            code = errors.tell(bad, broker.metrics) if bad is not None else errors.UNKNOWN_TOPIC_OR_PARTITION
            if request.topics:
                rows.append(DescribeTopicPartitionsResponseTopic(code, name))
            continue
        if room <= 0:
            next_cursor = CursorResponse(name, start)
            break
        parts = topic.partitions[start : start + room]
        rows.append(_topic(topic, parts))
        room -= len(parts)
        if start + len(parts) < len(topic.partitions):
            next_cursor = CursorResponse(name, start + len(parts))
            break
        start = 0
    return DescribeTopicPartitionsResponse(topics=rows, next_cursor=next_cursor)


def _topic(topic: TopicImage, parts: list[PartitionImage]) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        errors.NONE,
        topic.name,
        topic.id,
        topic.internal,
        [
            DescribeTopicPartitionsResponsePartition(
                errors.NONE, part.index, part.leader, part.leader_epoch, part.replicas, part.isr, (), ()
            )
            for part in parts
        ],
        TOPIC_OPERATIONS,
    )
