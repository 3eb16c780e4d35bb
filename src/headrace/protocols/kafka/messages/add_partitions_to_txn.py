"""AddPartitionsToTxn, versions 0 to 5.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 24
VERSIONS = (0, 5)
FLEXIBLE_FROM = 3


class AddPartitionsToTxnTopic(Message):
    __slots__ = ("name", "partitions")
    FIELDS = """
        name string 0+
        partitions []int32 0+
    """

    def __init__(
        self,
        name: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AddPartitionsToTxnTransaction(Message):
    __slots__ = ("producer_epoch", "producer_id", "topics", "transactional_id", "verify_only")
    FIELDS = """
        transactional_id string 4+
        producer_id int64 4+
        producer_epoch int16 4+
        verify_only bool 4+ default=false
        topics []AddPartitionsToTxnTopic 4+
    """

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: Sequence[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = topics


class AddPartitionsToTxnRequest(Message):
    __slots__ = (
        "transactions",
        "v3_and_below_producer_epoch",
        "v3_and_below_producer_id",
        "v3_and_below_topics",
        "v3_and_below_transactional_id",
    )
    FIELDS = """
        transactions []AddPartitionsToTxnTransaction 4+
        v3_and_below_transactional_id string 0-3
        v3_and_below_producer_id int64 0-3
        v3_and_below_producer_epoch int16 0-3
        v3_and_below_topics []AddPartitionsToTxnTopic 0-3
    """

    def __init__(
        self,
        transactions: Sequence[AddPartitionsToTxnTransaction] = (),
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: Sequence[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactions = transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = v3_and_below_topics


class AddPartitionsToTxnPartitionResult(Message):
    __slots__ = ("partition_error_code", "partition_index")
    FIELDS = """
        partition_index int32 0+
        partition_error_code int16 0+
    """

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code


class AddPartitionsToTxnTopicResult(Message):
    __slots__ = ("name", "results_by_partition")
    FIELDS = """
        name string 0+
        results_by_partition []AddPartitionsToTxnPartitionResult 0+
    """

    def __init__(
        self,
        name: str = "",
        results_by_partition: Sequence[AddPartitionsToTxnPartitionResult] = (),
    ) -> None:
        self.name = name
        self.results_by_partition = results_by_partition


class AddPartitionsToTxnResult(Message):
    __slots__ = ("topic_results", "transactional_id")
    FIELDS = """
        transactional_id string 4+
        topic_results []AddPartitionsToTxnTopicResult 4+
    """

    def __init__(
        self,
        transactional_id: str = "",
        topic_results: Sequence[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = topic_results


class AddPartitionsToTxnResponse(Message):
    __slots__ = ("error_code", "results_by_topic_v3_and_below", "results_by_transaction", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 4+ ignorable
        results_by_transaction []AddPartitionsToTxnResult 4+
        results_by_topic_v3_and_below []AddPartitionsToTxnTopicResult 0-3
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: Sequence[AddPartitionsToTxnResult] = (),
        results_by_topic_v3_and_below: Sequence[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = results_by_transaction
        self.results_by_topic_v3_and_below = results_by_topic_v3_and_below
