"""Messages with contents by chance, for the tests of the codec. One seed, one message."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

from headrace.protocols.kafka.codec_maker import is_flexible
from headrace.protocols.kafka.fields import Field, fields_of
from headrace.protocols.kafka.messages import API, Message

LIMITS = {"int8": 7, "int16": 15, "uint16": 16, "int32": 31, "int64": 63}
TEXTS = ("", "a", "orders", "żółć-☃-𝄞", "x" * 126, "y" * 127, "z" * 300)


def all_messages() -> list[tuple[int, int, type[Message]]]:
    """Every request and response in every version."""
    return [
        (api.key, version, struct)
        for api in API.values()
        for version in range(api.min_version, api.max_version + 1)
        for struct in (api.request, api.response)
    ]


def sample(struct: type[Message], version: int, chance: random.Random, *, depth: int = 0) -> Message:
    """A message in which every field of the version has a value by chance: nulls, defaults, limits and long ones among them.

    Numbers that an oracle reads as an error code or a time stay within what it can read.
    """
    values = {}
    for field in fields_of(struct):
        if version in field.versions and not (field.is_tagged(version) and chance.random() < 0.4):
            values[field.name] = _value(field, version, chance, depth)
    return struct(**values)


def _value(field: Field, version: int, chance: random.Random, depth: int) -> Any:
    if field.is_nullable(version) and chance.random() < 0.3:
        return None
    if not field.is_array:
        return _item(field, version, chance, depth)
    count = chance.choice((0, 1, 1, 2, 3) if depth < 2 else (0, 1, 2))
    if field.struct is None and chance.random() < 0.05:
        count = 130  # a compact count of two bytes
    return [_item(field, version, chance, depth + 1) for _ in range(count)]


def _item(field: Field, version: int, chance: random.Random, depth: int) -> Any:
    kind = field.kind
    if field.struct is not None:
        return sample(field.struct, version, chance, depth=depth + 1)
    if kind == "string":
        return chance.choice(TEXTS)
    if kind in ("bytes", "records"):
        data = chance.randbytes(chance.choice((0, 1, 20, 126, 127, 128, 400)))
        return memoryview(data) if kind == "records" else data
    if kind == "bool":
        return chance.random() < 0.5
    if kind == "uuid":
        return UUID(int=chance.choice((0, 1, chance.getrandbits(128))))
    if kind == "float64":
        return chance.choice((0.0, -1.5, 1e300))
    if field.name.endswith("error_code"):
        return chance.randint(-1, 100)
    if any(word in field.name for word in ("_ms", "time")):
        return chance.randint(0, 2**31 - 1)
    bits = LIMITS[kind]
    low = 0 if kind == "uint16" else -(2**bits)
    return chance.choice((0, 1, 2**bits - 1, low, chance.randint(low, 2**bits - 1)))


def with_unknown_tags(message_bytes: bytes, struct: type[Message], version: int) -> bytes:
    """The same message with two tagged fields nobody knows at its end. The message itself must have none there."""
    assert is_flexible(struct, version) and message_bytes[-1] == 0
    return message_bytes[:-1] + bytes((2, 0x90, 0x4E, 3)) + b"abc" + bytes((0x91, 0x4E, 0))
