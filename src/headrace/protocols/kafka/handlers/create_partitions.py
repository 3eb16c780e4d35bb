"""CreatePartitions: grow topics (KIP-195).

v0-1; v2 flexible; v3 quotas' error
"""

from __future__ import annotations

from collections import Counter

from headrace.base.errors import Code, Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)


async def handle(broker: Broker, request: CreatePartitionsRequest, context: Context) -> CreatePartitionsResponse:
    times = Counter(topic.name for topic in request.topics)
    rows = []
    answered: set[str] = set()
    for topic in request.topics:
        if topic.name in answered:
            continue
        answered.add(topic.name)
        if times[topic.name] > 1:
            done: int | Refused = Refused(Code.BAD_REQUEST, "Duplicate topic name.")
        elif topic.name in broker.internal_topics:
            done = Refused(Code.BAD_TOPIC_NAME, f"{topic.name} cannot grow: its partitions say where each group is kept")
        else:
            assignments = None if topic.assignments is None else [one.broker_ids for one in topic.assignments]
            done = await broker.add_partitions(topic.name, topic.count, assignments, check_only=request.validate_only)
        if isinstance(done, Refused):
            rows.append(CreatePartitionsTopicResult(topic.name, errors.tell(done, broker.metrics), done.why))
        else:
            rows.append(CreatePartitionsTopicResult(topic.name))
    return CreatePartitionsResponse(results=rows)
