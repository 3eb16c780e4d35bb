"""Changes of settings, with the answers Apache Kafka 4.3.1 gives."""

import pytest

from headrace.base.errors import Code, Refused
from headrace.base.topic_settings import NodeLayers
from headrace.cluster.config_changes import Act, ConfigChange, altered, node_rules, replaced, topic_rules

TOPIC = topic_rules(NodeLayers())


def alter(current, *changes, rules=TOPIC):
    return altered(current, [ConfigChange(name, act, value) for act, name, value in changes], rules)


def test_set_and_delete():
    assert alter({}, (Act.SET, "retention.ms", "5")) == {"retention.ms": "5"}
    assert alter({"retention.ms": "5"}, (Act.DELETE, "retention.ms", None)) == {}
    assert alter({}, (Act.DELETE, "segment.ms", None)) == {}
    assert alter({}, (Act.DELETE, "nobody.knows", None)) == {}


@pytest.mark.parametrize(
    ("before", "act", "value", "after"),
    [
        ({"cleanup.policy": "compact"}, Act.APPEND, "delete", "compact,delete"),
        ({"cleanup.policy": "compact"}, Act.APPEND, "compact", "compact"),
        ({}, Act.APPEND, "compact", "delete,compact"),
        ({"cleanup.policy": "compact,delete"}, Act.SUBTRACT, "compact", "delete"),
        ({}, Act.SUBTRACT, "delete", ""),
        ({"cleanup.policy": "delete"}, Act.SUBTRACT, "nope", "delete"),
        ({"cleanup.policy": ""}, Act.APPEND, "delete, compact", "delete,compact"),
    ],
)
def test_lists_grow_and_shrink_from_the_value_in_force(before, act, value, after):
    assert alter(before, (act, "cleanup.policy", value)) == {"cleanup.policy": after}


def test_the_value_in_force_may_be_the_nodes():
    rules = topic_rules(NodeLayers({"log.cleanup.policy": "compact"}))
    assert alter({}, (Act.APPEND, "cleanup.policy", "delete"), rules=rules) == {"cleanup.policy": "compact,delete"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([(Act.APPEND, "retention.ms", "5")], Code.BAD_CONFIG),
        ([(Act.APPEND, "cleanup.policy", "foo")], Code.BAD_CONFIG),
        ([(Act.APPEND, "nobody.knows", "foo")], Code.BAD_CONFIG),
        ([(Act.SET, "retention.ms", None)], Code.BAD_CONFIG),
        ([(Act.SET, "nobody.knows", "1")], Code.BAD_CONFIG),
        ([(Act.SET, "retention.ms", "5"), (Act.SET, "segment.ms", "0")], Code.BAD_CONFIG),
        ([(Act.SET, "retention.ms", "5"), (Act.SET, "retention.ms", "6")], Code.BAD_REQUEST),
        ([(Act.SET, "retention.ms", "5"), (Act.DELETE, "retention.ms", None)], Code.BAD_REQUEST),
    ],
)
def test_refusals(changes, code):
    before = {"retention.ms": "1"}
    refused = alter(before, *changes)
    assert isinstance(refused, Refused) and refused.code is code
    assert before == {"retention.ms": "1"}


def test_replacing_leaves_nothing_of_before():
    assert replaced({"segment.ms": "5"}, TOPIC) == {"segment.ms": "5"}
    refused = replaced({"segment.ms": "5", "retention.ms": None}, TOPIC)
    assert isinstance(refused, Refused) and "retention.ms" in refused.why


def test_a_node_has_its_own_names():
    rules = node_rules()
    assert alter({}, (Act.SET, "log.retention.ms", "5"), rules=rules) == {"log.retention.ms": "5"}
    assert alter({}, (Act.APPEND, "log.cleanup.policy", "compact"), rules=rules) == {"log.cleanup.policy": "delete,compact"}
    for name, code in (("num.partitions", Code.BAD_REQUEST), ("nobody.knows", Code.BAD_CONFIG), ("retention.ms", Code.BAD_CONFIG)):
        refused = alter({}, (Act.SET, name, "5"), rules=rules)
        assert isinstance(refused, Refused) and refused.code is code, name


def test_what_is_kept_only_can_be_set_but_is_no_list():
    rules = node_rules()
    name = "sasl.kerberos.min.time.before.relogin"
    assert alter({}, (Act.SET, name, "58000"), rules=rules) == {name: "58000"}
    assert isinstance(alter({}, (Act.APPEND, name, "1"), rules=rules), Refused)
