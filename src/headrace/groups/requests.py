"""What may be asked of a group. Plain values: whoever makes them (a protocol's handler) no longer owns them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headrace.base.ids import NO_TOPIC_ID, TopicId

Protocols = tuple[tuple[str, bytes], ...]  # what a member supports, best first: name and metadata


@dataclass(slots=True)
class JoinRequest:
    group: str
    member_id: str  # "" of a client that has none yet
    instance_id: str | None
    client_id: str
    client_host: str
    protocol_type: str
    protocols: Protocols
    session_timeout_ms: int
    rebalance_timeout_ms: int
    # What the client's version of the protocol knows: an id first, then a join (KIP-394); a leader that need not plan (KIP-814).
    id_required: bool = True
    can_skip_plan: bool = True


@dataclass(slots=True)
class SyncRequest:
    group: str
    member_id: str
    instance_id: str | None
    generation: int
    protocol_type: str | None = None  # None: the client's version does not tell
    protocol: str | None = None
    plan: Sequence[tuple[str, bytes]] = ()  # member id and assignment; from the leader only


@dataclass(slots=True)
class HeartbeatRequest:
    group: str
    member_id: str
    instance_id: str | None
    generation: int


@dataclass(slots=True)
class Leaver:
    """`member_id` may be "" where an administrator removes a static member by its instance id."""

    member_id: str
    instance_id: str | None = None


@dataclass(slots=True)
class LeaveRequest:
    group: str
    members: Sequence[Leaver]


@dataclass(slots=True)
class TopicCommit:
    topic: str
    partitions: Sequence[tuple[int, int, int, str]]  # partition, offset, leader epoch (-1: none), metadata
    topic_id: TopicId = NO_TOPIC_ID


@dataclass(slots=True)
class CommitRequest:
    group: str
    member_id: str  # "" with generation -1: a consumer that manages its partitions itself, or an administrator
    instance_id: str | None
    generation: int
    topics: Sequence[TopicCommit]
    retention_ms: int = -1


@dataclass(slots=True)
class TopicPartitions:
    topic: str
    partitions: Sequence[int]
    topic_id: TopicId = NO_TOPIC_ID
