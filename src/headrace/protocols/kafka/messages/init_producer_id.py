"""InitProducerId, versions 0 to 5.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from headrace.protocols.kafka.messages.message import Message

API_KEY = 22
VERSIONS = (0, 5)
FLEXIBLE_FROM = 2


class InitProducerIdRequest(Message):
    __slots__ = ("enable2_pc", "keep_prepared_txn", "producer_epoch", "producer_id", "transaction_timeout_ms", "transactional_id")
    FIELDS = """
        transactional_id string 0+ nullable=0+
        transaction_timeout_ms int32 0+
        producer_id int64 3+ default=-1
        producer_epoch int16 3+ default=-1
        enable2_pc bool 6+ default=false
        keep_prepared_txn bool 6+ default=false
    """

    def __init__(
        self,
        transactional_id: str | None = "",
        transaction_timeout_ms: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
        enable2_pc: bool = False,
        keep_prepared_txn: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn


class InitProducerIdResponse(Message):
    __slots__ = (
        "error_code",
        "ongoing_txn_producer_epoch",
        "ongoing_txn_producer_id",
        "producer_epoch",
        "producer_id",
        "throttle_time_ms",
    )
    FIELDS = """
        throttle_time_ms int32 0+ ignorable
        error_code int16 0+
        producer_id int64 0+ default=-1
        producer_epoch int16 0+
        ongoing_txn_producer_id int64 6+ default=-1
        ongoing_txn_producer_epoch int16 6+ default=-1
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = 0,
        ongoing_txn_producer_id: int = -1,
        ongoing_txn_producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch
