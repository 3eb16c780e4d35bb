"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs, ListConfigResources."""

from headrace.protocols.kafka.messages import alter_configs, describe_configs, incremental_alter_configs, list_config_resources
from headrace.protocols.kafka.messages import incremental_alter_configs as inc
from headrace.protocols.kafka.messages.alter_configs import AlterableConfig, AlterConfigsRequest, AlterConfigsResource
from headrace.protocols.kafka.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from headrace.protocols.kafka.messages.list_config_resources import ListConfigResourcesRequest
from tests.differential.session import Session, scenario

TOPIC, BROKER, LOGGER, GROUP = 2, 4, 8, 32


def describe(s: Session, label: str, kind: int, name: str, *keys: str, synonyms: bool = False, documentation: bool = False) -> None:
    wanted = DescribeConfigsResource(kind, name, keys or None)
    s.ask(DescribeConfigsRequest([wanted], synonyms, documentation if s.v(DescribeConfigsRequest()) >= 3 else False), label)


@scenario(describe_configs)
def settings_of_a_topic(s: Session) -> None:
    name = s.topic(retention__ms="123456", cleanup__policy="compact,delete")
    describe(s, "all", TOPIC, name)
    describe(s, "one", TOPIC, name, "retention.ms")
    describe(s, "with synonyms", TOPIC, name, "retention.ms", synonyms=True)
    describe(s, "a default with synonyms", TOPIC, name, "segment.bytes", synonyms=True)
    describe(s, "with documentation", TOPIC, name, "retention.ms", documentation=True)
    describe(s, "unknown key", TOPIC, name, "no.such.key")
    describe(s, "unknown topic", TOPIC, s.name + "-never")
    describe(s, "empty topic name", TOPIC, "")
    describe(s, "bad topic name", TOPIC, "a/b")
    s.ask(DescribeConfigsRequest([]), "none")
    s.ask(DescribeConfigsRequest([DescribeConfigsResource(TOPIC, name, [])]), "no keys")


@scenario(describe_configs)
def settings_of_others(s: Session) -> None:
    describe(s, "a broker's key", BROKER, str(s.node_id), "log.retention.ms", "auto.create.topics.enable", "num.partitions")
    describe(s, "broker unknown", BROKER, "77", "num.partitions")
    describe(s, "broker that is no number", BROKER, "x", "num.partitions")
    describe(s, "brokers in general", BROKER, "", "num.partitions")
    describe(s, "no such kind", 99, "x")
    describe(s, "a group", GROUP, s.name)
    describe(s, "client metrics", 16, s.name)


@scenario(alter_configs)
def set_anew(s: Session) -> None:
    name = s.topic(retention__ms="123456")

    def ask(label: str, *pairs: tuple[str, str | None], topic: str = name, validate_only: bool = False, kind: int = TOPIC) -> None:
        configs = [AlterableConfig(key, value) for key, value in pairs]
        s.ask(AlterConfigsRequest([AlterConfigsResource(kind, topic, configs)], validate_only), label)
        if kind == TOPIC and topic == name:
            s.at_rest(DescribeConfigsRequest([DescribeConfigsResource(TOPIC, name, None)]))
            describe(s, f"after: {label}", TOPIC, name, "retention.ms", "segment.bytes", "cleanup.policy")

    ask("validate only", ("segment.bytes", "1048576"), validate_only=True)
    ask("replaces all", ("segment.bytes", "1048576"))
    ask("unknown key", ("no.such.key", "1"))
    ask("not a number", ("segment.bytes", "many"))
    ask("null value", ("retention.ms", None))
    ask("twice", ("retention.ms", "1"), ("retention.ms", "2"))
    ask("empty", *())
    ask("unknown topic", ("retention.ms", "1"), topic=s.name + "-never")
    ask("no such kind", ("retention.ms", "1"), kind=99)
    ask("a broker's logger", ("root", "INFO"), kind=LOGGER, topic=str(s.node_id))
    ask("a broker that is not there", ("log.retention.ms", "1"), kind=BROKER, topic="77")
    ask("validate only, bad", ("segment.bytes", "many"), validate_only=True)
    s.ask(AlterConfigsRequest([], False), "no resources")


@scenario(incremental_alter_configs)
def changed(s: Session) -> None:
    name = s.topic(retention__ms="123456")

    def ask(
        label: str, *ops: tuple[str, int, str | None], topic: str = name, validate_only: bool = False, kind: int = TOPIC
    ) -> None:
        configs = [inc.AlterableConfig(key, op, value) for key, op, value in ops]
        s.ask(inc.IncrementalAlterConfigsRequest([inc.AlterConfigsResource(kind, topic, configs)], validate_only), label)
        if kind == TOPIC and topic == name:
            s.at_rest(DescribeConfigsRequest([DescribeConfigsResource(TOPIC, name, None)]))
            describe(s, f"after: {label}", TOPIC, name, "retention.ms", "segment.bytes", "cleanup.policy")

    set_, delete, append, subtract = range(4)
    ask("set", ("segment.bytes", set_, "1048576"))
    ask("validate only", ("segment.bytes", set_, "2097152"), validate_only=True)
    ask("append", ("cleanup.policy", append, "compact"))
    ask("subtract", ("cleanup.policy", subtract, "delete"))
    ask("delete", ("retention.ms", delete, None))
    ask("append to what is no list", ("retention.ms", append, "1"))
    ask("no such operation", ("retention.ms", 9, "1"))
    ask("set to null", ("retention.ms", set_, None))
    ask("unknown key", ("no.such.key", set_, "1"))
    ask("bad value", ("segment.bytes", set_, "-1"))
    ask("twice", ("retention.ms", set_, "1"), ("retention.ms", set_, "2"))
    ask("nothing", *())
    ask("unknown topic", ("retention.ms", set_, "1"), topic=s.name + "-never")
    ask("no such kind", ("retention.ms", set_, "1"), kind=99)
    ask("a broker that is not there", ("log.retention.ms", set_, "1"), kind=BROKER, topic="77")
    ask("append what is there", ("cleanup.policy", append, "compact"))
    ask("subtract what is not there", ("cleanup.policy", subtract, "delete"))
    ask("append nonsense", ("cleanup.policy", append, "eat"))
    ask("append null", ("cleanup.policy", append, None))
    ask("delete an unknown key", ("no.such.key", delete, None))
    ask("one good, one bad", ("retention.ms", set_, "5"), ("segment.bytes", set_, "x"))
    s.ask(inc.IncrementalAlterConfigsRequest([], False), "no resources")


@scenario(list_config_resources)
def resources(s: Session) -> None:
    if s.version == 0:
        s.ask(ListConfigResourcesRequest(), "all")
    else:
        s.topic()
        for kind in (TOPIC, BROKER, LOGGER, 16, GROUP, 99):
            s.ask(ListConfigResourcesRequest([kind]), f"kind {kind}")
        s.ask(ListConfigResourcesRequest([TOPIC, BROKER]), "topics and nodes")
        s.ask(ListConfigResourcesRequest([]), "all")
