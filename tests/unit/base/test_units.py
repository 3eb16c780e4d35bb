"""Sizes and durations: what is written is what is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.base.errors import Code, Refused
from headrace.base.units import WIDEST, format_duration_ms, format_size, parse_duration_ms, parse_size

numbers = st.integers(min_value=0, max_value=WIDEST)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096", 4096),
        ("64MiB", 64 * 1024 * 1024),
        ("1GB", 10**9),
        ("1 GiB", 2**30),
        ("1.5KiB", 1536),
        (" 7B ", 7),
        ("10kB", 10_000),
        ("0.1kB", 100),
    ],
)
def test_sizes_in_both_families_of_units(text, size):
    assert parse_size(text) == size


NO_SIZES = ["", "MiB", "12XB", "-1", "1.5", "0.0001kB", "1..5KiB", ".5KiB", "5.MiB", "1e3", "9" * 20, "1h", "٣"]


@pytest.mark.parametrize("text", NO_SIZES)
def test_what_is_no_size_is_refused_with_what_is_allowed(text):
    refused = parse_size(text)
    assert isinstance(refused, Refused)
    assert refused.code is Code.BAD_CONFIG
    assert "MiB" in refused.why and repr(text) in refused.why


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("500ms", 500),
        ("5h", 5 * 3_600_000),
        ("14d", 14 * 86_400_000),
        ("1h30m", 5_400_000),
        ("1h 30m", 5_400_000),
        ("2w", 14 * 86_400_000),
        ("1.5s", 1500),
        ("3min", 180_000),
        ("0", 0),
    ],
)
def test_durations(text, ms):
    assert parse_duration_ms(text) == ms


@pytest.mark.parametrize("text", ["", "5", "h", "5x", "1h30", "-5s", "0.5ms", "5 parsecs", "99999999999999999999d", "٣h"])
def test_a_duration_needs_its_unit(text):
    refused = parse_duration_ms(text)
    assert isinstance(refused, Refused)
    assert "14d" in refused.why


@given(numbers)
def test_a_size_written_is_the_size_read(size):
    assert parse_size(format_size(size)) == size


@given(numbers)
def test_a_duration_written_is_the_duration_read(duration_ms):
    assert parse_duration_ms(format_duration_ms(duration_ms)) == duration_ms


def test_the_widest_unit_that_divides_is_chosen():
    assert format_size(1536) == "1536B"
    assert format_size(1024**3) == "1GiB"
    assert format_size(10**9) == "1GB"
    assert format_duration_ms(5_400_000) == "90m"
    assert format_duration_ms(0) == "0ms"


@given(st.text(max_size=20))
def test_any_text_is_a_number_or_a_refusal(text):
    for parse in (parse_size, parse_duration_ms):
        value = parse(text)
        assert isinstance(value, Refused) or 0 <= value <= WIDEST
