"""SyncGroup: hand in the plan (the leader), fetch one's part of it (everybody).

v0; v1 throttling; v3 static members (KIP-345); v4 flexible; v5 the protocol's type and name (KIP-559)
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.decision import Synced
from headrace.groups.requests import SyncRequest
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.sync_group import SyncGroupRequest, SyncGroupResponse


def handle(broker: Broker, request: SyncGroupRequest, context: Context) -> SyncGroupResponse | Later[SyncGroupResponse]:
    if context.version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        return _response(broker, Refused(Code.INCONSISTENT_PROTOCOL, "the protocol's type or name is missing"))
    host = broker.group_host(request.group_id)
    if isinstance(host, Refused):
        return _response(broker, host)
    asked = SyncRequest(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        request.protocol_type,
        request.protocol_name,
        [(part.member_id, part.assignment) for part in request.assignments],
    )
    answer: Later[SyncGroupResponse] = Later()
    host.ask(lambda machine, now_ms, waiter: machine.sync(asked, now_ms, waiter)).then(
        lambda result: answer.complete(_response(broker, result))
    )
    return answer


def _response(broker: Broker, result: Synced | Refused) -> SyncGroupResponse:
    if isinstance(result, Refused):
        return SyncGroupResponse(error_code=errors.tell(result, broker.metrics))
    return SyncGroupResponse(protocol_type=result.protocol_type, protocol_name=result.protocol, assignment=result.assignment)
