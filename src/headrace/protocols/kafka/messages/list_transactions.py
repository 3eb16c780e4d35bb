"""ListTransactions, versions 0 to 2.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 66
VERSIONS = (0, 2)
FLEXIBLE_FROM = 0


class ListTransactionsRequest(Message):
    __slots__ = ("duration_filter", "producer_id_filters", "state_filters", "transactional_id_pattern")
    FIELDS = """
        state_filters []string 0+
        producer_id_filters []int64 0+
        duration_filter int64 1+ default=-1
        transactional_id_pattern string 2+ nullable=2+ default=null
    """

    def __init__(
        self,
        state_filters: Sequence[str] = (),
        producer_id_filters: Sequence[int] = (),
        duration_filter: int = -1,
        transactional_id_pattern: str | None = None,
    ) -> None:
        self.state_filters = state_filters
        self.producer_id_filters = producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern


class TransactionState(Message):
    __slots__ = ("producer_id", "transaction_state", "transactional_id")
    FIELDS = """
        transactional_id string 0+
        producer_id int64 0+
        transaction_state string 0+
    """

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        transaction_state: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state


class ListTransactionsResponse(Message):
    __slots__ = ("error_code", "throttle_time_ms", "transaction_states", "unknown_state_filters")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        unknown_state_filters []string 0+
        transaction_states []TransactionState 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        unknown_state_filters: Sequence[str] = (),
        transaction_states: Sequence[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = unknown_state_filters
        self.transaction_states = transaction_states
