#!/usr/bin/env python3
"""Write `src/headrace/protocols/kafka/messages/` from the facts in Kafka's own message descriptions.

    python tools/make_messages.py path/to/kafka-clients-4.3.1.jar

The jar carries one JSON file a message under `common/message/`. Names, types, versions, defaults and tags are
facts, and those are what is taken; the sentences beside them are not. The output is our own compact form: one
module an API, with typed classes and one line of description a field, from which `codec.py` makes the codecs.

What the JSON does not say (and real brokers do) stands in `messages/exceptions.py`, by hand.
"""

from __future__ import annotations

import json
import keyword
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "src/headrace/protocols/kafka/messages"

# What clients and tools send to a broker. Left out: what only brokers, controllers and the members of a Raft quorum
# say to each other (4-7, 52-54, 56, 58, 59, 62, 63, 67, 70, 73, 80-87), and Kafka Streams' own groups (88, 89).
API_KEYS = {*range(4), *range(8, 52), 55, 57, 60, 61, 64, 65, 66, 68, 69, 71, 72, 74, 75, *range(76, 80), 90, 91, 92}
# Bytes inside of messages that a broker or a tool must read.
DATA = ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")
# Written by hand; everything else in the folder belongs to this tool.
BY_HAND = {"__init__.py", "message.py", "exceptions.py"}

PYTHON_TYPES = {
    "bool": "bool",
    "int8": "int",
    "int16": "int",
    "uint16": "int",
    "int32": "int",
    "int64": "int",
    "float64": "float",
    "string": "str",
    "bytes": "bytes",
    "uuid": "UUID",
}


def snake(name: str) -> str:
    """ThrottleTimeMs -> throttle_time_ms."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return text + "_" if keyword.iskeyword(text) else text


def versions(text: str) -> tuple[int, int | None] | None:
    """`3-13`, `9+`, `0` and `none` as half known ranges: first, last or None for "and all that follow"."""
    if text == "none":
        return None
    if text.endswith("+"):
        return int(text[:-1]), None
    first, _, last = text.partition("-")
    return int(first), int(last or first)


def read_messages(jar: Path) -> dict[str, dict[str, Any]]:
    messages = {}
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith("common/message/") and name.endswith(".json"):
                text = re.sub(r"^\s*//.*$", "", archive.read(name).decode(), flags=re.MULTILINE)
                message = json.loads(text)
                if message["validVersions"] != "none":
                    messages[message["name"]] = message
    return messages


class Module:
    """One API (or one data message): its structs in the order in which they must be defined."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.messages = messages
        first = messages[0]
        assert all(m.get("flexibleVersions", "none") == first.get("flexibleVersions", "none") for m in messages)
        assert all(m["validVersions"] == first["validVersions"] for m in messages)
        valid, flexible = versions(first["validVersions"]), versions(first["flexibleVersions"])
        assert valid is not None and valid[1] is not None and (flexible is None or flexible[1] is None)
        # A version that is not stable yet is not spoken by a broker with its usual settings, and not by us.
        self.versions = valid[0], valid[1] - any(bool(m.get("latestVersionUnstable")) for m in messages)
        self.flexible_from = flexible[0] if flexible else None
        self.uses: set[str] = set()
        self.classes: list[str] = []
        structs: list[dict[str, tuple[str, list[dict[str, Any]]]]] = [self.structs(m) for m in messages]
        clashes = set(structs[0]) & set(structs[1]) if len(structs) == 2 else set()
        for message, own in zip(messages, structs, strict=True):
            suffix = message["type"].capitalize()
            names = {name: name + suffix if name in clashes else name for name in own}
            for name, (_, fields) in own.items():
                self.classes.append(self.class_text(names[name], fields, names))

    def structs(self, message: dict[str, Any]) -> dict[str, tuple[str, list[dict[str, Any]]]]:
        """The message's structs, the innermost first, the message itself last."""
        found: dict[str, tuple[str, list[dict[str, Any]]]] = {}
        common = {struct["name"]: struct["fields"] for struct in message.get("commonStructs", ())}

        def visit(name: str, fields: list[dict[str, Any]]) -> None:
            for field in fields:
                kind = field["type"].removeprefix("[]")
                if kind[0].isupper() and kind not in found:
                    visit(kind, field.get("fields") or common[kind])
            assert name not in found
            found[name] = (name, fields)

        visit(message["name"], message["fields"])
        return found

    def class_text(self, name: str, fields: list[dict[str, Any]], names: dict[str, str]) -> str:
        slots, lines, parameters, stores = [], [], [], []
        for field in fields:
            attribute = snake(field["name"])
            slots.append(f'"{attribute}"')
            lines.append(self.line(attribute, field, names))
            annotation, default, build = self.parameter(field, names)
            parameters.append(f"{attribute}: {annotation} = {default},")
            stores.append(f"        self.{attribute} = {build.format(attribute) if build else attribute}")
        text = f"class {name}(Message):\n    __slots__ = ({', '.join(slots)}{',' if len(slots) == 1 else ''})\n"
        if not fields:
            return text + '    FIELDS = ""\n'
        text += '    FIELDS = """\n' + "".join(f"        {line}\n" for line in lines) + '    """\n\n'
        text += "    def __init__(self, " + " ".join(parameters) + ") -> None:\n" + "\n".join(stores) + "\n"
        return text

    def line(self, attribute: str, field: dict[str, Any], names: dict[str, str]) -> str:
        """One field's description, as `message.py` explains it."""
        kind = field["type"]
        array, element = kind.startswith("[]"), kind.removeprefix("[]")
        words = [attribute, ("[]" if array else "") + names.get(element, element), field["versions"]]
        if "nullableVersions" in field:
            words.append(f"nullable={field['nullableVersions']}")
        if "tag" in field:
            words.append(f"tag={field['tag']}@{field['taggedVersions']}")
        if "default" in field and not (element == "string" and field["default"] == ""):
            words.append(f"default={str(field['default']).lower() if element == 'bool' else field['default']}")
        if field.get("ignorable"):
            words.append("ignorable")
        return " ".join(words)

    def parameter(self, field: dict[str, Any], names: dict[str, str]) -> tuple[str, str, str | None]:
        """Annotation, default and, where the default is an object to be made, the expression that makes it."""
        kind = field["type"]
        array, element = kind.startswith("[]"), kind.removeprefix("[]")
        nullable = "nullableVersions" in field
        default = field.get("default")
        if element == "records":
            # A request's records lie in the frame; a response's may be a slice of a file.
            request = any(m["type"] == "request" and self.holds(m, field) for m in self.messages)
            annotation = "memoryview" if request else "Body"
            self.uses |= set() if request else {"Body"}
            return f"{annotation} | None", "None", None
        annotation = PYTHON_TYPES.get(element) or names[element]
        if element == "uuid":
            self.uses |= {"UUID"}
        if array:
            self.uses |= {"Sequence"}
            annotation = f"Sequence[{annotation}]"
            if nullable:
                annotation += " | None"
            return annotation, "None" if default == "null" else "()", None
        if element in names:
            if nullable or "tag" in field:
                return f"{annotation} | None", "None", None
            return f"{annotation} | None", "None", annotation + "() if {0} is None else {0}"
        if nullable:
            annotation += " | None"
        if default == "null":
            return annotation, "None", None
        if element == "uuid":
            assert default in (None, "AAAAAAAAAAAAAAAAAAAAAA")
            self.uses |= {"NO_TOPIC_ID"}
            return annotation, "NO_TOPIC_ID", None
        if element == "string":
            return annotation, f'"{default or ""}"', None
        if element == "bytes":
            return annotation, 'b""', None
        if element == "bool":
            return annotation, "True" if str(default).lower() == "true" else "False", None
        if element == "float64":
            return annotation, str(float(default or 0)), None
        return annotation, str(int(str(default), 0) if default is not None else 0), None

    def holds(self, message: dict[str, Any], field: dict[str, Any]) -> bool:
        return any(f is field for _, fields in self.structs(message).values() for f in fields)

    def text(self) -> str:
        first = self.messages[0]
        low, high = self.versions
        head = f'"""{first["name"].removesuffix("Request")}, version{f"s {low} to {high}" if low < high else f" {low}"}.\n\n'
        head += 'Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.\n"""\n\n'
        head += "from __future__ import annotations\n\n"
        if self.uses - {"NO_TOPIC_ID"}:
            head += "from typing import TYPE_CHECKING\n\n"
        if "NO_TOPIC_ID" in self.uses:
            head += "from headrace.base.ids import NO_TOPIC_ID\n"
        head += "from headrace.protocols.kafka.messages.message import Message\n\n"
        imports = {"Sequence": "collections.abc", "UUID": "uuid", "Body": "headrace.base.files"}
        wanted = [f"    from {home} import {name}\n" for name, home in imports.items() if name in self.uses]
        if wanted:
            head += "if TYPE_CHECKING:\n" + "".join(wanted) + "\n"
        if "apiKey" in first:
            head += f"API_KEY = {first['apiKey']}\n"
        head += f"VERSIONS = ({low}, {high})\nFLEXIBLE_FROM = {self.flexible_from}\n\n\n"
        return head + "\n\n".join(self.classes)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    messages = read_messages(Path(arguments[0]))
    requests = {m["apiKey"]: m for m in messages.values() if m["type"] == "request" and m["apiKey"] in API_KEYS}
    responses = {m["apiKey"]: m for m in messages.values() if m["type"] == "response"}
    files: dict[str, str] = {}
    rows = []
    for key in sorted(requests):
        name = requests[key]["name"].removesuffix("Request")
        module = Module([requests[key], responses[key]])
        files[f"{snake(name)}.py"] = module.text()
        low, high = module.versions
        rows.append(f'    ({key}, "{name}", "{snake(name)}", {low}, {high}, {module.flexible_from}),\n')
    for name in DATA:
        files[f"{snake(name)}.py"] = Module([messages[name]]).text()
    files["table.py"] = (
        '"""Every API that the codec knows. Written by `tools/make_messages.py`; change that, not this."""\n\n'
        "from __future__ import annotations\n\n"
        "# key, name, module, first version, last version, first flexible version\n"
        "ROWS: tuple[tuple[int, str, str, int, int, int | None], ...] = (\n" + "".join(rows) + ")\n"
    )
    for old in OUT.glob("*.py"):
        if old.name not in BY_HAND and old.name not in files:
            old.unlink()
    for file, text in files.items():
        (OUT / file).write_text(text)
    paths = [str(OUT / file) for file in files]
    for command in (["check", "-q", "--fix", "--select", "I,RUF023"], ["format", "-q"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, *paths], check=True, cwd=ROOT)
    print(f"{len(rows)} APIs, {len(files)} files, {sum(len(t.splitlines()) for t in files.values())} lines before formatting")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
