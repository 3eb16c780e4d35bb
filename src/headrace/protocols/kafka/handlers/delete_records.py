"""DeleteRecords: move a partition's start (KIP-107).

v0; v1 throttling; v2 flexible

Offset -1 means the committed end. The answer leaves when the new start is on disk.
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)


async def handle(broker: Broker, request: DeleteRecordsRequest, context: Context) -> DeleteRecordsResponse:
    topics = []
    for topic in request.topics:
        rows = []
        for part in topic.partitions:
            row = DeleteRecordsPartitionResult(part.partition_index, -1, errors.NONE)
            rows.append(row)
            partition = broker.partition(topic.name, part.partition_index)
            if isinstance(partition, Refused):
                row.error_code = errors.tell(partition, broker.metrics)
                continue
            moved = await broker.delete_records(partition, part.offset)
            if isinstance(moved, Refused):
                row.error_code = errors.tell(moved, broker.metrics)
            else:
                row.low_watermark = moved
        topics.append(DeleteRecordsTopicResult(topic.name, rows))
    return DeleteRecordsResponse(topics=topics)
