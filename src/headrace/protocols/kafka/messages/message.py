"""What every Kafka message and every struct in it has in common.

A class describes its fields in `FIELDS`, one line each, in the order of the wire:

    name type versions [nullable=versions] [tag=number@versions] [default=value] [ignorable]

- types are Kafka's own words (`int32`, `uint16`, `string`, `bytes`, `records`, `uuid` …), the name of a struct in the
  same module, or `[]` and one of both;
- versions are `3-12`, `9+` or `4`; a field is on the wire in these versions only, may be null in the `nullable` ones, and
  is a tagged field (KIP-482) in the `tag` ones;
- without a `default` it is 0, false, the empty string, no bytes, the zero UUID, the empty array, a struct of defaults;
- `ignorable` says that a sender may drop the value when the version cannot carry it. Without it, a value that would
  be lost is our bug.

The text is read when a codec is made for the first time, so importing a module costs nothing but its classes.

A struct in a tagged field is absent more often than not, and absent is `None` here: on the wire it is the same as a struct
of defaults, and nobody pays for making one.
"""

from __future__ import annotations

from typing import ClassVar

SHOWN_BYTES_MAX = 32


class Message:
    """The base of all messages and structs: compared and shown by their fields."""

    __slots__ = ()
    FIELDS: ClassVar[str] = ""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self._names())

    __hash__ = None  # type: ignore[assignment]  # messages are mutable

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(getattr(self, name))}' for name in self._names())})"

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return tuple(line.split()[0] for line in cls.FIELDS.strip().splitlines())


def _same(one: object, other: object) -> bool:
    """A list and a tuple of the same items are the same array; so are a view and its bytes."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    return one == other


def _shown(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview) and len(value) > SHOWN_BYTES_MAX:
        return f"<{len(value)} bytes>"
    if isinstance(value, memoryview):
        return repr(bytes(value))
    return repr(value)
