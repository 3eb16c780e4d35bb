"""ListPartitionReassignments: none is ever under way on one node (KIP-455).

v0
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)


def handle(broker: Broker, request: ListPartitionReassignmentsRequest, context: Context) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(error_message=None)
