"""Where what lies in the cluster store, and in which form.

| key | value | what |
|---|---|---|
| `/cluster` | `ClusterValue` | the cluster's id; written once |
| `/features` | `FeaturesValue` | feature levels that all nodes have agreed on |
| `/nodes/<node id>` | `NodeValue` | a registered node: its address, its incarnation. The key's mod revision is the node's epoch |
| `/topics/<folded name>` | `TopicValue` | a topic: name, id, number of partitions. *The* sign that it exists |
| `/partitions/<topic id>/<index>` | `PartitionValue` | leader, epochs, replicas, in-sync set |
| `/configs/topics/<topic id>` | `ConfigValue` | the topic's own settings; absent when it has none |
| `/configs/nodes/<node id>`, `/configs/nodes/all` | `ConfigValue` | settings made at run time for one node, for all |
| `/producer-ids` | `ProducerIdsValue` | the next producer id that nobody has |

A topic's name is folded ('.' becomes '_') because two names that differ only there may not stand side by side: Kafka's
metrics could not tell them apart. With the folded name as key, the store itself keeps that rule.

A topic may have more partitions than one transaction has operations. So they are written first, in several
transactions, and the topic's key last: without it they do not exist for anybody. Deleting goes the other way round. What a
crash in between leaves behind (partitions of a topic id that has no topic) is swept by `Metadata.sweep`.

Values are JSON with a version `v`, so that a later form can be told from this one. Indexes are padded, so that the order
of the keys is theirs.
"""

from __future__ import annotations

from typing import TypeVar
from uuid import UUID

import msgspec

CLUSTER = "/cluster"
FEATURES = "/features"
NODES = "/nodes/"
TOPICS = "/topics/"
PARTITIONS = "/partitions/"
TOPIC_CONFIGS = "/configs/topics/"
NODE_CONFIGS = "/configs/nodes/"
ALL_NODES = "all"
PRODUCER_IDS = "/producer-ids"
EVERYTHING = "/"

PARTITIONS_PER_PREFIX = 100

VERSION = 1


class ClusterValue(msgspec.Struct, frozen=True):
    id: str
    v: int = VERSION


class FeaturesValue(msgspec.Struct, frozen=True):
    levels: dict[str, int]
    v: int = VERSION


class NodeValue(msgspec.Struct, frozen=True):
    host: str
    port: int
    incarnation: UUID  # Anew with each start of the process.
    rack: str | None = None
    v: int = VERSION


class TopicValue(msgspec.Struct, frozen=True):
    name: str
    id: UUID
    partitions: int
    internal: bool = False
    v: int = VERSION


class PartitionValue(msgspec.Struct, frozen=True):
    leader: int  # -1: nobody leads
    leader_epoch: int  # One more with each new leadership.
    replicas: tuple[int, ...]  # The first is the preferred leader.
    isr: tuple[int, ...]
    epoch: int = 0  # One more with each change of this value.
    v: int = VERSION


class ConfigValue(msgspec.Struct, frozen=True):
    values: dict[str, str]
    v: int = VERSION


class ProducerIdsValue(msgspec.Struct, frozen=True):
    next: int
    v: int = VERSION


Value = ClusterValue | FeaturesValue | NodeValue | TopicValue | PartitionValue | ConfigValue | ProducerIdsValue
V = TypeVar("V", bound=Value)


def encode(value: Value) -> bytes:
    return msgspec.json.encode(value)


def decode(kind: type[V], data: bytes) -> V:
    """A value that cannot be read is our bug or a newer node's; the start checks the versions."""
    value = msgspec.json.decode(data, type=kind)
    assert 1 <= value.v <= VERSION, f"{kind.__name__} has version {value.v}, known are versions up to {VERSION}"
    return value


def fold(name: str) -> str:
    return name.replace(".", "_")


def node_key(node_id: int) -> str:
    return f"{NODES}{node_id}"


def topic_key(name: str) -> str:
    return TOPICS + fold(name)


def partitions_prefix(topic_id: UUID, hundred: int | None = None) -> str:
    """Of all partitions of a topic, or of the hundred that `hundred` is the first of."""
    if hundred is None:
        return f"{PARTITIONS}{topic_id}/"
    assert hundred % PARTITIONS_PER_PREFIX == 0
    return partition_key(topic_id, hundred)[:-2]


def partition_key(topic_id: UUID, index: int) -> str:
    return f"{PARTITIONS}{topic_id}/{index:06}"


def topic_config_key(topic_id: UUID) -> str:
    return f"{TOPIC_CONFIGS}{topic_id}"


def node_config_key(node_id: int | None) -> str:
    """None: the settings of all nodes."""
    return f"{NODE_CONFIGS}{ALL_NODES if node_id is None else node_id}"
