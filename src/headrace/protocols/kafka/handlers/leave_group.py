"""LeaveGroup: go, or send others away.

v0; v1-2 throttling; v3 several members, static ones by instance id (KIP-345); v4 flexible; v5 reasons (KIP-800)
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.decision import Left
from headrace.groups.requests import Leaver, LeaveRequest
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse


def handle(broker: Broker, request: LeaveGroupRequest, context: Context) -> LeaveGroupResponse | Later[LeaveGroupResponse]:
    host = broker.group_host(request.group_id)
    if isinstance(host, Refused):
        return LeaveGroupResponse(error_code=errors.tell(host, broker.metrics))
    if context.version >= 3:
        leavers = [Leaver(member.member_id, member.group_instance_id) for member in request.members]
    else:
        leavers = [Leaver(request.member_id)]
    asked = LeaveRequest(request.group_id, leavers)
    answer: Later[LeaveGroupResponse] = Later()
    host.ask(lambda machine, now_ms, waiter: machine.leave(asked, now_ms, waiter)).then(
        lambda result: answer.complete(_response(broker, result, request, context.version))
    )
    return answer


def _response(broker: Broker, result: Left | Refused, request: LeaveGroupRequest, version: int) -> LeaveGroupResponse:
    if isinstance(result, Refused):
        if version >= 3 and result.code in errors.MEMBER_CODES:
            # Each member hears it for itself.
            code = errors.tell(result, broker.metrics)
            return LeaveGroupResponse(
                members=[MemberResponse(member.member_id, member.group_instance_id, code) for member in request.members]
            )
        return LeaveGroupResponse(error_code=errors.tell(result, broker.metrics))
    rows = [
        MemberResponse(member_id, instance_id, errors.tell(why, broker.metrics) if why else errors.NONE)
        for member_id, instance_id, why in result.members
    ]
    if version >= 3:
        return LeaveGroupResponse(members=rows)
    return LeaveGroupResponse(error_code=rows[0].error_code if rows else errors.NONE)
