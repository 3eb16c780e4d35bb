"""AddOffsetsToTxn, versions 0 to 4.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from headrace.protocols.kafka.messages.message import Message

API_KEY = 25
VERSIONS = (0, 4)
FLEXIBLE_FROM = 3


class AddOffsetsToTxnRequest(Message):
    __slots__ = ("group_id", "producer_epoch", "producer_id", "transactional_id")
    FIELDS = """
        transactional_id string 0+
        producer_id int64 0+
        producer_epoch int16 0+
        group_id string 0+
    """

    def __init__(
        self,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        group_id: str = "",
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id


class AddOffsetsToTxnResponse(Message):
    __slots__ = ("error_code", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
