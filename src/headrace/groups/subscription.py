"""Reads the topics out of what a consumer sends when it joins (Kafka's `ConsumerProtocolSubscription`).

The bytes belong to the clients: groups pass them on and do not look, with one exception. Offsets of a topic that a
member still subscribes to are neither deleted nor expired, and for that the names are needed. Every version begins as
version 0 does: version i16, number of topics i32, and for each an int16 length and UTF-8.
"""

from __future__ import annotations

import struct

CONSUMER_PROTOCOL_TYPE = "consumer"

HEAD = struct.Struct(">hi")
LENGTH = struct.Struct(">H")


def read_topics(subscription: bytes) -> list[str] | None:
    """The topics; None where the bytes are something else."""
    if len(subscription) < HEAD.size:
        return None
    version, count = HEAD.unpack_from(subscription)
    if version < 0 or not 0 <= count <= len(subscription) // LENGTH.size:
        return None
    topics: list[str] = []
    at = HEAD.size
    for _ in range(count):
        if at + LENGTH.size > len(subscription):
            return None
        (size,) = LENGTH.unpack_from(subscription, at)
        at += LENGTH.size + size
        if at > len(subscription):
            return None
        try:
            topics.append(subscription[at - size : at].decode())
        except UnicodeDecodeError:
            return None
    return topics
