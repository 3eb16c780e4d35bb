"""What a machine decided: facts to keep and apply, answers to give.

The host carries a decision out in this order (the protocol between host and machine; the coordinator's essay has the
whole of it): append the durable facts, apply *all* facts in their order, send each answer when its `when` has come.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TypeAlias

from headrace.base.errors import Refused
from headrace.groups.facts import Fact, OffsetCommitted


class When(enum.Enum):
    """What an answer depends on."""

    NOW = "now"  # on nothing that a crash could take back
    SETTLED = "settled"  # on facts appended before: wait until the log has committed up to `Decision.position`
    APPENDED = "appended"  # on the durable facts of this decision: wait until the log has committed them


@dataclass(slots=True)
class JoinRefused(Refused):
    """A client that is refused may have been given an id to come again with."""

    member_id: str = ""


@dataclass(slots=True)
class GroupMember:
    """A member as others may see it. `metadata` only in a stable group; `assignment` until the next plan is asked for."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


@dataclass(slots=True)
class Joined:
    member_id: str
    generation: int
    protocol_type: str | None
    protocol: str | None
    leader: str | None
    members: list[tuple[str, str | None, bytes]]  # id, instance id, metadata; for the leader only
    skip_plan: bool = False  # the leader of a stable group came back: it goes on with the plan that is stored


@dataclass(slots=True)
class Synced:
    protocol_type: str | None
    protocol: str | None
    assignment: bytes


@dataclass(slots=True)
class Alive:
    """The answer to a heartbeat that is well."""


@dataclass(slots=True)
class Left:
    members: list[tuple[str, str | None, Refused | None]]  # as asked: member id, instance id


@dataclass(slots=True)
class Committed:
    """Per topic, in the order of the request: partition and what is wrong with it."""

    topics: list[tuple[str, list[tuple[int, Refused | None]]]]


@dataclass(slots=True)
class OffsetsDeleted:
    topics: list[tuple[str, list[tuple[int, Refused | None]]]]


@dataclass(slots=True)
class FetchedOffsets:
    """None where nothing is committed."""

    topics: list[tuple[str, list[tuple[int, OffsetCommitted | None]]]]


@dataclass(slots=True)
class GroupsDeleted:
    groups: list[tuple[str, Refused | None]]


@dataclass(slots=True)
class Described:
    group: str
    state: str
    protocol_type: str
    protocol: str
    members: list[GroupMember]


@dataclass(slots=True)
class DescribedGroups:
    groups: list[tuple[str, Described | Refused]]


@dataclass(slots=True)
class Listed:
    group: str
    protocol_type: str
    state: str
    type: str = "classic"


@dataclass(slots=True)
class ListedGroups:
    groups: list[Listed]


Result: TypeAlias = (
    Refused
    | Joined
    | Synced
    | Alive
    | Left
    | Committed
    | OffsetsDeleted
    | FetchedOffsets
    | GroupsDeleted
    | DescribedGroups
    | ListedGroups
)


@dataclass(slots=True)
class Reply:
    waiter: int
    result: Result
    when: When = When.NOW


@dataclass(slots=True)
class Decision:
    facts: list[Fact] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    position: int = 0  # exclusive end, in the log, of what was appended before and these answers build on
