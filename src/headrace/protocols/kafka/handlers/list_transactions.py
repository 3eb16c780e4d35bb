"""ListTransactions: there are none (KIP-664).

v0; v1 duration filter (KIP-994); v2 pattern (KIP-1152)
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse

_STATES = {
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
}  # fmt: skip


def handle(broker: Broker, request: ListTransactionsRequest, context: Context) -> ListTransactionsResponse:
    return ListTransactionsResponse(unknown_state_filters=[name for name in request.state_filters if name not in _STATES])
