"""DescribeGroups: state, protocol and members of groups.

v0; v1-2 throttling; v3 authorized operations (KIP-430); v4 static members; v5 flexible; v6 GROUP_ID_NOT_FOUND (KIP-1043)

Before v6 a group that does not exist is shown as "Dead", without an error.
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.decision import Described, DescribedGroups
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.many import gather
from headrace.protocols.kafka.handlers.operations import GROUP_OPERATIONS
from headrace.protocols.kafka.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)


def handle(
    broker: Broker, request: DescribeGroupsRequest, context: Context
) -> DescribeGroupsResponse | Later[DescribeGroupsResponse]:
    operations = GROUP_OPERATIONS if request.include_authorized_operations else -(2**31)
    asked: list[Later[DescribedGroups | Refused]] = []
    group_ids = list(dict.fromkeys(request.groups))  # naming a large group a million times does not answer it as often
    for group_id in group_ids:
        host = broker.group_host(group_id)
        if isinstance(host, Refused):
            refused: Later[DescribedGroups | Refused] = Later()
            refused.complete(host)
            asked.append(refused)
        else:
            asked.append(host.ask(lambda machine, now_ms, waiter, group_id=group_id: machine.describe([group_id], waiter)))  # type: ignore[misc]

    def answer(results: list[DescribedGroups | Refused]) -> DescribeGroupsResponse:
        rows = [
            _row(broker, group_id, result if isinstance(result, Refused) else result.groups[0][1], operations, context.version)
            for group_id, result in zip(group_ids, results, strict=True)
        ]
        return DescribeGroupsResponse(groups=rows)

    return gather(asked, answer)


def _row(broker: Broker, group_id: str, found: Described | Refused, operations: int, version: int) -> DescribedGroup:
    if isinstance(found, Refused):
        if found.code is Code.GROUP_NOT_FOUND:
            if version >= 6:
                return DescribedGroup(errors.GROUP_ID_NOT_FOUND, found.why, group_id, "Dead", authorized_operations=operations)
            return DescribedGroup(errors.NONE, None, group_id, "Dead", authorized_operations=operations)
        return DescribedGroup(errors.tell(found, broker.metrics), found.why if version >= 6 else None, group_id)
    members = [
        DescribedGroupMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.metadata,
            member.assignment,
        )
        for member in found.members
    ]
    return DescribedGroup(errors.NONE, None, group_id, found.state, found.protocol_type, found.protocol, members, operations)
