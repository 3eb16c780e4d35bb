"""The description lines of a message class, read into values. `messages/message.py` explains their form."""

from __future__ import annotations

import sys

from headrace.protocols.kafka.messages.message import Message

# Kafka's fixed-size types as `struct` spells them (big-endian).
FIXED_FORMATS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
FIXED_SIZES = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "int64": 8, "float64": 8, "uuid": 16}
SIZED = ("string", "bytes", "records")


class Versions:
    """A range of versions, both ends included; `last` is None in `9+`."""

    __slots__ = ("first", "last")

    def __init__(self, text: str) -> None:
        first, _, last = text.partition("-")
        self.first = int(first.removesuffix("+"))
        self.last = None if text.endswith("+") else int(last or first)

    def __contains__(self, version: int) -> bool:
        return version >= self.first and (self.last is None or version <= self.last)


class Field:
    """One field of a struct."""

    __slots__ = ("default", "ignorable", "is_array", "kind", "name", "nullable", "struct", "tag", "tagged", "versions")

    def __init__(self, line: str, owner: type[Message]) -> None:
        name, kind, versions, *rest = line.split()
        self.name = name
        self.is_array = kind.startswith("[]")
        self.kind = kind.removeprefix("[]")
        self.versions = Versions(versions)
        self.nullable: Versions | None = None
        self.tagged: Versions | None = None
        self.tag = -1
        self.ignorable = False
        self.struct: type[Message] | None = None
        default: str | None = None
        for word in rest:
            key, _, value = word.partition("=")
            if key == "nullable":
                self.nullable = Versions(value)
            elif key == "tag":
                tag, _, tagged = value.partition("@")
                self.tag, self.tagged = int(tag), Versions(tagged)
            elif key == "default":
                default = value
            else:
                assert key == "ignorable", f"{owner.__name__}: {line}"
                self.ignorable = True
        if self.kind not in FIXED_FORMATS and self.kind not in SIZED:
            self.struct = getattr(sys.modules[owner.__module__], self.kind)
        self.default: object = self._default(default)

    def _default(self, text: str | None) -> object:
        """The default as a value; for a struct None, which stands for "a struct of defaults" wherever null is not allowed."""
        if text == "null" or self.kind == "records" or (self.struct is not None and not self.is_array):
            return None
        if self.is_array:
            return ()
        if self.kind == "string":
            return text or ""
        if self.kind == "bytes":
            return b""
        if self.kind == "bool":
            return text == "true"
        if self.kind == "float64":
            return float(text or 0)
        if self.kind == "uuid":
            return None
        return int(text, 0) if text else 0

    def is_tagged(self, version: int) -> bool:
        return self.tagged is not None and version in self.tagged

    def is_nullable(self, version: int) -> bool:
        return self.nullable is not None and version in self.nullable


_fields: dict[type[Message], tuple[Field, ...]] = {}


def fields_of(struct: type[Message]) -> tuple[Field, ...]:
    known = _fields.get(struct)
    if known is None:
        known = tuple(Field(line, struct) for line in struct.FIELDS.strip().splitlines())
        _fields[struct] = known
    return known


def size_min(struct: type[Message], version: int, flexible: bool) -> int:
    """The fewest bytes that one such struct takes on the wire: what an array's length is held against."""
    size = 1 if flexible else 0
    for field in fields_of(struct):
        if version not in field.versions or field.is_tagged(version):
            continue
        size += _field_size_min(field, version, flexible)
    return size


def _field_size_min(field: Field, version: int, flexible: bool) -> int:
    if field.is_array:
        return 1 if flexible else 4
    if field.kind in FIXED_SIZES:
        return FIXED_SIZES[field.kind]
    if field.struct is None:
        return 1 if flexible else (2 if field.kind == "string" else 4)
    if field.is_nullable(version):
        return 1
    return size_min(field.struct, version, flexible)


def item_size_min(field: Field, version: int, flexible: bool) -> int:
    """The fewest bytes of one item of an array."""
    if field.struct is not None:
        return size_min(field.struct, version, flexible)
    return FIXED_SIZES.get(field.kind) or (1 if flexible else (2 if field.kind == "string" else 4))
