"""`headrace config show`: what would be in force, and why."""

from __future__ import annotations

import json

from headrace.base.settings import SETTINGS
from tests.support.fake_kafka import FakeTerminal, run


def rows(words: str, terminal: FakeTerminal | None = None) -> dict[str, dict]:
    ran = run(f"config show -o json {words}", terminal=terminal or FakeTerminal())
    assert ran.status == 0, ran.err
    return {row["setting"]: row for row in json.loads(ran.out)}


def test_every_setting_is_shown_with_its_origin():
    found = rows("")
    assert list(found) == [setting.name for setting in SETTINGS]
    assert {row["from"] for row in found.values()} == {"built-in"}


def test_a_flag_beats_the_environment_which_beats_the_file():
    terminal = FakeTerminal()
    terminal.files["h.toml"] = 'retention = "1h"\nretention_size = "1GiB"\ndefault_partitions = 3\n'
    terminal.env = {"HEADRACE_RETENTION": "2h", "HEADRACE_DEFAULT_PARTITIONS": "4", "HEADRACE_SERVER": "x:1"}
    found = rows("--config h.toml --retention 3h", terminal)
    assert [(found[n]["value"], found[n]["from"]) for n in ("retention", "default_partitions", "retention_size")] == [
        ("3h", "flag"),
        ("4", "environment"),
        ("1GiB", "file"),
    ]
    assert found["retention_size"]["where"] == "h.toml"


def test_the_environment_may_name_the_file():
    terminal = FakeTerminal()
    terminal.files["h.toml"] = "insecure = true\n"
    terminal.env = {"HEADRACE_CONFIG": "h.toml"}
    assert rows("", terminal)["insecure"]["value"] == "true"


def test_switches_may_stand_alone():
    assert rows("--insecure --data x")["insecure"]["value"] == "true"
    assert rows("--auto-create-topics=false")["auto_create_topics"]["value"] == "false"


def test_a_file_that_is_missing_or_no_toml_is_named():
    assert "No such file" in run("config show --config none.toml").err
    terminal = FakeTerminal()
    terminal.files["h.toml"] = "= 5"
    ran = run("config show --config h.toml", terminal=terminal)
    assert ran.status == 2 and "error bad-settings" in ran.err


def test_unknown_keys_name_the_nearest():
    terminal = FakeTerminal()
    terminal.files["h.toml"] = 'retenton = "1h"\n'
    assert "did you mean retention?" in run("config show --config h.toml", terminal=terminal).err
