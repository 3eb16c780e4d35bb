"""AlterPartitionReassignments: on one node a partition can only stay where it is (KIP-455).

v0; v1 whether the number of replicas may change (KIP-860)
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)


def handle(broker: Broker, request: AlterPartitionReassignmentsRequest, context: Context) -> AlterPartitionReassignmentsResponse:
    topics = [
        ReassignableTopicResponse(
            topic.name, [_one(broker, topic.name, part.partition_index, part.replicas) for part in topic.partitions]
        )
        for topic in request.topics
    ]
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change, error_message=None, responses=topics
    )


def _one(broker: Broker, topic: str, index: int, replicas: Sequence[int] | None) -> ReassignablePartitionResponse:
    row = ReassignablePartitionResponse(index, errors.NONE, None)
    partition = broker.partition(topic, index)
    if isinstance(partition, Refused):
        row.error_code, row.error_message = errors.tell(partition, broker.metrics), partition.why
    elif replicas is None:
        row.error_code = errors.NO_REASSIGNMENT_IN_PROGRESS
        row.error_message = "no reassignment of this partition is under way"
    elif list(replicas) != [broker.node_id]:
        row.error_code = errors.INVALID_REPLICA_ASSIGNMENT
        row.error_message = f"replicas {list(replicas)}: this cluster has node {broker.node_id} only"
    return row
