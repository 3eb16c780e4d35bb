"""Write the table of APIs into docs/compatibility.md, from what is served: `python tools/make_api_doc.py`.

A test holds the page against the code; this writes it anew when they part.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

PAGE = ROOT / "docs" / "compatibility.md"
BEGIN, END = "<!-- apis, by tools/make_api_doc.py -->\n", "<!-- apis end -->"


def table() -> str:
    from headrace.protocols.kafka.handlers import HANDLERS
    from headrace.protocols.kafka.messages import API

    lines = ["| key | API | versions | what it does here |", "|---|---|---|---|"]
    for key, module in sorted(HANDLERS.items()):
        api = API[key]
        versions = f"{api.min_version} to {api.max_version}" if api.max_version > api.min_version else f"{api.min_version}"
        if api.advertised_min != api.min_version:
            versions += f" (advertised from {api.advertised_min})"
        lines.append(f"| {key} | {api.name} | {versions} | {_card(module)} |")
    return "\n".join(lines) + "\n"


def _card(module: str) -> str:
    """What the handler's card says in its first line, behind the name."""
    source = (ROOT / "src/headrace/protocols/kafka/handlers" / f"{module}.py").read_text()
    first = (ast.get_docstring(ast.parse(source)) or "").split("\n")[0]
    return first.partition(":")[2].strip().rstrip(".")


def written(page: str) -> str:
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + table() + END + tail


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
