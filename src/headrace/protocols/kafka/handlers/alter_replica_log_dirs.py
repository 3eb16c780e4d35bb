"""AlterReplicaLogDirs: there is one data folder, so a replica is there already or cannot go there.

v1; v2 flexible
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


def handle(broker: Broker, request: AlterReplicaLogDirsRequest, context: Context) -> AlterReplicaLogDirsResponse:
    topics: dict[str, list[AlterReplicaLogDirPartitionResult]] = {}
    for folder in request.dirs:
        for topic in folder.topics:
            for index in topic.partitions:
                partition = broker.partition(topic.name, index)
                if folder.path.rstrip("/") != broker.log_folder:
                    code = errors.LOG_DIR_NOT_FOUND
                elif isinstance(partition, Refused):
                    code = errors.REPLICA_NOT_AVAILABLE
                else:
                    code = errors.NONE
                topics.setdefault(topic.name, []).append(AlterReplicaLogDirPartitionResult(index, code))
    return AlterReplicaLogDirsResponse(results=[AlterReplicaLogDirTopicResult(name, rows) for name, rows in topics.items()])
