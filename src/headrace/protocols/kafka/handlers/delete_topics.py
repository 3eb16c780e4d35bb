"""DeleteTopics.

v1    throttling; v4 flexible; v5 error texts (KIP-599); v6 by id (KIP-516)
"""

from __future__ import annotations

from collections import Counter

from headrace.base.ids import NO_TOPIC_ID
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)


async def handle(broker: Broker, request: DeleteTopicsRequest, context: Context) -> DeleteTopicsResponse:
    wanted = request.topics if context.version >= 6 else [DeleteTopicState(name) for name in request.topic_names]
    names = Counter(topic.name for topic in wanted if topic.name is not None)
    ids = Counter(topic.topic_id for topic in wanted if topic.topic_id != NO_TOPIC_ID)
    rows = []
    answered: set[object] = set()
    for topic in wanted:
        key: object = topic.name if topic.name is not None else topic.topic_id
        if topic.name is not None and topic.topic_id != NO_TOPIC_ID:
            rows.append(_refused(topic, errors.INVALID_REQUEST, "You may not specify both topic name and topic id."))
        elif topic.name is None and topic.topic_id == NO_TOPIC_ID:
            rows.append(_refused(topic, errors.INVALID_REQUEST, "Neither topic name nor id were specified."))
        elif (topic.name is not None and names[topic.name] > 1) or ids[topic.topic_id] > 1:
            if key not in answered:
                rows.append(_refused(topic, errors.INVALID_REQUEST, "Duplicate topic name."))
        else:
            rows.append(await _one(broker, topic))
        answered.add(key)
    return DeleteTopicsResponse(responses=rows)


async def _one(broker: Broker, topic: DeleteTopicState) -> DeletableTopicResult:
    known = broker.image.topic(topic.name) if topic.name is not None else broker.image.topic_by_id(topic.topic_id)
    if known is None:
        if topic.name is None:
            return _refused(topic, errors.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")
        return _refused(topic, errors.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
    refused = await broker.delete_topic(known)
    if refused is not None:
        return _refused(topic, errors.tell(refused, broker.metrics), refused.why)
    return DeletableTopicResult(known.name, known.id)


def _refused(topic: DeleteTopicState, code: int, why: str) -> DeletableTopicResult:
    return DeletableTopicResult(topic.name, topic.topic_id, code, why)
