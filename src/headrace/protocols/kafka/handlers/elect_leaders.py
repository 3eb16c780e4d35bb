"""ElectLeaders: every partition has one replica, which leads it: no election is ever needed (KIP-183, KIP-460).

v0; v1 election types; v2 flexible
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)

PREFERRED, UNCLEAN = 0, 1
_NOT_NEEDED = "Leader election not needed for topic partition."


def handle(broker: Broker, request: ElectLeadersRequest, context: Context) -> ElectLeadersResponse:
    if request.topic_partitions is None:
        return ElectLeadersResponse()  # all partitions: only those are named that changed hands
    unknown = f"election type {request.election_type} is not known" if request.election_type not in (PREFERRED, UNCLEAN) else None
    topics = []
    for topic in request.topic_partitions:
        rows = []
        for index in topic.partitions:
            partition = broker.partition(topic.topic, index)
            if unknown is not None:
                rows.append(PartitionResult(index, errors.INVALID_REQUEST, unknown))
            elif isinstance(partition, Refused):
                rows.append(PartitionResult(index, errors.tell(partition, broker.metrics), partition.why))
            else:
                rows.append(PartitionResult(index, errors.ELECTION_NOT_NEEDED, _NOT_NEEDED))
        topics.append(ReplicaElectionResult(topic.topic, rows))
    code = errors.INVALID_REQUEST if unknown is not None else errors.NONE
    return ElectLeadersResponse(error_code=code, replica_election_results=topics)
