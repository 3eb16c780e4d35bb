"""What the world can do to us, all of it, and how a seed draws a mixture of it.

Swarm testing: a run that has a little of everything finds less than many runs that each have much of a few things
(a disk that never syncs hides what happens between two syncs). So each kind of fault is first drawn as a whole, on or
off, then how bad it is. A fault that is new to us gets its knob here, then see what breaks.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class DiskFaults:
    """What this disk does to us. All chances are per call."""

    capacity_bytes: int = 1 << 40
    write_error_chance: float = 0.0
    sync_error_chance: float = 0.0
    read_error_chance: float = 0.0
    sync_ms: tuple[float, float] = (0.2, 3.0)
    slow_sync_chance: float = 0.0
    slow_sync_ms: tuple[float, float] = (50.0, 2_000.0)
    evict_chance: float = 0.0  # a cached read finds its pages gone
    write_back_chance: float = 0.3  # a write-back hint is followed
    rot_chance: float = 0.0  # at a crash: a page that was being written holds rubbish
    lies_about_sync: bool = False  # the planted bug of the simulator's own tests: a sync that keeps nothing


@dataclass(slots=True)
class NetworkFaults:
    delay_ms: tuple[float, float] = (0.02, 1.0)
    split_chance: float = 0.3  # a write arrives in pieces
    pieces_max: int = 4
    cut_chance: float = 0.0  # per write: the connection breaks
    clog_chance: float = 0.0  # per write: nothing of this direction arrives for a while
    clog_ms: tuple[float, float] = (50.0, 5_000.0)
    window_bytes: int = 64 * 1024
    read_size_max: int = 256 * 1024  # one read of a plain Protocol


@dataclass(slots=True)
class MachineFaults:
    """What happens to the node's machine. Times are seconds between two such events, on average; 0 is never."""

    power_cut_s: float = 0.0  # the page cache is gone
    kill_s: float = 0.0  # kill -9: the page cache stays
    restart_s: float = 0.0  # a clean stop and start
    crash_in_call_chance: float = 0.0  # a crash strikes within a call to the disk, not between two callbacks
    down_s: tuple[float, float] = (0.0, 10.0)
    clock_step_s: float = 0.0
    late_ms_max: float = 0.0  # the loop wakes late
    thread_ms: tuple[float, float] = (0.02, 0.5)  # until work that was given away begins, and again until its answer is heard


@dataclass(slots=True)
class Faults:
    disk: DiskFaults = field(default_factory=DiskFaults)
    network: NetworkFaults = field(default_factory=NetworkFaults)
    machine: MachineFaults = field(default_factory=MachineFaults)

    @property
    def loses_cache(self) -> bool:
        """Whether what was not synced can be lost: then only `durability=fsynced` promises anything."""
        return bool(self.machine.power_cut_s or self.disk.sync_error_chance)


def draw(chance: random.Random) -> Faults:
    """The mixture of one run."""

    def on(probability: float = 0.5) -> bool:
        return chance.random() < probability

    faults = Faults()
    disk, network, machine = faults.disk, faults.network, faults.machine
    if on(0.3):
        disk.sync_ms = (2.0, 30.0)
    if on(0.3):
        disk.slow_sync_chance = chance.choice((0.01, 0.1, 0.5))
    if on(0.25):
        disk.sync_error_chance = chance.choice((0.002, 0.02, 0.1))
    if on(0.25):
        disk.write_error_chance = chance.choice((0.0005, 0.005, 0.02))
    if on(0.2):
        disk.read_error_chance = chance.choice((0.001, 0.01))
    if on(0.15):
        disk.capacity_bytes = chance.randrange(300_000, 1_500_000)
    if on():
        disk.evict_chance = chance.choice((0.01, 0.2))
    if on():
        disk.rot_chance = 0.3
    disk.write_back_chance = chance.choice((0.0, 0.3, 1.0))
    if on():
        network.delay_ms = chance.choice(((0.01, 0.1), (0.1, 20.0), (20.0, 300.0)))
    network.split_chance = chance.choice((0.0, 0.1, 0.8))
    network.pieces_max = chance.choice((2, 4, 20))
    if on():
        network.cut_chance = chance.choice((0.0005, 0.005, 0.03))
    if on(0.3):
        network.clog_chance = chance.choice((0.001, 0.01))
    network.window_bytes = chance.choice((500, 8_000, 64_000, 1_000_000))
    if on(0.6):
        machine.power_cut_s = chance.choice((5.0, 20.0, 60.0))
    if on(0.4):
        machine.kill_s = chance.choice((5.0, 20.0, 60.0))
    if on(0.4):
        machine.restart_s = chance.choice((10.0, 30.0))
    if on(0.6):
        machine.crash_in_call_chance = 0.7
    if on(0.3):
        machine.down_s = (0.0, 60.0)
    if on(0.2):
        machine.clock_step_s = 20.0
    machine.thread_ms = chance.choice(((0.02, 0.5), (0.02, 0.5), (0.1, 20.0), (5.0, 200.0)))
    if on(0.4):
        machine.late_ms_max = chance.choice((5.0, 200.0))
    return faults
