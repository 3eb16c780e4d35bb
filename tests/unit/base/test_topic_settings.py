"""Settings of topics. What is allowed was asked of Apache Kafka 4.3.1, value by value."""

import pytest

from headrace.base.errors import Code, Refused
from headrace.base.topic_settings import (
    BY_NAME,
    BY_NODE_NAME,
    TOPIC_SETTINGS,
    Kind,
    NodeLayers,
    Source,
    TopicSettings,
    check,
    check_all,
    describe,
    parse,
    split_list,
)

ALLOWED = {
    "retention.ms": ["-1", "0", "9223372036854775807", " 5 "],
    "retention.bytes": ["-2", "-1", "0", "-100"],
    "segment.bytes": ["1048576", "2147483647"],
    "segment.ms": ["1"],
    "segment.jitter.ms": ["0"],
    "segment.index.bytes": ["4"],
    "flush.ms": ["0"],
    "flush.messages": ["1"],
    "max.message.bytes": ["0", "2147483647"],
    "max.compaction.lag.ms": ["1"],
    "min.cleanable.dirty.ratio": ["0", "1", "0.5"],
    "cleanup.policy": ["", "delete", "compact", "delete,compact", "delete, compact", "delete,delete"],
    "compression.type": ["uncompressed", "zstd", "producer"],
    "compression.gzip.level": ["-1", "1", "9"],
    "compression.lz4.level": ["1", "17"],
    "compression.zstd.level": ["-131072", "22", "0"],
    "min.insync.replicas": ["1", "2"],
    "preallocate": ["TRUE", "true"],
    "message.timestamp.type": ["CreateTime", "LogAppendTime"],
    "local.retention.ms": ["-2", "-1", "0"],
    "remote.storage.enable": ["false"],
    "remote.log.copy.disable": ["true"],
    "leader.replication.throttled.replicas": ["*", "0:1", "0:1,1:2", ""],
}
REFUSED = {
    "retention.ms": ["-2", "abc", "9223372036854775808", "1_000", "5h", "", "٣"],
    "segment.bytes": ["13", "1048575", "2147483648"],
    "segment.ms": ["0", "-1"],
    "segment.jitter.ms": ["-1"],
    "segment.index.bytes": ["3", "0"],
    "flush.messages": ["0"],
    "max.message.bytes": ["-1"],
    "max.compaction.lag.ms": ["0"],
    "min.cleanable.dirty.ratio": ["-0.1", "1.1", "x", "nan", "inf"],
    "cleanup.policy": ["none", "Delete"],
    "compression.type": ["", "none", "GZIP"],
    "compression.gzip.level": ["-2", "0", "10"],
    "compression.lz4.level": ["0", "18"],
    "compression.zstd.level": ["-131073", "23"],
    "min.insync.replicas": ["0", "-1"],
    "preallocate": ["yes"],
    "unclean.leader.election.enable": ["1"],
    "message.timestamp.type": ["createtime"],
    "local.retention.ms": ["-3"],
    "remote.storage.enable": ["true"],
    "leader.replication.throttled.replicas": ["x", "none", "*,0:1", "0:1:2"],
    "durability": ["", "FSYNCED", "none"],
    "record.validation": ["none"],
    "message.format.version": ["3.0"],
    "message.downconversion.enable": ["true"],
}


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in ALLOWED.items() for v in values])
def test_allowed_as_by_kafka(name, value):
    assert check(name, value) is None


@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in REFUSED.items() for v in values])
def test_refused_as_by_kafka(name, value):
    refused = check(name, value)
    assert isinstance(refused, Refused) and refused.code is Code.BAD_CONFIG and name in refused.why


def test_a_refusal_names_the_setting_the_value_and_what_is_allowed():
    refused = check("segment.bytes", "12")
    assert refused is not None
    assert refused.why == "segment.bytes cannot be '12': allowed is a whole number from 1048576 to 2147483647"
    refused = check("compression.gzip.level", "0")
    assert refused is not None and refused.why.endswith("a whole number from 1 to 9, or -1")


def test_an_unknown_name_is_answered_with_the_nearest():
    refused = check("retention.millis", "1")
    assert refused is not None and "did you mean retention.ms?" in refused.why


def test_a_value_must_be_there():
    assert isinstance(check("retention.ms", None), Refused)


def test_the_first_wrong_one_by_name_is_told():
    refused = check_all({"segment.ms": "0", "retention.ms": "x", "cleanup.policy": "delete"})
    assert refused is not None and refused.why.startswith("retention.ms")
    assert check_all({"segment.ms": "1"}) is None


@pytest.mark.parametrize("setting", TOPIC_SETTINGS, ids=lambda s: s.name)
def test_every_row_holds(setting):
    assert not isinstance(parse(setting, setting.default), Refused)
    assert setting.documentation.endswith(".")


def test_names_are_unique_and_the_table_is_sorted():
    names = [s.name for s in TOPIC_SETTINGS]
    assert names == sorted(set(names))
    assert len(BY_NODE_NAME) == sum(s.node_name is not None for s in TOPIC_SETTINGS)


def test_built_in_values_in_force():
    settings = TopicSettings()
    assert settings.retention_ms == 14 * 24 * 3600 * 1000
    assert settings.fsynced and settings.validate_records
    assert settings.delete and not settings.compact
    assert settings.batch_size_max == 1048588
    assert not settings.append_time


def test_the_strongest_layer_wins():
    layers = NodeLayers({"log.retention.ms": "4"}, {"log.retention.ms": "3"}, {"log.retention.ms": "2"})
    assert TopicSettings({"retention.ms": "1"}, layers).retention_ms == 1
    assert TopicSettings({}, layers).retention_ms == 2
    layers.node = {}
    assert TopicSettings({}, layers).retention_ms == 3
    layers.all_nodes = {}
    assert TopicSettings({}, layers).retention_ms == 4


def test_a_description_lists_the_values_behind_the_one_in_force():
    layers = NodeLayers({"log.retention.ms": "4"}, {"log.retention.ms": "3"}, {"log.retention.ms": "2"})
    (row,) = describe({"retention.ms": "1"}, layers, ["retention.ms", "no.such"])
    assert (row.name, row.value, row.source, row.kind) == ("retention.ms", "1", Source.TOPIC, Kind.LONG)
    assert [(s.name, s.value, s.source) for s in row.synonyms] == [
        ("retention.ms", "1", Source.TOPIC),
        ("log.retention.ms", "2", Source.NODE),
        ("log.retention.ms", "3", Source.ALL_NODES),
        ("log.retention.ms", "4", Source.FILE),
        ("log.retention.ms", "1209600000", Source.BUILT_IN),
    ]


def test_a_description_of_everything_is_sorted_and_complete():
    rows = describe({"cleanup.policy": "compact"})
    assert [row.name for row in rows] == sorted(BY_NAME)
    by_name = {row.name: row for row in rows}
    assert by_name["cleanup.policy"].value == "compact"
    assert by_name["segment.ms"].source is Source.BUILT_IN
    assert by_name["remote.storage.enable"].synonyms == []
    assert not any(row.read_only or row.sensitive for row in rows)


def test_texts_with_blanks_are_in_force_without_them():
    settings = TopicSettings({"cleanup.policy": " compact , delete", "retention.ms": " 5 ", "compression.type": " zstd "})
    assert settings.compact and settings.delete and settings.retention_ms == 5 and settings.compression == "zstd"


def test_lists_have_each_item_once():
    assert split_list("a, b,,a") == ("a", "b")
