"""DescribeLogDirs: what lies in the data folder (KIP-113).

v1; v2 flexible; v3 top-level error; v4 size of the volume (KIP-827); v5 cordoned (KIP-1066)
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)


def handle(broker: Broker, request: DescribeLogDirsRequest, context: Context) -> DescribeLogDirsResponse:
    wanted: dict[str, list[DescribeLogDirsPartition]] = {}
    if request.topics is None:
        for partition in broker.all_partitions():
            rows = wanted.setdefault(partition.topic, [])
            rows.append(DescribeLogDirsPartition(partition.index, partition.log.size_bytes, 0, False))
    else:
        for topic in request.topics:
            for index in topic.partitions:
                found = broker.partition(topic.topic, index)
                if not isinstance(found, Refused):
                    rows = wanted.setdefault(topic.topic, [])
                    rows.append(DescribeLogDirsPartition(index, found.log.size_bytes, 0, False))
    total, usable = broker.volume_bytes()
    folder = DescribeLogDirsResult(
        log_dir=broker.log_folder,
        topics=[
            DescribeLogDirsTopic(name, sorted(rows, key=lambda row: row.partition_index)) for name, rows in sorted(wanted.items())
        ],
        total_bytes=total,
        usable_bytes=usable,
    )
    return DescribeLogDirsResponse(results=[folder])
