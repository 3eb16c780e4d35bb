"""Write `docs/settings.md` from the tables in `base/`: `python tools/make_settings_doc.py`.

A test compares the file with what this makes, so that the reference is complete and true.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headrace.base import node_settings  # noqa: E402
from headrace.base.settings import OTHER_VARIABLES, SETTINGS, TOPIC_DEFAULTS, Form, Setting, format_value  # noqa: E402
from headrace.base.topic_settings import TOPIC_SETTINGS, TopicSetting, allowed_values  # noqa: E402
from headrace.base.units import format_duration_ms, format_size  # noqa: E402

PAGE = ROOT / "docs" / "settings.md"

OPENING = """# Settings

<!-- Made by tools/make_settings_doc.py from src/headrace/base/; a test holds the two together. -->

None is needed. A setting of the node can be given in three places, and the later one in this list wins:

1. the settings file, TOML: `retention = "30d"`. The file is named by `--config FILE` or `HEADRACE_CONFIG`;
2. the environment: `HEADRACE_RETENTION=30d`;
3. a flag: `--retention 30d`.

The name is the same everywhere; a flag has `-` where the name has `_`. An unknown name or a wrong value stops the start, and
the answer names what is nearest or what is allowed. `headrace config show` lists the values in force and where each came from.

Sizes: `4096`, `"64MiB"`, `"1GB"` (B, kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024). Durations: `"500ms"`,
`"5h"`, `"14d"`, `"1h30m"` (ms, s, m, h, d, w), always with their unit. Addresses: `"127.0.0.1:9092"`, `"[::1]:9092"`.
"""

TOPICS_OPENING = """## Settings of topics

With Kafka's names and Kafka's values on the wire, so that every Kafka tool can show and set them; numbers are plain
milliseconds and bytes there. The value in force is the first of: the topic's own; the one set at run time for this node; the one
set at run time for all nodes; the one in the node's settings file; the built-in one. What a setting is called on a node stands
in the third column; those marked † can also be given in the node's settings file, under the name above.
"""

NODE_OPENING = """## Settings of a node on the wire

`DescribeConfigs` of a broker shows the settings above that have a Kafka name, with their values in Kafka's units, and the
nodes' names of the topics' settings. The latter can be set while the node runs (`IncrementalAlterConfigs`, for one broker or
for all):

{alterable}

These names of Kafka's are taken and kept too, because tools set them, but nothing here follows them:

{kept}

Kafka's secrets ({secrets}) are refused: they would lie in the cluster store in the clear, and there is nothing here yet that
would use them. Every other name is refused: those above that the node reads when it starts, and those nobody knows.
"""


def page() -> str:
    """The whole file."""
    parts = [OPENING]
    for room in dict.fromkeys(setting.room for setting in SETTINGS):
        parts.append(_room(room, [setting for setting in SETTINGS if setting.room == room]))
    others = " and ".join(f"`{name}`" for name in OTHER_VARIABLES)
    parts.append(f"Of the environment, {others} are ours too: the settings file, and the broker that client commands connect to.\n")
    parts.append(TOPICS_OPENING)
    parts.append(_topics())
    parts.append(
        NODE_OPENING.format(
            alterable=_names(s.node_name for s in TOPIC_SETTINGS if s.node_name is not None),
            kept=_names(node_settings.KEPT_ONLY),
            secrets=_names(node_settings.SECRETS),
        )
    )
    return "\n".join(parts)


def _room(room: str, settings: list[Setting]) -> str:
    lines = [f"## {room}", "", "| setting | built-in | allowed | what | in Kafka |", "|---|---|---|---|---|"]
    for setting in settings:
        built_in = f"`{format_value(setting, setting.default)}`" if setting.default is not None else "none"
        kafka = f"`{setting.kafka_name}`" if setting.kafka_name is not None else ""
        lines.append(f"| `{setting.name}` | {built_in} | {_allowed(setting)} | {setting.documentation} | {kafka} |")
    return "\n".join(lines) + "\n"


def _allowed(setting: Setting) -> str:
    if setting.form is Form.CHOICE:
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    words = {
        Form.SWITCH: "true or false",
        Form.NUMBER: "number",
        Form.SIZE: "size",
        Form.DURATION: "duration",
        Form.TEXT: "text",
        Form.ADDRESS: "host and port",
    }[setting.form]
    if setting.form in (Form.NUMBER, Form.SIZE, Form.DURATION):
        low = format_value(setting, setting.low) if setting.low else ""
        high = format_value(setting, setting.high) if setting.high < 2**31 - 1 else ""
        if low and high:
            words += f" from {low} to {high}"
        elif low or high:
            words += f", at least {low}" if low else f", at most {high}"
        if setting.unlimited:
            words += " or `unlimited`"
    return words


def _topics() -> str:
    ours = {node_name: name for name, node_name in TOPIC_DEFAULTS.items()}
    lines = ["| setting | built-in | on a node | allowed | what |", "|---|---|---|---|---|"]
    for setting in TOPIC_SETTINGS:
        node_name = "" if setting.node_name is None else f"`{setting.node_name}`"
        if setting.node_name in ours:
            node_name += f" († `{ours[setting.node_name]}`)"
        what = setting.documentation + ("" if setting.effective else " *No effect.*")
        lines.append(f"| `{setting.name}` | {_built_in(setting)} | {node_name} | {allowed_values(setting)} | {what} |")
    return "\n".join(lines) + "\n"


def _built_in(setting: TopicSetting) -> str:
    if setting.default == "":
        return "empty"
    words = ""
    if setting.default.isdecimal() and int(setting.default) >= 1000:
        number = int(setting.default)
        if number == 2**63 - 1:
            words = " (no limit)"
        elif setting.name.endswith(".ms"):
            words = f" ({format_duration_ms(number)})"
        elif setting.name.endswith(".bytes") and format_size(number) != f"{number}B":
            words = f" ({format_size(number)})"
    return f"`{setting.default}`{words}"


def _names(names: object) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))  # type: ignore[call-overload]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE)
