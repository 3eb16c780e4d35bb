"""What settings can belong to: the numbers of Kafka's ConfigResource.Type."""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.broker.broker import Broker

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
_ELSEWHERE = {
    BROKER_LOGGER: "this node's log has one level, set when it starts",
    CLIENT_METRICS: "this node takes no metrics from clients",
    GROUP: "groups of this node have no settings of their own",
}


def node_of(broker: Broker, name: str) -> int | Refused | None:
    """The node that a BROKER resource names; None for all of them."""
    if not name:
        return None
    try:
        node_id = int(name)
    except ValueError:
        return Refused(Code.BAD_REQUEST, f"node id {name} is not a number")
    if node_id != broker.node_id:
        return Refused(Code.BAD_REQUEST, f"this is node {broker.node_id}; ask node {name} itself")
    return node_id


def not_here(kind: int) -> Refused:
    return Refused(Code.BAD_REQUEST, _ELSEWHERE.get(kind, f"resource type {kind} is not known"))
