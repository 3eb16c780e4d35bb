"""Words of the command line that mean a time, a span, an offset or a pair; refused with an example of what would do."""

from __future__ import annotations

from datetime import UTC, datetime

from headrace.base.errors import Refused
from headrace.base.units import parse_duration_ms
from headrace.cli.errors import bad_value

Label = tuple[bytes, bytes | None]


def read_span_ms(text: str, flag: str) -> int:
    found = parse_duration_ms(text)
    if isinstance(found, Refused):
        raise bad_value(f"{flag}: {found.why}", f"for example {flag} 5h")
    return found


def read_signed_span_ms(text: str, flag: str) -> int:
    sign = -1 if text.startswith("-") else 1
    return sign * read_span_ms(text.lstrip("+-"), flag)


def read_time_ms(text: str, flag: str, now_ms: int) -> int:
    """A moment: ISO 8601 (local time unless it names a zone), milliseconds since 1970, or a span back from now ("-5h")."""
    if text.startswith("-"):
        return now_ms - read_span_ms(text[1:], flag)
    if text.isdigit() and len(text) > 9:
        return int(text)
    try:
        return round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise bad_value(
            f"{flag}: {text!r} is no time", f"for example {flag} 2026-11-19T20:45, {flag} 1795125900000 or {flag} -5h"
        ) from None


def read_label(text: str) -> Label:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise bad_value(f"--label: {text!r} is not NAME=VALUE", "for example --label source=web")
    return encode(name), encode(value)


def read_setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise bad_value(f"--set: {text!r} is not NAME=VALUE", "for example --set retention.ms=3600000")
    return name, value


def read_count(text: str, flag: str, *, low: int = 0) -> int:
    if not text.isdigit() or int(text) < low:
        raise bad_value(f"{flag}: {text!r} is no whole number from {low}", f"for example {flag} {max(low, 3)}")
    return int(text)


def encode(text: str) -> bytes:
    """The bytes that were typed, whatever the terminal's encoding made of them."""
    return text.encode("utf-8", "surrogateescape")


def show_time(ms: int) -> str:
    """UTC, to the millisecond."""
    if ms < 0:
        return "-"
    try:
        moment = datetime.fromtimestamp(ms // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{ms} ms"
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{ms % 1000:03}Z"
