"""ConsumerProtocolSubscription, versions 0 to 3.

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
        topic string 1+
        partitions []int32 1+
    """

    def __init__(
        self,
        topic: str = "",
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class ConsumerProtocolSubscription(Message):
    __slots__ = ("generation_id", "owned_partitions", "rack_id", "topics", "user_data")
    FIELDS = """
        topics []string 0+
        user_data bytes 0+ nullable=0+ default=null
        owned_partitions []TopicPartition 1+ ignorable
        generation_id int32 2+ default=-1 ignorable
        rack_id string 3+ nullable=3+ default=null ignorable
    """

    def __init__(
        self,
        topics: Sequence[str] = (),
        user_data: bytes | None = None,
        owned_partitions: Sequence[TopicPartition] = (),
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = topics
        self.user_data = user_data
        self.owned_partitions = owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id
