"""Documents describe what is there: what they name exists, their links lead somewhere, their tables are the code's."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from headrace.base import limits
from headrace.server.metrics import FAMILIES
from tools import make_api_doc

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)


def prose(page: Path) -> str:
    return FENCE.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """As the usual renderers make them from headings."""
    found = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.M):
        words = re.sub(r"[^\w\- ]", "", heading.lower())
        found.add(words.strip().replace(" ", "-"))
    return found


def targets(page: Path) -> list[tuple[str, Path, str]]:
    """(as written, file, anchor) of each link to a file of ours."""
    found = []
    for link in LINK.findall(prose(page)):
        if "://" not in link and not link.startswith("mailto:"):
            path, _, anchor = link.partition("#")
            found.append((link, (page.parent / path).resolve() if path else page, anchor))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    for link, path, anchor in targets(ROOT / name):
        assert path.exists(), f"{name}: {link}"
        if anchor:
            assert anchor in anchors(path), f"{name}: {link}"


def test_every_page_can_be_found():
    seen: set[Path] = set()
    open_ones = [ROOT / "README.md"]
    while open_ones:
        page = open_ones.pop()
        if page not in seen:
            seen.add(page)
            open_ones += [path for _, path, _ in targets(page) if path.suffix == ".md"]
    lost = [str(page.relative_to(ROOT)) for page in PAGES if page not in seen]
    assert not lost, f"no link leads to {lost}: give each a row in docs/README.md"


# proof.md


def proofs() -> list[str]:
    cells = re.findall(r"^\| [^|]+ \| (`.+`) \|$", (ROOT / "docs" / "proof.md").read_text(), re.M)
    return [proof for cell in cells for proof in re.findall(r"`([^`]+)`", cell)]


def has(proof: str) -> bool:
    path, _, name = proof.partition("::")
    file = ROOT / path
    if not file.exists():
        return False
    return not name or re.search(rf"^ *(async )?def {name}\(|^{name} = |^class {name}\b", file.read_text(), re.M) is not None


@pytest.mark.parametrize("proof", sorted(set(proofs())))
def test_what_a_promise_names_exists(proof):
    assert has(proof)


def test_a_promise_that_names_nothing_is_noticed():
    assert len(proofs()) > 60
    assert not has("tests/unit/test_docs.py::test_that_nobody_wrote")
    assert not has("tests/unit/test_nothing.py")


# what pages name


HOMES = (ROOT, ROOT / "src/headrace", ROOT / "src/headrace/protocols/kafka", ROOT / "src/headrace/cluster", ROOT / "docs")


@pytest.mark.parametrize("name", NAMES)
def test_paths_in_code_font_exist(name):
    """`server/outlet.py`, `tests/unit/…`: from the root, or from a folder that the page is about."""
    for path in re.findall(r"`((?:[\w.-]+/)+[\w.-]*)(?:::\w+)?`", prose(ROOT / name)):
        first = path.split("/")[0]
        if first == "log" and not path.endswith(".py"):  # of the data folder
            continue
        if any((home / first).is_dir() for home in HOMES):
            assert any((home / path).exists() for home in HOMES), f"{name}: {path}"


@pytest.mark.parametrize("name", NAMES)
def test_make_targets_that_are_named_exist(name):
    known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    for target in re.findall(r"(?:`|^)make ([a-z][\w-]*)", (ROOT / name).read_text(), re.M):
        assert target in known, f"{name}: make {target}"


@pytest.mark.parametrize("name", NAMES)
def test_metrics_that_are_named_exist(name):
    known = {f.name + ("_total" if f.kind == "counter" else "") for f in FAMILIES}
    for metric in re.findall(r"\bheadrace_\w+", prose(ROOT / name)):
        stem = re.sub(r"_(bucket|sum|count)$", "", metric)
        assert stem in known | {"headrace_broker"}, f"{name}: {metric}"


def test_the_table_of_apis_is_what_is_served():
    page = make_api_doc.PAGE.read_text()
    assert make_api_doc.BEGIN in page
    assert page == make_api_doc.written(page), "run tools/make_api_doc.py"


def test_the_limits_are_those_of_the_code():
    page = (ROOT / "docs" / "operate.md").read_text()
    rows = re.findall(r"^\| `([A-Z_]+)` \| ([\d,]+)(?: (\w+))? \|", page, re.M)
    assert len(rows) >= 10
    units = {"": 1, "s": 1000, "KiB": limits.KIB, "MiB": limits.MIB}
    for name, number, unit in rows:
        assert getattr(limits, name) == int(number.replace(",", "")) * units[unit], name


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.split(r"[<>=; ]", line)[0] for line in project["dependencies"]}
    page = (ROOT / "docs" / "decisions" / "dependencies.md").read_text()
    assert needed == set(re.findall(r"^\| `([\w.-]+)` \|", page, re.M))


def test_every_floor_of_the_house_is_on_the_map():
    page = (ROOT / "ARCHITECTURE.md").read_text()
    folders = {path.parent.name for path in (ROOT / "src" / "headrace").glob("*/__init__.py")}
    drawn = set(re.findall(r"^[├└]── (\w+)/", page, re.M))
    assert folders == drawn


FORBIDDEN = re.compile(r"/root/|/work/|\bTODO\b|\bFIXME\b|registry\.|artifactory|nexus|pypi\.|index-url", re.I)


@pytest.mark.parametrize("name", NAMES)
def test_pages_name_no_machine(name):
    found = FORBIDDEN.search((ROOT / name).read_text())
    assert found is None, f"{name}: {found[0] if found else ''}"
