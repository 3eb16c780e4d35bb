"""OffsetForLeaderEpoch: where an epoch ended (KIP-101, KIP-320).

v2    the client tells the epoch it believes in; v3 replica id; v4 flexible
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)


def handle(broker: Broker, request: OffsetForLeaderEpochRequest, context: Context) -> OffsetForLeaderEpochResponse:
    topics = []
    for topic in request.topics:
        rows = []
        for part in topic.partitions:
            row = EpochEndOffset(partition=part.partition)
            rows.append(row)
            partition = broker.partition(topic.topic, part.partition)
            refused = partition if isinstance(partition, Refused) else partition.check_leader_epoch(part.current_leader_epoch)
            if refused is not None:
                row.error_code = errors.tell(refused, broker.metrics)
                continue
            assert not isinstance(partition, Refused)
            epoch, end = partition.log.epoch_end(part.leader_epoch)
            # What is not committed yet may still be taken back: nobody is told of it.
            row.leader_epoch, row.end_offset = epoch, min(end, partition.committed_end) if end >= 0 else end
        topics.append(OffsetForLeaderTopicResult(topic.topic, rows))
    return OffsetForLeaderEpochResponse(topics=topics)
