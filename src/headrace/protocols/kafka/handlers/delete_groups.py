"""DeleteGroups: forget empty groups and what they committed (KIP-229).

v0; v1 throttling; v2 flexible
"""

from __future__ import annotations

from typing import Any

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.groups.decision import GroupsDeleted
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.many import gather
from headrace.protocols.kafka.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(broker: Broker, request: DeleteGroupsRequest, context: Context) -> Later[DeleteGroupsResponse]:
    names = list(dict.fromkeys(request.groups_names))
    asked: list[Later[Any]] = []
    for name in names:
        host = broker.group_host(name)
        if isinstance(host, Refused):
            refused: Later[Any] = Later()
            refused.complete(host)
            asked.append(refused)
        else:
            asked.append(host.ask(lambda machine, now_ms, waiter, name=name: machine.delete_groups([name], waiter)))  # type: ignore[misc]

    def answer(results: list[GroupsDeleted | Refused]) -> DeleteGroupsResponse:
        rows = []
        for name, result in zip(names, results, strict=True):
            why = result if isinstance(result, Refused) else result.groups[0][1]
            rows.append(DeletableGroupResult(name, errors.tell(why, broker.metrics) if why else errors.NONE))
        return DeleteGroupsResponse(results=rows)

    return gather(asked, answer)
