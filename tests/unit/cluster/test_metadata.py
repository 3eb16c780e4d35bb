"""The transactions of metadata. Answers are those Apache Kafka 4.3.1 gave to the same requests."""

import asyncio
from uuid import UUID

import pytest

from headrace.base import limits
from headrace.base.errors import Code, Refused
from headrace.base.ids import NodeId
from headrace.cluster import keys
from headrace.cluster.config_changes import Act, ConfigChange
from headrace.cluster.image import Image
from headrace.cluster.keeper import ImageKeeper
from headrace.cluster.keys import PartitionValue, TopicValue, encode
from headrace.cluster.metadata import UNDER_WAY_MAX, Metadata, NewTopic, TopicCreated
from headrace.cluster.store import Delete, Put
from headrace.cluster.stores.memory import MemoryStore


class Cluster:
    """A memory store, a kept image, and metadata over them."""

    def __init__(self, store, **defaults) -> None:
        self.store = store
        self.image = Image(NodeId(0))
        self.keeper = ImageKeeper(store, self.image, lambda delta: None)
        self._drawn = 0
        self.metadata = Metadata(store, self.keeper, self.random_bytes, **defaults)

    def random_bytes(self, size: int) -> bytes:
        self._drawn += 1
        return (id(self) * 1000 + self._drawn).to_bytes(size, "big")

    async def create(self, name, partitions=-1, replicas=-1, *, check_only=False, **more):
        return await self.metadata.create_topic(NewTopic(name, partitions, replicas, **more), check_only=check_only)

    async def stored(self) -> list[str]:
        return [entry.key for entry in (await self.store.range("/")).entries]


def clustered(test, *, nodes=(0,), **defaults):
    """Runs `test(cluster)` on a cluster with these nodes."""

    async def body():
        store = MemoryStore(lambda: 0.0)
        cluster = Cluster(store, **defaults)
        await cluster.keeper.begin()
        running = asyncio.create_task(cluster.keeper.run())
        try:
            for node_id in nodes:
                await cluster.metadata.register_node(NodeId(node_id), "127.0.0.1", 9092 + node_id, UUID(int=node_id + 1))
            await asyncio.wait_for(test(cluster), 20)
        finally:
            cluster.keeper.close()
            await running
            await store.close()

    asyncio.run(body())


def refused(answer, code, *words) -> None:
    assert isinstance(answer, Refused), answer
    assert answer.code is code, answer
    for word in words:
        assert word in answer.why, answer


def test_a_created_topic_is_in_the_image_when_the_answer_comes():
    async def test(c):
        created = await c.create("a", 3, configs={"retention.ms": "5"})
        assert isinstance(created, TopicCreated)
        topic = c.image.topic("a")
        assert (topic.id, len(topic.partitions), topic.settings.retention_ms) == (created.id, 3, 5)
        assert topic.id.version == 4
        first = topic.partitions[0]
        assert (first.leader, first.leader_epoch, first.replicas, first.isr, first.epoch) == (0, 0, (0,), (0,), 0)
        assert (created.partitions, created.replicas, created.configs) == (3, 1, {"retention.ms": "5"})

    clustered(test)


def test_defaults():
    async def test(c):
        created = await c.create("a")
        assert (created.partitions, created.replicas) == (4, 2)

    clustered(test, nodes=(0, 1, 2), default_partitions=4, default_replicas=2)


@pytest.mark.parametrize(
    ("name", "arguments", "code", "words"),
    [
        ("..", {}, Code.BAD_TOPIC_NAME, ["'..'"]),
        ("taken", {}, Code.TOPIC_EXISTS, ["taken"]),
        ("q_w", {}, Code.BAD_TOPIC_NAME, ["q.w", "collides"]),
        ("y", {"partitions": 0}, Code.BAD_PARTITIONS, ["0 partitions"]),
        ("y", {"partitions": -2}, Code.BAD_PARTITIONS, ["-2"]),
        ("y", {"partitions": 10_001}, Code.BAD_PARTITIONS, ["10001", "10000"]),
        ("y", {"replicas": 0}, Code.BAD_REPLICAS, ["0 replicas"]),
        ("y", {"replicas": -2}, Code.BAD_REPLICAS, ["-2"]),
        ("y", {"replicas": 2}, Code.BAD_REPLICAS, ["2 replicas", "there are 1"]),
        ("y", {"configs": {"foo": "bar"}}, Code.BAD_CONFIG, ["foo"]),
        ("y", {"configs": {"retention.ms": "x"}}, Code.BAD_CONFIG, ["'x'"]),
        ("y", {"configs": {"retention.ms": None}}, Code.BAD_CONFIG, ["retention.ms"]),
        ("y", {"assignments": {0: [0]}, "partitions": 1}, Code.BAD_REQUEST, ["must be -1"]),
        ("y", {"assignments": {0: [2]}}, Code.BAD_ASSIGNMENT, ["node 2"]),
        ("y", {"assignments": {0: [-1]}}, Code.BAD_ASSIGNMENT, ["node -1"]),
        ("y", {"assignments": {0: [0, 0]}}, Code.BAD_ASSIGNMENT, ["twice"]),
        ("y", {"assignments": {0: []}}, Code.BAD_ASSIGNMENT, ["no node"]),
        ("y", {"assignments": {0: [0], 2: [0]}}, Code.BAD_ASSIGNMENT, ["from 0 to 1"]),
    ],
)
@pytest.mark.parametrize("check_only", [False, True])
def test_refusals_to_create(name, arguments, code, words, check_only):
    async def test(c):
        for there in ("taken", "q.w"):
            await c.create(there)
        before = await c.stored()
        refused(await c.create(name, check_only=check_only, **arguments), code, *words)
        assert await c.stored() == before

    clustered(test)


def test_checking_only_leaves_no_trace():
    async def test(c):
        before = await c.stored()
        checked = await c.create("a", 2, check_only=True)
        assert isinstance(checked, TopicCreated) and checked.id == UUID(int=0) and checked.partitions == 2
        assert await c.stored() == before

    clustered(test)


def test_a_manual_assignment_is_kept_as_it_is():
    async def test(c):
        created = await c.create("a", assignments={1: [2, 0], 0: [1, 2]})
        assert (created.partitions, created.replicas) == (2, 2)
        topic = c.image.topic("a")
        assert [(p.leader, p.replicas, p.isr) for p in topic.partitions] == [(1, (1, 2), (1, 2)), (2, (2, 0), (2, 0))]
        answer = await c.create("b", assignments={0: [0], 1: [0, 1]})
        refused(answer, Code.BAD_ASSIGNMENT, "partition 1", "2 replicas")

    clustered(test, nodes=(0, 1, 2))


@pytest.mark.parametrize("count", [limits.STORE_OPERATIONS_MAX - 1, limits.STORE_OPERATIONS_MAX, 300, 1000])
def test_a_topic_of_many_partitions_takes_several_transactions_and_appears_whole(count):
    async def test(c):
        created = await c.create("wide", count, configs={"retention.ms": "5"})
        assert created.partitions == count
        topic = c.image.topic("wide")
        assert [p.index for p in topic.partitions] == list(range(count)) and topic.configs == {"retention.ms": "5"}
        assert c.image.orphan_topic_ids() == []

    clustered(test)


def test_of_many_who_create_the_same_name_one_wins():
    async def test(c):
        names = ["x.y", "x_y", "x.y", "x_y"] * 3
        answers = await asyncio.gather(*(c.create(name, 200) for name in names))
        won = [a for a in answers if isinstance(a, TopicCreated)]
        assert len(won) == 1 and c.image.topic(won[0].name).id == won[0].id
        for name, answer in zip(names, answers, strict=True):
            if answer is not won[0]:
                refused(answer, Code.TOPIC_EXISTS if name == won[0].name else Code.BAD_TOPIC_NAME)
        # The others' partitions, written before they lost, are gone.
        assert c.image.orphan_topic_ids() == []
        assert len([k for k in await c.stored() if k.startswith(keys.PARTITIONS)]) == 200

    clustered(test)


def test_a_crash_amid_creating_is_swept():
    async def test(c):
        await c.create("kept")
        outcome = await c.store.txn(
            [],
            [
                Put(keys.partition_key(UUID(int=7), 0), encode(PartitionValue(0, 0, (0,), (0,)))),
                Put(keys.topic_config_key(UUID(int=8)), b'{"values":{}}'),
            ],
        )
        await c.keeper.reach(outcome.revision)
        before = await c.stored()
        assert await c.metadata.sweep() == 2
        after = await c.stored()
        assert len(before) - len(after) == 2 and c.image.topic("kept") is not None
        assert await c.metadata.sweep() == 0

    clustered(test)


def test_a_limit_on_all_partitions_together(monkeypatch):
    monkeypatch.setattr(limits, "PARTITIONS_PER_CLUSTER_MAX", 5)

    async def test(c):
        await c.create("a", 4)
        refused(await c.create("b", 2), Code.POLICY_VIOLATION, "6", "5")
        refused(await c.metadata.add_partitions("a", 6), Code.POLICY_VIOLATION)
        assert isinstance(await c.create("b", 1), TopicCreated)

    clustered(test)


def test_deleting_takes_all_that_belongs_to_the_topic():
    async def test(c):
        before = await c.stored()
        await c.create("a", 300, configs={"retention.ms": "5"})
        topic = c.image.topic("a")
        assert await c.metadata.delete_topic(topic) is None
        assert c.image.topic("a") is None
        assert await c.stored() == before
        refused(await c.metadata.delete_topic(topic), Code.UNKNOWN_TOPIC)
        again = await c.create("a")
        assert again.id != topic.id
        refused(await c.metadata.delete_topic(topic), Code.UNKNOWN_TOPIC)
        assert c.image.topic("a") is not None

    clustered(test)


def test_adding_partitions():
    async def test(c):
        await c.create("a", 2)
        assert await c.metadata.add_partitions("a", 5) == 5
        topic = c.image.topic("a")
        assert [p.index for p in topic.partitions] == [0, 1, 2, 3, 4]
        assert await c.metadata.add_partitions("a", 400) == 400
        assert len(topic.partitions) == 400
        assert await c.metadata.add_partitions("a", 500, check_only=True) == 500
        assert len(topic.partitions) == 400

    clustered(test)


@pytest.mark.parametrize(
    ("name", "count", "assignments", "code", "words"),
    [
        ("three", 3, None, Code.BAD_PARTITIONS, ["3 partitions already"]),
        ("three", 2, None, Code.BAD_PARTITIONS, ["has 3", "2 would not be more"]),
        ("three", -1, None, Code.BAD_PARTITIONS, []),
        ("three", 10_001, None, Code.BAD_PARTITIONS, ["10000"]),
        ("nope", 3, None, Code.UNKNOWN_TOPIC, ["nope"]),
        ("thr.ee", 9, None, Code.UNKNOWN_TOPIC, ["thr.ee"]),
        ("three", 5, [[0]], Code.BAD_ASSIGNMENT, ["1 assignments for 2"]),
        ("three", 4, [[7]], Code.BAD_ASSIGNMENT, ["partition 3", "node 7"]),
        ("three", 4, [[0, 1]], Code.BAD_ASSIGNMENT, ["2 replicas", "have 1"]),
    ],
)
def test_refusals_to_add_partitions(name, count, assignments, code, words):
    async def test(c):
        await c.create("three", 3)
        await c.create("thr_ee", 3)
        refused(await c.metadata.add_partitions(name, count, assignments), code, *words)
        assert len(c.image.topic("three").partitions) == 3

    clustered(test, nodes=(0, 1))


def test_added_partitions_take_their_assignment():
    async def test(c):
        await c.create("a", 1, 2)
        assert await c.metadata.add_partitions("a", 3, [[1, 0], [0, 1]]) == 3
        assert [p.replicas for p in c.image.topic("a").partitions[1:]] == [(1, 0), (0, 1)]

    clustered(test, nodes=(0, 1))


def test_two_who_add_partitions_at_once_both_get_an_honest_answer():
    async def test(c):
        await c.create("a", 1)
        answers = await asyncio.gather(*(c.metadata.add_partitions("a", count) for count in (300, 200, 400)))
        assert max(a for a in answers if isinstance(a, int)) == 400
        assert [p.index for p in c.image.topic("a").partitions] == list(range(400))

    clustered(test)


def test_who_adds_fewer_partitions_later_does_not_take_any_away():
    """Another one grows the topic between our look and our transaction."""

    async def test(c):
        await c.create("a", 1)
        real_txn, others = c.store.txn, [5]

        async def txn(compares, then, otherwise=()):
            if others:
                assert await c.metadata.add_partitions("a", others.pop()) == 5
            return await real_txn(compares, then, otherwise)

        c.store.txn = txn
        refused(await c.metadata.add_partitions("a", 2), Code.BAD_PARTITIONS, "has 5")
        assert len(c.image.topic("a").partitions) == 5

    clustered(test)


def test_a_topic_deleted_while_it_grows_leaves_nothing():
    async def test(c):
        await c.create("a", 1)
        before = [k for k in await c.stored() if not k.startswith((keys.PARTITIONS, keys.TOPICS))]
        growing = asyncio.create_task(c.metadata.add_partitions("a", 1000))
        while len([k for k in await c.stored() if k.startswith(keys.PARTITIONS)]) < 300:
            pass
        assert await c.metadata.delete_topic(c.image.topic("a")) is None
        refused(await growing, Code.UNKNOWN_TOPIC)
        assert await c.stored() == before

    clustered(test)


def test_many_verbs_at_once_take_the_loop_in_turns():
    async def test(c):
        under_way = peak = 0
        real_txn = c.store.txn

        async def txn(*arguments):
            nonlocal under_way, peak
            under_way += 1
            peak = max(peak, under_way)
            outcome = await real_txn(*arguments)
            under_way -= 1
            return outcome

        c.store.txn = txn
        await asyncio.gather(*(c.create(f"t{i}") for i in range(100)))
        assert len(c.image.topics()) == 100 and 1 < peak <= UNDER_WAY_MAX

    clustered(test)


def test_topic_settings_change_by_parts_and_as_a_whole():
    async def test(c):
        await c.create("a", configs={"retention.ms": "5"})
        alter, replace = c.metadata.alter_topic_configs, c.metadata.replace_topic_configs
        after = await alter("a", [ConfigChange("segment.ms", Act.SET, "9")])
        assert after == {"retention.ms": "5", "segment.ms": "9"} == c.image.topic("a").configs
        assert c.image.topic("a").settings.segment_ms == 9
        assert await replace("a", {"segment.ms": "8"}, check_only=True) == {"segment.ms": "8"}
        assert c.image.topic("a").configs == after
        assert await replace("a", {"segment.ms": "8"}) == {"segment.ms": "8"} == c.image.topic("a").configs
        assert await alter("a", [ConfigChange("segment.ms", Act.DELETE)]) == {} == c.image.topic("a").configs
        assert not [k for k in await c.stored() if k.startswith(keys.TOPIC_CONFIGS)]
        refused(await alter("nope", []), Code.UNKNOWN_TOPIC)
        refused(await alter("..", []), Code.BAD_TOPIC_NAME)
        refused(await alter("a", [ConfigChange("segment.ms", Act.SET, "0")]), Code.BAD_CONFIG)

    clustered(test)


def test_changes_of_settings_at_once_are_all_kept():
    async def test(c):
        await c.create("a")
        names = ["retention.ms", "segment.ms", "flush.ms", "max.message.bytes", "file.delete.delay.ms"]
        await asyncio.gather(*(c.metadata.alter_topic_configs("a", [ConfigChange(n, Act.SET, "7")]) for n in names))
        assert c.image.topic("a").configs == dict.fromkeys(names, "7")

    clustered(test)


def test_settings_do_not_outlive_the_topic_they_were_meant_for():
    """Deleted between the look-up and the write: the write must not leave settings under a dead id."""

    async def test(c):
        await c.create("a")
        topic = c.image.topic("a")
        answers = await asyncio.gather(
            c.metadata.alter_topic_configs("a", [ConfigChange("retention.ms", Act.SET, "7")]), c.metadata.delete_topic(topic)
        )
        assert answers[1] is None
        assert not [k for k in await c.stored() if k.startswith(keys.TOPIC_CONFIGS)]

    clustered(test)


def test_node_settings():
    async def test(c):
        await c.create("a")
        alter = c.metadata.alter_node_configs
        assert await alter(None, [ConfigChange("log.retention.ms", Act.SET, "3")]) == {"log.retention.ms": "3"}
        assert c.image.topic("a").settings.retention_ms == 3
        assert await alter(0, [ConfigChange("log.retention.ms", Act.SET, "2")]) == {"log.retention.ms": "2"}
        assert c.image.topic("a").settings.retention_ms == 2
        assert await c.metadata.replace_node_configs(0, {}) == {}
        assert c.image.topic("a").settings.retention_ms == 3
        refused(await alter(5, []), Code.UNKNOWN_NODE, "5")
        refused(await alter(0, [ConfigChange("num.partitions", Act.SET, "2")]), Code.BAD_REQUEST)

    clustered(test)


def test_a_node_that_comes_back_has_a_higher_epoch():
    async def test(c):
        before = c.image.node(0).epoch
        epoch = await c.metadata.register_node(NodeId(0), "h", 1, UUID(int=9))
        assert epoch == c.image.node(0).epoch > before
        assert (c.image.node(0).host, c.image.node(0).incarnation) == ("h", UUID(int=9))

    clustered(test)


def test_leading_again_begins_new_leader_epochs_for_ones_own_partitions():
    async def test(c):
        await c.create("wide", 600)
        mine = [p.index for p in c.image.topic("wide").partitions if p.leader == 0]
        assert await c.metadata.lead_again(NodeId(0)) == len(mine) == 300
        for partition in c.image.topic("wide").partitions:
            expected = (1, 1) if partition.index in mine else (0, 0)
            assert (partition.leader_epoch, partition.epoch) == expected

    clustered(test, nodes=(0, 1))


def test_a_partition_nobody_leads_is_taken_by_one_of_its_in_sync_set():
    async def test(c):
        topic_id = UUID(int=5)
        values = [PartitionValue(-1, 3, (0, 1), (0,), 4), PartitionValue(-1, 3, (0, 1), (1,), 4)]
        puts = [Put(keys.partition_key(topic_id, i), encode(value)) for i, value in enumerate(values)]
        outcome = await c.store.txn([], [*puts, Put(keys.topic_key("a"), encode(TopicValue("a", topic_id, 2)))])
        await c.keeper.reach(outcome.revision)
        assert await c.metadata.lead_again(NodeId(0)) == 1
        assert [(p.leader, p.leader_epoch, p.epoch) for p in c.image.topic("a").partitions] == [(0, 4, 5), (-1, 3, 4)]

    clustered(test, nodes=(0, 1))


def test_leading_again_while_topics_are_deleted():
    async def test(c):
        await asyncio.gather(*(c.create(f"t{i}", 40) for i in range(10)))
        topics = list(c.image.topics())
        taken, *_ = await asyncio.gather(c.metadata.lead_again(NodeId(0)), *(c.metadata.delete_topic(t) for t in topics[:5]))
        assert 200 <= taken <= 400
        assert {p.leader_epoch for t in c.image.topics() for p in t.partitions} == {1}
        assert c.image.orphan_topic_ids() == []

    clustered(test)


def test_blocks_of_producer_ids_never_overlap():
    async def test(c):
        firsts = await asyncio.gather(*(c.metadata.allocate_producer_ids(100) for _ in range(10)))
        assert sorted(firsts) == list(range(0, 1000, 100))
        await c.store.txn([], [Put(keys.PRODUCER_IDS, encode(keys.ProducerIdsValue(2**63 - 50)))])
        refused(await c.metadata.allocate_producer_ids(100), Code.INTERNAL)

    clustered(test)


def test_the_cluster_is_founded_once():
    async def test(c):
        assert await c.metadata.found_cluster(None, "fresh") == "fresh"
        assert await c.metadata.found_cluster(None, "other") == "fresh"
        assert await c.metadata.found_cluster("fresh", "other") == "fresh"
        refused(await c.metadata.found_cluster("wanted", "other"), Code.CONFLICT, "fresh", "wanted")
        assert c.image.cluster_id == "fresh"

    clustered(test)


def test_a_cluster_gets_the_id_it_is_given():
    async def test(c):
        assert await c.metadata.found_cluster("wanted", "fresh") == "wanted"

    clustered(test)


def test_a_key_deleted_between_the_two_looks_is_told_as_a_conflict():
    """Created by somebody, which makes our transaction fail, and deleted before we look who it was."""

    async def test(c):
        key = keys.topic_key("a")
        real_txn = c.store.txn

        async def txn(compares, then, otherwise=()):
            if compares:
                await real_txn([], [Put(key, encode(TopicValue("a", UUID(int=1), 0)))])
                outcome = await real_txn(compares, then, otherwise)
                await real_txn([], [Delete(key)])
                return outcome
            return await real_txn(compares, then, otherwise)

        c.store.txn = txn
        refused(await c.create("a"), Code.CONFLICT, "try again")

    clustered(test)


def test_a_store_that_cannot_keep_a_change_is_told_to_whoever_asked():
    """A full disk: the request was never answered, and its connection stood still for ever."""

    async def test(c):
        topic = (await c.create("a"), c.image.topic("a"))[1]

        async def full(*arguments):
            raise OSError(28, "the disk is full")

        works, c.store.txn = c.store.txn, full
        change = [ConfigChange("retention.ms", Act.SET, "5")]
        for verb in (
            c.create("b"),
            c.metadata.delete_topic(topic),
            c.metadata.add_partitions("a", 2),
            c.metadata.alter_topic_configs("a", change, check_only=False),
            c.metadata.allocate_producer_ids(10),
        ):
            refused(await verb, Code.STORAGE_FAILED, "not known", "the disk is full")
        c.store.txn = works
        assert isinstance(await c.create("b"), TopicCreated)

    clustered(test)
