"""DescribeTransactions: there are none (KIP-664).

v0
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)


def handle(broker: Broker, request: DescribeTransactionsRequest, context: Context) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[TransactionState(errors.TRANSACTIONAL_ID_NOT_FOUND, name) for name in request.transactional_ids]
    )
