"""The simulator: the real node on a loop, a disk, a network and a clock that one seed decides. See docs/simulator.md."""
