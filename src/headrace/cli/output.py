"""How answers are shown: a table on a terminal, aligned plain text elsewhere, JSON when asked for.

A command makes rows (dicts, all with the same keys) and does not care. JSON keeps numbers, nulls and lists as they are; texts for
people show lists joined by commas and nulls as a dash. Nothing of what clients wrote reaches a terminal unescaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from headrace.server.terminal import Terminal

Row = Mapping[str, object]


class Output:
    """`form` is what `-o` said: "table" or "json"."""

    def __init__(self, terminal: Terminal, form: str = "table") -> None:
        self.terminal = terminal
        self.json = form == "json"

    def rows(self, rows: Sequence[Row], *, columns: Sequence[str], title: str = "") -> None:
        """A table; as JSON an array of objects (which hold all keys, whatever the columns)."""
        if self.json:
            self.value([dict(row) for row in rows])
        elif self.terminal.is_terminal(self.terminal.out):
            self._rich(rows, columns, title)
        else:
            self.terminal.out.write(aligned(rows, columns, title))

    def value(self, value: object) -> None:
        self.terminal.out.write(json.dumps(value, ensure_ascii=False) + "\n")

    def say(self, text: str, **fields: object) -> None:
        """A sentence for people; the fields as one object for machines."""
        if self.json:
            self.value(fields)
        else:
            self.terminal.out.write(printable(text) + "\n")

    def _rich(self, rows: Sequence[Row], columns: Sequence[str], title: str) -> None:
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(printable(title)) if title else None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for column in columns:
            numbers = all(is_number(row[column]) for row in rows)
            table.add_column(column, justify="right" if numbers else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell(row[column])) for column in columns))
        Console(file=self.terminal.out, width=self.terminal.width()).print(table)


def printable(text: str) -> str:
    """Control characters could move the cursor or rename the window; they are shown as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(cell(part) for part in value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={cell(part)}" for name, part in value.items())
    return printable(str(value)).replace("\n", "\\n")


def is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def aligned(rows: Sequence[Row], columns: Sequence[str], title: str = "") -> str:
    """Columns two spaces apart, numbers to the right, nothing behind the last word of a line."""
    lines = [list(columns), *([cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    to_the_right = [
        bool(rows) and all(isinstance(row[c], int | float | None) and row[c] is not True for row in rows) for c in columns
    ]
    text = f"{printable(title)}\n" if title else ""
    for line in lines:
        cells = (
            word.rjust(width) if right else word.ljust(width) for word, width, right in zip(line, widths, to_the_right, strict=True)
        )
        text += "  ".join(cells).rstrip() + "\n"
    return text
