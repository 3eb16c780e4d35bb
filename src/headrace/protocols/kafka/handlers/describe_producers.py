"""DescribeProducers: who writes to a partition with sequences (KIP-664).

v0
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)


def handle(
    broker: Broker, request: DescribeProducersRequest, context: Context
) -> DescribeProducersResponse | Coroutine[Any, Any, DescribeProducersResponse]:
    topics = []
    for topic in request.topics:
        rows = []
        for index in dict.fromkeys(topic.partition_indexes):  # each may have 100,000 producers
            row = PartitionResponse(index, errors.NONE)
            rows.append(row)
            partition = broker.partition(topic.name, index)
            found = partition if isinstance(partition, Refused) else partition.describe_producers()
            if isinstance(found, Refused):
                row.error_code, row.error_message = errors.tell(found, broker.metrics), found.why
                continue
            row.active_producers = [
                ProducerState(state.producer_id, state.epoch, state.last_sequence, state.last_timestamp, -1, -1) for state in found
            ]
        topics.append(TopicResponse(topic.name, rows))
    return DescribeProducersResponse(topics=topics)
