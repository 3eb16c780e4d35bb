"""Sizes and durations as people write them: "64MiB", "1GB", "14d", "1h30m".

Decimal units are powers of 1000, binary ones powers of 1024, as the letters say. A duration without a unit is
refused: nobody can tell whether 5 is seconds or milliseconds. Everything is whole bytes and whole milliseconds.
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused

SIZE_UNITS = {
    "B": 1,
    "kB": 1000,
    "KB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "TB": 1000**4,
    "KiB": 1024,
    "MiB": 1024**2,
    "GiB": 1024**3,
    "TiB": 1024**4,
}
DURATION_UNITS = {"ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}

# What a signed 64 bit number holds: Kafka's "for ever", and the widest number the wire knows.
WIDEST = 2**63 - 1

_SIZES_ALLOWED = 'a size such as 4096, "64MiB" or "1GB" (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)'
_DURATIONS_ALLOWED = 'a duration such as "500ms", "5h", "14d" or "1h30m" (units: ms, s, m, h, d, w)'

# Largest first, so that a number is written in the widest unit that divides it.
_SIZE_NAMES = ("TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "kB")
_DURATION_NAMES = ("d", "h", "m", "s")  # Weeks are read, not written: people say 14 days.


def parse_size(text: str) -> int | Refused:
    """A number of bytes. A plain number is bytes."""
    number, unit = _split(text.strip())
    scale = SIZE_UNITS.get(unit or "B")
    size = None if scale is None else _scaled(number, scale)
    return Refused(Code.BAD_CONFIG, f"{text!r} is not {_SIZES_ALLOWED}") if size is None else size


def parse_duration_ms(text: str) -> int | Refused:
    """A number of milliseconds. Parts add up: "1h30m" is 5,400,000."""
    rest = text.strip()
    if rest == "0":
        return 0
    total = 0
    refused = Refused(Code.BAD_CONFIG, f"{text!r} is not {_DURATIONS_ALLOWED}")
    if not rest:
        return refused
    while rest:
        number, rest = _split(rest)
        unit = _leading_letters(rest)
        scale = DURATION_UNITS.get(unit)
        part = None if scale is None else _scaled(number, scale)
        if part is None:
            return refused
        total += part
        rest = rest[len(unit) :].lstrip()
    return total if total <= WIDEST else refused


def format_size(size: int) -> str:
    """The shortest exact form: 1536 is "1536B", 65536 is "64KiB"."""
    for name in _SIZE_NAMES:
        if size and size % SIZE_UNITS[name] == 0:
            return f"{size // SIZE_UNITS[name]}{name}"
    return f"{size}B"


def format_duration_ms(duration_ms: int) -> str:
    """The shortest exact form: 5,400,000 is "90m"."""
    for name in _DURATION_NAMES:
        if duration_ms and duration_ms % DURATION_UNITS[name] == 0:
            return f"{duration_ms // DURATION_UNITS[name]}{name}"
    return f"{duration_ms}ms"


def _split(text: str) -> tuple[str, str]:
    """The number at the front and what follows it."""
    end = 0
    while end < len(text) and text[end] in "0123456789.":
        end += 1
    return text[:end], text[end:].lstrip()


def _leading_letters(text: str) -> str:
    end = 0
    while end < len(text) and text[end].isalpha():
        end += 1
    return text[:end]


def _scaled(number: str, scale: int) -> int | None:
    """Exact: "1.5" of 1024 is 1536, and "0.3" of 1 is nothing whole. No floats, they would round what is large."""
    whole, point, fraction = number.partition(".")
    if not whole or (point and not fraction) or "." in fraction or len(number) > 32:
        return None
    value, rest = divmod(int(whole + fraction) * scale, 10 ** len(fraction))
    return value if rest == 0 and value <= WIDEST else None
