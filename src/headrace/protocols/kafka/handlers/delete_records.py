"""DeleteRecords: move a partition's start (KIP-107).

v0; v1 throttling; v2 flexible

Offset -1 means the committed end. The answer leaves when the new start is on disk.
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.broker.broker import Broker
from headrace.broker.partition import Partition
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
        for part in {part.partition_index: part for part in topic.partitions}.values():  # the last word counts
            row = DeleteRecordsPartitionResult(part.partition_index, -1, errors.NONE)
            rows.append(row)
            partition = broker.partition(topic.name, part.partition_index)
            if isinstance(partition, Refused):
                row.error_code = errors.tell(partition, broker.metrics)
                continue
            refused = _check(broker, partition)
            if refused is not None:
                row.error_code = errors.tell(refused, broker.metrics)
                continue
            moved = await broker.delete_records(partition, part.offset)
            if isinstance(moved, Refused):
                row.error_code = errors.tell(moved, broker.metrics)
            else:
                row.low_watermark = moved
        topics.append(DeleteRecordsTopicResult(topic.name, rows))
    return DeleteRecordsResponse(topics=topics)


def _check(broker: Broker, partition: Partition) -> Refused | None:
    if partition.topic in broker.internal_topics:
        return Refused(Code.BAD_TOPIC_NAME, f"{partition.topic} belongs to the broker alone")
    if not partition.policy.log.delete:
        return Refused(Code.POLICY_VIOLATION, f"cleanup.policy of {partition.topic} is compact, without delete")
    return None
