"""The figures for people (a table on the terminal, `docs/benchmarks.md`) and for programs (JSON)."""

from typing import Any

Row = dict[str, Any]

_HEAD = """# Benchmarks

Written by `make bench ARGS=--write`; change the bench, not this page. One load generator (`bench/load`), both brokers in the same
run on the same machine, one of them up at a time, in turn. Each figure is the median of the rounds; the ratio is ours divided by
Kafka's, median and range of the rounds. Figures of two runs do not compare: ratios do.

Producers use 4 connections with 5 requests under way on each, readers 4 connections with one; `acks=1`, one partition and records
of 100 B where a row says nothing else. Acks come from the page cache on both sides (Headrace: `durability=pagecache`) unless a row
says "flushed": then every ack follows an fdatasync (Headrace: `durability=fsynced`, Kafka: `flush.messages=1`). "Walked" and
"headers only" are `record.validation`: `records`, the default, looks at every record of a batch as Kafka does, `header` at headers
and checksum.
The warning line is the ratio that a throw-away prototype of the data path reached: below it a lead was lost.
"""


def figure(value: float | None) -> str:
    if value is None:
        return "–"
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def ratio(row: Row) -> str:
    if row["ratio"] is None:
        return "–"
    low, high = row["range"]
    return f"{row['ratio']:.2f} ({low:.2f} to {high:.2f})"


def warning(row: Row) -> str:
    if row["goal"] is None:
        return ""
    verdict = {None: "", True: " ✓", False: " ✗"}[row["met"]]
    return f"{row['goal_is']} {row['goal']}{verdict}"


def table(rows: list[Row]) -> str:
    head = ("measure", "Headrace", "Kafka", "unit", "ratio (range)", "warning line")
    body = [(r["title"], figure(r["ours"]), figure(r["peer"]), r["unit"], ratio(r), warning(r)) for r in rows]
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    lines = [head, tuple("-" * w for w in widths), *body]
    return "\n".join(
        "  ".join(cell.ljust(w) if i in (0, 3, 5) else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    )


def markdown(rows: list[Row], surroundings: dict[str, Any]) -> str:
    lines = [_HEAD, "| measure | Headrace | Kafka | unit | ratio (range) | warning line |", "|---|---:|---:|---|---|---|"]
    for r in rows:
        title = f"&emsp;{r['title'].strip()}" if r["title"].startswith(" ") else r["title"]
        lines.append(f"| {title} | {figure(r['ours'])} | {figure(r['peer'])} | {r['unit']} | {ratio(r)} | {warning(r)} |")
    lines += ["", "## Where and how", "", "| | |", "|---|---|"]
    lines += [f"| {name} | {value} |" for name, value in surroundings.items() if name != "profiled"]
    return "\n".join(lines) + "\n"
