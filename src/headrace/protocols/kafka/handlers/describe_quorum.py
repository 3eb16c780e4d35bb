"""DescribeQuorum: who keeps the metadata (KIP-595, KIP-836).

v0; v1 fetch times; v2 nodes and error texts (KIP-853)

The cluster store stands in for Kafka's `__cluster_metadata`: on one node it has one voter, its revision is its end.
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionDataResponse,
    ReplicaState,
    TopicDataResponse,
)

METADATA_TOPIC = "__cluster_metadata"


def handle(broker: Broker, request: DescribeQuorumRequest, context: Context) -> DescribeQuorumResponse:
    topics = []
    for topic in request.topics:
        rows = []
        for part in topic.partitions:
            row = PartitionDataResponse(partition_index=part.partition_index)
            rows.append(row)
            if topic.topic_name != METADATA_TOPIC or part.partition_index != 0:
                row.error_code = errors.UNKNOWN_TOPIC_OR_PARTITION
                row.error_message = f"there is {METADATA_TOPIC}-0 and nothing else"
                continue
            revision = broker.image.revision
            now_ms = broker.world.now_ms()
            row.leader_id = broker.node_id
            row.leader_epoch = 1
            row.high_watermark = revision
            row.current_voters = [
                ReplicaState(broker.node_id, log_end_offset=revision, last_fetch_timestamp=now_ms, last_caught_up_timestamp=now_ms)
            ]
        topics.append(TopicDataResponse(topic.topic_name, rows))
    response = DescribeQuorumResponse(topics=topics)
    if context.version >= 2 and any(not row.error_code for topic in topics for row in topic.partitions):
        host, port = broker.advertised(context.peer.local_host, context.peer.local_port)
        response.nodes = [Node(broker.node_id, [Listener("PLAINTEXT", host, port)])]
    return response
