"""EndTxn, versions 0 to 5.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from headrace.protocols.kafka.messages.message import Message

API_KEY = 26
VERSIONS = (0, 5)
FLEXIBLE_FROM = 3


class EndTxnRequest(Message):
    __slots__ = ("committed", "producer_epoch", "producer_id", "transactional_id")
    FIELDS = """
        transactional_id string 0+
        producer_id int64 0+
        producer_epoch int16 0+
        committed bool 0+
    """

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        committed: bool = False,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed


class EndTxnResponse(Message):
    __slots__ = ("error_code", "producer_epoch", "producer_id", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        producer_id int64 5+ default=-1 ignorable
        producer_epoch int16 5+ default=-1 ignorable
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        producer_id: int = -1,
        producer_epoch: int = -1,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
