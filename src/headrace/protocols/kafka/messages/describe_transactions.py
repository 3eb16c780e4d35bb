"""DescribeTransactions, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 65
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class DescribeTransactionsRequest(Message):
    __slots__ = ("transactional_ids",)
    FIELDS = """
        transactional_ids []string 0+
    """

    def __init__(
        self,
        transactional_ids: Sequence[str] = (),
    ) -> None:
        self.transactional_ids = transactional_ids


class TopicData(Message):
    __slots__ = ("partitions", "topic")
    FIELDS = """
        topic string 0+
        partitions []int32 0+
    """

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class TransactionState(Message):
    __slots__ = (
        "error_code",
        "producer_epoch",
        "producer_id",
        "topics",
        "transaction_start_time_ms",
        "transaction_state",
        "transaction_timeout_ms",
        "transactional_id",
    )
    FIELDS = """
        error_code int16 0+
        transactional_id string 0+
        transaction_state string 0+
        transaction_timeout_ms int32 0+
        transaction_start_time_ms int64 0+
        producer_id int64 0+
        producer_epoch int16 0+
        topics []TopicData 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        transactional_id: str = "",
        transaction_state: str = "",
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = topics


class DescribeTransactionsResponse(Message):
    __slots__ = ("throttle_time_ms", "transaction_states")
    FIELDS = """
        throttle_time_ms int32 0+
        transaction_states []TransactionState 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        transaction_states: Sequence[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = transaction_states
