"""The transactions on the cluster store: topics, partitions, settings, nodes, producer ids.

Each is one verb that reads, checks, and writes under the condition that what it read still stands; when somebody else was
quicker it begins again. Nobody waits under a lock, and of two that want the same name one wins and the other is told.

What they answer is already in this node's image (`reach`): a topic that was created is found by the next request, on
whatever connection. Checks read the image where an old answer does no harm (defaults, live nodes), and the store where
it would.

Not here: what a topic looks like on a disk (the broker acts on the image's deltas), and who may do what.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from headrace.base import limits
from headrace.base.errors import Code, Refused
from headrace.base.ids import NO_TOPIC_ID, NodeId, TopicId
from headrace.cluster import keys, topic_names
from headrace.cluster.config_changes import ConfigChange, ConfigRules, altered, node_rules, replaced, topic_rules
from headrace.cluster.image import Image, TopicImage
from headrace.cluster.keeper import ImageKeeper
from headrace.cluster.keys import ClusterValue, ConfigValue, NodeValue, PartitionValue, ProducerIdsValue, TopicValue, decode, encode
from headrace.cluster.placement import place
from headrace.cluster.store import (
    ClusterStore,
    Compare,
    Delete,
    DeletePrefix,
    Entry,
    Field,
    Is,
    Operation,
    Put,
    is_absent,
    is_unchanged,
)

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT = -1  # Partitions or replicas left to the node's settings.
# Somebody else won this often in a row: that is no race any more.
ATTEMPTS_MAX = 100
# Verbs under way at once. One request may name thousands of topics; each decision takes about 0.1 ms of the loop, and
# those that are ready run in one turn of it: 32 hold it for 3 ms and still share their commits.
UNDER_WAY_MAX = 32

Assignments = Mapping[int, Sequence[int]]


class NewTopic:
    """What somebody asks for."""

    __slots__ = ("assignments", "configs", "internal", "name", "partitions", "replicas")

    def __init__(
        self,
        name: str,
        partitions: int = DEFAULT,
        replicas: int = DEFAULT,
        *,
        assignments: Assignments | None = None,
        configs: Mapping[str, str | None] | None = None,
        internal: bool = False,
    ) -> None:
        self.name = name
        self.partitions = partitions
        self.replicas = replicas
        self.assignments = assignments or {}
        self.configs = configs or {}
        self.internal = internal


class TopicCreated:
    __slots__ = ("configs", "id", "name", "partitions", "replicas")

    def __init__(self, name: str, topic_id: TopicId, partitions: int, replicas: int, configs: dict[str, str]) -> None:
        self.name = name
        self.id = topic_id  # The zero id when it was only checked.
        self.partitions = partitions
        self.replicas = replicas
        self.configs = configs


def _telling(verb: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T | Refused]]:
    """A store that cannot keep a change (a full disk, say) is a refusal to whoever asked, and no bug of ours."""

    @wraps(verb)
    async def telling(*args: P.args, **kwargs: P.kwargs) -> T | Refused:
        try:
            return await verb(*args, **kwargs)
        except OSError as error:
            return Refused(Code.STORAGE_FAILED, f"whether this was done is not known: {error.strerror or error}")

    return telling


class Metadata:
    """See above. One for a node; every method may run many times at once."""

    def __init__(
        self,
        store: ClusterStore,
        keeper: ImageKeeper,
        random_bytes: Callable[[int], bytes],
        *,
        default_partitions: int = 1,
        default_replicas: int = 1,
    ) -> None:
        self._store = store
        self._keeper = keeper
        self._random_bytes = random_bytes
        self._default_partitions = default_partitions
        self._default_replicas = default_replicas
        self._gate = asyncio.Semaphore(UNDER_WAY_MAX)

    @property
    def image(self) -> Image:
        return self._keeper.image

    # Topics

    @_telling
    async def create_topic(self, new: NewTopic, *, check_only: bool = False) -> TopicCreated | Refused:
        async with self._gate:
            return await self._create_topic(new, check_only)

    @_telling
    async def delete_topic(self, topic: TopicImage) -> Refused | None:
        async with self._gate:
            return await self._delete_topic(topic)

    @_telling
    async def add_partitions(
        self, name: str, count: int, assignments: Sequence[Sequence[int]] | None = None, *, check_only: bool = False
    ) -> int | Refused:
        """Grow the topic to `count` partitions; the number it has then."""
        async with self._gate:
            return await self._add_partitions(name, count, assignments, check_only)

    async def _create_topic(self, new: NewTopic, check_only: bool) -> TopicCreated | Refused:
        refused = topic_names.check(new.name)
        if refused is not None:
            return refused
        entry = await self._store.get(keys.topic_key(new.name))
        if entry is not None:
            return await self._name_taken(new.name, entry)
        configs = replaced(new.configs, topic_rules(self.image.layers))
        if isinstance(configs, Refused):
            return configs
        topic_id = self._new_topic_id()
        placed = self._place_new(new, topic_id)
        if isinstance(placed, Refused):
            return placed
        refused = self._check_total(new.name, len(placed))
        if refused is not None:
            return refused
        if check_only:
            return TopicCreated(new.name, NO_TOPIC_ID, len(placed), len(placed[0]), configs)
        return await self._create(new, topic_id, placed, configs)

    async def _create(
        self, new: NewTopic, topic_id: TopicId, placed: list[tuple[int, ...]], configs: dict[str, str]
    ) -> TopicCreated | Refused:
        key = keys.topic_key(new.name)
        topic = Put(key, encode(TopicValue(new.name, topic_id, len(placed), new.internal)))
        last: list[Operation] = [topic]
        if configs:
            last.append(Put(keys.topic_config_key(topic_id), encode(ConfigValue(configs))))
        start = 0
        while len(placed) - start + len(last) > limits.STORE_OPERATIONS_MAX:
            chunk = _puts_of_new_partitions(topic_id, start, placed[start : start + limits.STORE_OPERATIONS_MAX])
            outcome = await self._store.txn([is_absent(key)], chunk)
            if not outcome.succeeded:
                break
            start += len(chunk)
        else:
            rest = _puts_of_new_partitions(topic_id, start, placed[start:])
            outcome = await self._store.txn([is_absent(key)], [*rest, *last])
        if outcome.succeeded:
            await self._keeper.reach(outcome.revision)
            return TopicCreated(new.name, topic_id, len(placed), len(placed[0]), configs)
        await self._delete_partitions(topic_id, start)
        entry = await self._store.get(key)
        if entry is None:
            return Refused(Code.CONFLICT, f"topic {new.name} was created and deleted by others meanwhile: try again")
        return await self._name_taken(new.name, entry)

    async def _delete_topic(self, topic: TopicImage) -> Refused | None:
        key = topic.key
        for _ in range(ATTEMPTS_MAX):
            entry = await self._store.get(key)
            value = None if entry is None else decode(TopicValue, entry.value)
            if entry is None or value is None or value.id != topic.id:
                return Refused(Code.UNKNOWN_TOPIC, f"topic {topic.name} has been deleted already")
            gone: list[Operation] = [Delete(key), Delete(keys.topic_config_key(topic.id))]
            outcome = await self._store.txn([is_unchanged(key, entry.mod_revision)], gone)
            if outcome.succeeded:
                await self._keeper.reach(outcome.revision)
                await self._delete_partitions(topic.id, value.partitions)
                return None
        return _too_busy(f"topic {topic.name}")

    async def _delete_partitions(self, topic_id: TopicId, count: int) -> None:
        """What nobody sees any more, a hundred at a time, so that no turn of the loop is long.

        At the end whatever is left: somebody may have been growing the topic while it was deleted.
        """
        prefixes = [keys.partitions_prefix(topic_id, hundred) for hundred in range(0, count, keys.PARTITIONS_PER_PREFIX)]
        for prefix in (*prefixes, keys.partitions_prefix(topic_id)):
            outcome = await self._store.txn([], [DeletePrefix(prefix)])
            await self._keeper.reach(outcome.revision)

    async def _add_partitions(
        self, name: str, count: int, assignments: Sequence[Sequence[int]] | None, check_only: bool
    ) -> int | Refused:
        key = keys.topic_key(name)
        for _ in range(ATTEMPTS_MAX):
            entry = await self._store.get(key)
            topic = None if entry is None else decode(TopicValue, entry.value)
            if entry is None or topic is None or topic.name != name:
                return _unknown(name)
            placed = await self._place_more(topic, count, assignments)
            if isinstance(placed, Refused) or check_only:
                return placed if isinstance(placed, Refused) else count
            if await self._grow(entry, topic, count, placed):
                return count
        return _too_busy(f"topic {name}")

    async def _grow(self, entry: Entry, topic: TopicValue, count: int, placed: list[tuple[int, ...]]) -> bool:
        """Write the new partitions, then the topic's new count; False when somebody else changed the topic."""
        still = [is_unchanged(entry.key, entry.mod_revision)]
        for start in range(0, len(placed), limits.STORE_OPERATIONS_MAX):
            chunk = placed[start : start + limits.STORE_OPERATIONS_MAX]
            outcome = await self._store.txn(still, _puts_of_new_partitions(topic.id, topic.partitions + start, chunk))
            if not outcome.succeeded:
                return False
        grown = TopicValue(topic.name, topic.id, count, topic.internal)
        outcome = await self._store.txn(still, [Put(entry.key, encode(grown))])
        if outcome.succeeded:
            await self._keeper.reach(outcome.revision)
        return outcome.succeeded

    async def sweep(self) -> int:
        """Delete what a crash amid creating or deleting left behind; the number of topic ids. To be called while nobody creates."""
        orphans = self.image.orphan_topic_ids()
        for topic_id in orphans:
            outcome = await self._store.txn([], [Delete(keys.topic_config_key(topic_id))])
            await self._keeper.reach(outcome.revision)
            await self._delete_partitions(topic_id, limits.PARTITIONS_PER_TOPIC_MAX)
        return len(orphans)

    # Settings

    @_telling
    async def alter_topic_configs(
        self, name: str, changes: Sequence[ConfigChange], *, check_only: bool = False
    ) -> dict[str, str] | Refused:
        """Incrementally; the topic's own settings afterwards."""
        rules = topic_rules(self.image.layers)
        return await self._write_topic_configs(name, lambda current: altered(current, changes, rules), check_only)

    @_telling
    async def replace_topic_configs(
        self, name: str, values: Mapping[str, str | None], *, check_only: bool = False
    ) -> dict[str, str] | Refused:
        """All at once; the topic's own settings afterwards."""
        rules = topic_rules(self.image.layers)
        return await self._write_topic_configs(name, lambda _: replaced(values, rules), check_only)

    @_telling
    async def alter_node_configs(
        self, node_id: int | None, changes: Sequence[ConfigChange], *, check_only: bool = False
    ) -> dict[str, str] | Refused:
        """Incrementally; None is all nodes."""
        rules = node_rules()
        return await self._write_node_configs(node_id, lambda current: altered(current, changes, rules), rules, check_only)

    @_telling
    async def replace_node_configs(
        self, node_id: int | None, values: Mapping[str, str | None], *, check_only: bool = False
    ) -> dict[str, str] | Refused:
        rules = node_rules()
        return await self._write_node_configs(node_id, lambda _: replaced(values, rules), rules, check_only)

    async def _write_topic_configs(
        self, name: str, change: Callable[[Mapping[str, str]], dict[str, str] | Refused], check_only: bool
    ) -> dict[str, str] | Refused:
        refused = topic_names.check(name)
        if refused is not None:
            return refused
        entry = await self._store.get(keys.topic_key(name))
        topic = None if entry is None else decode(TopicValue, entry.value)
        if entry is None or topic is None or topic.name != name:
            return _unknown(name)
        # The topic must be the same one when they are written: else they would outlive it.
        there = Compare(entry.key, Field.CREATE_REVISION, Is.EQUAL, entry.create_revision)
        return await self._write_configs(keys.topic_config_key(topic.id), change, [there], f"topic {name}", check_only)

    async def _write_node_configs(
        self,
        node_id: int | None,
        change: Callable[[Mapping[str, str]], dict[str, str] | Refused],
        rules: ConfigRules,
        check_only: bool,
    ) -> dict[str, str] | Refused:
        if node_id is not None and self.image.node(node_id) is None:
            return Refused(Code.UNKNOWN_NODE, f"there is no node {node_id}")
        what = f"the {rules.what} settings"
        return await self._write_configs(keys.node_config_key(node_id), change, [], what, check_only)

    async def _write_configs(
        self,
        key: str,
        change: Callable[[Mapping[str, str]], dict[str, str] | Refused],
        conditions: list[Compare],
        what: str,
        check_only: bool,
    ) -> dict[str, str] | Refused:
        for _ in range(ATTEMPTS_MAX):
            entry = await self._store.get(key)
            before = {} if entry is None else decode(ConfigValue, entry.value).values
            after = change(before)
            if isinstance(after, Refused) or check_only or after == before:
                return after
            unchanged = is_unchanged(key, 0 if entry is None else entry.mod_revision)
            write = Put(key, encode(ConfigValue(after))) if after else Delete(key)
            async with self._gate:
                outcome = await self._store.txn([unchanged, *conditions], [write])
            if outcome.succeeded:
                await self._keeper.reach(outcome.revision)
                return after
        return _too_busy(what)

    # Nodes

    async def found_cluster(self, wanted: str | None, fresh: str) -> str | Refused:
        """The cluster's id: the one in the store, else the wanted one, else a fresh one."""
        outcome = await self._store.txn([is_absent(keys.CLUSTER)], [Put(keys.CLUSTER, encode(ClusterValue(wanted or fresh)))])
        entry = await self._store.get(keys.CLUSTER)
        assert entry is not None, "nobody deletes a cluster"
        cluster_id = decode(ClusterValue, entry.value).id
        if wanted is not None and cluster_id != wanted:
            return Refused(Code.CONFLICT, f"this is cluster {cluster_id}, not {wanted}")
        await self._keeper.reach(outcome.revision)
        return cluster_id

    async def register_node(self, node_id: NodeId, host: str, port: int, incarnation: UUID, rack: str | None = None) -> int:
        """This process is the node from now on; its epoch."""
        value = encode(NodeValue(host, port, incarnation, rack))
        outcome = await self._store.txn([], [Put(keys.node_key(node_id), value)])
        await self._keeper.reach(outcome.revision)
        return outcome.revision

    async def lead_again(self, node_id: NodeId) -> int:
        """Take up, under a new leader epoch, every partition this node led before or that only it can lead.

        After a restart the log may end earlier than some client has seen (`pagecache` and a power cut); with the epoch
        a consumer can tell that from a log that merely has not grown. The number of partitions.
        """
        taken = 0
        found = await self._store.range(keys.PARTITIONS)
        todo = found.entries
        while todo:
            chunk, todo = todo[: limits.STORE_OPERATIONS_MAX], todo[limits.STORE_OPERATIONS_MAX :]
            compares: list[Compare] = []
            puts: list[Operation] = []
            for entry in chunk:
                value = _led_by(decode(PartitionValue, entry.value), node_id)
                if value is not None:
                    compares.append(is_unchanged(entry.key, entry.mod_revision))
                    puts.append(Put(entry.key, encode(value)))
            if not puts:
                continue
            outcome = await self._store.txn(compares, puts)
            if outcome.succeeded:
                taken += len(puts)
                await self._keeper.reach(outcome.revision)
            else:  # Somebody changed or deleted one of them: look at these again.
                fresh = [await self._store.get(entry.key) for entry in chunk]
                todo = [entry for entry in fresh if entry is not None] + todo
        return taken

    @_telling
    async def allocate_producer_ids(self, count: int) -> int | Refused:
        """A block of ids that nobody else gets: the first of `count`."""
        assert count > 0
        for _ in range(ATTEMPTS_MAX):
            entry = await self._store.get(keys.PRODUCER_IDS)
            first = 0 if entry is None else decode(ProducerIdsValue, entry.value).next
            if first + count > 2**63 - 1:
                return Refused(Code.INTERNAL, f"all producer ids are used up: the next would be {first}")
            unchanged = is_unchanged(keys.PRODUCER_IDS, 0 if entry is None else entry.mod_revision)
            outcome = await self._store.txn([unchanged], [Put(keys.PRODUCER_IDS, encode(ProducerIdsValue(first + count)))])
            if outcome.succeeded:
                return first
        return _too_busy("the producer ids")

    # Checks

    async def _name_taken(self, name: str, entry: Entry) -> Refused:
        other = decode(TopicValue, entry.value).name
        if other == name:
            # Who is told that it exists may ask for it next: it has to be in the image.
            await self._keeper.reach(entry.mod_revision)
            return Refused(Code.TOPIC_EXISTS, f"topic {name} exists already")
        return Refused(Code.BAD_TOPIC_NAME, f"topic {name} collides with topic {other}: '.' and '_' count as the same here")

    def _new_topic_id(self) -> TopicId:
        return UUID(bytes=self._random_bytes(16), version=4)

    def _check_total(self, name: str, more: int) -> Refused | None:
        total = self.image.partition_count() + more
        if total > limits.PARTITIONS_PER_CLUSTER_MAX:
            limit = limits.PARTITIONS_PER_CLUSTER_MAX
            return Refused(Code.POLICY_VIOLATION, f"with {more} partitions of {name} there would be {total}; the limit is {limit}")
        return None

    def _place_new(self, new: NewTopic, topic_id: TopicId) -> list[tuple[int, ...]] | Refused:
        if new.assignments:
            if new.partitions != DEFAULT or new.replicas != DEFAULT:
                return Refused(
                    Code.BAD_REQUEST,
                    "with a manual assignment the numbers of partitions and replicas must be -1, "
                    f"not {new.partitions} and {new.replicas}",
                )
            count = len(new.assignments)
            if sorted(new.assignments) != list(range(count)):
                return Refused(Code.BAD_ASSIGNMENT, f"the {count} assigned partitions must be numbered from 0 to {count - 1}")
            return self._check_count(count) or self._check_assignments([new.assignments[i] for i in range(count)], 0, None)
        count = self._default_partitions if new.partitions == DEFAULT else new.partitions
        replicas = self._default_replicas if new.replicas == DEFAULT else new.replicas
        refused = self._check_count(count)
        if refused is not None:
            return refused
        if replicas < 1 or replicas > 2**15 - 1:
            return Refused(Code.BAD_REPLICAS, f"{replicas} replicas: it must be at least 1, or -1 for the default")
        nodes = [node.id for node in self.image.nodes()]
        if replicas > len(nodes):
            return Refused(Code.BAD_REPLICAS, f"{replicas} replicas need as many nodes, and there are {len(nodes)}")
        return place(topic_id, count, replicas, nodes)

    async def _place_more(
        self, topic: TopicValue, count: int, assignments: Sequence[Sequence[int]] | None
    ) -> list[tuple[int, ...]] | Refused:
        if count == topic.partitions:
            return Refused(Code.BAD_PARTITIONS, f"topic {topic.name} has {count} partitions already")
        if count < topic.partitions:
            why = f"topic {topic.name} has {topic.partitions} partitions; {count} would not be more"
            return Refused(Code.BAD_PARTITIONS, why)
        more = count - topic.partitions
        refused = self._check_count(count) or self._check_total(topic.name, more)
        if refused is not None:
            return refused
        first = await self._store.get(keys.partition_key(topic.id, 0))
        if first is None:
            return _unknown(topic.name)  # Deleted since it was read.
        replicas = len(decode(PartitionValue, first.value).replicas)
        if assignments is not None:
            if len(assignments) != more:
                return Refused(Code.BAD_ASSIGNMENT, f"{len(assignments)} assignments for {more} new partitions")
            return self._check_assignments(assignments, topic.partitions, replicas)
        nodes = [node.id for node in self.image.nodes()]
        if replicas > len(nodes):
            return Refused(Code.BAD_REPLICAS, f"{replicas} replicas need as many nodes, and there are {len(nodes)}")
        return place(topic.id, more, replicas, nodes, first_index=topic.partitions)

    def _check_count(self, count: int) -> Refused | None:
        if count < 1:
            return Refused(Code.BAD_PARTITIONS, f"{count} partitions: it must be at least 1, or -1 for the default")
        if count > limits.PARTITIONS_PER_TOPIC_MAX:
            limit = limits.PARTITIONS_PER_TOPIC_MAX
            return Refused(Code.BAD_PARTITIONS, f"{count} partitions: a topic has at most {limit}")
        return None

    def _check_assignments(
        self, assignments: Sequence[Sequence[int]], first_index: int, replicas: int | None
    ) -> list[tuple[int, ...]] | Refused:
        """Each on distinct nodes that exist, and all with the same number of replicas."""
        for index, nodes in enumerate(assignments, first_index):
            where = f"the assignment of partition {index}"
            expected = len(nodes) if replicas is None else replicas
            if not nodes:
                return Refused(Code.BAD_ASSIGNMENT, f"{where} names no node")
            if len(set(nodes)) != len(nodes):
                return Refused(Code.BAD_ASSIGNMENT, f"{where} names a node twice: {list(nodes)}")
            unknown = sorted(node for node in nodes if self.image.node(node) is None)
            if unknown:
                return Refused(Code.BAD_ASSIGNMENT, f"{where} names node {unknown[0]}, which does not exist")
            if len(nodes) != expected:
                why = f"{where} has {len(nodes)} replicas, where the partitions before have {expected}"
                return Refused(Code.BAD_ASSIGNMENT, why)
            replicas = expected
        return [tuple(nodes) for nodes in assignments]


def _puts_of_new_partitions(topic_id: TopicId, first_index: int, placed: Sequence[tuple[int, ...]]) -> list[Operation]:
    return [
        Put(keys.partition_key(topic_id, index), encode(PartitionValue(nodes[0], 0, nodes, nodes)))
        for index, nodes in enumerate(placed, first_index)
    ]


def _led_by(value: PartitionValue, node_id: NodeId) -> PartitionValue | None:
    """The partition with the node as its leader anew; None when that is not for the node to say."""
    mine = value.leader == node_id or (value.leader == -1 and node_id in value.isr)
    if not mine:
        return None
    return PartitionValue(node_id, value.leader_epoch + 1, value.replicas, value.isr, value.epoch + 1)


def _unknown(name: str) -> Refused:
    return Refused(Code.UNKNOWN_TOPIC, f"there is no topic {name}")


def _too_busy(what: str) -> Refused:
    return Refused(Code.CONFLICT, f"{what}: others were quicker {ATTEMPTS_MAX} times in a row")
