"""Produce: append batches.

v3    record batches v2 only; v4 KAFKA_STORAGE_ERROR; v5 log start offset; v7 zstd (KIP-110)
v8    KIP-467: errors name the record
v9    flexible; v10 KIP-951 current leader; v11-12 KIP-890 (transactions, the same bytes); v13 topic ids (KIP-516)

With acks=0 nothing is answered, and what is refused ends the connection, as at Kafka: the client has no other way to learn
that the topic it writes to is gone.

Advertised from version 0 and served from 3 (`messages/exceptions.py`). Transactional batches are refused.

The hot path: no coroutine. Each batch is judged and appended straight out of the receive buffer; the answer
leaves when the committed end has passed all of them. A batch whose look takes long makes the whole request
a coroutine with copies of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from headrace.base.errors import Code, ProtocolError, Refused
from headrace.base.files import Buffer
from headrace.base.ids import NO_TOPIC_ID
from headrace.broker.broker import Broker
from headrace.broker.partition import Partition, Slow
from headrace.broker.waiting import Later
from headrace.log.log import Appended, Duplicate
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from headrace.records.compression import Codec
from headrace.records.header import BatchHeader, check_batch, codec_of, is_framed
from headrace.records.validation import wrong_records

_NOTHING = memoryview(b"")
_NO_BATCH = Refused(Code.INVALID_RECORD, "no batch where one was expected")
_TIMED_OUT = Refused(Code.TIMED_OUT, "the batch was not flushed before the request's time was up; it may still be")
_ZSTD_FROM = 7
# Refusals that come before the log is looked at, or because it cannot be.
_WITHOUT_START = frozenset(
    (
        Code.BATCH_TOO_LARGE,
        Code.CORRUPT_BATCH,
        Code.NOT_LEADER,
        Code.STORAGE_FAILED,
        Code.TRANSACTIONS_NOT_SUPPORTED,
        Code.UNKNOWN_TOPIC,
        Code.UNSUPPORTED_FORMAT,
    )
)
_Copy = tuple[TopicProduceData, int, bytearray | None]


def handle(
    broker: Broker, request: ProduceRequest, context: Context
) -> ProduceResponse | Later[ProduceResponse] | Coroutine[Any, Any, Any] | ProtocolError | None:
    acks = request.acks
    if acks not in (0, 1, -1):
        return _refuse_all(broker, request, Refused(Code.BAD_ACKS, f"acks {acks}; allowed are 0, 1 and -1"))
    if request.transactional_id is not None:
        return _refuse_all(broker, request, Refused(Code.TRANSACTIONS_NOT_SUPPORTED, "this node does not serve transactions"))
    now_ms = broker.world.now_ms()
    judged: list[tuple[Partition | None, memoryview, BatchHeader | Refused]] = []
    for topic in request.topic_data:
        for part in topic.partition_data:
            records = part.records
            partition = _find(broker, topic, part.index, records, acks, context.version)
            if isinstance(partition, Refused):
                judged.append((None, _NOTHING, partition))
            elif records is None:
                judged.append((None, _NOTHING, _NO_BATCH))
            else:
                header = partition.prepare(records, now_ms)
                if isinstance(header, Slow):
                    # Copied in this turn: a coroutine begins in a later one, and the receive buffer then holds others' bytes.
                    return _slowly(broker, request, context.version, _copies(request))
                judged.append((partition, records, header))
    # Nothing is appended before everything was judged: a slow batch makes the whole request start anew.
    pending = _Pending(broker, request)
    for row, (maybe, records, header) in zip(pending.rows, judged, strict=True):
        if isinstance(header, Refused):
            if maybe is None:
                pending.refuse(row, header)
            else:
                pending.refuse(row, header)
                _explain(row, header, maybe, records, now_ms)
        else:
            assert maybe is not None
            pending.appended(row, maybe, maybe.append(records, header, now_ms))
    return pending.wait(request)


def _copies(request: ProduceRequest) -> list[_Copy]:
    copies: list[_Copy] = []
    for topic in request.topic_data:
        for part in topic.partition_data:
            copies.append((topic, part.index, bytearray(part.records) if part.records is not None else None))
            part.records = None  # it lies in the receive buffer, which goes on to the next request
    return copies


async def _slowly(
    broker: Broker, request: ProduceRequest, version: int, copies: list[_Copy]
) -> ProduceResponse | Later[ProduceResponse] | ProtocolError | None:
    """Some batch of the request needs a long look: the copies are judged off the loop, then appended in turn."""
    now_ms = broker.world.now_ms()
    pending = _Pending(broker, request)
    for row, (topic, index, data) in zip(pending.rows, copies, strict=True):
        partition = _find(broker, topic, index, data, request.acks, version)
        if isinstance(partition, Refused):
            pending.refuse(row, partition)
        elif data is None:
            pending.refuse(row, _NO_BATCH)
        else:
            judged = await _judge_slowly(broker, partition, data, now_ms)
            if isinstance(judged, Refused):
                pending.refuse(row, judged)
                _explain(row, judged, partition, data, now_ms)
            else:
                pending.appended(row, partition, partition.append(memoryview(judged[0]), judged[1], now_ms))
    return pending.wait(request)


async def _judge_slowly(
    broker: Broker, partition: Partition, data: bytearray, now_ms: int
) -> tuple[bytearray, BatchHeader] | Refused:
    header = partition.prepare(memoryview(data), now_ms)
    if isinstance(header, Refused):
        return header
    if isinstance(header, Slow):
        slow = header.header
        async with broker.slow_looks:
            return await broker.world.offload(lambda: partition.prepare_slowly(data, slow, now_ms))
    return data, header


def _find(
    broker: Broker, topic: TopicProduceData, index: int, records: Buffer | None, acks: int, version: int
) -> Partition | Refused:
    if topic.topic_id != NO_TOPIC_ID:
        partition = broker.partition_by_id(topic.topic_id, index)
    else:
        partition = broker.partition(topic.name, index)
    if isinstance(partition, Refused):
        return partition
    if partition.topic in broker.internal_topics:
        return Refused(Code.BAD_TOPIC_NAME, f"{partition.topic} is written by the broker alone")
    if acks == -1 and partition.policy.in_sync_min > 1:
        return Refused(Code.NOT_ENOUGH_REPLICAS, f"min.insync.replicas is {partition.policy.in_sync_min}, in sync is 1 replica")
    if version < _ZSTD_FROM and records is not None and codec_of(records) >= Codec.ZSTD:
        return Refused(Code.UNSUPPORTED_CODEC, f"zstd needs version {_ZSTD_FROM} of Produce, this is version {version}")
    return partition


def _refuse_all(broker: Broker, request: ProduceRequest, why: Refused) -> ProduceResponse | ProtocolError:
    pending = _Pending(broker, request)
    for row in pending.rows:
        pending.refuse(row, why)
    return pending.response if request.acks else _unheard(why)


def _unheard(why: Refused) -> ProtocolError:
    """With acks=0 there is no answer that could tell: the connection ends, and the client asks for its metadata anew."""
    return ProtocolError(f"a Produce with acks=0 was refused: {why.why}")


def _explain(row: PartitionProduceResponse, why: Refused, partition: Partition, records: Buffer, now_ms: int) -> None:
    """The partition is there and does not take the batch. What holds for single records is said of each (KIP-467)."""
    if why.code not in _WITHOUT_START and is_framed(records):
        row.log_start_offset = partition.log.start_offset
    policy = partition.policy
    about_records = why.code is Code.TIMESTAMP_OUT_OF_RANGE or (why.code is Code.INVALID_RECORD and policy.compact)
    # Only of a batch that is one: the same code says that half a header came.
    if about_records and not isinstance(check_batch(records, size_max=policy.batch_size_max), Refused):
        wrong = wrong_records(
            records,
            needs_key=policy.compact,
            now_ms=None if policy.append_time else now_ms,
            before_ms_max=policy.before_ms_max,
            after_ms_max=policy.after_ms_max,
        )
        row.record_errors = [BatchIndexAndErrorMessage(index, text) for index, text in wrong]


class _Pending:
    """The answer while it grows, and how many of its batches are not committed yet."""

    __slots__ = ("_later", "_metrics", "_open", "_refused", "_timer", "response", "rows")

    def __init__(self, broker: Broker, request: ProduceRequest) -> None:
        self._metrics = broker.metrics
        self._refused: Refused | None = None  # the first of them
        self.rows: list[PartitionProduceResponse] = []
        topics = []
        for topic in request.topic_data:
            rows = [PartitionProduceResponse(part.index, 0, -1) for part in topic.partition_data]
            self.rows += rows
            topics.append(TopicProduceResponse(topic.name, topic.topic_id, rows))
        self.response = ProduceResponse(topics)
        self._open: dict[int, tuple[PartitionProduceResponse, Partition, int]] = {}
        self._later: Later[ProduceResponse] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def appended(self, row: PartitionProduceResponse, partition: Partition, result: Appended | Duplicate | Refused) -> None:
        if isinstance(result, Refused):
            self.refuse(row, result)
            if result.code not in _WITHOUT_START:
                row.log_start_offset = partition.log.start_offset
            return
        partition.metrics.produces += 1
        row.base_offset = result.base_offset
        row.log_append_time_ms = result.append_time_ms
        row.log_start_offset = partition.log.start_offset
        if result.last_offset >= partition.committed_end:
            self._open[len(self._open)] = (row, partition, result.last_offset + 1)

    def refuse(self, row: PartitionProduceResponse, why: Refused) -> None:
        row.error_code = errors.tell(why, self._metrics)
        row.error_message = why.why
        row.base_offset = -1
        self._refused = self._refused or why

    def wait(self, request: ProduceRequest) -> ProduceResponse | Later[ProduceResponse] | ProtocolError | None:
        if not request.acks:
            return _unheard(self._refused) if self._refused is not None else None
        if not self._open:
            return self.response
        later = self._later = Later()
        for number, (_, partition, end) in list(self._open.items()):
            partition.when_committed(end, lambda why, number=number: self._settled(number, why))  # type: ignore[misc]
        if not later.done:
            self._timer = asyncio.get_running_loop().call_later(max(request.timeout_ms, 1) / 1000, self._time_up)
        return later

    def _settled(self, number: int, why: Refused | None) -> None:
        if self._later is None or self._later.done:
            return
        row, _, _ = self._open.pop(number)
        if why is not None:
            self.refuse(row, why)
        if not self._open:
            if self._timer is not None:
                self._timer.cancel()
            self._later.complete(self.response)

    def _time_up(self) -> None:
        assert self._later is not None
        if self._later.done:
            return
        for row, _, _ in self._open.values():
            self.refuse(row, _TIMED_OUT)
        self._open = {}
        self._later.complete(self.response)
