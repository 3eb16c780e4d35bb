"""The image: what a change does to look-ups, and what the broker is told of it."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from headrace.base.ids import NodeId
from headrace.cluster import keys
from headrace.cluster.image import Delta, Image
from headrace.cluster.keys import (
    ClusterValue,
    ConfigValue,
    FeaturesValue,
    NodeValue,
    PartitionValue,
    ProducerIdsValue,
    TopicValue,
    encode,
)
from headrace.cluster.store import Delete, DeletePrefix, Put
from headrace.cluster.stores.state import State

A, B = UUID(int=0xA), UUID(int=0xB)


class Follower:
    """A store's state and an image that follows it."""

    def __init__(self, file=None) -> None:
        self.state = State()
        self.image = Image(NodeId(0), file)

    def write(self, *operations) -> Delta:
        _, change = self.state.txn([], operations, ())
        assert change is not None
        return self.image.apply(change)


def topic(name, topic_id, partitions):
    return Put(keys.topic_key(name), encode(TopicValue(name, topic_id, partitions)))


def partition(topic_id, index, leader=0, leader_epoch=0, epoch=0):
    return Put(keys.partition_key(topic_id, index), encode(PartitionValue(leader, leader_epoch, (0,), (0,), epoch)))


def topic_configs(topic_id, **values):
    return Put(keys.topic_config_key(topic_id), encode(ConfigValue({k.replace("_", "."): v for k, v in values.items()})))


def node_configs(node_id, **values):
    return Put(keys.node_config_key(node_id), encode(ConfigValue({k.replace("_", "."): v for k, v in values.items()})))


def summary(image: Image):
    """All that an image knows, as plain values."""
    return (
        [
            (t.name, t.id, [(p.index, p.leader, p.leader_epoch, p.epoch) for p in t.partitions], dict(t.configs))
            for t in image.topics()
        ],
        [(n.id, n.host, n.port, n.epoch) for n in image.nodes()],
        {t.name: t.settings.retention_ms for t in image.topics()},
        image.orphan_topic_ids(),
        image.revision,
    )


def test_a_topic_appears_whole():
    f = Follower()
    delta = f.write(topic("a", A, 2), partition(A, 0), partition(A, 1), topic_configs(A, retention_ms="7"))
    made = f.image.topic("a")
    assert made is not None and made is f.image.topic_by_id(A)
    assert delta.topics_made == [made] and not delta.partitions_changed and not delta.settings_changed
    assert [p.index for p in made.partitions] == [0, 1]
    assert made.configs == {"retention.ms": "7"} and made.settings.retention_ms == 7
    assert f.image.partition("a", 1) is made.partitions[1]
    assert f.image.partition("a", 2) is None and f.image.partition("a", -1) is None and f.image.partition("b", 0) is None


def test_partitions_without_their_topic_do_not_exist_for_anybody():
    f = Follower()
    delta = f.write(partition(A, 0))
    assert not delta.topics_made and not delta.partitions_changed
    assert f.image.topics() == [] and f.image.orphan_topic_ids() == [A]
    f.write(topic("a", A, 1))
    assert f.image.partition("a", 0) is not None and f.image.orphan_topic_ids() == []


def test_a_changed_partition_is_a_new_object_in_the_same_topic():
    f = Follower()
    f.write(topic("a", A, 2), partition(A, 0), partition(A, 1))
    held = f.image.topic("a")
    before = held.partitions[1]
    delta = f.write(partition(A, 1, leader_epoch=3, epoch=1))
    assert delta.partitions_changed == [(held, held.partitions[1])]
    assert (before.leader_epoch, held.partitions[1].leader_epoch) == (0, 3)


def test_partitions_are_added_when_the_topic_counts_them():
    f = Follower()
    f.write(topic("a", A, 1), partition(A, 0))
    held = f.image.topic("a")
    assert not f.write(partition(A, 1)).partitions_changed
    assert len(held.partitions) == 1
    delta = f.write(topic("a", A, 3), partition(A, 2))
    assert [p.index for _, p in delta.partitions_changed] == [1, 2] and not delta.topics_made
    assert f.image.topic("a") is held and len(held.partitions) == 3


def test_a_deleted_topic_is_gone_with_all_under_it():
    f = Follower()
    f.write(topic("a", A, 1), partition(A, 0), topic_configs(A, retention_ms="7"))
    held = f.image.topic("a")
    gone = [Delete(keys.topic_key("a")), DeletePrefix(keys.partitions_prefix(A)), Delete(keys.topic_config_key(A))]
    delta = f.write(*gone)
    assert delta.topics_gone == [held] and not delta.settings_changed and not delta.partitions_changed
    assert f.image.topic("a") is None and f.image.topic_by_id(A) is None and f.image.topics() == []
    assert f.image.orphan_topic_ids() == []


def test_the_same_name_again_is_another_topic():
    f = Follower()
    f.write(topic("a", A, 1), partition(A, 0))
    delta = f.write(topic("a", B, 1), partition(B, 0), DeletePrefix(keys.partitions_prefix(A)))
    assert [t.id for t in delta.topics_gone] == [A] and [t.id for t in delta.topics_made] == [B]
    assert f.image.topic("a").id == B and f.image.topic_by_id(A) is None


def test_a_name_that_collides_is_found():
    f = Follower()
    f.write(topic("a.b", A, 1), partition(A, 0))
    assert f.image.topic_like("a_b").name == "a.b"
    assert f.image.topic("a_b") is None and f.image.topic_like("a-b") is None


def test_topics_and_nodes_are_sorted_whenever_they_came():
    f = Follower()
    assert f.image.topics() == []
    f.write(topic("b", B, 1), partition(B, 0))
    assert [t.name for t in f.image.topics()] == ["b"]
    f.write(topic("a", A, 1), partition(A, 0))
    assert [t.name for t in f.image.topics()] == ["a", "b"]
    for node_id in (10, 2):
        delta = f.write(Put(keys.node_key(node_id), encode(NodeValue("h", 9092 + node_id, A))))
        assert delta.nodes_changed
    assert [n.id for n in f.image.nodes()] == [2, 10]
    assert f.image.node(2).epoch == f.state.revision
    f.write(Delete(keys.node_key(2)))
    assert [n.id for n in f.image.nodes()] == [10] and f.image.node(2) is None


def test_settings_of_the_node_and_of_all_nodes_reach_every_topic():
    f = Follower({"log.retention.ms": "4"})
    f.write(topic("a", A, 1), partition(A, 0))
    f.write(topic("b", B, 1), partition(B, 0), topic_configs(B, retention_ms="1"))
    a, b = f.image.topic("a"), f.image.topic("b")
    assert (a.settings.retention_ms, b.settings.retention_ms) == (4, 1)
    delta = f.write(node_configs(None, log_retention_ms="3"))
    assert sorted(t.name for t in delta.settings_changed) == ["a", "b"]
    assert (a.settings.retention_ms, b.settings.retention_ms) == (3, 1)
    f.write(node_configs(0, log_retention_ms="2"))
    assert a.settings.retention_ms == 2
    assert not f.write(node_configs(7, log_retention_ms="9")).settings_changed
    assert a.settings.retention_ms == 2 and f.image.node_configs(7) == {"log.retention.ms": "9"}
    f.write(Delete(keys.node_config_key(0)), Delete(keys.node_config_key(None)))
    assert a.settings.retention_ms == 4


def test_a_topics_own_settings_change_and_fall_back():
    f = Follower()
    f.write(topic("a", A, 1), partition(A, 0))
    held = f.image.topic("a")
    assert f.write(topic_configs(A, retention_ms="5")).settings_changed == [held]
    assert held.settings.retention_ms == 5
    f.write(Delete(keys.topic_config_key(A)))
    assert held.configs == {} and held.settings.retention_ms == 14 * 86_400_000


def test_single_values():
    f = Follower()
    f.write(
        Put(keys.CLUSTER, encode(ClusterValue("c"))),
        Put(keys.FEATURES, encode(FeaturesValue({"x": 1}))),
        Put(keys.PRODUCER_IDS, encode(ProducerIdsValue(9))),
        Put("/of-a-later-version", b"?"),
    )
    assert (f.image.cluster_id, f.image.features, f.image.producer_id_next) == ("c", {"x": 1}, 9)
    f.write(Delete(keys.FEATURES))
    assert f.image.features == {}


NAMES = ("a", "b.c", "b_c")
steps = st.lists(
    st.one_of(
        st.tuples(st.just("topic"), st.sampled_from(NAMES), st.integers(1, 3)),
        st.tuples(st.just("delete"), st.sampled_from(NAMES)),
        st.tuples(st.just("lead"), st.sampled_from(NAMES), st.integers(0, 2)),
        st.tuples(st.just("configs"), st.sampled_from(NAMES), st.integers(0, 9)),
        st.tuples(st.just("node"), st.integers(0, 2)),
        st.tuples(st.just("node configs"), st.sampled_from((None, 0, 1)), st.integers(0, 9)),
        st.tuples(st.just("orphan"), st.integers(0, 2)),
    ),
    max_size=25,
)


def operations_of(step, image: Image, number: int):
    """What the transactions of `metadata` would write."""
    match step:
        case ("topic", name, count):
            known = image.topic_like(name)
            if known is not None:
                count = max(count, len(known.partitions))
                more = [partition(known.id, i) for i in range(len(known.partitions), count)]
                return [topic(known.name, known.id, count), *more]
            topic_id = UUID(int=number + 1)
            return [topic(name, topic_id, count), *(partition(topic_id, i) for i in range(count))]
        case ("delete", name):
            known = image.topic(name)
            if known is not None:
                return [
                    Delete(keys.topic_key(name)),
                    DeletePrefix(keys.partitions_prefix(known.id)),
                    Delete(keys.topic_config_key(known.id)),
                ]
        case ("lead", name, index):
            known = image.partition(name, index)
            if known is not None:
                return [partition(image.topic(name).id, index, 0, known.leader_epoch + 1, known.epoch + 1)]
        case ("configs", name, value):
            known = image.topic(name)
            if known is not None:
                return [topic_configs(known.id, retention_ms=str(value)) if value else Delete(keys.topic_config_key(known.id))]
        case ("node", node_id):
            return [Put(keys.node_key(node_id), encode(NodeValue("h", number, A)))]
        case ("node configs", node_id, value):
            key = keys.node_config_key(node_id)
            return [node_configs(node_id, log_retention_ms=str(value)) if value else Delete(key)]
        case ("orphan", index):
            return [partition(UUID(int=999), index)]
    return []


@given(steps, st.sets(st.integers(0, 24)))
def test_following_and_beginning_again_lead_to_the_same_image(given_steps, gaps):
    """One image applies every change; one loses some and takes a fresh range; one is made at the end. They agree."""
    state, whole, gappy = State(), Image(NodeId(0)), Image(NodeId(0))
    told: set[UUID] = set()
    for number, step in enumerate(given_steps):
        _, change = state.txn([], operations_of(step, whole, number), ())
        if change is None:
            continue
        whole.apply(change)
        if number in gaps:
            continue
        missed = state.changes_between("/", gappy.revision + 1, state.revision)
        delta = gappy.apply_range(state.range("/")) if len(missed) > 1 else gappy.apply(change)
        told |= {t.id for t in delta.topics_made}
        told -= {t.id for t in delta.topics_gone}
        assert told == {t.id for t in gappy.topics()}
        assert summary(gappy) == summary(whole)
    late = Image(NodeId(0))
    late.apply_range(state.range("/"))
    assert summary(late) == summary(whole)
