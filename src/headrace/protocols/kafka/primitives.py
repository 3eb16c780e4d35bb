"""What made codecs call where a value is not the usual one-liner: long varints, tagged fields, refusals, UUIDs.

Layouts (big-endian throughout):

    string      int16 size, bytes           size -1: null
    bytes       int32 size, bytes           size -1: null        (`records` likewise)
    array       int32 count, items          count -1: null
    compact …   uvarint size or count + 1   0: null              (flexible versions, KIP-482)
    uvarint     7 bits a byte, low first, top bit: more follow; at most 5 bytes and 32 bits
    tagged      uvarint count, then count x (uvarint tag, uvarint size, bytes), tags rising
"""

from __future__ import annotations

from typing import NoReturn
from uuid import UUID

from headrace.base.errors import ProtocolError
from headrace.base.limits import TAGGED_FIELDS_MAX

# Kafka's bound for a string, also where the size on the wire could say more.
STRING_SIZE_MAX = 0x7FFF
# An error's text that quotes a name of 32,767 bytes would not fit into a string any more; nobody reads on after this.
ERROR_TEXT_SIZE_MAX = 2_000
# Topic ids repeat in every request, and making a UUID costs ten times as much as finding one.
UUIDS_KEPT_MAX = 10_000

_uuids: dict[bytes, UUID] = {}
kept_uuid = _uuids.get


def make_uuid(data: bytes) -> UUID:
    """A UUID that is not among the kept ones; it is kept from now on."""
    if len(_uuids) >= UUIDS_KEPT_MAX:
        _uuids.clear()
    made = _uuids[data] = UUID(bytes=data)
    return made


def decode_uvarint(data: memoryview, at: int) -> tuple[int, int]:
    """The value, and the position after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        if byte < 0x80:
            value |= byte << shift
            if value > 0xFFFFFFFF:
                raise ProtocolError(f"a varint of {value} at byte {at - 1} does not fit into 32 bits")
            return value, at
        value |= (byte & 0x7F) << shift
        shift += 7
        if shift > 28:
            raise_overlong(at)


def raise_overlong(at: int) -> NoReturn:
    raise ProtocolError(f"a varint that ends at byte {at} or later is longer than 5 bytes")


def encode_uvarint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_long_string_size(data: memoryview, at: int) -> tuple[int, int]:
    """Size + 1 of a compact string whose first byte said that more follow."""
    size, at = decode_uvarint(data, at)
    if size > STRING_SIZE_MAX + 1:
        raise ProtocolError(f"a string of {size - 1} bytes; the limit is {STRING_SIZE_MAX}")
    return size, at


def clip_text(text: bytes) -> bytes:
    """The beginning of a text that is too long, cut between characters."""
    return text[:ERROR_TEXT_SIZE_MAX].decode("utf-8", "ignore").encode() + b" ..."


def encode_long_string_size(size: int) -> bytes:
    """Size + 1 of a compact string of 127 bytes and more."""
    assert size <= STRING_SIZE_MAX + 1, f"a string of {size - 1} bytes; the limit is {STRING_SIZE_MAX}"
    return encode_uvarint(size)


def decode_tag_count(data: memoryview, at: int, count: int) -> tuple[int, int]:
    """The number of tagged fields, where `count` is its first byte, which lies before `at`."""
    if count > 0x7F:
        count, at = decode_uvarint(data, at - 1)
    if count > TAGGED_FIELDS_MAX:
        raise ProtocolError(f"{count} tagged fields; the limit is {TAGGED_FIELDS_MAX}")
    return count, at


def decode_tag(data: memoryview, at: int, end: int, before: int) -> tuple[int, int, int]:
    """The tag, the position of its value and of the value's end. `before` is the tag that came before, or -1."""
    tag, at = decode_uvarint(data, at)
    size, at = decode_uvarint(data, at)
    if tag <= before:
        raise ProtocolError(f"tagged field {tag} follows {before}; tags rise")
    if size > end - at:
        raise ProtocolError(f"tagged field {tag} claims {size} bytes where {end - at} are left")
    return tag, at, at + size


def skip_tags(data: memoryview, at: int, end: int, count: int) -> int:
    """Step over tagged fields, none of which we know. `count` is the first byte of their number, which lies before `at`."""
    count, at = decode_tag_count(data, at, count)
    tag = -1
    for _ in range(count):
        tag, _, at = decode_tag(data, at, end, tag)
    return at


def raise_tag_size(tag: int, at: int, end: int) -> NoReturn:
    raise ProtocolError(f"the value of tagged field {tag} ends at byte {at} where its size says {end}")


def raise_null(name: str, size: int) -> NoReturn:
    if size == -1:
        raise ProtocolError(f"{name} is null where null is not allowed")
    raise ProtocolError(f"{name} has the negative length {size}")


def raise_short(name: str, at: int, end: int) -> NoReturn:
    raise ProtocolError(f"{name} would end at byte {at}; the message ends at {end}")


def raise_array(name: str, count: int, left: int) -> NoReturn:
    if left < 0:
        raise ProtocolError(f"{name} has {count} items: with it the message's arrays exceed the limit by {-left}")
    raise ProtocolError(f"{name} claims {count} items, more than the bytes left can hold")


def raise_marker(name: str, marker: int) -> NoReturn:
    raise ProtocolError(f"{name} is marked by {marker}; -1 is null, 1 is a value that follows")


def raise_trailing(at: int, end: int) -> NoReturn:
    raise ProtocolError(f"{end - at} bytes follow the end of the message at byte {at}")
