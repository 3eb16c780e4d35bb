"""OffsetFetch: how far a group has come, as it was committed.

v1; v2 all topics (null); v3 throttling; v5 leader epochs; v6 flexible; v7 require stable (KIP-447)
v8    several groups (KIP-709); v9 member epochs (KIP-848); v10 topic ids

There are no transactions, so every committed offset is stable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.base.errors import Refused
from headrace.base.ids import NO_TOPIC_ID
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.decision import FetchedOffsets
from headrace.groups.requests import TopicPartitions
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.many import gather
from headrace.protocols.kafka.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)


def handle(broker: Broker, request: OffsetFetchRequest, context: Context) -> Later[OffsetFetchResponse]:
    if context.version >= 8:
        groups: Sequence[OffsetFetchRequestGroup] = request.groups
    else:
        topics = request.topics
        old = None if topics is None else [OffsetFetchRequestTopics(t.name, NO_TOPIC_ID, t.partition_indexes) for t in topics]
        groups = [OffsetFetchRequestGroup(request.group_id, topics=old)]
    by_id = context.version >= 10
    asked = [_ask(broker, group, by_id) for group in groups]

    def answer(results: list[FetchedOffsets | Refused]) -> OffsetFetchResponse:
        rows = [_group(broker, group, result, by_id) for group, result in zip(groups, results, strict=True)]
        if context.version >= 8:
            return OffsetFetchResponse(groups=rows)
        return _old(rows[0], groups[0], context.version)

    return gather(asked, answer)


def _ask(broker: Broker, group: OffsetFetchRequestGroup, by_id: bool) -> Later[Any]:
    host = broker.group_host(group.group_id)
    if isinstance(host, Refused):
        refused: Later[Any] = Later()
        refused.complete(host)
        return refused
    wanted: list[TopicPartitions] | None = None
    if group.topics is not None:
        wanted = []
        for topic in group.topics:
            found = broker.image.topic_by_id(topic.topic_id) if by_id else broker.image.topic(topic.name)
            if found is not None:
                # With its id: what was committed of an older topic of the same name does not count.
                wanted.append(TopicPartitions(found.name, topic.partition_indexes, found.id))
            elif not by_id:
                wanted.append(TopicPartitions(topic.name, topic.partition_indexes))
    return host.ask(lambda machine, now_ms, waiter: machine.fetch_offsets(group.group_id, wanted, waiter))


def _group(
    broker: Broker, group: OffsetFetchRequestGroup, result: FetchedOffsets | Refused, by_id: bool
) -> OffsetFetchResponseGroup:
    if isinstance(result, Refused):
        return OffsetFetchResponseGroup(group.group_id, error_code=errors.tell(result, broker.metrics))
    rows = []
    for name, partitions in result.topics:
        topic_id = NO_TOPIC_ID
        if by_id:
            known = broker.image.topic(name)
            if known is None:
                continue
            topic_id = known.id
        parts = []
        for index, committed in partitions:
            if committed is None:
                parts.append(OffsetFetchResponsePartitions(index, -1, -1, ""))
            else:
                parts.append(OffsetFetchResponsePartitions(index, committed.offset, committed.leader_epoch, committed.metadata))
        rows.append(OffsetFetchResponseTopics(name, topic_id, parts))
    if by_id and group.topics is not None:
        answered = {row.topic_id for row in rows}
        for topic in group.topics:
            if topic.topic_id not in answered:
                gone = [
                    OffsetFetchResponsePartitions(index, -1, -1, "", errors.UNKNOWN_TOPIC_ID) for index in topic.partition_indexes
                ]
                rows.append(OffsetFetchResponseTopics("", topic.topic_id, gone))
    return OffsetFetchResponseGroup(group.group_id, rows)


def _old(row: OffsetFetchResponseGroup, group: OffsetFetchRequestGroup, version: int) -> OffsetFetchResponse:
    code = row.error_code
    if code and version < 2:
        # Version 1 has no error of its own: each partition carries it.
        topics = [
            OffsetFetchResponseTopic(
                topic.name, [OffsetFetchResponsePartition(index, -1, -1, "", code) for index in topic.partition_indexes]
            )
            for topic in group.topics or ()
        ]
        return OffsetFetchResponse(topics=topics)
    topics = [
        OffsetFetchResponseTopic(
            topic.name,
            [
                OffsetFetchResponsePartition(
                    part.partition_index, part.committed_offset, part.committed_leader_epoch, part.metadata, part.error_code
                )
                for part in topic.partitions
            ],
        )
        for topic in row.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=code)
