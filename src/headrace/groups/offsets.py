"""The committed offsets of one group.

Kept are the facts themselves (`OffsetCommitted`), by topic and partition: a commit makes one object, from decision to
state. Commits of transactions that are still open are not here; there are no transactions yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from headrace.groups.facts import OffsetCommitted


class Offsets:
    __slots__ = ("by_topic",)

    def __init__(self) -> None:
        self.by_topic: dict[str, dict[int, OffsetCommitted]] = {}  # Invariant: no topic without partitions.

    def __bool__(self) -> bool:
        return bool(self.by_topic)

    def __len__(self) -> int:
        return sum(map(len, self.by_topic.values()))

    def __iter__(self) -> Iterator[OffsetCommitted]:
        """All, in the order of topic and partition."""
        for _, partitions in sorted(self.by_topic.items()):
            for _, committed in sorted(partitions.items()):
                yield committed

    def get(self, topic: str, partition: int) -> OffsetCommitted | None:
        partitions = self.by_topic.get(topic)
        return None if partitions is None else partitions.get(partition)

    def of_topic(self, topic: str) -> list[OffsetCommitted]:
        return [committed for _, committed in sorted(self.by_topic.get(topic, {}).items())]

    def put(self, committed: OffsetCommitted) -> None:
        partitions = self.by_topic.get(committed.topic)
        if partitions is None:
            partitions = self.by_topic[committed.topic] = {}
        partitions[committed.partition] = committed

    def forget(self, topic: str, partition: int) -> None:
        """No error when it is not there: a log that Kafka compacted may hold a tombstone alone."""
        partitions = self.by_topic.get(topic)
        if partitions is not None:
            partitions.pop(partition, None)
            if not partitions:
                del self.by_topic[topic]
