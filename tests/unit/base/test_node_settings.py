"""A node's settings as Kafka's clients see them."""

import pytest

from headrace.base.errors import Code, Refused
from headrace.base.node_settings import KEPT_ONLY, SECRETS, check, describe, describe_run_time, is_alterable
from headrace.base.settings import SETTINGS, TOPIC_DEFAULTS, Settings, load
from headrace.base.topic_settings import BY_NODE_NAME, Kind, NodeLayers, Source


def rows(settings=None, layers=None, names=None):
    return {row.name: row for row in describe(settings or Settings(), layers or NodeLayers(), names)}


def test_all_that_means_something_is_described_once_and_sorted():
    described = describe(Settings(), NodeLayers())
    names = [row.name for row in described]
    assert names == sorted(set(names))
    assert {s.kafka_name for s in SETTINGS if s.kafka_name} <= set(names)
    assert set(BY_NODE_NAME) <= set(names)
    assert all(row.documentation.endswith(".") for row in described)


def test_numbers_are_in_kafkas_units():
    found = rows()
    assert found["log.retention.ms"].value == "1209600000"
    assert found["offsets.retention.minutes"].value == "10080"
    assert found["auto.create.topics.enable"].value == "true"
    assert found["listeners"].value == "PLAINTEXT://127.0.0.1:9092"
    assert found["advertised.listeners"].value is None
    assert (found["node.id"].value, found["broker.id"].value) == ("0", "0")
    assert found["offsets.retention.minutes"].kind is Kind.INT


def test_what_can_be_altered_is_not_read_only():
    for name, row in rows().items():
        assert row.read_only is not is_alterable(name), name


def test_sources():
    settings = load({"default_partitions": 3, "retention": "1h"})
    assert isinstance(settings, Settings)
    layers = NodeLayers(settings.topic_defaults(), {"log.retention.ms": "2"}, {"log.retention.ms": "1"})
    found = rows(settings, layers)
    assert found["num.partitions"].source is Source.FILE
    assert [(s.value, s.source) for s in found["num.partitions"].synonyms] == [("3", Source.FILE), ("1", Source.BUILT_IN)]
    assert [s.value for s in found["log.retention.ms"].synonyms] == ["1", "2", "3600000", "1209600000"]
    assert (found["log.retention.ms"].value, found["log.retention.ms"].source) == ("1", Source.NODE)
    assert found["log.roll.ms"].source is Source.BUILT_IN


def test_names_that_do_not_exist_are_left_out():
    assert list(rows(names=["num.partitions", "nobody.knows"])) == ["num.partitions"]


def test_what_is_kept_only_is_shown_when_it_was_set():
    name = "sasl.kerberos.min.time.before.relogin"
    assert name not in rows()
    row = rows(layers=NodeLayers({}, {}, {name: "58000"}))[name]
    assert (row.value, row.source, row.read_only) == ("58000", Source.NODE, False)


def test_run_time_values_alone():
    described = describe_run_time({"log.retention.ms": "5", "num.io.threads": "9"}, Source.ALL_NODES)
    assert [(r.name, r.value, r.source) for r in described] == [
        ("log.retention.ms", "5", Source.ALL_NODES),
        ("num.io.threads", "9", Source.ALL_NODES),
    ]


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("log.retention.ms", "-2", Code.BAD_CONFIG),
        ("log.retention.ms", None, Code.BAD_CONFIG),
        ("num.partitions", "5", Code.BAD_REQUEST),
        ("broker.id", "5", Code.BAD_REQUEST),
        ("ssl.keystore.password", "x", Code.BAD_REQUEST),
        ("log.retention.mss", "5", Code.BAD_CONFIG),
        ("num.io.threads", None, Code.BAD_CONFIG),
    ],
)
def test_what_cannot_be_set_at_run_time(name, value, code):
    refused = check(name, value)
    assert isinstance(refused, Refused) and refused.code is code and name in refused.why


def test_what_can_be_set_at_run_time():
    assert check("log.retention.ms", "-1") is None
    assert check("num.io.threads", "8") is None


def test_no_name_stands_in_two_lists():
    ours = {s.kafka_name for s in SETTINGS if s.name not in TOPIC_DEFAULTS}
    assert not KEPT_ONLY & SECRETS
    assert not (KEPT_ONLY | SECRETS) & (set(BY_NODE_NAME) | ours)
