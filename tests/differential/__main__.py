"""`python -m tests.differential OURS PEER [SCENARIO]`: the differences that stand in no row, as rows to be filled in."""

import sys

from tests.differential.compare import compare, known, verdict


def main() -> None:
    ours, peer = sys.argv[1:3]
    found, compared = compare(ours, peer, sys.argv[3] if len(sys.argv) > 3 else "")
    unlisted, stale = verdict(found, known())
    print(f"{compared} answers compared; {len(found)} kinds of difference, {len(unlisted)} unlisted, {len(stale)} rows stale")
    for d in unlisted:
        print(d.row(), "<!--", "; ".join(d.steps[:3]), "-->")


main()
