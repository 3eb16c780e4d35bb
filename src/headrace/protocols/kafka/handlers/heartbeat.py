"""Heartbeat: a member is alive.

v0; v1-2 throttling; v3 static members (KIP-345); v4 flexible
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.requests import HeartbeatRequest as Asked
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


def handle(broker: Broker, request: HeartbeatRequest, context: Context) -> HeartbeatResponse | Later[HeartbeatResponse]:
    host = broker.group_host(request.group_id)
    if isinstance(host, Refused):
        # A heartbeat while groups are loaded is taken as well: the session begins when they are.
        code = errors.tell(host, broker.metrics)
        return HeartbeatResponse(error_code=errors.NONE if code == errors.COORDINATOR_LOAD_IN_PROGRESS else code)
    asked = Asked(request.group_id, request.member_id, request.group_instance_id, request.generation_id)
    answer: Later[HeartbeatResponse] = Later()
    host.ask(lambda machine, now_ms, waiter: machine.heartbeat(asked, now_ms, waiter)).then(
        lambda result: answer.complete(
            HeartbeatResponse(error_code=errors.tell(result, broker.metrics) if isinstance(result, Refused) else errors.NONE)
        )
    )
    return answer
