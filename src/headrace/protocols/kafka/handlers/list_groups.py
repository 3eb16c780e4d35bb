"""ListGroups: the groups this node keeps.

v0; v1-2 throttling; v3 flexible; v4 states (KIP-518); v5 types (KIP-848)
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.decision import ListedGroups
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.many import gather
from headrace.protocols.kafka.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse


def handle(broker: Broker, request: ListGroupsRequest, context: Context) -> Later[ListGroupsResponse]:
    asked = [
        host.ask(lambda machine, now_ms, waiter: machine.list_groups(request.states_filter, request.types_filter, waiter))
        for host in broker.group_hosts()
    ]

    def answer(results: list[ListedGroups | Refused]) -> ListGroupsResponse:
        response = ListGroupsResponse()
        groups = []
        for result in results:
            if isinstance(result, Refused):
                response.error_code = errors.tell(result, broker.metrics)
            else:
                groups += result.groups
        groups.sort(key=lambda group: group.group)
        response.groups = [ListedGroup(group.group, group.protocol_type, group.state, group.type) for group in groups]
        return response

    return gather(asked, answer)
