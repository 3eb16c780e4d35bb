"""Imports go down the house only: never up, never to a neighbour on the same floor (DESIGN, "The house").

The table below is that rule. A room is the longest path of the table that a module lies in; a module may import its
own room and the rooms on lower floors. Rooms on one floor do not know each other, with the exceptions named here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "headrace"

# From the roof down. Every module of the package has its room here.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("testing",),
    ("cli",),
    ("server",),
    ("protocols.kafka", "protocols.amqp", "protocols.redis", "protocols.sqs", "protocols.http"),
    ("broker",),
    ("cluster", "groups", "transactions", "views", "schedules", "routing", "security"),
    ("log",),
    ("records",),
    ("base",),
)
# Rooms that know nothing of the house, and that nothing of the house knows: they speak with it over the wire.
OUTSIDE = ("pipelines", "console")
# Package files that only hold the rooms together. They import nothing.
DOORSTEP = ("__init__", "__main__", "protocols")

FLOOR_OF = {room: number for number, rooms in enumerate(reversed(FLOORS)) for room in rooms}


def room_of(module: str) -> str | None:
    """`protocols.kafka.handlers.fetch` -> `protocols.kafka`."""
    for room in [*FLOOR_OF, *OUTSIDE]:
        if module == room or module.startswith(room + ".") or (room == "testing" and module.startswith("testing")):
            return room
    return None


def imports(source: str, module: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """(line, full name) of all that a module imports, wherever in it, relative imports made absolute."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for name in node.names:
                yield node.lineno, name.name
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            for name in node.names:
                yield node.lineno, f"{base}.{name.name}" if base else name.name


def violations(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """What a module (`headrace.x.y`) imports and must not, a sentence each."""
    found = []
    inside = module.removeprefix("headrace").removeprefix(".")
    room = room_of(inside)
    if room is None and inside not in ("", *DOORSTEP):
        return [f"{module}: this room is not on the map; give it a floor in tests/unit/test_layers.py and in ARCHITECTURE.md"]
    for line, target in sorted(set(imports(source, module, is_package=is_package))):
        top = target.partition(".")[0]
        if top in ("sim", "tests", "bench", "tools"):
            found.append(f"{module}:{line} imports {target}: the product knows nothing of {top}/")
        if top != "headrace":
            continue
        inner = target.removeprefix("headrace").removeprefix(".")
        other = room_of(inner)
        if other is None or room == other:
            continue
        if room is None:
            found.append(f"{module}:{line} imports {target}: the doorstep imports nothing, so that every import of a room is cheap")
        elif room in OUTSIDE or other in OUTSIDE:
            found.append(f"{module}:{line} imports {target}: {room} and {other} know each other only over the wire")
        elif FLOOR_OF[other] > FLOOR_OF[room]:
            found.append(f"{module}:{line} imports {target}: {room} lies below {other}, imports go down only")
        elif FLOOR_OF[other] == FLOOR_OF[room]:
            found.append(
                f"{module}:{line} imports {target}: {room} and {other} are neighbours on one floor, what they share lies below"
            )
    return found


def modules() -> Iterator[tuple[Path, str]]:
    for path in sorted(SOURCE.rglob("*.py")):
        parts = list(path.relative_to(SOURCE.parent).with_suffix("").parts)
        if parts[-1] == "__init__":
            parts.pop()
        yield path, ".".join(parts)


def test_imports_go_down_only():
    found = [
        text for path, module in modules() for text in violations(path.read_text(), module, is_package=path.name == "__init__.py")
    ]
    assert not found, "\n" + "\n".join(found)


def test_there_is_something_to_look_at():
    assert len(list(modules())) > 50


@pytest.mark.parametrize(
    ("module", "source", "words"),
    [
        ("headrace.log.segment", "from headrace.broker import topics", "log lies below broker"),
        ("headrace.log.segment", "import headrace.server.disk", "log lies below server"),
        ("headrace.log.segment", "def f():\n    from headrace.cluster.image import Image", "log lies below cluster"),
        ("headrace.groups.group", "from headrace.cluster.image import Image", "neighbours on one floor"),
        ("headrace.groups.group", "from ..cluster import image", "neighbours on one floor"),
        ("headrace.groups.group", "from .. import cluster", "neighbours on one floor"),
        ("headrace.protocols.amqp.codec", "from headrace.protocols.kafka import codec", "neighbours on one floor"),
        ("headrace.broker.topics", "from headrace.protocols.kafka.codec import x", "broker lies below protocols.kafka"),
        ("headrace.server.node", "from headrace.cli import main", "server lies below cli"),
        ("headrace.cli.serve", "from headrace.testing import x", "cli lies below testing"),
        ("headrace.pipelines.session", "from headrace.base import ids", "only over the wire"),
        ("headrace.server.node", "from headrace.pipelines import x", "only over the wire"),
        ("headrace.server.node", "import sim.loop", "the product knows nothing of sim/"),
        ("headrace.base.units", "from headrace.records.header import x", "base lies below records"),
        ("headrace.attic.junk", "", "not on the map"),
        ("headrace", "from headrace.cli import main", "doorstep"),
    ],
)
def test_a_violation_is_found(module, source, words):
    found = violations(source, module)
    assert len(found) == 1 and words in found[0], found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "headrace.log.segment",
            "from headrace.records import header\nfrom headrace.base import files\nfrom headrace.log import index",
        ),
        ("headrace.log.segment", "from . import index\nfrom .index import Index\nimport os"),
        ("headrace.server.node", "from headrace.cluster import image"),
        ("headrace.testing", "from headrace.server import node\nfrom headrace.cli import serve"),
        ("headrace.testing_fixture", "from headrace.testing import x"),
        ("headrace", "import os"),
    ],
)
def test_what_is_allowed_is_not_found(module, source):
    assert violations(source, module) == []


def test_relative_imports_of_a_package_are_its_own():
    assert violations("from . import index", "headrace.log", is_package=True) == []
    assert len(violations("from .. import broker", "headrace.log", is_package=True)) == 1
