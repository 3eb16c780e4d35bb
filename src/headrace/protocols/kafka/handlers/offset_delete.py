"""OffsetDelete: forget what a group committed of some partitions (KIP-496).

v0
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.decision import OffsetsDeleted
from headrace.groups.requests import TopicPartitions
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def handle(broker: Broker, request: OffsetDeleteRequest, context: Context) -> OffsetDeleteResponse | Later[OffsetDeleteResponse]:
    host = broker.group_host(request.group_id)
    if isinstance(host, Refused):
        return OffsetDeleteResponse(errors.tell(host, broker.metrics))
    rows: list[OffsetDeleteResponseTopic] = []
    wanted: list[TopicPartitions] = []
    for topic in request.topics:
        known = broker.image.topic(topic.name)
        count = len(known.partitions) if known is not None else 0
        good = list(dict.fromkeys(part.partition_index for part in topic.partitions if 0 <= part.partition_index < count))
        rows.append(
            OffsetDeleteResponseTopic(
                topic.name,
                [
                    OffsetDeleteResponsePartition(
                        part.partition_index,
                        errors.NONE if 0 <= part.partition_index < count else errors.UNKNOWN_TOPIC_OR_PARTITION,
                    )
                    for part in topic.partitions
                ],
            )
        )
        if good:
            wanted.append(TopicPartitions(topic.name, good))
    answer: Later[OffsetDeleteResponse] = Later()

    def respond(result: OffsetsDeleted | Refused) -> None:
        if isinstance(result, Refused):
            answer.complete(OffsetDeleteResponse(errors.tell(result, broker.metrics)))
            return
        codes = {
            (name, index): errors.tell(why, broker.metrics)
            for name, parts in result.topics
            for index, why in parts
            if why is not None
        }
        for row in rows:
            for part in row.partitions:
                part.error_code = part.error_code or codes.get((row.name, part.partition_index), errors.NONE)
        answer.complete(OffsetDeleteResponse(topics=rows))

    host.ask(lambda machine, now_ms, waiter: machine.delete_offsets(request.group_id, wanted, waiter)).then(respond)
    return answer
