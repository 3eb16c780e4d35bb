from headrace.log.retention import expired, latest_ms
from headrace.log.segment import Segment
from headrace.log.settings import LogSettings
from tests.unit.log.memory_files import MemoryFiles

SETTINGS = LogSettings(retention_ms=1_000, retention_bytes=-1)


def segment(base: int, *, latest: int, appended: int = 10_000, size: int = 100, settled: bool = True) -> Segment:
    one = Segment(MemoryFiles(), "t-0", base, 0)
    one.end_offset = base + 10
    one.size, one.max_timestamp, one.last_append_ms = size, latest, appended
    one.settled = one.name_is_durable = settled
    return one


def gone(
    segments: list[Segment], settings: LogSettings = SETTINGS, *, now_ms: int = 10_000, start: int = 0, upto: int = 1_000
) -> list[int]:
    size = sum(s.size for s in segments)
    found = expired(segments, settings, start_offset=start, upto_offset=upto, size_bytes=size, now_ms=now_ms)
    return [s.base_offset for s in found]


def test_by_time_from_the_beginning_and_never_the_last() -> None:
    log = [segment(0, latest=8_000), segment(10, latest=8_999), segment(20, latest=9_000), segment(30, latest=1)]
    assert gone(log) == [0, 10]
    assert gone(log, now_ms=99_000) == [0, 10, 20]
    assert gone(log, LogSettings(retention_ms=-1)) == []


def test_a_time_in_the_future_does_not_stop_it() -> None:
    log = [segment(0, latest=2**60, appended=8_000), segment(10, latest=9_999)]
    assert latest_ms(log[0]) == 8_000
    assert gone(log) == [0]


def test_without_timestamps_the_append_counts() -> None:
    assert gone([segment(0, latest=-1, appended=8_000), segment(10, latest=0)]) == [0]
    assert gone([segment(0, latest=-1, appended=9_500), segment(10, latest=0)]) == []


def test_by_size_as_long_as_enough_is_left() -> None:
    log = [segment(i * 10, latest=10_000) for i in range(4)]
    assert gone(log, LogSettings(retention_bytes=200)) == [0, 10]
    assert gone(log, LogSettings(retention_bytes=201)) == [0]
    assert gone(log, LogSettings(retention_bytes=0)) == [0, 10, 20]


def test_what_may_not_go() -> None:
    old = [segment(i * 10, latest=1) for i in range(4)]
    assert gone(old, upto=20) == [0, 10], "not beyond the high watermark"
    old[1].settled = False
    assert gone(old) == [0], "not what is not durable"
    old[1].name_is_durable = False
    assert gone(old) == [], "nor what stands before a segment whose name may be lost"
    assert gone([segment(0, latest=1), segment(10, latest=1)], LogSettings(retention_ms=1_000, delete=False, compact=True)) == []


def test_what_lies_before_the_start_goes_whatever_the_policy() -> None:
    log = [segment(i * 10, latest=10_000) for i in range(3)]
    kept = LogSettings(delete=False, compact=True)
    assert gone(log, kept, start=9) == []
    assert gone(log, kept, start=10) == [0]
    assert gone(log, kept, start=25) == [0, 10]
