"""ListOffsets: offsets by time and by name.

v1    one offset a partition, with its time stamp; v2 isolation level; v4 leader epochs; v6 flexible
v7    -3: the offset with the largest time stamp (KIP-734); v8 -4: earliest local; v9 -5: latest tiered (KIP-1005)
v10   time-out for what takes long (KIP-1075); v11 -6: earliest pending upload (KIP-1023)

Nothing is tiered here: earliest local is the earliest, latest tiered and pending upload are unknown (-1). A search by time reads
from the disk, so it runs in a thread.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from headrace.base.errors import Code, Refused
from headrace.base.ids import NO_EPOCH
from headrace.broker.broker import Broker
from headrace.broker.partition import Partition
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -1, -2, -3, -4, -5, -6
_FIRST_VERSION = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
_EPOCH_FROM = 4


def handle(
    broker: Broker, request: ListOffsetsRequest, context: Context
) -> ListOffsetsResponse | Coroutine[Any, Any, ListOffsetsResponse]:
    topics = []
    seen: set[tuple[str, int]] = set()
    doubled: set[tuple[str, int]] = set()
    refused_doubles: set[tuple[str, int]] = set()
    for topic in request.topics:
        for part in topic.partitions:
            key = (topic.name, part.partition_index)
            (doubled if key in seen else seen).add(key)
    searches: list[tuple[ListOffsetsPartitionResponse, Partition, int]] = []
    for topic in request.topics:
        rows = []
        for part in topic.partitions:
            key = (topic.name, part.partition_index)
            if key in refused_doubles:
                continue
            row = ListOffsetsPartitionResponse(part.partition_index, errors.NONE)
            rows.append(row)
            if key in doubled:
                refused_doubles.add(key)
                row.error_code = errors.INVALID_REQUEST
                continue
            partition = broker.partition(topic.name, part.partition_index)
            refused = partition if isinstance(partition, Refused) else partition.check_leader_epoch(part.current_leader_epoch)
            if refused is not None:
                row.error_code = errors.tell(refused, broker.metrics)
            elif isinstance(partition, Partition):
                _answer(partition, part, row, context.version, searches)
        if rows or not topic.partitions:
            topics.append(ListOffsetsTopicResponse(topic.name, rows))
    response = ListOffsetsResponse(topics=topics)
    if searches:
        return _search(broker, response, searches, context.version)
    return _fit(response, context.version)


def _answer(
    partition: Partition,
    part: ListOffsetsPartition,
    row: ListOffsetsPartitionResponse,
    version: int,
    searches: list[tuple[ListOffsetsPartitionResponse, Partition, int]],
) -> None:
    wanted = part.timestamp
    if wanted < 0 and (wanted < EARLIEST_PENDING_UPLOAD or version < _FIRST_VERSION.get(wanted, 0)):
        row.error_code = errors.UNSUPPORTED_VERSION
    elif wanted == LATEST:
        row.offset = partition.committed_end
        row.leader_epoch = partition.leader_epoch
    elif wanted in (EARLIEST, EARLIEST_LOCAL):
        row.offset = partition.log.start_offset
        row.leader_epoch = partition.log.epochs.at(row.offset)
        if row.leader_epoch == NO_EPOCH and row.offset == partition.log.end_offset:
            row.leader_epoch = partition.leader_epoch  # whose first record it will be
    elif wanted in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        row.offset = -1
    else:
        searches.append((row, partition, wanted))


def _fit(response: ListOffsetsResponse, version: int) -> ListOffsetsResponse:
    """Older versions have no place for the leader's epoch."""
    if version < _EPOCH_FROM:
        for topic in response.topics:
            for row in topic.partitions:
                row.leader_epoch = NO_EPOCH
    return response


async def _search(
    broker: Broker, response: ListOffsetsResponse, searches: list[tuple[ListOffsetsPartitionResponse, Partition, int]], version: int
) -> ListOffsetsResponse:
    for row, partition, wanted in searches:
        log, end = partition.log, partition.committed_end
        try:
            if wanted == MAX_TIMESTAMP:
                found = await broker.world.offload(lambda log=log, end=end: log.max_timestamp(end))  # type: ignore[misc]
            else:
                found = await broker.world.offload(
                    lambda log=log, end=end, wanted=wanted: log.find_by_timestamp(wanted, end)  # type: ignore[misc]
                )
        except OSError as error:
            found = Refused(Code.STORAGE_FAILED, f"searching {partition!r} failed: {error}")
        if isinstance(found, Refused):
            row.error_code = errors.tell(found, broker.metrics)
        elif found is not None:
            row.offset, row.timestamp, row.leader_epoch = found
    return _fit(response, version)
