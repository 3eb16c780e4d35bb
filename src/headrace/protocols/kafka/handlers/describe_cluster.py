"""DescribeCluster: id, controller and nodes (KIP-700).

v0; v1 endpoint types (KIP-919); v2 fenced nodes (KIP-1073)
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.metadata import NOT_ASKED, nodes
from headrace.protocols.kafka.handlers.operations import CLUSTER_OPERATIONS
from headrace.protocols.kafka.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS, CONTROLLERS = 1, 2


def handle(broker: Broker, request: DescribeClusterRequest, context: Context) -> DescribeClusterResponse:
    if request.endpoint_type != BROKERS:
        known = request.endpoint_type == CONTROLLERS
        return DescribeClusterResponse(
            error_code=errors.MISMATCHED_ENDPOINT_TYPE if known else errors.UNSUPPORTED_ENDPOINT_TYPE,
            error_message="this listener is one of brokers" if known else f"endpoint type {request.endpoint_type} is not known",
        )
    return DescribeClusterResponse(
        cluster_id=broker.image.cluster_id or "",
        controller_id=broker.node_id,
        brokers=[DescribeClusterBroker(node.node_id, node.host, node.port, node.rack) for node in nodes(broker, context)],
        cluster_authorized_operations=CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED,
    )
