"""FindCoordinator: which node keeps a group.

v0; v1 key types, throttling; v3 flexible; v4 many keys at once (KIP-699); v5 transactions' errors; v6 share groups (KIP-932)

On one node it is this one. The first question makes the internal topic `__consumer_offsets`. Coordinators of transactions and of
share groups do not exist here: COORDINATOR_NOT_AVAILABLE would make clients ask for ever, so they hear what is final to them.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

GROUP, TRANSACTION, SHARE = 0, 1, 2
_NO_SUCH_TYPE = {
    TRANSACTION: "this node does not serve transactions",
    SHARE: "this node does not serve share groups",
}


def handle(
    broker: Broker, request: FindCoordinatorRequest, context: Context
) -> FindCoordinatorResponse | Coroutine[Any, Any, FindCoordinatorResponse]:
    if request.key_type == GROUP and not broker.has_offsets_topic():
        return _make_and_answer(broker, request, context)
    return _answer(broker, request, context, None)


async def _make_and_answer(broker: Broker, request: FindCoordinatorRequest, context: Context) -> FindCoordinatorResponse:
    refused = await broker.make_offsets_topic()
    return _answer(broker, request, context, None if refused is None else refused.why)


def _answer(broker: Broker, request: FindCoordinatorRequest, context: Context, unavailable: str | None) -> FindCoordinatorResponse:
    host, port = broker.advertised(context.peer.local_host, context.peer.local_port)
    code, why = errors.NONE, "" if context.version >= 4 else "NONE"  # Kafka's words for nothing wrong
    if unavailable is not None:
        code, why = errors.COORDINATOR_NOT_AVAILABLE, unavailable
    elif request.key_type != GROUP:
        transaction = request.key_type == TRANSACTION
        code = errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED if transaction else errors.INVALID_REQUEST
        why = _NO_SUCH_TYPE.get(request.key_type, f"key type {request.key_type} is not known")
    node_id = broker.node_id
    if code:
        node_id, host, port = -1, "", -1
    if context.version >= 4:
        keys = request.coordinator_keys
        return FindCoordinatorResponse(coordinators=[Coordinator(key, node_id, host, port, code, why) for key in keys])
    return FindCoordinatorResponse(0, code, why, node_id, host, port)
