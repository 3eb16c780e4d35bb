"""Words that mean a time, a span, a label."""

from __future__ import annotations

import pytest

from headrace.cli.errors import CliError
from headrace.cli.values import encode, read_count, read_label, read_signed_span_ms, read_span_ms, read_time_ms, show_time


def test_spans():
    assert read_span_ms("1h30m", "--since") == 5_400_000
    assert read_signed_span_ms("-5h", "--by") == -18_000_000
    assert read_signed_span_ms("+2s", "--by") == 2_000


def test_times():
    assert read_time_ms("2026-11-19T20:45:00Z", "--t", 0) == 1_795_121_100_000
    assert read_time_ms("2026-11-19T20:45:00+02:00", "--t", 0) == 1_795_113_900_000
    assert read_time_ms("1795121100000", "--t", 0) == 1_795_121_100_000
    assert read_time_ms("-1h", "--t", 4_000_000) == 400_000


def test_labels():
    assert read_label("a=b=c") == (b"a", b"b=c")
    assert read_label("a=") == (b"a", b"")
    assert encode("\udcff") == b"\xff"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: read_span_ms("5", "--x"),
        lambda: read_time_ms("soon", "--x", 0),
        lambda: read_time_ms("-soon", "--x", 0),
        lambda: read_label("nothing"),
        lambda: read_label("=v"),
        lambda: read_count("-1", "--x"),
        lambda: read_count("0", "--x", low=1),
    ],
)
def test_what_cannot_be_read_is_wrong_usage_with_an_example(wrong):
    with pytest.raises(CliError) as caught:
        wrong()
    assert caught.value.status == 2 and caught.value.next


def test_times_are_shown_in_utc_to_the_millisecond():
    assert show_time(1_795_121_100_007) == "2026-11-19T20:45:00.007Z"
    assert show_time(-1) == "-"
    assert show_time(2**62) == f"{2**62} ms"
