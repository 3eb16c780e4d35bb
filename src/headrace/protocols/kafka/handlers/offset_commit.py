"""OffsetCommit: how far a group has come.

v2    retention; v3 throttling; v5 no retention (KIP-211); v6 leader epochs; v7 static members; v8 flexible
v9    KIP-848's errors; v10 topic ids (KIP-848)

The answer leaves when the commit is as durable as the topic `__consumer_offsets` promises.
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.base.limits import COMMIT_RETENTION_MS_MAX
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.decision import Committed
from headrace.groups.requests import CommitRequest, TopicCommit
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)


def handle(broker: Broker, request: OffsetCommitRequest, context: Context) -> OffsetCommitResponse | Later[OffsetCommitResponse]:
    rows: list[OffsetCommitResponseTopic] = []
    commits: list[TopicCommit] = []
    open_rows: list[OffsetCommitResponseTopic] = []  # beside `commits`, one each
    for topic in request.topics:
        row = OffsetCommitResponseTopic(topic.name, topic.topic_id)
        rows.append(row)
        found = broker.image.topic_by_id(topic.topic_id) if context.version >= 10 else broker.image.topic(topic.name)
        if found is None:
            code = errors.UNKNOWN_TOPIC_ID if context.version >= 10 else errors.UNKNOWN_TOPIC_OR_PARTITION
            row.partitions = [OffsetCommitResponsePartition(part.partition_index, code) for part in topic.partitions]
            continue
        count = len(found.partitions)
        good: list[tuple[int, int, int, str]] = []
        parts: list[OffsetCommitResponsePartition] = []
        for part in topic.partitions:
            out = OffsetCommitResponsePartition(part.partition_index)
            parts.append(out)
            if not 0 <= part.partition_index < count:
                out.error_code = errors.UNKNOWN_TOPIC_OR_PARTITION
            else:
                good.append(
                    (part.partition_index, part.committed_offset, part.committed_leader_epoch, part.committed_metadata or "")
                )
        row.partitions = parts
        if good:
            commits.append(TopicCommit(found.name, good, found.id))
            open_rows.append(row)
    host = broker.group_host(request.group_id)
    if isinstance(host, Refused):
        return _refuse(broker, rows, host, request, context.version)
    if not commits and request.topics:
        return OffsetCommitResponse(topics=rows)
    asked = CommitRequest(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
        commits,
        _retention(request.retention_time_ms) if context.version <= 4 else -1,
    )
    answer: Later[OffsetCommitResponse] = Later()

    def respond(result: Committed | Refused) -> None:
        if isinstance(result, Refused):
            answer.complete(_refuse(broker, rows, result, request, context.version))
            return
        for row, (_, results) in zip(open_rows, result.topics, strict=True):
            codes = {index: errors.tell(why, broker.metrics) for index, why in results if why is not None}
            for part in row.partitions:
                if part.partition_index in codes and not part.error_code:
                    part.error_code = codes[part.partition_index]
        answer.complete(OffsetCommitResponse(topics=rows))

    host.ask(lambda machine, now_ms, waiter: machine.commit(asked, now_ms, waiter)).then(respond)
    return answer


def _retention(asked_ms: int) -> int:
    """-1 is the node's own. What is negative says nothing, and what is very long must still fit behind the time of the commit."""
    return min(asked_ms, COMMIT_RETENTION_MS_MAX) if asked_ms >= 0 else -1


def _refuse(
    broker: Broker, rows: list[OffsetCommitResponseTopic], why: Refused, request: OffsetCommitRequest, version: int
) -> OffsetCommitResponse:
    code = errors.tell(why, broker.metrics)
    if why.code is Code.GROUP_NOT_FOUND and version < 9:
        code = errors.ILLEGAL_GENERATION
    if why.code is Code.COORDINATOR_LOADING:
        code = errors.COORDINATOR_LOAD_IN_PROGRESS
    topics = []
    for row, topic in zip(rows, request.topics, strict=True):
        parts = row.partitions or [OffsetCommitResponsePartition(part.partition_index) for part in topic.partitions]
        for part in parts:
            part.error_code = part.error_code or code
        row.partitions = parts
        topics.append(row)
    return OffsetCommitResponse(topics=topics)
