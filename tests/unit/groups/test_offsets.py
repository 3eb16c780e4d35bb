from __future__ import annotations

from headrace.groups.facts import OffsetCommitted
from headrace.groups.offsets import Offsets


def committed(topic: str, partition: int, offset: int = 1) -> OffsetCommitted:
    return OffsetCommitted("g", topic, partition, offset, -1, "", 0)


def test_in_the_order_of_topic_and_partition() -> None:
    offsets = Offsets()
    for topic, partition in (("u", 1), ("t", 10), ("t", 9), ("u", 0)):
        offsets.put(committed(topic, partition))
    assert [(c.topic, c.partition) for c in offsets] == [("t", 9), ("t", 10), ("u", 0), ("u", 1)]
    assert len(offsets) == 4 and [c.partition for c in offsets.of_topic("t")] == [9, 10]


def test_the_last_commit_counts() -> None:
    offsets = Offsets()
    offsets.put(committed("t", 0, 5))
    offsets.put(committed("t", 0, 3))
    assert offsets.get("t", 0) == committed("t", 0, 3)
    assert offsets.get("t", 1) is None and offsets.get("u", 0) is None


def test_nothing_is_left_of_a_forgotten_topic() -> None:
    offsets = Offsets()
    offsets.put(committed("t", 0))
    offsets.forget("t", 1)
    offsets.forget("u", 0)
    assert offsets
    offsets.forget("t", 0)
    assert not offsets and offsets.by_topic == {}
