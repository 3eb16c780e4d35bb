"""CreateTopics, DeleteTopics, CreatePartitions, Metadata, DescribeTopicPartitions, DescribeCluster."""

from headrace.protocols.kafka.messages import (
    create_partitions,
    create_topics,
    delete_topics,
    describe_cluster,
    describe_topic_partitions,
    metadata,
)
from headrace.protocols.kafka.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from headrace.protocols.kafka.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from headrace.protocols.kafka.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from headrace.protocols.kafka.messages.describe_cluster import DescribeClusterRequest
from headrace.protocols.kafka.messages.describe_topic_partitions import CursorRequest, DescribeTopicPartitionsRequest, TopicRequest
from headrace.protocols.kafka.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.differential.session import Session, scenario


def create(s: Session, label: str, *topics: CreatableTopic, validate_only: bool = False) -> None:
    s.ask(CreateTopicsRequest(list(topics), 10_000, validate_only), label)


@scenario(create_topics)
def created(s: Session) -> None:
    name = s.name + "-a"
    create(s, "validate only", CreatableTopic(name, 2, 1), validate_only=True)
    create(s, "new", CreatableTopic(name, 2, 1))
    s.settled(name)
    create(s, "again", CreatableTopic(name, 2, 1))
    create(s, "again, validate only", CreatableTopic(name, 2, 1), validate_only=True)
    create(s, "two at once", CreatableTopic(s.name + "-b", 1, 1), CreatableTopic(s.name + "-c", 3, 1))
    create(s, "none")
    create(
        s, "assigned by hand", CreatableTopic(s.name + "-d", -1, -1, [CreatableReplicaAssignment(i, [s.node_id]) for i in (0, 1)])
    )
    create(
        s,
        "settings",
        CreatableTopic(
            s.name + "-e",
            1,
            1,
            configs=[CreatableTopicConfig("retention.ms", "1000"), CreatableTopicConfig("cleanup.policy", "compact")],
        ),
    )
    if s.version >= 4:
        create(s, "defaults", CreatableTopic(s.name + "-f", -1, -1))


@scenario(create_topics)
def refused(s: Session) -> None:
    def one(label: str, name: str, partitions: int, replicas: int, configs: dict[str, str | None] | None = None) -> None:
        wanted = [CreatableTopicConfig(name, value) for name, value in (configs or {}).items()]
        create(s, label, CreatableTopic(name, partitions, replicas, configs=wanted))

    name = s.name + "-r"
    one("no partitions", name, 0, 1)
    one("minus two partitions", name, -2, 1)
    one("no replicas", name, 1, 0)
    one("two replicas on one node", name, 1, 2)
    one("empty name", "", 1, 1)
    one("dot", ".", 1, 1)
    one("dots", "..", 1, 1)
    one("slash", s.name + "/x", 1, 1)
    one("space", s.name + " x", 1, 1)
    one("249 characters", (s.name + "x" * 249)[:249], 1, 1)
    one("250 characters", (s.name + "x" * 250)[:250], 1, 1)
    one("unknown setting", name, 1, 1, configs={"no.such.setting": "1"})
    one("setting out of range", name, 1, 1, configs={"retention.bytes": "x"})
    one("null setting", name, 1, 1, configs={"retention.ms": None})
    one("bad policy", name, 1, 1, configs={"cleanup.policy": "eat"})
    create(s, "the same name twice", CreatableTopic(name, 1, 1), CreatableTopic(name, 1, 1))
    create(s, "assignment with a gap", CreatableTopic(name, -1, -1, [CreatableReplicaAssignment(1, [s.node_id])]))
    create(s, "assignment to an unknown node", CreatableTopic(name, -1, -1, [CreatableReplicaAssignment(0, [77])]))
    create(s, "assignment twice to a node", CreatableTopic(name, -1, -1, [CreatableReplicaAssignment(0, [s.node_id, s.node_id])]))
    create(s, "assignment to nobody", CreatableTopic(name, -1, -1, [CreatableReplicaAssignment(0, [])]))
    create(s, "assignment and counts", CreatableTopic(name, 1, 1, [CreatableReplicaAssignment(0, [s.node_id])]))
    create(s, "good and bad", CreatableTopic(s.name + "-good", 1, 1), CreatableTopic(s.name + "-bad", 0, 1))


@scenario(create_topics)
def only_validated(s: Session) -> None:
    def one(label: str, topic: CreatableTopic) -> None:
        create(s, label, topic, validate_only=True)

    name = s.name + "-v"
    one("settings", CreatableTopic(name, 2, 1, configs=[CreatableTopicConfig("retention.ms", "1000")]))
    one("assigned", CreatableTopic(name, -1, -1, [CreatableReplicaAssignment(0, [s.node_id])]))
    one("unknown setting", CreatableTopic(name, 1, 1, configs=[CreatableTopicConfig("no.such", "1")]))
    one("no partitions", CreatableTopic(name, 0, 1))
    one("too many replicas", CreatableTopic(name, 1, 5))
    one("bad name", CreatableTopic(s.name + "/v", 1, 1))
    s.ask(MetadataRequest([MetadataRequestTopic(name=name)], False), "not there")


@scenario(create_topics)
def colliding_names(s: Session) -> None:
    create(s, "with a dot", CreatableTopic(s.name + "-x.y", 1, 1))
    s.settled(s.name + "-x.y")
    create(s, "with an underscore", CreatableTopic(s.name + "-x_y", 1, 1))


@scenario(delete_topics)
def deleted(s: Session) -> None:
    def ask(label: str, *names: str) -> None:
        if s.version >= 6:
            s.ask(DeleteTopicsRequest(topics=[DeleteTopicState(name) for name in names], timeout_ms=10_000), label)
        else:
            s.ask(DeleteTopicsRequest(topic_names=names, timeout_ms=10_000), label)

    a, b, c = (s.topic(suffix) for suffix in "abc")
    ask("one", a)
    s.gone(a)
    ask("again", a)
    ask("never there", s.name + "-never")
    ask("none")
    ask("one good, one unknown", b, s.name + "-never")
    if s.version >= 6:
        s.ask(DeleteTopicsRequest(topics=[DeleteTopicState(None, s.id_of(s.name + "-never"))], timeout_ms=10_000), "unknown id")
        s.ask(DeleteTopicsRequest(topics=[DeleteTopicState(c, s.id_of(c))], timeout_ms=10_000), "name and id")
        s.ask(DeleteTopicsRequest(topics=[DeleteTopicState(None, s.id_of(c))], timeout_ms=10_000), "by id")
    ask("twice in one", c, c)
    ask("bad name", "a/b")
    ask("empty name", "")


@scenario(create_partitions)
def more_partitions(s: Session) -> None:
    def ask(label: str, *topics: CreatePartitionsTopic, validate_only: bool = False) -> None:
        s.ask(CreatePartitionsRequest(list(topics), 10_000, validate_only), label)

    name = s.topic(partitions=2)
    ask("validate only", CreatePartitionsTopic(name, 4, None), validate_only=True)
    ask("four", CreatePartitionsTopic(name, 4, None))
    s.settled(name)
    ask("four again", CreatePartitionsTopic(name, 4, None))
    ask("fewer", CreatePartitionsTopic(name, 1, None))
    ask("minus one", CreatePartitionsTopic(name, -1, None))
    ask("unknown topic", CreatePartitionsTopic(s.name + "-never", 3, None))
    ask("assigned", CreatePartitionsTopic(name, 5, [CreatePartitionsAssignment([s.node_id])]))
    ask("assigned too few", CreatePartitionsTopic(name, 8, [CreatePartitionsAssignment([s.node_id])]))
    ask("assigned to an unknown node", CreatePartitionsTopic(name, 6, [CreatePartitionsAssignment([77])]))
    ask("twice in one", CreatePartitionsTopic(name, 6, None), CreatePartitionsTopic(name, 7, None))
    ask("no topics")
    ask("bad name", CreatePartitionsTopic("a/b", 6, None))
    ask("fewer, validate only", CreatePartitionsTopic(name, 1, None), validate_only=True)
    ask("unknown topic, validate only", CreatePartitionsTopic(s.name + "-never", 3, None), validate_only=True)
    ask("good and bad", CreatePartitionsTopic(name, 1, None), CreatePartitionsTopic(s.topic("b"), 2, None))


@scenario(metadata)
def seen(s: Session) -> None:
    name = s.topic(partitions=3)
    wanted = [MetadataRequestTopic(name=name)]
    no_auto = {"allow_auto_topic_creation": False} if s.version >= 4 else {}
    s.ask(MetadataRequest(wanted, **no_auto), "one")
    s.ask(MetadataRequest(wanted * 2, **no_auto), "twice in one")
    s.ask(MetadataRequest(None if s.version >= 1 else [], **no_auto), "all")
    if s.version >= 1:
        s.ask(MetadataRequest([], **no_auto), "none")
    if s.version >= 4:
        s.ask(MetadataRequest([MetadataRequestTopic(name=s.name + "-never")], False), "unknown, not to be created")
        s.ask(MetadataRequest([MetadataRequestTopic(name="")], False), "empty name")
        s.ask(MetadataRequest([MetadataRequestTopic(name="a/b")], False), "bad name")
        s.ask(MetadataRequest([MetadataRequestTopic(name="a/b")], True), "bad name, to be created")
    if s.version >= 8:
        s.ask(MetadataRequest(wanted, False, False, True), "with what may be done to the topic")
    if 8 <= s.version <= 10:
        s.ask(MetadataRequest(wanted, False, True, False), "with what may be done to the cluster")
    if s.version >= 12:
        s.ask(MetadataRequest([MetadataRequestTopic(s.id_of(name), None)], False), "by id")
        s.ask(MetadataRequest([MetadataRequestTopic(s.id_of(s.name + "-never"), None)], False), "by unknown id")
        s.ask(MetadataRequest([MetadataRequestTopic(s.id_of(name), name)], False), "by id and name")
    if s.version in (10, 11):
        s.ask(MetadataRequest([MetadataRequestTopic(s.id_of(name), None)], False), "by id, too early")


@scenario(metadata)
def created_by_asking(s: Session) -> None:
    name = s.name + "-auto"
    s.ask(MetadataRequest([MetadataRequestTopic(name=name)]), "first")
    s.settled(name)
    s.ask(MetadataRequest([MetadataRequestTopic(name=name)]), "then")


@scenario(describe_topic_partitions)
def pages(s: Session) -> None:
    a, b = s.topic("a", 3), s.topic("b", 2)
    s.ask(DescribeTopicPartitionsRequest([TopicRequest(a), TopicRequest(b)]), "all")
    s.ask(DescribeTopicPartitionsRequest([TopicRequest(b), TopicRequest(a)], 2), "two of them")
    s.ask(DescribeTopicPartitionsRequest([TopicRequest(a), TopicRequest(b)], 2, CursorRequest(a, 2)), "from a cursor")
    s.ask(
        DescribeTopicPartitionsRequest([TopicRequest(a), TopicRequest(b)], 2000, CursorRequest(b, 1)), "from a cursor in the second"
    )
    s.ask(DescribeTopicPartitionsRequest([TopicRequest(s.name + "-never")]), "unknown")
    s.ask(DescribeTopicPartitionsRequest([TopicRequest(a)], 0), "limit 0")
    s.ask(DescribeTopicPartitionsRequest([TopicRequest(a)], 10, CursorRequest(a, -1)), "cursor before the first")
    both = [TopicRequest(a), TopicRequest(b)]
    s.ask(DescribeTopicPartitionsRequest(both, 3), "exactly the first topic")
    s.ask(DescribeTopicPartitionsRequest(both, 5), "exactly both")
    s.ask(DescribeTopicPartitionsRequest(both, 4), "one of the second")
    s.ask(DescribeTopicPartitionsRequest(both, 2, CursorRequest(b, 0)), "the second from its start")
    s.ask(DescribeTopicPartitionsRequest(both, 10, CursorRequest(a, 3)), "cursor at the end of the first")
    s.ask(DescribeTopicPartitionsRequest(both, 10, CursorRequest(b, 99)), "cursor past the end")
    s.ask(DescribeTopicPartitionsRequest(both, 10, CursorRequest(s.name + "-aa", 0)), "cursor at a topic between them")
    s.ask(DescribeTopicPartitionsRequest(both, 10, CursorRequest(s.name + "-zz", 0)), "cursor behind all")
    s.ask(DescribeTopicPartitionsRequest([TopicRequest(a), TopicRequest(a)], 10), "twice the same")
    s.ask(DescribeTopicPartitionsRequest(both, -1), "negative limit")
    s.ask(DescribeTopicPartitionsRequest([TopicRequest("a/b")]), "bad name")
    s.ask(DescribeTopicPartitionsRequest([TopicRequest("")]), "empty name")
    s.ask(DescribeTopicPartitionsRequest([TopicRequest(a), TopicRequest(s.name + "-never")]), "one good, one unknown")


@scenario(describe_cluster)
def cluster(s: Session) -> None:
    s.ask(DescribeClusterRequest(), "plain")
    s.ask(DescribeClusterRequest(True), "with what may be done")
    if s.version >= 1:
        s.ask(DescribeClusterRequest(False, 2), "controllers")
        s.ask(DescribeClusterRequest(False, 9), "no such endpoint")
    if s.version >= 2:
        s.ask(DescribeClusterRequest(False, 1, True), "fenced ones too")
