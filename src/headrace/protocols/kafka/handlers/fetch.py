"""Fetch: read batches.

v4    record batches v2, isolation level, last stable offset; v5 log start offset; v7 sessions (KIP-227); v9 leader epoch (KIP-320)
v10   zstd (KIP-110); v11 rack (KIP-392); v12 flexible, diverging epochs; v13 topic ids (KIP-516); v14-15 broker internals
v16   KIP-951 current leader; v17-18 broker internals

Followers do not exist yet: a request that names a replica is answered as one from a consumer, without a session, when
it comes with the debug id -2, and refused otherwise. Records leave as slices of segment files, untouched. There are no
transactions, so the last stable offset is the high watermark, and nothing was aborted.
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.base.ids import NO_TOPIC_ID
from headrace.base.limits import FETCH_SESSION_PARTITIONS_MAX, FETCH_WAIT_MS_MAX
from headrace.broker.broker import Broker
from headrace.broker.fetch import Want, fetch
from headrace.broker.partition import Partition
from headrace.broker.waiting import Later
from headrace.log.log import Read
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.fetch_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    FetchSession,
    PartitionKey,
    Tracked,
    key_of,
)
from headrace.protocols.kafka.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)

READ_COMMITTED = 1
_NO_RECORDS = memoryview(b"")
_NOT_FOUND = (errors.UNKNOWN_TOPIC_OR_PARTITION, errors.UNKNOWN_TOPIC_ID)
_NOT_LED = (errors.NOT_LEADER_OR_FOLLOWER, errors.FENCED_LEADER_EPOCH)


def handle(broker: Broker, request: FetchRequest, context: Context) -> FetchResponse | Later[FetchResponse]:
    session = _session(broker, request, context)
    if isinstance(session, Refused):
        return FetchResponse(error_code=errors.tell(session, broker.metrics))
    if request.replica_id >= 0 or (request.replica_state is not None and request.replica_state.replica_id >= 0):
        return _refuse_replica(request)
    if session is None:
        rows = _named(request)
    else:
        rows = list(session.partitions.values())
    incremental = session is not None and request.session_epoch not in (INITIAL_EPOCH, FINAL_EPOCH)
    wants = [_want(broker, row) for row in rows]
    most = broker.settings.fetch_size_max
    size_max = min(request.max_bytes, most) if request.max_bytes > 0 else most
    later = fetch(
        broker.world,
        broker.tasks,
        wants,
        size_min=request.min_bytes,
        size_max=size_max,
        wait_ms=min(request.max_wait_ms, FETCH_WAIT_MS_MAX) if wants else 0,
    )
    if later is None:
        return _answer(broker, request, context, session, rows, wants, incremental)
    out: Later[FetchResponse] = Later()
    later.then(lambda _: out.complete(_answer(broker, request, context, session, rows, wants, incremental)))
    return out


def _session(broker: Broker, request: FetchRequest, context: Context) -> FetchSession | Refused | None:
    sessions = context.sessions
    by_id = context.version >= 13
    now_ms = broker.world.monotonic_ms()
    if request.session_epoch == FINAL_EPOCH:
        if request.session_id:
            sessions.close(request.session_id)
        return None
    if request.session_epoch == INITIAL_EPOCH:
        if request.session_id:
            sessions.close(request.session_id)
        named = _named(request)
        session = sessions.open(by_id, now_ms, len(named))
        if session is not None:
            sessions.track(session, named)
        return session
    found = sessions.go_on(request.session_id, request.session_epoch, by_id, now_ms)
    if isinstance(found, Refused):
        return found
    forgotten = {key_of(t.topic, t.topic_id, index) for t in request.forgotten_topics_data for index in t.partitions}
    sessions.forget(found, forgotten)
    named = [row for row in _named(request) if key_of(row.topic, row.topic_id, row.index) not in forgotten]
    if sessions.tracked + len(named) > FETCH_SESSION_PARTITIONS_MAX:
        sessions.close(found.id)
        return Refused(Code.FETCH_SESSION_UNKNOWN, f"fetch sessions keep {FETCH_SESSION_PARTITIONS_MAX} partitions and no more")
    sessions.track(found, named)
    if not found.partitions:  # nothing is left to remember
        sessions.close(found.id)
        return None
    return found


def _named(request: FetchRequest) -> list[Tracked]:
    """The partitions that the request itself names; the last word counts where one is named twice."""
    rows: dict[PartitionKey, Tracked] = {}
    for topic in request.topics:
        for part in topic.partitions:
            row = Tracked(topic.topic, topic.topic_id, part.partition)
            row.offset = part.fetch_offset
            row.size_max = part.partition_max_bytes
            row.current_leader_epoch = part.current_leader_epoch
            row.last_fetched_epoch = part.last_fetched_epoch
            rows[key_of(topic.topic, topic.topic_id, part.partition)] = row
    return list(rows.values())


def _refuse_replica(request: FetchRequest) -> FetchResponse:
    why = errors.NOT_LEADER_OR_FOLLOWER
    topics = [
        FetchableTopicResponse(
            topic=topic.topic,
            topic_id=topic.topic_id,
            partitions=[
                PartitionData(part.partition, why, -1, -1, -1, aborted_transactions=None, records=_NO_RECORDS)
                for part in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return FetchResponse(responses=topics)


def _want(broker: Broker, row: Tracked) -> Want:
    if row.topic_id != NO_TOPIC_ID:
        partition = broker.partition_by_id(row.topic_id, row.index)
    else:
        partition = broker.partition(row.topic, row.index)
    if isinstance(partition, Partition):
        if row.current_leader_epoch != -1:
            refused = partition.check_leader_epoch(row.current_leader_epoch)
            if refused is not None:
                return Want(refused, row.offset, row.size_max)
        if row.last_fetched_epoch != -1:
            diverging = _diverging(partition, row)
            if diverging is not None:
                return diverging
        if row.offset < 0:
            why = Refused(Code.OFFSET_OUT_OF_RANGE, f"offset {row.offset}")
            return Want(why, row.offset, row.size_max)
    return Want(partition, row.offset, row.size_max)


class Diverged(Want):
    """The client's last epoch ended earlier here than it believes: it must go back (KIP-595 and KIP-320)."""

    __slots__ = ("end", "epoch", "of")

    def __init__(self, partition: Partition, row: Tracked, epoch: int, end: int) -> None:
        super().__init__(Refused(Code.CONFLICT, "the log of this epoch ended earlier"), row.offset, row.size_max)
        self.of = partition
        self.epoch = epoch
        self.end = end


def _diverging(partition: Partition, row: Tracked) -> Want | None:
    epoch, end = partition.log.epoch_end(row.last_fetched_epoch)
    if epoch == -1 or end == -1:
        why = Refused(Code.OFFSET_OUT_OF_RANGE, f"leader epoch {row.last_fetched_epoch} is not known here")
        return Want(why, row.offset, row.size_max)
    if epoch < row.last_fetched_epoch or end < row.offset:
        return Diverged(partition, row, epoch, end)
    return None


def _answer(
    broker: Broker,
    request: FetchRequest,
    context: Context,
    session: FetchSession | None,
    rows: list[Tracked],
    wants: list[Want],
    incremental: bool,
) -> FetchResponse:
    topics: dict[object, tuple[Tracked, list[PartitionData]]] = {}
    moved = []
    not_led = False
    for row, want in zip(rows, wants, strict=True):
        data = _partition_data(broker, request, row, want)
        has_records = bool(data.records is not None and len(data.records))
        if data.error_code in _NOT_LED and context.version >= 16:
            not_led = True
        if session is not None:
            news = row.changed(data.high_watermark, data.log_start_offset, data.error_code, has_records, update=True)
            if incremental and not news and data.diverging_epoch is None:
                continue
            if has_records:
                moved.append(key_of(row.topic, row.topic_id, row.index))
        key = row.topic if row.topic_id == NO_TOPIC_ID else row.topic_id
        found = topics.get(key)
        if found is None:
            topics[key] = (row, [data])
        else:
            found[1].append(data)
    if session is not None:
        for moved_key in moved:
            if moved_key in session.partitions:
                session.to_end(moved_key)
    response = FetchResponse(
        session_id=session.id if session is not None else 0,
        responses=[
            FetchableTopicResponse(topic=row.topic, topic_id=row.topic_id, partitions=parts) for row, parts in topics.values()
        ],
    )
    if not_led:
        host, port = broker.advertised(context.peer.local_host, context.peer.local_port)
        response.node_endpoints = [NodeEndpoint(broker.node_id, host, port, None)]
    return response


def _partition_data(broker: Broker, request: FetchRequest, row: Tracked, want: Want) -> PartitionData:
    if isinstance(want, Diverged):
        partition = want.of
        end = partition.committed_end
        return PartitionData(
            row.index,
            0,
            end,
            end,
            partition.log.start_offset,
            aborted_transactions=None,
            diverging_epoch=EpochEndOffset(want.epoch, want.end),
            records=_NO_RECORDS,
        )
    read = want.read
    partition_ = want.partition
    if isinstance(read, Refused) or read is None:
        assert isinstance(read, Refused)
        code = errors.tell(read, broker.metrics)
        # Without offsets, also when the one asked for is out of range: clients ask ListOffsets for those.
        aborted = () if code in _NOT_FOUND else None  # so does Kafka, which looks for the partition in another place
        data = PartitionData(row.index, code, -1, -1, -1, aborted_transactions=aborted, records=_NO_RECORDS)
        if code in _NOT_LED:
            leader = broker.partition(row.topic, row.index) if row.topic else broker.partition_by_id(row.topic_id, row.index)
            if isinstance(leader, Partition):
                data.current_leader = LeaderIdAndEpoch(broker.node_id, leader.leader_epoch)
        return data
    assert isinstance(partition_, Partition) and isinstance(read, Read)
    end = partition_.committed_end
    body = read.body
    if body is not None:
        metrics = partition_.metrics
        metrics.bytes_out += read.size
        metrics.records_out += read.count
        metrics.fetches += 1
    return PartitionData(
        row.index,
        0,
        end,
        end,
        partition_.log.start_offset,
        aborted_transactions=() if request.isolation_level == READ_COMMITTED else None,
        records=body if body is not None else _NO_RECORDS,
    )
