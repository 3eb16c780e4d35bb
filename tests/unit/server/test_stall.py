"""The stall meter sees what held the loop, and not what the machine took from us."""

from __future__ import annotations

from headrace.base.metrics import Metrics
from headrace.server.stall import BUSY_INTERVAL_S, IDLE_INTERVAL_S, StallMeter, StarvedClock


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
        self.metrics = Metrics()
        self.loop = Loop()
        self.meter = StallMeter(self.metrics, clock=lambda: self.now, cpu=lambda: self.cpu, starved=lambda: self.starved)
        self.meter.start(self.loop)  # type: ignore[arg-type]

    def turn(self, *, late: float = 0.0, cpu: float = 0.0, starved: float = 0.0) -> None:
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
