"""`make bench`, or `python -m bench`: Headrace and Apache Kafka 4.3.1 in one run, with one load generator, in ratios."""

import argparse
import json
import sys
from pathlib import Path

from bench import report
from bench.measures import MEASURES
from bench.peer import Unavailable
from bench.run import Bench, rows, surroundings
from tests.support.broker import ROOT


def main() -> None:
    names = [m.name for m in MEASURES]
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, short windows, the main loads")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--only", action="append", default=[], choices=names, metavar="MEASURE", help=", ".join(names))
    parser.add_argument("--side", action="append", choices=["headrace", "kafka"], help="measure one broker only: no ratios")
    parser.add_argument("--python", default="", help="interpreter that runs Headrace (default: this one)")
    parser.add_argument("--heap", default="1g", help="Kafka's heap")
    parser.add_argument(
        "--folder", type=Path, help="where the brokers' data lies while they run (default: the system's temporary folder)"
    )
    parser.add_argument("--json", type=Path, help="write the rows, the rounds and the surroundings to this file")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and docs/benchmarks.json")
    parser.add_argument("--profile", type=Path, metavar="FOLDER", help="py-spy flame graphs of Headrace under each load")
    options = parser.parse_args()
    options.rounds = options.rounds or (1 if options.quick else 3)
    if options.write and (options.quick or options.side or options.only or options.profile or options.rounds < 3):
        parser.error("--write wants a whole run: at least three rounds of all loads on both sides")
    bench = Bench(options)
    try:
        bench.go()
    except Unavailable as why:
        sys.exit(f"bench: Apache Kafka cannot be had: {why}")
    found, where = rows(bench), surroundings(bench)
    print(report.table(found))
    print()
    for name, value in where.items():
        print(f"{name:12} {value}")
    whole = {"rows": found, "surroundings": where, "rounds": bench.results}
    if options.json:
        options.json.write_text(json.dumps(whole, indent=1) + "\n")
    if options.write:
        (ROOT / "docs" / "benchmarks.md").write_text(report.markdown(found, where))
        kept = ("measure", "ours", "peer", "unit", "ratio", "goal", "met")
        (ROOT / "docs" / "benchmarks.json").write_text(json.dumps([{k: r[k] for k in kept} for r in found], indent=1) + "\n")


main()
