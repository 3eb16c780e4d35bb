"""What happened to a group: the facts, and the bytes of those that are kept.

There are two kinds.

*Durable* facts are records of the internal topic `__consumer_offsets`, in Kafka's own formats, so that Kafka's tools read
our files and ours read Kafka's. A record without a value (a tombstone) takes back what its key said. There are four:

    key                                     value                     fact
    1 | group | topic | partition           OffsetCommitValue         OffsetCommitted
    1 | group | topic | partition           none                      OffsetForgotten
    2 | group                               GroupMetadataValue        GroupStored
    2 | group                               none                      GroupForgotten

A key begins with an int16 that says what it is (0 and 1 are the same key, 0 is what brokers before 0.9 wrote). Kinds of
key that we do not know (other group protocols) are passed over, so that files of other brokers load. A kind of *value*
that we do not know is never passed over: that would lose a committed offset without a word.

    OffsetCommitValue   v0  offset i64, metadata str, commit i64                                (commit: time in ms)
                        v1  offset i64, metadata str, commit i64, expire i64      written when the client asked for a retention
                        v2  as v0
                        v3  offset i64, leader epoch i32, metadata str, commit i64
                        v4  as v3 with a compact string and tagged fields: 0 = topic id, 16 bytes    written otherwise
    GroupMetadataValue  v0  protocol type str, generation i32, protocol str?, leader str?, members[]
                        v2  adds the time of the last change of state, i64, before the members
                        v3  adds the instance id to each member                                     written
                        v4  as v3, compact, with tagged fields
      member            id str, instance str? (v3), client id str, client host str, rebalance timeout i32 (v1),
                        session timeout i32, subscription bytes, assignment bytes
    str = int16 length + UTF-8, bytes = int32 length + bytes; compact: unsigned varint of length + 1

*Volatile* facts say what only the present process needs to know: who waits for which answer, until when a session lasts,
that a rebalance has begun. They change state through the same `apply`, and are never written. After a crash they are
gone, as they are in Kafka: the durable facts give the group as it was last stored, and its members have a whole session
to show up again.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from sys import intern
from typing import TypeAlias

from headrace.base.files import Buffer
from headrace.base.ids import NO_TOPIC_ID, TopicId

# Durable facts ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class OffsetCommitted:
    """Also what `Offsets` keeps: one object from decision to state."""

    group: str
    topic: str
    partition: int
    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int = -1  # -1: by the retention of the broker
    topic_id: TopicId = NO_TOPIC_ID


@dataclass(slots=True)
class OffsetForgotten:
    group: str
    topic: str
    partition: int


@dataclass(slots=True)
class StoredMember:
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    subscription: bytes
    assignment: bytes


@dataclass(slots=True)
class GroupStored:
    """A generation with its plan, or (no members) that the group is empty now."""

    group: str
    protocol_type: str  # "" where nobody ever joined
    generation: int
    protocol: str | None
    leader: str | None
    state_ms: int  # -1: not known, from an old broker
    members: tuple[StoredMember, ...]


@dataclass(slots=True)
class GroupForgotten:
    group: str


DurableFact: TypeAlias = OffsetCommitted | OffsetForgotten | GroupStored | GroupForgotten

# Volatile facts -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class GroupMade:
    """A group that lives in memory until something of it is stored."""

    group: str
    now_ms: int


@dataclass(slots=True)
class GroupDropped:
    """The end of a group of which nothing is stored."""

    group: str


@dataclass(slots=True)
class IdHandedOut:
    """A member id was given to a client that must come again with it (KIP-394)."""

    group: str
    member_id: str
    deadline_ms: int


@dataclass(slots=True)
class IdTakenBack:
    group: str
    member_id: str


@dataclass(slots=True)
class MemberJoined:
    group: str
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    protocol_type: str
    protocols: tuple[tuple[str, bytes], ...]
    rebalance_timeout_ms: int
    session_timeout_ms: int
    waiter: int
    deadline_ms: int


@dataclass(slots=True)
class MemberRejoined:
    """A member came again, with what it supports now. `waiter` None: it was answered at once."""

    group: str
    member_id: str
    protocols: tuple[tuple[str, bytes], ...]
    rebalance_timeout_ms: int
    session_timeout_ms: int
    waiter: int | None


@dataclass(slots=True)
class MemberReplaced:
    """A static member came back under a new id; the old id is fenced (KIP-345)."""

    group: str
    instance_id: str
    old_id: str
    new_id: str
    deadline_ms: int


@dataclass(slots=True)
class MemberLeft:
    group: str
    member_id: str


@dataclass(slots=True)
class SessionExtended:
    group: str
    member_id: str
    deadline_ms: int


@dataclass(slots=True)
class RebalanceBegun:
    group: str
    now_ms: int
    join_deadline_ms: int
    # Of the first rebalance of an empty group only: the delay that runs now, and what may still be added to it.
    delay_ms: int = 0
    delay_left_ms: int = 0


@dataclass(slots=True)
class JoinExtended:
    group: str
    join_deadline_ms: int
    delay_ms: int = 0
    delay_left_ms: int = 0


@dataclass(slots=True)
class LeaderElected:
    group: str
    member_id: str


@dataclass(slots=True)
class GenerationBegun:
    """All who joined have their answer; the plan of the leader is awaited."""

    group: str
    generation: int
    protocol: str
    now_ms: int
    sync_deadline_ms: int


@dataclass(slots=True)
class MemberSynced:
    """A member asked for its part of the plan. `waiter` None: it was answered at once."""

    group: str
    member_id: str
    waiter: int | None


@dataclass(slots=True)
class Rearmed:
    """The group was looked at, and need not be looked at again before `wake_ms`."""

    group: str
    wake_ms: int
    check_ms: int


@dataclass(slots=True)
class ClockMoved:
    """The alarms up to `now_ms` were looked at."""

    now_ms: int


MemberFact: TypeAlias = (
    SessionExtended
    | IdHandedOut
    | IdTakenBack
    | MemberJoined
    | MemberRejoined
    | MemberReplaced
    | MemberLeft
    | RebalanceBegun
    | JoinExtended
    | LeaderElected
    | GenerationBegun
    | MemberSynced
    | Rearmed
)
VolatileFact: TypeAlias = MemberFact | GroupMade | GroupDropped | ClockMoved
Fact: TypeAlias = DurableFact | VolatileFact

DURABLE = frozenset((OffsetCommitted, OffsetForgotten, GroupStored, GroupForgotten))


def is_durable(fact: Fact) -> bool:
    return type(fact) in DURABLE


# Bytes --------------------------------------------------------------------------------------------------------------

OFFSET_KEY = 1
GROUP_KEY = 2
TEXT_SIZE_MAX = 0x7FFF  # a legacy string has an int16 length

INT16 = struct.Struct(">h")
INT32 = struct.Struct(">i")
INT64 = struct.Struct(">q")
OFFSET_V1 = struct.Struct(">hq")
OFFSET_V4 = struct.Struct(">hqi")
EXPIRY_V1 = struct.Struct(">qq")
# What nearly every commit is, in one piece: empty metadata (compact length 1), the time, one tagged field (0, 16 bytes).
OFFSET_V4_PLAIN = struct.Struct(">hqiBqBBB16s")
TIMEOUTS = struct.Struct(">ii")


def encode_fact(fact: DurableFact) -> tuple[bytes, bytes | None]:
    """Key and value of the record; the value is None for a tombstone."""
    if type(fact) is OffsetCommitted:
        key = _topic_key(fact.group, fact.topic) + INT32.pack(fact.partition)
        if fact.expire_ms == -1 and not fact.metadata and fact.topic_id is not NO_TOPIC_ID and fact.topic_id.int:
            topic_id = _id_bytes(fact.topic_id)
            return key, OFFSET_V4_PLAIN.pack(4, fact.offset, fact.leader_epoch, 1, fact.commit_ms, 1, 0, 16, topic_id)
        return key, _offset_value(fact)
    if type(fact) is OffsetForgotten:
        return _topic_key(fact.group, fact.topic) + INT32.pack(fact.partition), None
    key = INT16.pack(GROUP_KEY) + _text(fact.group)
    return key, _group_value(fact) if type(fact) is GroupStored else None


@lru_cache(maxsize=4096)
def _topic_key(group: str, topic: str) -> bytes:
    return INT16.pack(OFFSET_KEY) + _text(group) + _text(topic)


@lru_cache(maxsize=4096)
def _id_bytes(topic_id: TopicId) -> bytes:
    return topic_id.bytes


@lru_cache(maxsize=4096)
def _topic_id(data: bytes) -> TopicId:
    return TopicId(bytes=data)


def _offset_value(fact: OffsetCommitted) -> bytes:
    metadata = fact.metadata.encode()
    if fact.expire_ms != -1:
        return OFFSET_V1.pack(1, fact.offset) + _text(fact.metadata) + EXPIRY_V1.pack(fact.commit_ms, fact.expire_ms)
    tags = b"\x01\x00\x10" + fact.topic_id.bytes if fact.topic_id != NO_TOPIC_ID else b"\x00"
    head = OFFSET_V4.pack(4, fact.offset, fact.leader_epoch)
    return head + _varint(len(metadata) + 1) + metadata + INT64.pack(fact.commit_ms) + tags


def _group_value(fact: GroupStored) -> bytes:
    parts = [
        INT16.pack(3),
        _text(fact.protocol_type),
        INT32.pack(fact.generation),
        _text(fact.protocol),
        _text(fact.leader),
        INT64.pack(fact.state_ms),
        INT32.pack(len(fact.members)),
    ]
    for member in fact.members:
        parts += (
            _text(member.member_id),
            _text(member.instance_id),
            _text(member.client_id),
            _text(member.client_host),
            TIMEOUTS.pack(member.rebalance_timeout_ms, member.session_timeout_ms),
            INT32.pack(len(member.subscription)),
            member.subscription,
            INT32.pack(len(member.assignment)),
            member.assignment,
        )
    return b"".join(parts)


def _text(text: str | None) -> bytes:
    if text is None:
        return b"\xff\xff"
    data = text.encode()
    assert len(data) <= TEXT_SIZE_MAX, f"a text of {len(data)} bytes got past the limits"
    return INT16.pack(len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def decode_fact(key: Buffer, value: Buffer | None) -> DurableFact | None:
    """The fact of a record; None for a kind of key that we pass over."""
    reader = _Reader(key)
    kind = reader.int16()
    if kind in (0, OFFSET_KEY):
        group, topic, partition = intern(reader.text()), intern(reader.text()), reader.int32()
        reader.end()
        if value is None:
            return OffsetForgotten(group, topic, partition)
        return _decode_offset(group, topic, partition, _Reader(value))
    if kind == GROUP_KEY:
        group = intern(reader.text())
        reader.end()
        return GroupForgotten(group) if value is None else _decode_group(group, _Reader(value))
    return None


def _decode_offset(group: str, topic: str, partition: int, reader: _Reader) -> OffsetCommitted:
    if len(reader.data) == OFFSET_V4_PLAIN.size and reader.data[:2] == b"\0\4":
        _, offset, leader_epoch, length, commit_ms, tags, tag, size, topic_id = OFFSET_V4_PLAIN.unpack(reader.data)
        if (length, tags, tag, size) == (1, 1, 0, 16):
            return OffsetCommitted(group, topic, partition, offset, leader_epoch, "", commit_ms, -1, _topic_id(topic_id))
    version = reader.version(4)
    offset = reader.int64()
    leader_epoch = reader.int32() if version >= 3 else -1
    metadata = reader.text()
    commit_ms = reader.int64()
    expire_ms = reader.int64() if version == 1 else -1
    topic_id = NO_TOPIC_ID
    for tag, data in reader.tags():
        if tag == 0:
            topic_id = _topic_id(data)
    reader.end()
    return OffsetCommitted(group, topic, partition, offset, leader_epoch, metadata, commit_ms, expire_ms, topic_id)


def _decode_group(group: str, reader: _Reader) -> GroupStored:
    version = reader.version(4)
    protocol_type = reader.text()
    generation = reader.int32()
    protocol = reader.text_or_none()
    leader = reader.text_or_none()
    state_ms = reader.int64() if version >= 2 else -1
    members = tuple(_decode_member(version, reader) for _ in range(reader.count()))
    reader.tags()
    reader.end()
    return GroupStored(group, protocol_type, generation, protocol, leader, state_ms, members)


def _decode_member(version: int, reader: _Reader) -> StoredMember:
    member_id = reader.text()
    instance_id = reader.text_or_none() if version >= 3 else None
    client_id = reader.text()
    client_host = reader.text()
    rebalance_timeout_ms = reader.int32() if version >= 1 else -1
    session_timeout_ms = reader.int32()
    subscription, assignment = reader.blob(), reader.blob()
    reader.tags()
    if rebalance_timeout_ms == -1:  # before version 1 one number served as both
        rebalance_timeout_ms = session_timeout_ms
    return StoredMember(
        member_id, instance_id, client_id, client_host, rebalance_timeout_ms, session_timeout_ms, subscription, assignment
    )


class _Reader:
    """Reads a record that a CRC has already vouched for: what does not fit is our bug, hence the asserts."""

    __slots__ = ("at", "compact", "data")

    def __init__(self, data: Buffer) -> None:
        self.data = bytes(data)
        self.at = 0
        self.compact = False

    def version(self, newest: int) -> int:
        version = self.int16()
        assert 0 <= version <= newest, f"a value of version {version}; the newest known is {newest}"
        self.compact = version >= 4
        return version

    def int16(self) -> int:
        return int.from_bytes(self.take(2), "big", signed=True)

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def int64(self) -> int:
        return int.from_bytes(self.take(8), "big", signed=True)

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            assert shift < 35, "an overlong varint"

    def count(self) -> int:
        return self.varint() - 1 if self.compact else self.int32()

    def text_or_none(self) -> str | None:
        size = self.varint() - 1 if self.compact else self.int16()
        return None if size < 0 else self.take(size).decode()

    def text(self) -> str:
        text = self.text_or_none()
        assert text is not None, "null where a text must stand"
        return text

    def blob(self) -> bytes:
        return self.take(self.count())

    def tags(self) -> list[tuple[int, bytes]]:
        if not self.compact:
            return []
        return [(self.varint(), self.take(self.varint())) for _ in range(self.varint())]

    def take(self, size: int) -> bytes:
        end = self.at + size
        assert size >= 0 and end <= len(self.data), f"{size} bytes wanted at {self.at} of {len(self.data)}"
        part = self.data[self.at : end]
        self.at = end
        return part

    def end(self) -> None:
        assert self.at == len(self.data), f"{len(self.data) - self.at} bytes too many"
