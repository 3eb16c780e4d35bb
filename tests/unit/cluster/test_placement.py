"""Placement: distinct nodes, even shares, the same answer each time."""

from collections import Counter
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from headrace.cluster.placement import place

topic_ids = st.uuids(version=4)


@st.composite
def requests(draw):
    nodes = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=12, unique=True))
    replicas = draw(st.integers(1, len(nodes)))
    return draw(topic_ids), draw(st.integers(1, 60)), replicas, nodes, draw(st.integers(0, 50))


def spread(counts: Counter, nodes) -> int:
    shares = [counts[node] for node in nodes]
    return max(shares) - min(shares)


@given(requests())
def test_replicas_are_distinct_known_and_as_many_as_asked(request):
    topic_id, count, replicas, nodes, first = request
    placed = place(topic_id, count, replicas, nodes, first_index=first)
    assert len(placed) == count
    for partition in placed:
        assert len(partition) == len(set(partition)) == replicas
        assert set(partition) <= set(nodes)


@given(requests())
def test_leaders_and_replicas_are_spread_evenly(request):
    topic_id, count, replicas, nodes, first = request
    placed = place(topic_id, count, replicas, nodes, first_index=first)
    assert spread(Counter(partition[0] for partition in placed), nodes) <= 1
    assert spread(Counter(node for partition in placed for node in partition), nodes) <= 2 * replicas


@given(topic_ids, st.integers(1, 5), st.integers(1, 8), st.data())
def test_whole_rounds_are_exactly_even(topic_id, rounds, size, data):
    replicas = data.draw(st.integers(1, size))
    placed = place(topic_id, rounds * size, replicas, range(size))
    assert spread(Counter(node for partition in placed for node in partition), range(size)) == 0


@given(requests(), st.integers(0, 60))
def test_what_is_added_later_goes_on_where_the_topic_left_off(request, cut):
    topic_id, count, replicas, nodes, first = request
    cut = min(cut, count)
    whole = place(topic_id, count, replicas, nodes, first_index=first)
    parts = place(topic_id, cut, replicas, nodes, first_index=first)
    parts += place(topic_id, count - cut, replicas, nodes, first_index=first + cut)
    assert parts == whole


@given(requests())
def test_the_order_in_which_nodes_are_named_does_not_matter(request):
    topic_id, count, replicas, nodes, first = request
    assert place(topic_id, count, replicas, nodes, first_index=first) == place(
        topic_id, count, replicas, list(reversed(nodes)), first_index=first
    )


def test_the_followers_of_one_leader_differ():
    """When a node fails its partitions go to several others."""
    placed = place(UUID(int=0), 12, 2, range(4))
    assert {partition[1] for partition in placed if partition[0] == 0} == {1, 2, 3}


def test_topics_of_one_partition_do_not_all_begin_at_one_node():
    leaders = {place(UUID(int=i), 1, 1, range(3))[0][0] for i in range(3)}
    assert leaders == {0, 1, 2}
