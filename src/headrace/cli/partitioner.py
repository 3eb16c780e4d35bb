"""Which partition a key belongs to: as Kafka's own producer says, so that all producers of a topic agree.

The hash is MurmurHash2 (32 bits, public domain, Austin Appleby) with the seed that Kafka's clients use; its sign bit is dropped.
"""

from __future__ import annotations

SEED = 0x9747B28C
MULTIPLIER = 0x5BD1E995
ALL = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Unsigned, 32 bits."""
    hashed = SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * MULTIPLIER & ALL
        word = (word ^ word >> 24) * MULTIPLIER & ALL
        hashed = hashed * MULTIPLIER & ALL ^ word
    if rest := data[whole:]:
        hashed = (hashed ^ int.from_bytes(rest, "little")) * MULTIPLIER & ALL
    hashed = (hashed ^ hashed >> 13) * MULTIPLIER & ALL
    return hashed ^ hashed >> 15


def partition_of(key: bytes, partitions: int) -> int:
    return (murmur2(key) & 0x7FFFFFFF) % partitions
