"""The stall meter sees what held the loop, and not what the machine took from us."""

from __future__ import annotations

from headrace.base.metrics import Metrics
from headrace.server.stall import BUSY_INTERVAL_S, IDLE_INTERVAL_S, StallMeter, StarvedClock, StolenClock


class Loop:
    """Keeps the one timer it was given."""

    def __init__(self) -> None:
        self.delay = 0.0
        self.callback = lambda: None
        self.cancelled = False

    def call_later(self, delay, callback):
        self.delay, self.callback = delay, callback
        return self

    def cancel(self):
        self.cancelled = True


class Machine:
    """A clock, the CPU time of our thread and its time in the run queue, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.cpu = 0.0
        self.starved = 0.0
        self.stolen = 0.0
        self.metrics = Metrics()
        self.loop = Loop()
        self.meter = StallMeter(
            self.metrics, clock=lambda: self.now, cpu=lambda: self.cpu, starved=lambda: self.starved, stolen=self.take_stolen
        )
        self.meter.start(self.loop)  # type: ignore[arg-type]

    def take_stolen(self) -> float:
        stolen, self.stolen = self.stolen, 0.0
        return stolen

    def turn(self, *, late: float = 0.0, cpu: float = 0.0, starved: float = 0.0, stolen: float = 0.0) -> None:
        self.stolen += stolen
        self.now += self.loop.delay + late
        self.cpu += cpu
        self.starved += starved
        self.loop.callback()


def test_a_late_tick_is_a_stall_of_that_length():
    machine = Machine()
    machine.turn(late=0.030, cpu=0.030)
    machine.turn(late=0.001)
    assert round(machine.metrics.stall_ms.maximum, 3) == 30.0
    assert machine.metrics.stall_ms.count == 2


def test_time_in_the_run_queue_is_counted_apart():
    machine = Machine()
    machine.turn(late=0.030, starved=0.025)
    assert round(machine.metrics.stall_ms.maximum, 3) == 5.0
    assert round(machine.metrics.starved_ms, 3) == 25.0


def test_time_that_the_host_took_is_counted_apart():
    machine = Machine()
    machine.turn(late=0.037, stolen=0.030)
    assert round(machine.metrics.stall_ms.maximum, 3) == 7.0
    assert round(machine.metrics.starved_ms, 3) == 30.0
    machine.turn(late=0.012, stolen=0.020)
    assert round(machine.metrics.starved_ms, 3) == 42.0


def test_what_the_host_took_long_ago_hides_no_stall():
    machine = Machine()
    machine.turn(stolen=0.030)
    for _ in range(60):
        machine.turn()
    machine.turn(late=0.030)
    assert round(machine.metrics.stall_ms.maximum, 3) == 30.0


def test_the_stolen_clock_counts_the_cpu_that_the_thread_is_on(tmp_path):
    stat, thread = tmp_path / "stat", tmp_path / "thread"

    def write(first: int, second: int) -> None:
        stat.write_text(
            f"cpu  1 2 3 4 5 6 7 {first + second} 0 0\ncpu0 1 2 3 4 5 6 7 {first} 0 0\ncpu1 1 2 3 4 5 6 7 {second} 0 0\nintr 5\n"
        )

    write(100, 200)
    thread.write_text("77 (a ) b) R " + " ".join(["0"] * 35) + " 1 0 0")
    clock = StolenClock(str(stat), str(thread))
    assert clock() == 0.0
    write(150, 203)
    assert round(clock() / clock.tick_s) == 3
    assert clock() == 0.0
    write(150, 207)
    thread.write_text("77 (a ) b) R " + " ".join(["0"] * 36) + " 0 0")
    assert round(clock() / clock.tick_s) == 4, "moved from the second to the first"
    write(150, 300)
    assert clock() == 0.0
    stat.write_text("rubbish")
    assert clock() == 0.0
    clock.close()
    assert clock() == 0.0
    assert StolenClock(str(tmp_path / "none"), str(thread))() == 0.0
    assert StolenClock()() >= 0.0


def test_more_starved_than_late_is_no_negative_stall():
    machine = Machine()
    machine.turn(late=0.001, starved=0.004)
    assert machine.metrics.stall_ms.maximum == 0.0


def test_an_idle_loop_is_asked_rarely_and_a_busy_one_often_again():
    machine = Machine()
    while machine.loop.delay == BUSY_INTERVAL_S:
        machine.turn()
        assert machine.now < 102
    assert machine.loop.delay == IDLE_INTERVAL_S
    assert machine.now > 100.9
    machine.turn(cpu=0.002)
    assert machine.loop.delay == BUSY_INTERVAL_S


def test_stopping_cancels_the_timer():
    machine = Machine()
    machine.meter.stop()
    assert machine.loop.cancelled


def test_the_starved_clock_never_fails(tmp_path):
    assert StarvedClock(str(tmp_path / "none"))() == 0.0
    (tmp_path / "odd").write_text("rubbish")
    assert StarvedClock(str(tmp_path / "odd"))() == 0.0
    (tmp_path / "good").write_text("10 2500000000 3\n")
    clock = StarvedClock(str(tmp_path / "good"))
    assert clock() == 2.5
    clock.close()
    assert clock() == 0.0
