"""ConsumerProtocolAssignment, versions 0 to 3.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

VERSIONS = (0, 3)
FLEXIBLE_FROM = None


class TopicPartition(Message):
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


class ConsumerProtocolAssignment(Message):
    __slots__ = ("assigned_partitions", "user_data")
    FIELDS = """
        assigned_partitions []TopicPartition 0+
        user_data bytes 0+ nullable=0+ default=null
    """

    def __init__(
        self,
        assigned_partitions: Sequence[TopicPartition] = (),
        user_data: bytes | None = None,
    ) -> None:
        self.assigned_partitions = assigned_partitions
        self.user_data = user_data
