"""Where the replicas of new partitions go. Pure: the same nodes and the same topic give the same places.

Laws (held by the tests): the replicas of a partition lie on distinct nodes; of the partitions placed in one call no node
leads over one more than another, and the same holds of each follower's place, so that the nodes' replicas differ by at
most the number of replicas; whole rounds of the ring are exactly even.

Theory: leaders go round the ring of nodes. The first follower stands `shift` places on, the next ones follow it; the
shift grows with each round, so that the partitions led by one node have their followers on different nodes, and its load
spreads when it fails. Where on the ring a topic begins comes from its id, so that many topics with one partition each do
not all begin at the first node. A call that adds partitions goes on where the topic left off (`first_index`).
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID


def place(topic_id: UUID, count: int, replicas: int, nodes: Iterable[int], *, first_index: int = 0) -> list[tuple[int, ...]]:
    """The nodes of the partitions `first_index` to `first_index + count`, the preferred leader first."""
    ring = sorted(nodes)
    size = len(ring)
    assert 1 <= replicas <= size, f"{replicas} replicas on {size} nodes"
    start = topic_id.int % size
    placed = []
    for index in range(first_index, first_index + count):
        leader = (start + index) % size
        shift = index // size
        followers = (1 + (shift + step) % (size - 1) for step in range(replicas - 1))
        placed.append((ring[leader], *(ring[(leader + distance) % size] for distance in followers)))
    return placed
