"""A node's settings: layers, origins, and refusals that help."""

import pytest

from headrace.base.errors import Refused
from headrace.base.settings import (
    BY_NAME,
    SETTINGS,
    TOPIC_DEFAULTS,
    Address,
    Form,
    Origin,
    Settings,
    format_value,
    load,
    parse,
    parse_address,
    read_toml,
)
from headrace.base.topic_settings import BY_NODE_NAME, NodeLayers, TopicSettings
from headrace.base.topic_settings import parse as parse_topic_setting


def loaded(file=None, environment=None, flags=None) -> Settings:
    settings = load(file, environment, flags)
    assert isinstance(settings, Settings), settings
    return settings


def refusal(file=None, environment=None, flags=None) -> str:
    refused = load(file, environment, flags)
    assert isinstance(refused, Refused)
    return refused.why


def test_nothing_is_needed():
    settings = loaded()
    assert settings.kafka == Address("127.0.0.1", 9092)
    assert settings.http == Address("127.0.0.1", 9644)
    assert settings.retention == 14 * 86_400_000
    assert settings.durability == "fsynced"
    assert set(settings.origins.values()) == {Origin("built-in", "built-in")}


def test_flags_beat_the_environment_which_beats_the_file():
    file = {"node_id": 1, "retention": "1d", "segment_size": "2MiB"}
    environment = {"HEADRACE_NODE_ID": "2", "HEADRACE_RETENTION": "2d", "HOME": "/root"}
    settings = loaded(file, environment, {"node_id": "3"})
    assert (settings.node_id, settings.retention, settings.segment_size) == (3, 2 * 86_400_000, 2 * 1024 * 1024)
    assert settings.origins["node_id"] == Origin("flag", "--node-id")
    assert settings.origins["retention"] == Origin("environment", "HEADRACE_RETENTION")
    assert settings.origins["segment_size"] == Origin("file", "headrace.toml")
    assert settings.origins["http"].layer == "built-in"


def test_an_unknown_name_is_answered_with_the_nearest_in_its_own_spelling():
    assert "headrace.toml: retenton: unknown setting; did you mean retention?" in refusal({"retenton": "1d"})
    assert "HEADRACE_DURABILTY: unknown setting; did you mean HEADRACE_DURABILITY?" in refusal(
        environment={"HEADRACE_DURABILTY": "fsynced"}
    )
    assert "--log-levl: unknown setting; did you mean --log-level?" in refusal(flags={"log_levl": "info"})


def test_a_name_like_no_other_gets_no_guess():
    assert refusal({"zzzzzzzzzzzz": 1}) == "headrace.toml: zzzzzzzzzzzz: unknown setting"


def test_all_that_is_wrong_is_told_at_once():
    lines = refusal({"node_id": "x", "retention": 5}, {"HEADRACE_INSECURE": "maybe"}).splitlines()
    assert len(lines) == 3


def test_a_table_in_the_file_is_an_unknown_setting_too():
    assert "unknown setting" in refusal({"kafka_server": {"port": 1}})


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("insecure", "yes", "true or false"),
        ("insecure", 1, "true or false"),
        ("node_id", True, "a whole number"),
        ("node_id", -1, "at least 0"),
        ("default_partitions", 0, "at least 1"),
        ("segment_size", "1KiB", "at least 1MiB"),
        ("segment_size", "3GiB", "at most"),
        ("retention", 86_400, '"14d"'),
        ("retention", "soon", 'or "unlimited"'),
        ("durability", "maybe", "fsynced, pagecache"),
        ("kafka", "9092", "HOST:PORT"),
        ("kafka", "::1:9092", "HOST:PORT"),
        ("kafka", "localhost:65536", "HOST:PORT"),
        ("data", "", "a text"),
        ("data", 7, "a text"),
        ("offsets_retention", "5s", "at least 1m"),
    ],
)
def test_a_wrong_value_is_answered_with_what_was_expected(name, raw, said):
    refused = parse(BY_NAME[name], raw)
    assert isinstance(refused, Refused)
    assert said in refused.why and repr(raw) in refused.why


def test_unlimited_is_a_word():
    assert loaded({"retention": "unlimited", "retention_size": "unlimited"}).retention == -1


def test_ipv6_addresses_stand_in_brackets():
    assert parse_address("[::1]:9092") == Address("::1", 9092)
    assert str(Address("::1", 9092)) == "[::1]:9092"


def test_a_shortest_time_out_above_the_longest_is_refused():
    assert "group_session_timeout_min (1h)" in refusal({"group_session_timeout_min": "1h"})


def test_other_variables_of_ours_are_no_settings():
    assert loaded(environment={"HEADRACE_CONFIG": "x.toml"})


def test_the_file_is_toml():
    assert read_toml('retention = "5h"', "h.toml") == {"retention": "5h"}
    refused = read_toml("retention = ", "h.toml")
    assert isinstance(refused, Refused) and "h.toml is not TOML" in refused.why


def test_the_table_and_the_typed_settings_are_the_same():
    assert {name for name in Settings.__annotations__ if name != "origins"} == set(BY_NAME)
    assert len(BY_NAME) == len(SETTINGS)
    types = {
        Form.SWITCH: "bool",
        Form.NUMBER: "int",
        Form.SIZE: "int",
        Form.DURATION: "int",
        Form.TEXT: "str",
        Form.CHOICE: "str",
        Form.ADDRESS: "Address",
    }
    for setting in SETTINGS:
        optional = " | None" if setting.default is None else ""
        assert Settings.__annotations__[setting.name] == types[setting.form] + optional, setting.name


@pytest.mark.parametrize("setting", [s for s in SETTINGS if s.default is not None], ids=lambda s: s.name)
def test_every_built_in_value_can_be_written_and_read(setting):
    assert parse(setting, format_value(setting, setting.default)) == setting.default


def test_what_was_set_becomes_the_layer_below_the_topics():
    settings = loaded({"retention": "1h", "durability": "pagecache", "insync_replicas_min": 2})
    layer = settings.topic_defaults()
    assert layer == {"log.retention.ms": "3600000", "durability": "pagecache", "min.insync.replicas": "2"}
    in_force = TopicSettings({}, NodeLayers(layer))
    assert (in_force.retention_ms, in_force.fsynced, in_force.insync_replicas_min) == (3_600_000, False, 2)


@pytest.mark.parametrize(("ours", "node_name"), TOPIC_DEFAULTS.items())
def test_defaults_of_topics_agree_with_the_topic_settings(ours, node_name):
    """The built-in values stand in both tables; whatever may be set here must be allowed there."""
    setting, topic_setting = BY_NAME[ours], BY_NODE_NAME[node_name]
    assert str(setting.default) == topic_setting.default
    assert set(setting.choices) == set(topic_setting.choices)
    if not setting.choices:
        for edge in (setting.low, setting.high):
            assert not isinstance(parse_topic_setting(topic_setting, str(edge)), Refused)
