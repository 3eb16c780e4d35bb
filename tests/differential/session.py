"""One scenario against one broker: what is asked, and what was answered in a form that two brokers can be compared in.

A scenario is a function `story(s)` in `scenarios/`, one file an API family, registered with `@scenario(module)`; it runs once for
every version of that API which Headrace and Kafka both serve (`s.version`). `s.ask(message)` sends and records; other APIs than the
scenario's own are asked in their newest common version. `s.quiet` prepares and records nothing. The same story with the same names
runs against both brokers, so its steps pair up by their order.
"""

import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, cast
from uuid import UUID

from headrace.protocols.kafka.messages import API, Message
from headrace.protocols.kafka.messages import create_topics as ct
from headrace.protocols.kafka.messages import find_coordinator as fc
from headrace.protocols.kafka.messages import heartbeat as hb
from headrace.protocols.kafka.messages import init_producer_id as ip
from headrace.protocols.kafka.messages import list_offsets as lo
from headrace.protocols.kafka.messages import metadata as md
from headrace.protocols.kafka.messages import produce as pr
from headrace.records.build import build_batch
from headrace.records.record import Record
from tests.support.wire import Closed, Wire

Tree = Any  # dicts, lists and plain values
ANSWER_SECONDS_MAX = 8.0
EPOCH_MS = 1_600_000_000_000  # when the records of all scenarios were made: far from now, and the same on both sides


class Step:
    """One answer, in a form that can be compared."""

    __slots__ = ("answer", "api", "label", "version")

    def __init__(self, label: str, api: str, version: int, answer: Tree) -> None:
        self.label, self.api, self.version, self.answer = label, api, version, answer


class Scenario:
    __slots__ = ("api", "family", "name", "story", "versions")

    def __init__(self, name: str, api: int, story: "Story", versions: range | None) -> None:
        self.name, self.api, self.story, self.versions = name, api, story, versions
        self.family = name.partition(".")[0]


Story = Callable[["Session"], None]
SCENARIOS: list[Scenario] = []


def scenario(module: ModuleType, versions: range | None = None) -> Callable[[Story], Story]:
    """Run this story for the API of a message module, in `versions` or in all that both brokers serve."""

    def register(story: Story) -> Story:
        family = story.__module__.rpartition(".")[2]
        SCENARIOS.append(Scenario(f"{family}.{story.__name__}", module.API_KEY, story, versions))
        return story

    return register


class Session:
    """One run of a story. `common` is the newest version of each API that both brokers serve."""

    def __init__(self, address: str, name: str, api: int, version: int, common: dict[int, int], node_id: int) -> None:
        self.address = address
        self.name = name  # in the names of all topics and groups of this run
        self.api = api
        self.version = version
        self.common = common
        self.node_id = node_id
        self.steps: list[Step] = []
        self.seen: dict[str, dict[object, str]] = {}  # kind -> what was named anew, in the order it was met
        self.topic_ids: dict[str, UUID] = {}
        self.lanes: list[Lane] = []
        self.main = self.lane()

    def lane(self) -> "Lane":
        """One more connection."""
        lane = Lane(self)
        self.lanes.append(lane)
        return lane

    def close(self) -> None:
        for lane in self.lanes:
            lane.wire.close()

    def v(self, message: Message) -> int:
        key = api_key(message)
        return self.version if key == self.api else self.common[key]

    def ask(self, message: Message, label: str = "") -> Any:
        """The answer as it came (None when the broker closed the connection or stayed silent); its tree is recorded."""
        return self.main.ask(message, label)

    def quiet(self, message: Message, version: int | None = None) -> Any:
        key = api_key(message)
        return self.main.wire.ask(key, self.common[key] if version is None else version, message)

    # preparing

    def topic(self, suffix: str = "t", partitions: int = 1, **configs: str) -> str:
        """A new topic with leaders; `__` stands for a dot in the names of its settings."""
        name = f"{self.name}-{suffix}"
        wanted = [ct.CreatableTopicConfig(key.replace("__", "."), value) for key, value in configs.items()]
        made = self.quiet(ct.CreateTopicsRequest([ct.CreatableTopic(name, partitions, 1, configs=wanted)], 10_000))
        assert made.topics[0].error_code == 0, f"{name}: {made.topics[0]}"
        self.settled(name)
        return name

    def settled(self, *names: str) -> None:
        """Wait until all these topics have leaders."""
        deadline = time.monotonic() + 10
        while True:
            asked = [md.MetadataRequestTopic(name=name) for name in names]
            seen = self.quiet(md.MetadataRequest(asked, allow_auto_topic_creation=False))
            known = all(not t.error_code and all(not p.error_code for p in t.partitions) for t in seen.topics)
            if known and self._led(seen.topics):
                self.topic_ids.update({t.name: t.topic_id for t in seen.topics})
                return
            assert time.monotonic() < deadline, f"no leaders: {seen.topics}"
            time.sleep(0.01)

    def _led(self, topics: Any) -> bool:
        """A broker may name itself leader in metadata a moment before it acts as one."""
        asked = [
            lo.ListOffsetsTopic(t.name, [lo.ListOffsetsPartition(p.partition_index, timestamp=-1) for p in t.partitions])
            for t in topics
        ]
        answer = self.quiet(lo.ListOffsetsRequest(-1, 0, asked))
        return all(not p.error_code for t in answer.topics for p in t.partitions)

    def gone(self, name: str) -> None:
        deadline = time.monotonic() + 10
        asked = [md.MetadataRequestTopic(name=name)]
        while not self.quiet(md.MetadataRequest(asked, allow_auto_topic_creation=False)).topics[0].error_code:
            assert time.monotonic() < deadline, f"{name} is still there"
            time.sleep(0.01)

    def id_of(self, topic: str) -> UUID:
        return self.topic_ids.get(topic) or UUID(
            hex=hashlib.md5(topic.encode()).hexdigest()
        )  # unknown ones too have an id of theirs

    def fill(self, topic: str, *counts: int, partition: int = 0, codec: int = 0) -> None:
        """Batches of so many records, each record 10 ms after the one before."""
        at = 0
        for count in counts:
            self.produced(topic, batch(count, first=at, codec=codec), partition)
            at += count

    def produced(self, topic: str, records: bytes, partition: int = 0) -> None:
        data = [pr.PartitionProduceData(partition, memoryview(records))]
        answer = self.quiet(pr.ProduceRequest(None, -1, 10_000, [pr.TopicProduceData(topic, partition_data=data)]), 9)
        assert answer.responses[0].partition_responses[0].error_code == 0, answer

    def producer(self) -> int:
        """A new producer id. A fresh broker may not have a block of ids at once."""
        deadline = time.monotonic() + 20
        while (answer := self.quiet(ip.InitProducerIdRequest(None, 1000), 4)).error_code:
            assert time.monotonic() < deadline, answer
            time.sleep(0.02)
        return cast(int, answer.producer_id)

    def at_rest(self, ask: Message) -> None:
        """Wait until the broker answers the same twice in a row: what was changed shows everywhere then."""
        last = None
        while (answer := self.quiet(ask)) != last:
            last = answer
            time.sleep(0.03)

    def group(self, suffix: str = "g") -> str:
        """The name of a group whose coordinator is ready."""
        name = f"{self.name}-{suffix}"
        deadline = time.monotonic() + 20
        loading = (14, 15, 16)  # COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR
        while (
            self.quiet(fc.FindCoordinatorRequest(name), 3).error_code
            or self.quiet(hb.HeartbeatRequest(name, 0, "nobody"), 3).error_code in loading
        ):
            assert time.monotonic() < deadline, "no coordinator"
            time.sleep(0.05)
        return name

    # what must differ

    def tree(self, value: Any, name: str = "") -> Tree:
        if isinstance(value, Message):
            fields: tuple[str, ...] = tuple(type(value).__slots__)
            tree: dict[str, Tree] = {each: self.tree(getattr(value, each), each) for each in fields}
            if "current_voters" in tree:  # the log of a quorum, which each has a history of its own in
                tree |= {each: "a number" for each in ("high_watermark", "leader_epoch") if tree[each] > 0}
            if tree.get("topic_id", "no id") != "no id" and getattr(value, "name", None):
                tree["topic_id"] = "an id"  # beside a name it needs no number
            return tree
        if isinstance(value, list | tuple):
            items = [self.tree(item, name) for item in value if not self._foreign(item)]
            unordered = name in _UNORDERED or (items and type(value[0]).__name__ in _UNORDERED_STRUCTS)
            return sorted(items, key=str) if unordered else items
        return self._plain(value, name)

    def _foreign(self, item: Any) -> bool:
        """Topics and groups of other scenarios, where an answer lists all there are."""
        if type(item).__name__ == "ConfigResource":
            return item.resource_type == 2 and self.name not in item.resource_name
        if type(item).__name__ == "DeleteRecordsTopicResult":  # lists nothing but what was asked for
            return False
        if not isinstance(item, Message) or not (hasattr(item, "partitions") or type(item).__name__ == "ListedGroup"):
            return False
        names = [getattr(item, each, None) for each in ("name", "group_id")]
        return any(isinstance(n, str) and self.name not in n and n not in ("", "a/b") for n in names)

    def _plain(self, value: Any, name: str) -> Tree:
        if isinstance(value, UUID):
            return "no id" if value.int == 0 else self._named("id", value)
        if isinstance(value, bytes | bytearray | memoryview):
            return f"{len(value)} bytes, {hashlib.md5(value).hexdigest()[:8]}" if len(value) > 40 else bytes(value).hex()
        if name in _TEXTS and value:
            return "a text"
        if name in _NODES and value == self.node_id:
            return "this node"
        if name in _NODES and value == [self.node_id]:
            return ["this node"]
        if name == "port" and value > 0:
            return "a port"
        if name in _MEMBERS and isinstance(value, str) and value:
            return self._named("member", value)
        if name == "producer_id" and value >= 0:
            return self._named("producer", value)
        if name == "session_id" and value:
            return self._named("session", value)
        if name == "finalized_features_epoch" and value > 0:
            return "an epoch"
        if name == "log_end_offset" and value > 0:
            return "a number"
        if name in ("total_bytes", "usable_bytes") and value > 0:
            return "a size"
        if isinstance(value, int) and abs(value / 1000 - time.time()) < 86_400:
            return "now"
        return value

    def _named(self, kind: str, value: object) -> str:
        names = self.seen.setdefault(kind, {})
        return names.setdefault(value, f"{kind} {len(names) + 1}")


# Values of these fields are sentences, addresses, paths: each broker has its own.
_TEXTS = {"cluster_id", "host", "error_message", "message", "log_dir", "documentation", "batch_index_error_message"}
_TEXTS |= {"software_name"}
_NODES = {"node_id", "leader_id", "controller_id", "broker_id", "replica_nodes", "isr_nodes"}
_MEMBERS = {"member_id", "leader"}
# Kafka answers these in the order of a hash table.
_UNORDERED = {"config_resources", "responses", "partition_responses", "members", "groups", "results"}
_UNORDERED_STRUCTS = {"DeleteRecordsPartitionResult", "DescribeLogDirsPartition", "OffsetCommitResponsePartition"}


class Lane:
    """One connection of a session. Two members of a group need two, for a join waits for the others."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.wire = Wire(session.address, "headrace-test", ANSWER_SECONDS_MAX)
        self.waiting: list[tuple[str, int, int]] = []

    def send(self, message: Message, label: str = "") -> None:
        key, version = api_key(message), self.session.v(message)
        self.waiting.append((label, key, version))
        self.wire.send(key, version, message)

    def take(self) -> Any:
        """The next answer, recorded."""
        label, key, version = self.waiting.pop(0)
        record = self.session.steps.append
        try:
            frame = self.wire.receive()
        except (Closed, TimeoutError) as error:
            what = "no answer" if isinstance(error, TimeoutError) else "closed"
            record(Step(label, API[key].name, version, {"connection": what}))
            self.wire.close()
            self.wire = Wire(self.session.address, "headrace-test", ANSWER_SECONDS_MAX)
            return None
        from headrace.protocols.kafka.codec import decode_response

        answer = decode_response(key, version, memoryview(frame))[1]
        record(Step(label, API[key].name, version, self.session.tree(answer)))
        return answer

    def ask(self, message: Message, label: str = "") -> Any:
        self.send(message, label)
        return self.take()


def api_key(message: Message) -> int:
    return cast(int, sys.modules[type(message).__module__].API_KEY)


def batch(count: int, *, first: int = 0, codec: int = 0, label: bool = False, **how: Any) -> bytes:
    """A record batch that is the same every time."""
    records = [
        Record(
            0, EPOCH_MS + (first + i) * 10, b"k%d" % (first + i), b"value %d" % (first + i), ((b"label", b"x"),) if label else ()
        )
        for i in range(count)
    ]
    return bytes(build_batch(records, codec=codec, **how))


# Comparing


_KEYS = {
    "api_keys": "api_key",
    "configs": "name",
    "supported_features": "name",
    "finalized_features": "name",
}


def differences(ours: Tree, peer: Tree, path: str) -> Iterator[tuple[str, Tree, Tree]]:
    """Every place where two trees differ: path, ours, the peer's. Lists of `_KEYS` are matched by key, others by position."""
    if isinstance(ours, dict) and isinstance(peer, dict):
        for name in sorted(ours.keys() | peer.keys()):
            yield from differences(ours.get(name, "absent"), peer.get(name, "absent"), f"{path}.{name}")
    elif isinstance(ours, list) and isinstance(peer, list):
        key = _KEYS.get(path.rpartition(".")[2])
        if key and all(isinstance(item, dict) for item in ours + peer):
            mine, theirs = ({item[key]: item for item in side} for side in (ours, peer))
            for name in sorted(mine.keys() | theirs.keys(), key=str):
                yield from differences(mine.get(name, "absent"), theirs.get(name, "absent"), f"{path}[{name}]")
        elif len(ours) != len(peer):
            yield f"{path}.length", len(ours), len(peer)
        else:
            for a, b in zip(ours, peer, strict=True):
                yield from differences(a, b, path)
    elif ours != peer:
        if isinstance(ours, dict | list) or isinstance(peer, dict | list):
            yield path, _short(ours), _short(peer)
        else:
            yield path, ours, peer


def _short(tree: Tree) -> Tree:
    if tree == "absent":
        return tree
    return "present" if isinstance(tree, dict) else tree if len(str(tree)) < 60 else f"{len(tree)} items"
