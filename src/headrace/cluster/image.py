"""The image of the cluster: what this node knows of topics, partitions, nodes and settings.

What it is for: every metadata answer and every look-up on the hot path comes from here, never from the store. The image
is as old as its last change (`revision`); `cluster/keeper.py` fills it from a range and keeps it by a watch.

Owner: the node's loop. Only `apply` changes anything, one whole revision at a time, and nothing awaits inside it: so
whoever reads between two awaits sees one consistent cluster. `TopicImage` objects live as long as their topic does and
may be held; their partitions are replaced, never altered.

`apply` answers with a `Delta`: what the broker has to act on (make logs, drop them, take or give up leadership, read
settings anew).
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from headrace.base.ids import NodeId, TopicId
from headrace.base.topic_settings import NodeLayers, TopicSettings
from headrace.cluster import keys
from headrace.cluster.keys import (
    ClusterValue,
    ConfigValue,
    FeaturesValue,
    NodeValue,
    PartitionValue,
    ProducerIdsValue,
    TopicValue,
    decode,
)
from headrace.cluster.store import Change, Entry, Event, Range

NO_CONFIGS: Mapping[str, str] = {}


class PartitionImage:
    """One partition as of `mod_revision` (its key's). Never altered."""

    __slots__ = ("epoch", "index", "isr", "leader", "leader_epoch", "mod_revision", "replicas")

    def __init__(self, index: int, value: PartitionValue, mod_revision: int) -> None:
        self.index = index
        self.leader = NodeId(value.leader)
        self.leader_epoch = value.leader_epoch
        self.replicas = value.replicas
        self.isr = value.isr
        self.epoch = value.epoch
        self.mod_revision = mod_revision


class TopicImage:
    """One topic. It stays the same object until the topic is deleted."""

    __slots__ = ("configs", "id", "internal", "key", "mod_revision", "name", "partitions", "settings")

    def __init__(self, key: str, value: TopicValue, mod_revision: int) -> None:
        self.key = key
        self.name = value.name
        self.id: TopicId = value.id
        self.internal = value.internal
        self.mod_revision = mod_revision
        self.partitions: list[PartitionImage] = []  # By index, without gaps.
        self.configs: Mapping[str, str] = NO_CONFIGS  # Its own, as texts.
        self.settings = TopicSettings()  # Those in force, parsed.


class NodeImage:
    """One registered node."""

    __slots__ = ("epoch", "host", "id", "incarnation", "port", "rack")

    def __init__(self, node_id: NodeId, value: NodeValue, mod_revision: int) -> None:
        self.id = node_id
        self.host = value.host
        self.port = value.port
        self.rack = value.rack
        self.incarnation = value.incarnation
        self.epoch = mod_revision  # Rises with each registration: Kafka's broker epoch.


class Delta:
    """What one revision (or a fresh range) changed."""

    __slots__ = ("nodes_changed", "partitions_changed", "revision", "settings_changed", "topics_gone", "topics_made")

    def __init__(self, revision: int) -> None:
        self.revision = revision
        self.topics_made: list[TopicImage] = []
        self.topics_gone: list[TopicImage] = []
        # New or changed partitions of topics that were there before: (topic, partition).
        self.partitions_changed: list[tuple[TopicImage, PartitionImage]] = []
        # Topics, there before, whose settings in force were made anew.
        self.settings_changed: list[TopicImage] = []
        self.nodes_changed = False


class Image:
    """See above. `node_id` says whose settings at run time count for topics; `file` are the settings file's defaults."""

    def __init__(self, node_id: NodeId, file: Mapping[str, str] | None = None) -> None:
        self.node_id = node_id
        self.revision = 0
        self.cluster_id: str | None = None
        self.features: Mapping[str, int] = {}
        self.producer_id_next = 0
        self.layers = NodeLayers(file)
        self._node_configs: dict[int | None, Mapping[str, str]] = {}  # None: those of all nodes.
        self._by_name: dict[str, TopicImage] = {}
        self._by_id: dict[TopicId, TopicImage] = {}
        self._by_key: dict[str, TopicImage] = {}
        # Everything under a topic's id, whether the topic's key is there (yet, or still) or not.
        self._partitions: dict[TopicId, dict[int, PartitionImage]] = {}
        self._topic_configs: dict[TopicId, Mapping[str, str]] = {}
        self._nodes: dict[NodeId, NodeImage] = {}
        self._mod_revisions: dict[str, int] = {}  # Of every key: what a fresh range is compared with.
        self._sorted_topics: list[TopicImage] | None = []
        self._sorted_nodes: list[NodeImage] | None = []

    # Looking up

    def topic(self, name: str) -> TopicImage | None:
        return self._by_name.get(name)

    def topic_by_id(self, topic_id: TopicId) -> TopicImage | None:
        return self._by_id.get(topic_id)

    def topic_like(self, name: str) -> TopicImage | None:
        """The topic of this name, or one whose name collides with it."""
        return self._by_key.get(keys.topic_key(name))

    def partition(self, name: str, index: int) -> PartitionImage | None:
        topic = self._by_name.get(name)
        return topic.partitions[index] if topic is not None and 0 <= index < len(topic.partitions) else None

    def topics(self) -> list[TopicImage]:
        """All topics by name. Not to be altered."""
        if self._sorted_topics is None:
            self._sorted_topics = [self._by_name[name] for name in sorted(self._by_name)]
        return self._sorted_topics

    def node(self, node_id: int) -> NodeImage | None:
        return self._nodes.get(NodeId(node_id))

    def nodes(self) -> list[NodeImage]:
        """All registered nodes by id. Not to be altered."""
        if self._sorted_nodes is None:
            self._sorted_nodes = [self._nodes[node_id] for node_id in sorted(self._nodes)]
        return self._sorted_nodes

    def partition_count(self) -> int:
        return sum(len(topic.partitions) for topic in self._by_name.values())

    def node_configs(self, node_id: int | None) -> Mapping[str, str]:
        """Settings made at run time for a node; None: for all nodes."""
        return self._node_configs.get(node_id, NO_CONFIGS)

    def orphan_topic_ids(self) -> list[TopicId]:
        """Ids that have partitions or settings but no topic: what a crash amid creating or deleting left behind."""
        return sorted((self._partitions.keys() | self._topic_configs.keys()) - self._by_id.keys())

    # Changing

    def apply_range(self, found: Range) -> Delta:
        """All that stands in the store. What is no longer there is gone."""
        present = {entry.key for entry in found.entries}
        events = [Event(key, None) for key in self._mod_revisions if key not in present]
        events += [Event(e.key, e) for e in found.entries if self._mod_revisions.get(e.key) != e.mod_revision]
        return self.apply(Change(found.revision, events))

    def apply(self, change: Change) -> Delta:
        assert change.revision >= self.revision, f"revision {change.revision} after {self.revision}"
        delta = Delta(change.revision)
        self.revision = change.revision
        topic_events: list[Event] = []
        # First all that lies under topics, then the topics: a new topic finds its partitions there.
        changed_partitions: dict[TopicId, list[int]] = {}
        configs_of: list[TopicId] = []
        layers_before = (self._node_configs.get(None), self._node_configs.get(self.node_id))
        for event in change.events:
            key, entry = event.key, event.entry
            if entry is None:
                self._mod_revisions.pop(key, None)
            else:
                self._mod_revisions[key] = entry.mod_revision
            if key.startswith(keys.PARTITIONS):
                topic_id, index = self._apply_partition(key, entry)
                if entry is not None:
                    changed_partitions.setdefault(topic_id, []).append(index)
            elif key.startswith(keys.TOPICS):
                topic_events.append(event)
            elif key.startswith(keys.TOPIC_CONFIGS):
                configs_of.append(self._apply_topic_config(key, entry))
            elif key.startswith(keys.NODE_CONFIGS):
                self._apply_node_config(key, entry)
            elif key.startswith(keys.NODES):
                self._apply_node(key, entry)
                delta.nodes_changed = True
            else:
                self._apply_single(key, entry)
        self.layers.all_nodes = self._node_configs.get(None, NO_CONFIGS)
        self.layers.node = self._node_configs.get(self.node_id, NO_CONFIGS)
        if layers_before != (self._node_configs.get(None), self._node_configs.get(self.node_id)):
            configs_of = list(self._by_id)
        for topic_id in configs_of:
            topic = self._by_id.get(topic_id)
            if topic is not None:
                self._read_settings(topic)
                delta.settings_changed.append(topic)
        grown: dict[TopicId, int] = {}  # Topics that were there before, and how many partitions they had.
        for event in topic_events:
            self._apply_topic(event, delta, grown)
        self._show_partitions(delta, grown, changed_partitions)
        if delta.topics_gone:
            gone = {topic.id for topic in delta.topics_gone}
            delta.settings_changed = [topic for topic in delta.settings_changed if topic.id not in gone]
        return delta

    def _apply_partition(self, key: str, entry: Entry | None) -> tuple[TopicId, int]:
        _, _, id_text, index_text = key.split("/")
        topic_id, index = UUID(id_text), int(index_text)
        if entry is not None:
            partition = PartitionImage(index, decode(PartitionValue, entry.value), entry.mod_revision)
            self._partitions.setdefault(topic_id, {})[index] = partition
        else:
            known = self._partitions.get(topic_id, {})
            known.pop(index, None)
            if not known:
                self._partitions.pop(topic_id, None)
        return topic_id, index

    def _apply_topic_config(self, key: str, entry: Entry | None) -> TopicId:
        topic_id = UUID(key[len(keys.TOPIC_CONFIGS) :])
        if entry is None:
            self._topic_configs.pop(topic_id, None)
        else:
            self._topic_configs[topic_id] = decode(ConfigValue, entry.value).values
        return topic_id

    def _apply_node_config(self, key: str, entry: Entry | None) -> None:
        name = key[len(keys.NODE_CONFIGS) :]
        node_id = None if name == keys.ALL_NODES else int(name)
        if entry is None:
            self._node_configs.pop(node_id, None)
        else:
            self._node_configs[node_id] = decode(ConfigValue, entry.value).values

    def _apply_node(self, key: str, entry: Entry | None) -> None:
        node_id = NodeId(int(key[len(keys.NODES) :]))
        if entry is None:
            self._nodes.pop(node_id, None)
        else:
            self._nodes[node_id] = NodeImage(node_id, decode(NodeValue, entry.value), entry.mod_revision)
        self._sorted_nodes = None

    def _apply_single(self, key: str, entry: Entry | None) -> None:
        if key == keys.CLUSTER:
            self.cluster_id = None if entry is None else decode(ClusterValue, entry.value).id
        elif key == keys.FEATURES:
            self.features = {} if entry is None else decode(FeaturesValue, entry.value).levels
        elif key == keys.PRODUCER_IDS:
            self.producer_id_next = 0 if entry is None else decode(ProducerIdsValue, entry.value).next
        # Other keys are for others: a newer node may keep things here that this one does not know.

    def _apply_topic(self, event: Event, delta: Delta, grown: dict[TopicId, int]) -> None:
        known = self._by_key.get(event.key)
        value = None if event.entry is None else decode(TopicValue, event.entry.value)
        if known is not None and (value is None or value.id != known.id):
            del self._by_key[event.key], self._by_name[known.name], self._by_id[known.id]
            self._sorted_topics = None
            delta.topics_gone.append(known)
            known = None
        if event.entry is None or value is None:
            return
        if known is None:
            known = TopicImage(event.key, value, event.entry.mod_revision)
            self._by_key[event.key] = self._by_name[known.name] = self._by_id[known.id] = known
            self._sorted_topics = None
            known.partitions = self._partitions_of(known.id, 0, value.partitions)
            self._read_settings(known)
            delta.topics_made.append(known)
        else:
            assert value.partitions >= len(known.partitions), f"{known.name} has lost partitions"
            grown[known.id] = len(known.partitions)
            known.mod_revision = event.entry.mod_revision
            known.partitions += self._partitions_of(known.id, len(known.partitions), value.partitions)

    def _show_partitions(self, delta: Delta, grown: dict[TopicId, int], changed: dict[TopicId, list[int]]) -> None:
        """Put changed partitions into topics that were there before. Those beyond a topic's count do not exist yet."""
        made = {topic.id for topic in delta.topics_made}
        for topic_id in changed.keys() | grown.keys():
            topic = self._by_id.get(topic_id)
            if topic is None or topic_id in made:
                continue
            count = len(topic.partitions)
            indexes = {index for index in changed.get(topic_id, ()) if index < count}
            indexes.update(range(grown.get(topic_id, count), count))
            for index in sorted(indexes):
                topic.partitions[index] = self._partitions[topic_id][index]
                delta.partitions_changed.append((topic, topic.partitions[index]))
        delta.partitions_changed.sort(key=lambda pair: (pair[0].name, pair[1].index))

    def _partitions_of(self, topic_id: TopicId, start: int, end: int) -> list[PartitionImage]:
        known = self._partitions.get(topic_id, {})
        return [known[index] for index in range(start, end)]

    def _read_settings(self, topic: TopicImage) -> None:
        topic.configs = self._topic_configs.get(topic.id, NO_CONFIGS)
        topic.settings = TopicSettings(topic.configs, self.layers)
