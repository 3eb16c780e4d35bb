"""The groups of one partition of `__consumer_offsets`: the machine that the host drives.

Owner: the node that leads the partition. No IO, no clock, no randomness; one caller at a time.

Theory. A group is decided upon by one machine, its coordinator, and what it decided is kept as facts in one log. Which log
follows from the group's name (`coordinator_partition`), so every node knows whom to ask. The machine keeps all its groups
in memory; the log is only read when the partition gets a new leader or the node starts.

The protocol between host and machine
-------------------------------------
1. *Decide.* A verb (`join`, `sync`, `heartbeat`, `leave`, `commit`, `tick`, …) returns a `Decision` and changes nothing.
   `waiter` is a number of the host's choice, never used twice, by which it finds the request again. Each waiter gets one
   answer; perhaps in this decision, perhaps in a later one about other members. `new_member_id` is a fresh name in case
   one is needed, `make_member_id(...)` of chance that the host brings.
2. *Append.* The durable facts of `decision.facts` (`encode_fact`, `is_durable`), in their order, to the partition's log, in
   one batch if they fit. Let `position` be the log's end after that.
3. *Apply.* `apply(decision.facts, position)`: all facts, in their order, and before anything else is decided. (A decision
   builds on the state that it saw: between a decision and its application no other decision is made.)
4. *Answer.* Each reply by its `when`: NOW at once; APPENDED when the log has committed up to `position` (flushed, and
   replicated where there are replicas); SETTLED when it has committed up to `decision.position`. So nobody is told what a
   power cut could take back; that holds for reads too. A waiter whose connection is gone is not looked for: its answer is
   dropped.
5. *Wake.* After each decision: call `tick(now_ms)` when the clock has reached `deadline_ms()`. It handles at most
   `TICK_GROUPS_MAX` groups, so that it never takes long; if `deadline_ms()` is still not in the future, call it again soon.

When an append, or the flush of one, fails: nothing is undone here. The host answers every waiter that it knows with "not
coordinator", drops the machine, and loads a new one from the log. Members come again and find their group as it was stored.

*Load.* For every record of the log from its start: `replay(key, value, position)`. Then `loaded(now_ms)`, a decision like
any other, which starts the sessions of all members. While it loads, clients are told so by the host.

*Snapshot.* `snapshot()` is the shortest list of durable facts that says all there is. To keep the log from growing for
ever the host appends them (again), remembers where they began, and when they are committed drops everything before. Facts
that were decided meanwhile stand after them: reading "snapshot, then the rest" gives the same as reading everything.

Laws of reading: facts are applied in the order of the log; a later fact about the same key replaces an earlier one.

Alarms. Sessions are extended all the time and rarely end, so no alarm is moved when one is extended: `wake_ms` of a group
is a time before which nothing is due, and a group that is looked at in vain is armed anew.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from headrace.base.errors import Code, Refused
from headrace.base.files import Buffer
from headrace.base.limits import GROUP_ID_LENGTH_MAX, GROUPS_MAX
from headrace.groups import commits, membership
from headrace.groups.decision import (
    Decision,
    Described,
    DescribedGroups,
    GroupMember,
    GroupsDeleted,
    JoinRefused,
    Left,
    Listed,
    ListedGroups,
    Reply,
    When,
)
from headrace.groups.facts import (
    ClockMoved,
    DurableFact,
    Fact,
    GroupDropped,
    GroupForgotten,
    GroupMade,
    GroupStored,
    OffsetCommitted,
    OffsetForgotten,
    Rearmed,
    decode_fact,
    is_durable,
)
from headrace.groups.group import Group, State
from headrace.groups.membership import Draft
from headrace.groups.requests import (
    CommitRequest,
    HeartbeatRequest,
    JoinRequest,
    LeaveRequest,
    SyncRequest,
    TopicPartitions,
)
from headrace.groups.settings import GroupSettings

# A look at a group costs about 10 µs, and 0.1 µs for each of its offsets.
TICK_GROUPS_MAX = 100


def coordinator_partition(group_id: str, count: int) -> int:
    """The partition of `__consumer_offsets` that keeps a group: Java's hash of the name, made positive as Kafka does."""
    units = group_id.encode("utf-16-be", "surrogatepass")
    value = 0
    for at in range(0, len(units), 2):
        value = (value * 31 + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >= 1 << 31 else value
    return (0 if signed == -(1 << 31) else abs(signed)) % count


def make_member_id(client_id: str, instance_id: str | None, chance: bytes) -> str:
    """Kafka's shape: the instance or client id, and a UUID. 16 bytes of chance."""
    digits = bytearray(chance[:16])
    digits[6] = digits[6] & 0x0F | 0x40
    digits[8] = digits[8] & 0x3F | 0x80
    text = digits.hex()
    name = client_id if instance_id is None else instance_id
    return f"{name}-{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


class Coordinator:
    __slots__ = ("alarms", "armed", "groups", "position", "settings")

    def __init__(self, settings: GroupSettings | None = None) -> None:
        self.settings = settings or GroupSettings()
        self.groups: dict[str, Group] = {}
        self.position = 0  # exclusive end, in the log, of the last durable fact
        # A heap of (time, group id). Invariant: `armed` holds the one entry of each group that counts, and it is not later
        # than the group's `wake_ms`; the others are left from before.
        self.alarms: list[tuple[int, str]] = []
        self.armed: dict[str, int] = {}

    # Members --------------------------------------------------------------------------------------------------------

    def join(self, request: JoinRequest, now_ms: int, waiter: int, new_member_id: str) -> Decision:
        bad = _check_group_id(request.group)
        if bad is not None:
            return _refuse(waiter, JoinRefused(bad.code, bad.why, request.member_id))
        refused = membership.check_join_shape(request, self.settings)
        if refused is not None:
            return _refuse(waiter, refused)
        group = self.groups.get(request.group)
        if group is not None:
            draft = Draft(group, now_ms)
        elif request.member_id:
            why = f"there is no group {request.group}, and so no member {request.member_id}"
            return _refuse(waiter, JoinRefused(Code.UNKNOWN_MEMBER, why, request.member_id))
        elif len(self.groups) >= GROUPS_MAX:
            return _refuse(waiter, JoinRefused(Code.POLICY_VIOLATION, f"the limit of {GROUPS_MAX} groups is reached"))
        else:
            draft = Draft.of_new_group(request.group, self.settings, now_ms)
        draft.join(request, waiter, new_member_id)
        return draft.decision()

    def sync(self, request: SyncRequest, now_ms: int, waiter: int) -> Decision:
        group = self._find(request.group)
        if isinstance(group, Refused):
            return _refuse(waiter, group)
        draft = Draft(group, now_ms)
        draft.sync(request, waiter)
        return draft.decision()

    def heartbeat(self, request: HeartbeatRequest, now_ms: int, waiter: int) -> Decision:
        group = self._find(request.group)
        if isinstance(group, Refused):
            return _refuse(waiter, group)
        return membership.heartbeat(group, request, now_ms, waiter)

    def leave(self, request: LeaveRequest, now_ms: int, waiter: int) -> Decision:
        """What is wrong with a member is said of each; an unknown group has none of them."""
        group = self._find(request.group)
        if isinstance(group, Refused):
            if group.code is not Code.UNKNOWN_MEMBER:
                return _refuse(waiter, group)
            return Decision([], [Reply(waiter, Left([(m.member_id, m.instance_id, group) for m in request.members]))])
        draft = Draft(group, now_ms)
        draft.leave(request, waiter)
        return draft.decision()

    def _find(self, group_id: str) -> Group | Refused:
        """For verbs of members: where there is no group there is no member."""
        group = self.groups.get(group_id)
        if group is not None:
            return group
        return _check_group_id(group_id) or Refused(Code.UNKNOWN_MEMBER, f"there is no group {group_id}")

    # Offsets --------------------------------------------------------------------------------------------------------

    def commit(self, request: CommitRequest, now_ms: int, waiter: int) -> Decision:
        """GROUP_NOT_FOUND where a member of an unknown group commits (before version 9 Kafka says ILLEGAL_GENERATION)."""
        group = self.groups.get(request.group)
        if group is not None:
            return commits.commit(group, request, now_ms, waiter)
        bad = _check_group_id(request.group, empty_allowed=True)
        if bad is not None:
            return _refuse(waiter, bad)
        if request.generation >= 0:
            return _refuse(waiter, Refused(Code.GROUP_NOT_FOUND, f"there is no group {request.group}"))
        if len(self.groups) >= GROUPS_MAX:
            return _refuse(waiter, Refused(Code.POLICY_VIOLATION, f"the limit of {GROUPS_MAX} groups is reached"))
        decision = commits.commit(Group(request.group, self.settings), request, now_ms, waiter)
        decision.facts.insert(0, GroupMade(request.group, now_ms))
        return decision

    def fetch_offsets(self, group_id: str, topics: Sequence[TopicPartitions] | None, waiter: int) -> Decision:
        """`topics` None: all. A group that does not exist has no offsets."""
        group = self.groups.get(group_id)
        position = self.position if group is None else group.position
        return Decision([], [Reply(waiter, commits.fetch(group, topics), When.SETTLED)], position)

    def delete_offsets(self, group_id: str, topics: Sequence[TopicPartitions], waiter: int) -> Decision:
        group = self.groups.get(group_id)
        if group is None:
            return _refuse(waiter, _check_group_id(group_id) or _unknown(group_id))
        return commits.delete(group, topics, waiter)

    def forget_topics(self, topics: Sequence[str]) -> Decision:
        """The topics were deleted, and with them what was committed of them."""
        return Decision([fact for group in self.groups.values() for fact in commits.forget_topics(group, topics)])

    # Administration -------------------------------------------------------------------------------------------------

    def delete_groups(self, group_ids: Sequence[str], waiter: int) -> Decision:
        facts: list[Fact] = []
        results: dict[str, Refused | None] = {}
        for group_id in group_ids:
            group = self.groups.get(group_id)
            if group_id in results:
                continue
            if group is None:
                results[group_id] = _unknown(group_id)
            elif group.state is not State.EMPTY:
                results[group_id] = Refused(Code.GROUP_NOT_EMPTY, f"{group_id} has {len(group.members)} members")
            else:
                facts += commits.end(group)
                results[group_id] = None
        answer = GroupsDeleted([(group_id, results[group_id]) for group_id in group_ids])
        return Decision(facts, [Reply(waiter, answer, When.APPENDED if facts else When.SETTLED)], self.position)

    def describe(self, group_ids: Sequence[str], waiter: int) -> Decision:
        """GROUP_NOT_FOUND in place of a group that does not exist (before version 6 Kafka shows it as "Dead")."""
        described: list[tuple[str, Described | Refused]] = []
        for group_id in group_ids:
            group = self.groups.get(group_id)
            described.append((group_id, _unknown(group_id) if group is None else _describe(group)))
        return Decision([], [Reply(waiter, DescribedGroups(described), When.SETTLED)], self.position)

    def list_groups(self, states: Iterable[str], types: Iterable[str], waiter: int) -> Decision:
        """By the names of the states and types, in any case; nothing given means all. In the order of their names."""
        wanted = {name.lower() for name in states}
        kinds = {name.lower() for name in types}
        listed = [
            Listed(group_id, group.protocol_type or "", group.state.value)
            for group_id, group in sorted(self.groups.items())
            if (not wanted or group.state.value.lower() in wanted) and (not kinds or "classic" in kinds)
        ]
        return Decision([], [Reply(waiter, ListedGroups(listed), When.SETTLED)], self.position)

    # Time -----------------------------------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """When to be woken; it may have passed already. None: no need."""
        return self.alarms[0][0] if self.alarms else None

    def tick(self, now_ms: int) -> Decision:
        decision = Decision()
        for group_id in self._due(now_ms, TICK_GROUPS_MAX):
            self._tick_group(self.groups[group_id], now_ms, decision)
        if self.alarms and self.alarms[0][0] <= now_ms:
            decision.facts.append(ClockMoved(now_ms))
        if any(is_durable(fact) for fact in decision.facts):
            for reply in decision.replies:
                reply.when = When.APPENDED
        return decision

    def _tick_group(self, group: Group, now_ms: int, decision: Decision) -> None:
        check_ms = group.check_ms
        if check_ms <= now_ms:
            check_ms = now_ms + self.settings.offsets_check_ms
            decision.facts += commits.expire(group, now_ms)
            if decision.facts and isinstance(decision.facts[-1], GroupForgotten | GroupDropped):
                return
        alarm_ms = group.alarm_ms(check_ms)
        if alarm_ms > now_ms:
            decision.facts.append(Rearmed(group.group_id, alarm_ms, check_ms))
            return
        draft = Draft(group, now_ms)
        draft.tick()
        draft.rearm(check_ms)
        decision.facts += draft.facts
        decision.replies += draft.replies

    def _due(self, now_ms: int, count_max: int) -> list[str]:
        """The groups whose alarm has rung, without taking anything off the heap: below a late entry all are late."""
        due: list[str] = []
        places = [0]
        while places and len(due) < count_max:
            place = places.pop()
            if place >= len(self.alarms) or self.alarms[place][0] > now_ms:
                continue
            time_ms, group_id = self.alarms[place]
            if self.armed.get(group_id) == time_ms and group_id not in due:
                due.append(group_id)
            places += (2 * place + 1, 2 * place + 2)
        return due

    # The one place where state changes ------------------------------------------------------------------------------

    def apply(self, facts: Sequence[Fact], position: int) -> None:
        """`position`: the exclusive end of the log that holds the durable ones of these facts."""
        groups = self.groups
        group: Group | None = None
        for fact in facts:
            if isinstance(fact, ClockMoved):
                self._sweep()
                continue
            group_id = fact.group
            if group is None or group.group_id != group_id:
                if group is not None:
                    self._arm(group)
                group = groups.get(group_id)
            if type(fact) is OffsetCommitted and group is not None:  # nearly all facts are
                group.offsets.put(fact)
                group.position = self.position = position
                continue
            group = self._apply_one(group, fact, position)
        if group is not None:
            self._arm(group)

    def _apply_one(self, group: Group | None, fact: Fact, position: int) -> Group | None:
        durable = is_durable(fact)
        if durable:
            self.position = position
        match fact:
            case GroupForgotten() | GroupDropped():
                return None if group is None else self._end(group, position)
            case OffsetForgotten() if group is None:
                return None
            case GroupMade() | GroupStored() | OffsetCommitted() if group is None:
                group = self.groups[fact.group] = Group(fact.group, self.settings)
        assert group is not None, f"a fact about a group that does not exist: {fact}"
        group.apply(fact)
        if durable:
            group.position = position
        if type(fact) is Rearmed:
            self._set_alarm(group)
            self._sweep()
        return group

    def _end(self, group: Group, position: int) -> Group | None:
        """The group is gone. Offsets that Kafka left behind (it drops a group that moves to another protocol) stay, alone."""
        assert all(not member.waits for member in group.members.values())
        del self.groups[group.group_id]
        self.armed.pop(group.group_id, None)
        if not group.offsets:
            return None
        heir = self.groups[group.group_id] = Group(group.group_id, self.settings)
        heir.offsets = group.offsets
        heir.position = position
        return heir

    def _arm(self, group: Group) -> None:
        """The alarm is moved only to ring earlier."""
        armed_ms = self.armed.get(group.group_id)
        if (armed_ms is None or group.wake_ms < armed_ms) and group.group_id in self.groups:
            self._set_alarm(group)

    def _set_alarm(self, group: Group) -> None:
        self.armed[group.group_id] = group.wake_ms
        heapq.heappush(self.alarms, (group.wake_ms, group.group_id))

    def _sweep(self) -> None:
        """Entries at the top that do not count any more."""
        while self.alarms and self.armed.get(self.alarms[0][1]) != self.alarms[0][0]:
            heapq.heappop(self.alarms)

    # Load and snapshot ----------------------------------------------------------------------------------------------

    def replay(self, key: Buffer, value: Buffer | None, position: int) -> None:
        """One record of the log. `position`: the log's end after it."""
        fact = decode_fact(key, value)
        if fact is not None:
            self.apply((fact,), position)

    def loaded(self, now_ms: int) -> Decision:
        """All records are read: sessions begin."""
        decision = Decision()
        for group in self.groups.values():
            if group.members:
                draft = Draft(group, now_ms)
                draft.loaded()
                decision.facts += draft.facts
        return decision

    def snapshot(self) -> list[DurableFact]:
        return self.snapshot_of(self.groups)

    def snapshot_of(self, group_ids: Iterable[str]) -> list[DurableFact]:
        """A piece of the snapshot: a host with many groups writes them one piece after another."""
        facts: list[DurableFact] = []
        for group_id in group_ids:
            group = self.groups.get(group_id)
            if group is None:
                continue
            if group.stored is not None:
                facts.append(group.stored)
            facts += group.offsets
        return facts


def _refuse(waiter: int, refused: Refused) -> Decision:
    return Decision([], [Reply(waiter, refused)])


def _unknown(group_id: str) -> Refused:
    return Refused(Code.GROUP_NOT_FOUND, f"Group {group_id} not found.")


def _check_group_id(group_id: str, empty_allowed: bool = False) -> Refused | None:
    if not group_id and not empty_allowed:
        return Refused(Code.BAD_GROUP, "the name of the group is empty")
    if len(group_id) * 4 > GROUP_ID_LENGTH_MAX and len(group_id.encode()) > GROUP_ID_LENGTH_MAX:
        return Refused(Code.BAD_GROUP, f"the name of the group is longer than {GROUP_ID_LENGTH_MAX} bytes")
    return None


def _describe(group: Group) -> Described:
    """What members support is shown of a stable group only, as Kafka does."""
    stable = group.state is State.STABLE
    members = [
        GroupMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.metadata(group.protocol) if stable else b"",
            member.assignment,
        )
        for member in group.members.values()
    ]
    protocol = (group.protocol or "") if stable else ""
    return Described(group.group_id, group.state.value, group.protocol_type or "", protocol, members)
