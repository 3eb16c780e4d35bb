"""JoinGroup: become a member of a group, or come again for its next generation.

v0; v1 rebalance time-out; v2 throttling; v3 no change; v4 an id first (KIP-394); v5 static members (KIP-345); v6 flexible
v7    the protocol's type (KIP-559); v8 reasons (KIP-800); v9 a leader that need not plan (KIP-814)

The answer waits for the other members: a `Later`.
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.base.limits import MEMBER_NAME_LENGTH_MAX
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.coordinator import make_member_id
from headrace.groups.decision import Joined, JoinRefused
from headrace.groups.requests import JoinRequest
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember


def handle(broker: Broker, request: JoinGroupRequest, context: Context) -> JoinGroupResponse | Later[JoinGroupResponse]:
    host = broker.group_host(request.group_id)
    if isinstance(host, Refused):
        return _refused(broker, host, request.member_id, context.version)
    asked = JoinRequest(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        context.client_id,
        f"/{context.peer.remote_host}",
        request.protocol_type,
        tuple((protocol.name, protocol.metadata) for protocol in request.protocols),
        request.session_timeout_ms,
        request.rebalance_timeout_ms if context.version >= 1 else request.session_timeout_ms,
        id_required=context.version >= 4,
        can_skip_plan=context.version >= 9,
    )
    # Names may fill a string of the protocol; with a UUID behind them they would no longer fit into one.
    instance_id = request.group_instance_id[:MEMBER_NAME_LENGTH_MAX] if request.group_instance_id is not None else None
    new_id = make_member_id(context.client_id[:MEMBER_NAME_LENGTH_MAX], instance_id, broker.world.random_bytes(16))
    answer: Later[JoinGroupResponse] = Later()
    host.ask(lambda machine, now_ms, waiter: machine.join(asked, now_ms, waiter, new_id)).then(
        lambda result: answer.complete(_response(broker, result, request, context.version))
    )
    return answer


def _response(broker: Broker, result: Joined | Refused, request: JoinGroupRequest, version: int) -> JoinGroupResponse:
    if isinstance(result, Refused):
        member_id = result.member_id if isinstance(result, JoinRefused) else request.member_id
        return _refused(broker, result, member_id, version)
    return JoinGroupResponse(
        generation_id=result.generation,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol if result.protocol is not None or version >= 7 else "",
        leader=result.leader or "",
        skip_assignment=result.skip_plan,
        member_id=result.member_id,
        members=[JoinGroupResponseMember(*member) for member in result.members],
    )


def _refused(broker: Broker, why: Refused, member_id: str, version: int) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=errors.tell(why, broker.metrics), protocol_name=None if version >= 7 else "", member_id=member_id
    )
