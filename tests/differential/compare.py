"""Runs every scenario against two brokers, collects where their answers differ, and holds that against the list of what is known.

The list is the table under "Differences that stay" in `docs/compatibility.md`:

    | API | field | scenario | Headrace | Kafka | why |

Every cell but the last may hold `*`, and `field` several fields with commas between them. A field is the path below the API's name,
settings and the like by key: `results.configs[retention.ms].value`; an empty text is written `empty`. Each field of each row must
describe something that happens, and everything that happens needs a row.
"""

import dataclasses
import importlib
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from headrace.protocols.kafka.messages import API
from headrace.protocols.kafka.messages.metadata import MetadataRequest, MetadataResponse
from tests.differential.session import SCENARIOS, Scenario, Session, Step, differences
from tests.support.wire import Wire

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "compatibility.md"
SECTION = "Differences that stay"
FAMILIES = ("topics", "records", "groups", "settings", "others")

LANES = 3  # stories that run at a time against each broker; each has topics and groups of its own
IN_TURN = {"groups"}  # but these all know the group without a name

for _family in FAMILIES:
    importlib.import_module(f"tests.differential.scenarios.{_family}")


@dataclasses.dataclass
class Difference:
    """One place where the answers differ, over all versions and steps in which they do so in the same way."""

    api: str
    field: str
    scenario: str
    ours: str
    peer: str
    steps: list[str] = dataclasses.field(default_factory=list)

    def __str__(self) -> str:
        shown = "; ".join(self.steps[:4]) + (f"; and {len(self.steps) - 4} more" if len(self.steps) > 4 else "")
        return f"{self.api} {self.field}: ours {self.ours}, Kafka {self.peer}   [{self.scenario}: {shown}]"

    def row(self) -> str:
        return f"| {self.api} | `{self.field}` | `{self.scenario}` | {self.ours} | {self.peer} | ? |"


@dataclasses.dataclass
class Known:
    """A row of the table."""

    api: str
    field: str
    scenario: str
    ours: str
    peer: str
    why: str
    line: int

    def covers(self, d: Difference) -> bool:
        pairs = ((self.api, d.api), (self.field, d.field), (self.scenario, d.scenario), (self.ours, d.ours), (self.peer, d.peer))
        return all(_matches(pattern, text) for pattern, text in pairs)


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, (pattern or "*").split("*"))), text) is not None


def known(page: Path = PAGE) -> list[Known]:
    if not page.exists():
        return []
    found, inside = [], False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("#"):
            inside = line.lstrip("# ").strip() == SECTION
        elif inside and line.startswith("|"):
            cells = [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) == 6 and cells[0] != "API" and not set(cells[0]) <= set("-: "):
                api, fields, *rest = cells
                scenario, ours, peer, why = rest
                found += [Known(api, one.strip("` "), scenario, ours, peer, why, number) for one in fields.split(",")]
    return found


def advertised(address: str) -> dict[int, tuple[int, int]]:
    with Wire(address) as wire:
        return wire.versions()


def compare(ours: str, peer: str, only: str = "") -> tuple[list[Difference], int]:
    """All differences, and how many answers were compared."""
    mine, theirs = advertised(ours), advertised(peer)
    ranges = {
        key: range(
            max(mine[key][0], theirs[key][0], API[key].min_version), min(mine[key][1], theirs[key][1], API[key].max_version) + 1
        )
        for key in mine.keys() & theirs.keys() & API.keys()
    }
    common = {key: versions[-1] for key, versions in ranges.items() if len(versions)}
    plan = [
        (scenario, version)
        for scenario in SCENARIOS
        if only in scenario.name
        for version in ranges.get(scenario.api, ())
        if scenario.versions is None or version in scenario.versions
    ]
    run = uuid.uuid4().hex[:6]
    nodes = {address: _node(address) for address in (ours, peer)}
    chunks: dict[str, list[tuple[Scenario, int]]] = {}
    for scenario, version in plan:
        chunks.setdefault(scenario.name if scenario.family not in IN_TURN else scenario.family, []).append((scenario, version))
    plan = [each for chunk in chunks.values() for each in chunk]

    def told(address: str, chunk: list[tuple[Scenario, int]]) -> list[list[Step] | BaseException]:
        return [_run(address, nodes[address], scenario, version, common, run) for scenario, version in chunk]

    def all_of(address: str) -> list[list[Step] | BaseException]:
        """In the order of the plan."""
        with ThreadPoolExecutor(LANES) as lanes:
            return [one for done in lanes.map(lambda chunk: told(address, chunk), chunks.values()) for one in done]

    with ThreadPoolExecutor(2) as both:
        answers = dict(zip(nodes, both.map(all_of, nodes), strict=True))
    found: dict[tuple[str, ...], Difference] = {}
    compared = 0
    failed = [f"{s.name} v{v}: {b!r}"[:1000] for (s, v), b in zip(plan, answers[peer], strict=True) if isinstance(b, BaseException)]
    assert not failed, "scenarios that fail on Kafka itself:\n" + "\n".join(failed)
    for (scenario, version), a, b in zip(plan, answers[ours], answers[peer], strict=True):
        assert not isinstance(b, BaseException)
        if isinstance(a, BaseException):
            _note(found, scenario, API[scenario.api].name, "scenario", f"broke off: {a!r}"[:200], "went through", f"v{version}")
            continue
        for i in range(max(len(a), len(b))):
            if i >= len(a) or i >= len(b) or (a[i].label, a[i].api) != (b[i].label, b[i].api):
                _note(found, scenario, API[scenario.api].name, "steps", _label(a, i), _label(b, i), f"v{version}")
                break
            compared += 1
            for path, x, y in differences(a[i].answer, b[i].answer, ""):
                _note(found, scenario, a[i].api, path.lstrip("."), _shown(x), _shown(y), f"v{a[i].version} {a[i].label}")
    return sorted(found.values(), key=lambda d: (d.api, d.field, d.scenario)), compared


def _shown(value: Any) -> str:
    return "empty" if value == "" else str(value)


def _label(steps: list[Step], i: int) -> str:
    return f"step {steps[i].label!r}" if i < len(steps) else "no step"


def _note(
    found: dict[tuple[str, ...], Difference], scenario: Scenario, api: str, path: str, ours: str, peer: str, step: str
) -> None:
    key = (api, path, scenario.name, ours, peer)
    found.setdefault(key, Difference(*key)).steps.append(step)


def _run(
    address: str, node_id: int, scenario: Scenario, version: int, common: dict[int, int], run: str
) -> list[Step] | BaseException:
    session: Session | None = None
    name = f"{scenario.name}-v{version}-{run}".replace("_", "-")
    try:
        session = Session(address, name, scenario.api, version, common, node_id)
        scenario.story(session)
        return session.steps
    except Exception as error:  # whatever a broker's answer does to a story is a finding, not the end of the run
        return error
    finally:
        if session is not None:
            session.close()


def _node(address: str) -> int:
    """The id of the broker at this address."""
    with Wire(address) as wire:
        answer: Any = wire.ask(3, 1, MetadataRequest([]))
        assert isinstance(answer, MetadataResponse)
        return answer.brokers[0].node_id


def verdict(found: list[Difference], rows: list[Known]) -> tuple[list[Difference], list[Known]]:
    """Differences without a row, and rows without a difference."""
    unlisted = [d for d in found if not any(row.covers(d) for row in rows)]
    stale = [row for row in rows if not any(row.covers(d) for d in found)]
    return unlisted, stale
