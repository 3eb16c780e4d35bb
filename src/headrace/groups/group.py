"""One consumer group of the classic protocol: its state, and the one place where it changes.

                    a member joins                  all joined, or the time is over
        Empty  ───────────────────────▶ PreparingRebalance ─────────────────────▶ CompletingRebalance
          ▲                               ▲    │   ▲                                 │          │
          │   nobody (re)joined           │    │   │     a member joins or leaves    │          │ the leader's
          └───────────────────────────────┼────┘   └─────────────────────────────────┘          │ plan is here
                                          │                                                     ▼
                                          └────────────────────────────────────────────────  Stable
                                              a member joins anew, leaves or times out

A *generation* begins when the joining ends. It has a number, a leader (a member) and a protocol that every member
supports; the leader makes the plan, the group stores it with its members (`GroupStored`) and hands each its part. Whoever
speaks with another number is refused, and so is a static member whose place was taken by a newer process.

Laws:
- `apply` alone changes state. Who decides works on a copy (`draft`, see membership.py), or reads.
- What a crash leaves is `stored` and `offsets`, nothing else; `snapshot` of the coordinator is made of just these.
- A waiter is the host's token of a request whose answer comes later. A member has at most one for a join and one for a
  sync; they are in the state because the answer depends on what other members do.
- Members are never changed in place: a change puts a changed copy in the dictionary, so that a draft may share them.

Not here: what the members' metadata and assignments mean (it belongs to clients; see subscription.py for the exception),
time (comes in), groups of the newer consumer protocol.
"""

from __future__ import annotations

import enum

from headrace.groups.facts import (
    Fact,
    GenerationBegun,
    GroupMade,
    GroupStored,
    IdHandedOut,
    IdTakenBack,
    JoinExtended,
    LeaderElected,
    MemberJoined,
    MemberLeft,
    MemberRejoined,
    MemberReplaced,
    MemberSynced,
    OffsetCommitted,
    OffsetForgotten,
    Rearmed,
    RebalanceBegun,
    SessionExtended,
    StoredMember,
)
from headrace.groups.offsets import Offsets
from headrace.groups.requests import Protocols
from headrace.groups.settings import GroupSettings
from headrace.groups.subscription import CONSUMER_PROTOCOL_TYPE, read_topics

NEVER = (1 << 63) - 1


class State(enum.Enum):
    """The values are Kafka's names, which admin tools show and filter by."""

    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"  # of a group that does not exist; no `Group` is ever in it


class Member:
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "instance_id",
        "is_new",
        "join_waiter",
        "member_id",
        "protocols",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "sync_waiter",
    )

    def __init__(
        self,
        member_id: str,
        instance_id: str | None,
        client_id: str,
        client_host: str,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocols: Protocols,
        assignment: bytes,
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocols = protocols
        self.assignment = assignment
        self.join_waiter: int | None = None
        self.sync_waiter: int | None = None
        self.is_new = False  # its first join has not been answered yet

    def copy(self) -> Member:
        twin = Member(
            self.member_id,
            self.instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.session_timeout_ms,
            self.protocols,
            self.assignment,
        )
        twin.join_waiter = self.join_waiter
        twin.sync_waiter = self.sync_waiter
        twin.is_new = self.is_new
        return twin

    @property
    def waits(self) -> bool:
        return self.join_waiter is not None or self.sync_waiter is not None

    def metadata(self, protocol: str | None) -> bytes:
        for name, metadata in self.protocols:
            if name == protocol:
                return metadata
        raise AssertionError(f"member {self.member_id} does not support {protocol}")


class Group:
    __slots__ = (
        "awaiting_join",
        "check_ms",
        "deadlines",
        "delay_left_ms",
        "delay_ms",
        "generation",
        "group_id",
        "instances",
        "is_first_rebalance",
        "join_deadline_ms",
        "leader",
        "members",
        "newcomer",
        "offsets",
        "pending",
        "position",
        "protocol",
        "protocol_type",
        "settings",
        "state",
        "state_ms",
        "stored",
        "subscribed",
        "supporters",
        "sync_deadline_ms",
        "unsynced",
        "wake_ms",
    )

    def __init__(self, group_id: str, settings: GroupSettings) -> None:
        self.group_id = group_id
        self.settings = settings
        # What is kept.
        self.stored: GroupStored | None = None
        self.offsets = Offsets()
        # The generation.
        self.state = State.EMPTY
        self.state_ms = -1
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None  # Invariant: a member, or None where there are none.
        self.subscribed: frozenset[str] | None = None  # None: not known
        # The members. Invariant: `instances`, `supporters` and `awaiting_join` follow from `members`.
        self.members: dict[str, Member] = {}
        self.instances: dict[str, str] = {}  # instance id -> member id
        self.supporters: dict[str, int] = {}  # protocol -> how many members support it
        self.awaiting_join = 0  # how many members have a join waiter
        self.pending: dict[str, None] = {}  # ids handed out and not used yet; no member is in it
        self.unsynced: dict[str, None] = {}  # members that have not asked for their part of the plan yet
        # Alarms.
        self.deadlines: dict[str, int] = {}  # of members and pending ids
        self.join_deadline_ms: int | None = None  # set while PREPARING
        self.sync_deadline_ms: int | None = None  # set while somebody is unsynced
        self.is_first_rebalance = False  # PREPARING began from EMPTY: wait a while for more members
        self.newcomer = False  # and one came since the delay began
        self.delay_ms = 0
        self.delay_left_ms = 0
        self.check_ms = 0  # when to look for expired offsets
        self.wake_ms = 0  # Invariant: no alarm is earlier.
        self.position = 0  # exclusive end, in the log, of the last durable fact

    def draft(self) -> Group:
        """A copy that a decision may try its steps on. Offsets are shared: decisions about members do not touch them."""
        twin = Group.__new__(Group)
        for name in Group.__slots__:
            setattr(twin, name, getattr(self, name))
        twin.members = self.members.copy()
        twin.instances = self.instances.copy()
        twin.supporters = self.supporters.copy()
        twin.pending = self.pending.copy()
        twin.unsynced = self.unsynced.copy()
        twin.deadlines = self.deadlines.copy()
        return twin

    # Questions ------------------------------------------------------------------------------------------------------

    @property
    def all_joined(self) -> bool:
        return self.awaiting_join == len(self.members) and not self.pending

    @property
    def rebalance_timeout_ms(self) -> int:
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def is_consumer(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def is_subscribed(self, topic: str) -> bool:
        """Whether members read the topic. Where that cannot be known of a group of consumers, they might."""
        return self.is_consumer if self.subscribed is None else topic in self.subscribed

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member with these protocols fits in: one of them is supported by all."""
        if self.state is State.EMPTY:
            return bool(protocol_type and protocols)
        if protocol_type != self.protocol_type:
            return False
        return any(self.supporters.get(name, 0) == len(self.members) for name, _ in protocols)

    def shared_protocols(self) -> list[str]:
        return [name for name, count in self.supporters.items() if count == len(self.members)]

    def choose_protocol(self) -> str:
        """Each member votes for its first one that all support; ties go to the protocol that was voted for first."""
        everyone = len(self.members)
        votes: dict[str, int] = {}
        for member in self.members.values():
            vote = next(name for name, _ in member.protocols if self.supporters[name] == everyone)
            votes[vote] = votes.get(vote, 0) + 1
        return max(votes, key=votes.__getitem__)

    def to_store(self, now_ms: int, plan: dict[str, bytes] | None = None) -> GroupStored:
        """The fact that keeps the group as it is now, with the given plan or the one that each member has."""
        members = tuple(
            StoredMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.rebalance_timeout_ms,
                member.session_timeout_ms,
                member.metadata(self.protocol),
                member.assignment if plan is None else plan.get(member.member_id, b""),
            )
            for member in self.members.values()
        )
        return GroupStored(self.group_id, self.protocol_type or "", self.generation, self.protocol, self.leader, now_ms, members)

    def alarm_ms(self, check_ms: int) -> int:
        """The earliest alarm, exactly, where the next check of offsets is at `check_ms`."""
        return min(
            check_ms,
            min(self.deadlines.values(), default=NEVER),
            NEVER if self.join_deadline_ms is None else self.join_deadline_ms,
            NEVER if self.sync_deadline_ms is None else self.sync_deadline_ms,
        )

    # The one place where state changes ------------------------------------------------------------------------------

    def apply(self, fact: Fact) -> None:
        match fact:
            case OffsetCommitted():
                self.offsets.put(fact)
            case SessionExtended():
                assert fact.member_id in self.members
                self._set_deadline(fact.member_id, fact.deadline_ms)
            case MemberJoined():
                self._add(fact)
            case MemberRejoined():
                self._update(fact)
            case MemberSynced():
                self._sync(fact.member_id, fact.waiter)
            case GenerationBegun():
                self._begin_generation(fact)
            case GroupStored():
                self._store(fact)
            case RebalanceBegun():
                self._begin_rebalance(fact)
            case MemberLeft():
                self._remove(fact.member_id)
            case MemberReplaced():
                self._replace(fact)
            case IdHandedOut():
                assert fact.member_id not in self.members
                self.pending[fact.member_id] = None
                self._set_deadline(fact.member_id, fact.deadline_ms)
            case IdTakenBack():
                del self.pending[fact.member_id]
                del self.deadlines[fact.member_id]
            case LeaderElected():
                assert fact.member_id in self.members
                self.leader = fact.member_id
            case JoinExtended():
                assert self.state is State.PREPARING
                self._arm_join(fact.join_deadline_ms, fact.delay_ms, fact.delay_left_ms)
            case OffsetForgotten():
                self.offsets.forget(fact.topic, fact.partition)
            case Rearmed():
                self.wake_ms = fact.wake_ms
                self.check_ms = fact.check_ms
            case GroupMade():
                self.state_ms = fact.now_ms
                self.check_ms = fact.now_ms + self.settings.offsets_check_ms
                self.wake_ms = self.check_ms
            case _:
                raise AssertionError(f"a fact that is not about one group: {fact}")

    def _set_deadline(self, member_id: str, deadline_ms: int) -> None:
        self.deadlines[member_id] = deadline_ms
        if deadline_ms < self.wake_ms:
            self.wake_ms = deadline_ms

    def _arm_join(self, deadline_ms: int, delay_ms: int, delay_left_ms: int) -> None:
        self.join_deadline_ms = deadline_ms
        self.delay_ms = delay_ms
        self.delay_left_ms = delay_left_ms
        self.newcomer = False
        self.wake_ms = min(self.wake_ms, deadline_ms)

    def _count_protocols(self, member: Member, step: int) -> None:
        for name, _ in member.protocols:
            count = self.supporters.get(name, 0) + step
            if count:
                self.supporters[name] = count
            else:
                del self.supporters[name]

    def _add(self, fact: MemberJoined) -> None:
        assert fact.member_id not in self.members
        member = Member(
            fact.member_id,
            fact.instance_id,
            fact.client_id,
            fact.client_host,
            fact.rebalance_timeout_ms,
            fact.session_timeout_ms,
            fact.protocols,
            b"",
        )
        member.join_waiter = fact.waiter
        member.is_new = True
        if not self.members:
            self.protocol_type = fact.protocol_type
        assert self.protocol_type == fact.protocol_type
        if self.leader is None:
            self.leader = fact.member_id
        if fact.instance_id is not None:
            assert fact.instance_id not in self.instances
            self.instances[fact.instance_id] = fact.member_id
        self.pending.pop(fact.member_id, None)
        self.members[fact.member_id] = member
        self._count_protocols(member, 1)
        self.awaiting_join += 1
        self.newcomer = self.is_first_rebalance
        self._set_deadline(fact.member_id, fact.deadline_ms)

    def _update(self, fact: MemberRejoined) -> None:
        old = self.members[fact.member_id]
        member = old.copy()
        member.protocols = fact.protocols
        member.rebalance_timeout_ms = fact.rebalance_timeout_ms
        member.session_timeout_ms = fact.session_timeout_ms
        member.join_waiter = fact.waiter
        self._count_protocols(old, -1)
        self._count_protocols(member, 1)
        self.awaiting_join += (fact.waiter is not None) - (old.join_waiter is not None)
        self.members[fact.member_id] = member

    def _remove(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        self._count_protocols(member, -1)
        self.awaiting_join -= member.join_waiter is not None
        if member.instance_id is not None:
            del self.instances[member.instance_id]
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        del self.deadlines[member_id]
        self._mark_synced(member_id)

    def _replace(self, fact: MemberReplaced) -> None:
        old = self.members.pop(fact.old_id)
        assert self.instances[fact.instance_id] == fact.old_id
        member = old.copy()
        member.member_id = fact.new_id
        member.join_waiter = member.sync_waiter = None
        member.is_new = False
        self.awaiting_join -= old.join_waiter is not None
        self.members[fact.new_id] = member
        self.instances[fact.instance_id] = fact.new_id
        if self.leader == fact.old_id:
            self.leader = fact.new_id
        del self.deadlines[fact.old_id]
        self._set_deadline(fact.new_id, fact.deadline_ms)
        self._mark_synced(fact.old_id)

    def _sync(self, member_id: str, waiter: int | None) -> None:
        member = self.members[member_id].copy()
        member.sync_waiter = waiter
        self.members[member_id] = member
        self._mark_synced(member_id)

    def _mark_synced(self, member_id: str) -> None:
        self.unsynced.pop(member_id, None)
        if not self.unsynced:
            self.sync_deadline_ms = None

    def _begin_rebalance(self, fact: RebalanceBegun) -> None:
        assert self.state is not State.PREPARING and self.state is not State.DEAD
        if self.state is State.COMPLETING:  # the plan that was awaited will not come
            for member_id, member in list(self.members.items()):
                member = member.copy()
                member.assignment = b""
                member.sync_waiter = None
                self.members[member_id] = member
        self.is_first_rebalance = self.state is State.EMPTY
        self.state = State.PREPARING
        self.state_ms = fact.now_ms
        self.unsynced = {}
        self.sync_deadline_ms = None
        self._arm_join(fact.join_deadline_ms, fact.delay_ms, fact.delay_left_ms)

    def _begin_generation(self, fact: GenerationBegun) -> None:
        assert self.state is State.PREPARING and self.members and fact.generation == self.generation + 1
        self.generation = fact.generation
        self.protocol = fact.protocol
        self.state = State.COMPLETING
        self.state_ms = fact.now_ms
        for member_id, member in list(self.members.items()):
            member = member.copy()
            member.join_waiter = None
            member.is_new = False
            self.members[member_id] = member
            self._set_deadline(member_id, fact.now_ms + member.session_timeout_ms)
        self.awaiting_join = 0
        self.unsynced = dict.fromkeys(self.members)
        self.join_deadline_ms = None
        self.is_first_rebalance = False
        self.newcomer = False
        self.sync_deadline_ms = fact.sync_deadline_ms
        self.wake_ms = min(self.wake_ms, fact.sync_deadline_ms)
        self._note_subscriptions()

    def _store(self, fact: GroupStored) -> None:
        """Stable with the plan, or empty. Of members that live on, what is not in the fact stays as it was."""
        old = self.members
        self.members = {}
        self.supporters = {}
        self.instances = {}
        for kept in fact.members:
            chosen = (fact.protocol or "", kept.subscription)
            before = old.get(kept.member_id)
            member = Member(
                kept.member_id,
                kept.instance_id,
                kept.client_id,
                kept.client_host,
                kept.rebalance_timeout_ms,
                kept.session_timeout_ms,
                before.protocols if before is not None and chosen in before.protocols else (chosen,),
                kept.assignment,
            )
            self.members[kept.member_id] = member
            self._count_protocols(member, 1)
            if kept.instance_id is not None:
                self.instances[kept.instance_id] = kept.member_id
        self.awaiting_join = 0
        known = self.members.keys() | self.pending.keys()
        self.deadlines = {name: deadline for name, deadline in self.deadlines.items() if name in known}
        self.unsynced = {name: None for name in self.unsynced if name in self.members}
        if not self.unsynced:
            self.sync_deadline_ms = None
        self.join_deadline_ms = None
        self.is_first_rebalance = False
        self.newcomer = False
        self.state = State.STABLE if self.members else State.EMPTY
        self.state_ms = fact.state_ms
        self.generation = fact.generation
        self.protocol_type = fact.protocol_type or None
        self.protocol = fact.protocol
        self.leader = fact.leader if fact.leader in self.members else next(iter(self.members), None)
        self.stored = fact
        self._note_subscriptions()

    def _note_subscriptions(self) -> None:
        self.subscribed = None
        if not self.is_consumer:
            return
        topics: set[str] = set()
        for member in self.members.values():
            names = read_topics(member.metadata(self.protocol))
            if names is None:
                return
            topics.update(names)
        self.subscribed = frozenset(topics)
