"""`python -m sim --seed 42`: run the simulator. A failing seed prints the end of its trace."""

from __future__ import annotations

import argparse
import sys
import time

from sim.node import boot
from sim.run import Result, Run

TAIL_SHOWN = 60


def main() -> int:
    parser = argparse.ArgumentParser(prog="sim", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=1, help="how many seeds, one after another")
    parser.add_argument("--seconds", type=float, default=60.0, help="virtual seconds with faults")
    parser.add_argument("--hours", type=float, default=0.0, help="go on with further seeds for so many real hours")
    parser.add_argument("--trace", action="store_true", help="print all that happens")
    options = parser.parse_args()
    began = time.perf_counter()
    failed: list[Result] = []
    virtual_s = 0.0
    seed = options.seed
    while seed < options.seed + options.count or time.perf_counter() - began < options.hours * 3600:
        result = Run(seed, options.seconds, boot, show=options.trace).go()
        virtual_s += result.virtual_s
        print(result.line(), flush=True)
        if result.failure is not None:
            failed.append(result)
            print("\n".join(line[:400] for line in result.tail[-TAIL_SHOWN:]))
            print(f"seed {seed}: {result.failure}", flush=True)
        seed += 1
    real_s = time.perf_counter() - began
    times = f"{virtual_s / 3600:.2f} simulated node-hours in {real_s / 60:.1f} minutes"
    print(f"{seed - options.seed} seeds, {len(failed)} failed; {times}")
    if failed:
        print("again: " + "  ".join(f"make sim SEED={result.seed}" for result in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
