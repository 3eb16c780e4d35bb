"""Decisions about members: who is in, who leads, who waits, who is out.

Such a decision takes several steps, each of which has to see the one before: a member is removed, so a rebalance begins,
so (all others had joined) a generation begins, so ten waiters get their answers. `Draft` therefore tries the steps on a
copy of the group: `_take` notes a fact and applies it to the copy. The group itself changes when the host applies the
same facts to it. Copying costs about a microsecond per hundred members; heartbeats and commits, the verbs that are
called all the time, take one step and do without.

The rules are those of Kafka 4.3.1, from which we differ in four points, none of which a client can trip over:
- A request that is parked and then sent again by its member (a client that gave up waiting) is answered with "a rebalance
  is in progress" and forgotten; Kafka never answers it.
- A member that is removed while it waits for its part of the plan is told so; Kafka lets it wait for ever.
- A static member that comes back before it asked for its part of the plan does not make the group rebalance once more.
- A group is first stored with its first plan; Kafka also writes an empty record when the first member knocks.

Timers: the time to join is that of the slowest member; so is the time to ask for the plan. A session runs on while its
member waits for an answer of ours. A new member cannot send heartbeats before its first answer: it gets five minutes.
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.base.limits import GROUP_MEMBER_METADATA_MAX, GROUP_MEMBERS_MAX, GROUP_STORED_SIZE_MAX
from headrace.groups.decision import Alive, Decision, Joined, JoinRefused, Left, Reply, Result, Synced, When
from headrace.groups.facts import (
    TEXT_SIZE_MAX,
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
    Rearmed,
    RebalanceBegun,
    SessionExtended,
)
from headrace.groups.group import Group, Member, State
from headrace.groups.requests import HeartbeatRequest, JoinRequest, Leaver, LeaveRequest, SyncRequest
from headrace.groups.settings import GroupSettings

ALIVE = Alive()
UNFINISHED = Refused(Code.REBALANCE_IN_PROGRESS, "a rebalance is in progress")


class Draft:
    """One decision in the making."""

    __slots__ = ("facts", "group", "now_ms", "position", "replies", "settings")

    def __init__(self, group: Group, now_ms: int) -> None:
        self.group = group.draft()
        self.settings: GroupSettings = group.settings
        self.position = group.position
        self.now_ms = now_ms
        self.facts: list[Fact] = []
        self.replies: list[Reply] = []

    @staticmethod
    def of_new_group(group_id: str, settings: GroupSettings, now_ms: int) -> Draft:
        draft = Draft(Group(group_id, settings), now_ms)
        draft._take(GroupMade(group_id, now_ms))
        return draft

    def decision(self) -> Decision:
        return Decision(self.facts, self.replies, self.position)

    def _take(self, fact: Fact) -> None:
        self.facts.append(fact)
        self.group.apply(fact)

    def _reply(self, waiter: int | None, result: Result, when: When = When.NOW) -> None:
        if waiter is not None:
            self.replies.append(Reply(waiter, result, when))

    # Join -----------------------------------------------------------------------------------------------------------

    def join(self, request: JoinRequest, waiter: int, new_member_id: str) -> None:
        refused = self._decide_join(request, waiter, new_member_id)
        if refused is not None:
            self._reply(waiter, refused)

    def _decide_join(self, request: JoinRequest, waiter: int, new_member_id: str) -> JoinRefused | None:
        group = self.group
        member_id = request.member_id
        if not self._has_room(member_id):
            self._drop(member_id)
            why = f"the group has {len(group.members)} members; the limit is {self._members_max}"
            return JoinRefused(Code.GROUP_FULL, why)
        if not group.supports(request.protocol_type, request.protocols):
            names = ", ".join(name for name, _ in request.protocols)
            ours = f"the members speak '{group.protocol_type or ''}' and all support: {', '.join(group.shared_protocols())}"
            why = f"{ours}; offered as '{request.protocol_type}': {names}"
            return JoinRefused(Code.INCONSISTENT_PROTOCOL, why, member_id)
        if not member_id:
            return self._join_unknown(request, waiter, new_member_id)
        if member_id in group.pending:
            if request.instance_id is not None:
                return JoinRefused(Code.UNKNOWN_MEMBER, f"{member_id} was not given to a static member", member_id)
            self._add(request, waiter, member_id)
            return None
        refused = check_member(group, member_id, request.instance_id)
        if refused is not None:
            return JoinRefused(refused.code, refused.why, member_id)
        self._rejoin(request, waiter, group.members[member_id])
        return None

    @property
    def _members_max(self) -> int:
        return min(self.settings.members_max, GROUP_MEMBERS_MAX)

    def _has_room(self, member_id: str) -> bool:
        group = self.group
        if group.state is State.EMPTY:
            return True
        member = group.members.get(member_id)
        if group.state is State.PREPARING:
            # Those who wait are counted, not the members: when the limit was lowered, the last ones to come are left out.
            return (member is not None and member.join_waiter is not None) or group.awaiting_join < self._members_max
        return member is not None or len(group.members) < self._members_max

    def _drop(self, member_id: str) -> None:
        if member_id in self.group.members:
            self._remove(self.group.members[member_id])
        elif member_id in self.group.pending:
            self._take(IdTakenBack(self.group.group_id, member_id))

    def _join_unknown(self, request: JoinRequest, waiter: int, new_member_id: str) -> JoinRefused | None:
        group = self.group
        if request.instance_id is not None:
            old_id = group.instances.get(request.instance_id)
            if old_id is None:
                self._add(request, waiter, new_member_id)
            else:
                self._replace(request, waiter, old_id, new_member_id)
            return None
        if not request.id_required:
            self._add(request, waiter, new_member_id)
            return None
        if len(group.pending) + len(group.members) >= GROUP_MEMBERS_MAX:
            why = f"{len(group.pending)} member ids are handed out and not used; with the members the limit is {GROUP_MEMBERS_MAX}"
            return JoinRefused(Code.GROUP_FULL, why)
        self._take(IdHandedOut(group.group_id, new_member_id, self.now_ms + request.session_timeout_ms))
        return JoinRefused(Code.MEMBER_ID_REQUIRED, f"join again as {new_member_id}", new_member_id)

    def _add(self, request: JoinRequest, waiter: int, member_id: str) -> None:
        self._take(
            MemberJoined(
                request.group,
                member_id,
                request.instance_id,
                request.client_id,
                request.client_host,
                request.protocol_type,
                request.protocols,
                request.rebalance_timeout_ms,
                request.session_timeout_ms,
                waiter,
                self.now_ms + self.settings.new_member_join_timeout_ms,
            )
        )
        self._rebalance()

    def _rejoin(self, request: JoinRequest, waiter: int, member: Member) -> None:
        group = self.group
        if group.state is State.PREPARING:
            self._update(request, waiter, member)
            self._rebalance()
        elif member.protocols != request.protocols or (group.state is State.STABLE and group.leader == member.member_id):
            # The leader comes again when something outside the group has changed, such as the partitions of a topic.
            self._update(request, waiter, member)
            self._rebalance()
        else:
            # It did not get the answer to its join: nothing has changed, so here it is again.
            is_leader = group.leader == member.member_id
            members = self._members_for_leader() if is_leader else []
            when = When.SETTLED if group.state is State.STABLE else When.NOW
            self._reply(waiter, self._joined(member.member_id, members), when)

    def _update(self, request: JoinRequest, waiter: int | None, member: Member) -> None:
        self._reply(member.join_waiter, JoinRefused(UNFINISHED.code, "asked again in a later request", member.member_id))
        self._take(
            MemberRejoined(
                request.group,
                member.member_id,
                request.protocols,
                request.rebalance_timeout_ms,
                request.session_timeout_ms,
                waiter,
            )
        )

    def _replace(self, request: JoinRequest, waiter: int, old_id: str, new_id: str) -> None:
        """A static member came back: it takes the place, and the plan, of the one it was."""
        group = self.group
        assert request.instance_id is not None
        leader_before = group.leader
        old = group.members[old_id]
        why = f"instance {request.instance_id} is now {new_id}"
        self._reply(old.join_waiter, JoinRefused(Code.FENCED_INSTANCE, why, old_id))
        self._reply(old.sync_waiter, Refused(Code.FENCED_INSTANCE, why))
        deadline_ms = self.now_ms + old.session_timeout_ms
        self._take(MemberReplaced(request.group, request.instance_id, old_id, new_id, deadline_ms))
        if group.state is State.STABLE:
            self._update(request, None, group.members[new_id])
            if group.choose_protocol() == group.protocol:
                self._take(group.to_store(self.now_ms))
                self._reply(waiter, self._joined_in_place(request, new_id, leader_before), When.APPENDED)
                return
        self._update(request, waiter, group.members[new_id])
        # In CompletingRebalance too: the leader plans for the old id, so the new one would get nothing.
        self._rebalance()

    def _joined_in_place(self, request: JoinRequest, member_id: str, leader_before: str | None) -> Joined:
        group = self.group
        if not request.can_skip_plan:
            # Such a client, told that it leads, would plan at once. Naming the old leader keeps it from that.
            joined = self._joined(member_id, [])
            joined.leader = leader_before
            return joined
        is_leader = group.leader == member_id
        joined = self._joined(member_id, self._members_for_leader() if is_leader else [])
        joined.skip_plan = is_leader
        return joined

    def _joined(self, member_id: str, members: list[tuple[str, str | None, bytes]]) -> Joined:
        group = self.group
        return Joined(member_id, group.generation, group.protocol_type, group.protocol, group.leader, members)

    def _members_for_leader(self) -> list[tuple[str, str | None, bytes]]:
        protocol = self.group.protocol
        return [(m.member_id, m.instance_id, m.metadata(protocol)) for m in self.group.members.values()]

    # Rebalance ------------------------------------------------------------------------------------------------------

    def _rebalance(self) -> None:
        """Begin one; or, where one is under way, end the joining if nobody is missed any more."""
        if self.group.state is State.PREPARING:
            self._end_joining_if_all_joined()
        else:
            self._begin_rebalance()

    def _begin_rebalance(self) -> None:
        group, now_ms = self.group, self.now_ms
        assert group.state is not State.PREPARING
        waiting = [m for m in group.members.values() if m.sync_waiter is not None]
        for member in waiting:
            self._reply(member.sync_waiter, UNFINISHED)
            self._extend(member)
        if group.state is State.EMPTY:
            delay_ms = self.settings.initial_rebalance_delay_ms
            left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self._take(RebalanceBegun(group.group_id, now_ms, now_ms + delay_ms, delay_ms, left_ms))
        else:
            self._take(RebalanceBegun(group.group_id, now_ms, now_ms + group.rebalance_timeout_ms))
            self._end_joining_if_all_joined()

    def _end_joining_if_all_joined(self) -> None:
        group = self.group
        if group.state is State.PREPARING and not group.is_first_rebalance and group.all_joined:
            self._end_joining()

    def _end_joining(self) -> None:
        """Whoever did not join is out, unless it is static: a static member is missed until its session ends."""
        group, now_ms = self.group, self.now_ms
        for member in list(group.members.values()):
            if member.join_waiter is None and member.instance_id is None:
                self._remove(member)
        if not group.members:
            self._take(GroupStored(group.group_id, group.protocol_type or "", group.generation + 1, None, None, now_ms, ()))
            return
        assert group.leader is not None
        if group.members[group.leader].join_waiter is None:
            joined = next((m.member_id for m in group.members.values() if m.join_waiter is not None), None)
            if joined is None:  # only static members, and none is here: sessions will end, or somebody will come
                self._take(JoinExtended(group.group_id, now_ms + group.rebalance_timeout_ms))
                return
            self._take(LeaderElected(group.group_id, joined))
        waiters = [(m.member_id, m.join_waiter) for m in group.members.values()]
        sync_deadline_ms = now_ms + group.rebalance_timeout_ms
        protocol = group.choose_protocol()
        self._take(GenerationBegun(group.group_id, group.generation + 1, protocol, now_ms, sync_deadline_ms))
        for member_id, waiter in waiters:
            members = self._members_for_leader() if member_id == group.leader else []
            self._reply(waiter, self._joined(member_id, members))

    def _remove(self, member: Member) -> None:
        why = f"{member.member_id} is no longer a member"
        self._reply(member.join_waiter, JoinRefused(Code.UNKNOWN_MEMBER, why))
        self._reply(member.sync_waiter, Refused(Code.UNKNOWN_MEMBER, why))
        self._take(MemberLeft(self.group.group_id, member.member_id))

    def _extend(self, member: Member) -> None:
        deadline_ms = self.now_ms + member.session_timeout_ms
        self._take(SessionExtended(self.group.group_id, member.member_id, deadline_ms))

    # Sync -----------------------------------------------------------------------------------------------------------

    def sync(self, request: SyncRequest, waiter: int) -> None:
        group = self.group
        refused = check_sync(group, request)
        if refused is not None:
            self._reply(waiter, refused)
            return
        member = group.members[request.member_id]
        if group.state is State.STABLE:
            if request.member_id in group.unsynced:
                self._take(MemberSynced(request.group, request.member_id, None))
            self._reply(waiter, Synced(group.protocol_type, group.protocol, member.assignment), When.SETTLED)
            return
        self._reply(member.sync_waiter, UNFINISHED)
        if group.leader != request.member_id:
            self._take(MemberSynced(request.group, request.member_id, waiter))
            return
        plan = dict(request.plan)
        size = sum(map(len, plan.values())) + sum(len(m.metadata(group.protocol)) for m in group.members.values())
        if size > GROUP_STORED_SIZE_MAX:
            why = f"metadata and plan are {size} bytes; the limit is {GROUP_STORED_SIZE_MAX}"
            self._reply(waiter, Refused(Code.INTERNAL, why))
            return
        self._take(MemberSynced(request.group, request.member_id, waiter))
        waiters = [(m.member_id, m.sync_waiter) for m in group.members.values() if m.sync_waiter is not None]
        self._take(group.to_store(self.now_ms, plan))
        for member_id, parked in waiters:
            member = group.members[member_id]
            self._reply(parked, Synced(group.protocol_type, group.protocol, member.assignment), When.APPENDED)
            self._extend(member)

    # Leave ----------------------------------------------------------------------------------------------------------

    def leave(self, request: LeaveRequest, waiter: int) -> None:
        members = [(leaver.member_id, leaver.instance_id, self._leave(leaver)) for leaver in request.members]
        if any(refused is None for _, _, refused in members) and self.group.state is not State.EMPTY:
            self._rebalance()
        when = When.APPENDED if any(isinstance(fact, GroupStored) for fact in self.facts) else When.NOW
        self._reply(waiter, Left(members), when)

    def _leave(self, leaver: Leaver) -> Refused | None:
        group = self.group
        if not leaver.member_id:
            found = None if leaver.instance_id is None else group.instances.get(leaver.instance_id)
            if found is None:
                return Refused(Code.UNKNOWN_MEMBER, f"there is no instance {leaver.instance_id} in the group")
            self._remove(group.members[found])
            return None
        if leaver.member_id in group.pending:
            self._take(IdTakenBack(group.group_id, leaver.member_id))
            return None
        refused = check_member(group, leaver.member_id, leaver.instance_id)
        if refused is None:
            self._remove(group.members[leaver.member_id])
        return refused

    # Time -----------------------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """What has become due, one after another as if each alarm had rung by itself."""
        group, now_ms = self.group, self.now_ms
        for member_id in [name for name, deadline in group.deadlines.items() if deadline <= now_ms]:
            if group.deadlines.get(member_id, now_ms + 1) > now_ms:
                continue  # what became of another alarm has given it a new session, or taken it out
            if member_id in group.pending:
                self._take(IdTakenBack(group.group_id, member_id))
                self._end_joining_after_removal()
                continue
            member = group.members[member_id]
            if member.waits and not member.is_new:
                self._extend(member)  # it cannot show life while it waits for us
                continue
            self._remove(member)
            if group.state is State.PREPARING:
                self._end_joining_after_removal()
            else:
                self._begin_rebalance()
        if group.join_deadline_ms is not None and group.join_deadline_ms <= now_ms:
            self._join_alarm()
        if group.sync_deadline_ms is not None and group.sync_deadline_ms <= now_ms:
            for member_id in list(group.unsynced):
                self._remove(group.members[member_id])
            self._begin_rebalance()

    def _end_joining_after_removal(self) -> None:
        """As Kafka has it: in a first rebalance the delay ends early only where a removal leaves nobody missing."""
        if self.group.state is State.PREPARING and self.group.all_joined:
            self._end_joining()

    def _join_alarm(self) -> None:
        group = self.group
        if group.is_first_rebalance and group.newcomer and group.delay_left_ms:
            delay_ms = min(self.settings.initial_rebalance_delay_ms, group.delay_left_ms)
            left_ms = max(group.delay_left_ms - group.delay_ms, 0)
            self._take(JoinExtended(group.group_id, self.now_ms + delay_ms, delay_ms, left_ms))
        else:
            self._end_joining()

    def loaded(self) -> None:
        """A group that was just read from the log: its members have a whole session from now on."""
        for member in list(self.group.members.values()):
            self._extend(member)
        if len(self.group.members) > self._members_max:
            self._begin_rebalance()

    def rearm(self, check_ms: int) -> None:
        """The last step of a look at the alarms."""
        self._take(Rearmed(self.group.group_id, self.group.alarm_ms(check_ms), check_ms))


def heartbeat(group: Group, request: HeartbeatRequest, now_ms: int, waiter: int) -> Decision:
    """One step, so no draft. The session goes on even where the answer is "join again"."""
    refused = check_member(group, request.member_id, request.instance_id) or check_generation(group, request.generation)
    if refused is not None:
        return Decision([], [Reply(waiter, refused)])
    member = group.members[request.member_id]
    extended = SessionExtended(group.group_id, request.member_id, now_ms + member.session_timeout_ms)
    return Decision([extended], [Reply(waiter, UNFINISHED if group.state is State.PREPARING else ALIVE)])


# Checks that several verbs share ----------------------------------------------------------------------------------------


def check_member(group: Group, member_id: str, instance_id: str | None) -> Refused | None:
    if instance_id is not None:
        current = group.instances.get(instance_id)
        if current is None:
            return Refused(Code.UNKNOWN_MEMBER, f"there is no instance {instance_id} in the group")
        if current != member_id:
            return Refused(Code.FENCED_INSTANCE, f"instance {instance_id} is now {current}")
    if member_id not in group.members:
        return Refused(Code.UNKNOWN_MEMBER, f"{member_id or 'a client without id'} is not a member of {group.group_id}")
    return None


def check_generation(group: Group, generation: int) -> Refused | None:
    if generation != group.generation:
        return Refused(Code.ILLEGAL_GENERATION, f"generation {generation}; the group is at {group.generation}")
    return None


def check_sync(group: Group, request: SyncRequest) -> Refused | None:
    refused = check_member(group, request.member_id, request.instance_id) or check_generation(group, request.generation)
    if refused is not None:
        return refused
    for asked, chosen in ((request.protocol_type, group.protocol_type), (request.protocol, group.protocol)):
        if asked is not None and chosen is not None and asked != chosen:
            return Refused(Code.INCONSISTENT_PROTOCOL, f"asked for '{asked}'; the group speaks '{chosen}'")
    if group.state is State.PREPARING:
        return UNFINISHED
    return None


def check_join_shape(request: JoinRequest, settings: GroupSettings) -> JoinRefused | None:
    """What can be said about a join without looking at the group."""
    if not settings.session_timeout_ms_min <= request.session_timeout_ms <= settings.session_timeout_ms_max:
        why = (
            f"a session timeout of {request.session_timeout_ms} ms; "
            f"allowed are {settings.session_timeout_ms_min} to {settings.session_timeout_ms_max}"
        )
        return JoinRefused(Code.BAD_SESSION_TIMEOUT, why)
    names = [name for name, _ in request.protocols]
    if len(set(names)) != len(names):
        return JoinRefused(Code.INCONSISTENT_PROTOCOL, f"a protocol is named twice: {', '.join(names)}", request.member_id)
    size = sum(len(metadata) for _, metadata in request.protocols)
    if size > GROUP_MEMBER_METADATA_MAX:
        why = f"{size} bytes of member metadata; the limit is {GROUP_MEMBER_METADATA_MAX}"
        return JoinRefused(Code.BAD_REQUEST, why, request.member_id)
    texts = (request.instance_id or "", request.client_id, request.client_host, request.protocol_type, *names)
    longest = max(len(text) for text in texts)
    if longest * 4 > TEXT_SIZE_MAX and max(len(text.encode()) for text in texts) > TEXT_SIZE_MAX - 64:
        why = f"a text of {longest} characters; the limit is {TEXT_SIZE_MAX - 64} bytes"  # an id adds a UUID to a name
        return JoinRefused(Code.BAD_REQUEST, why, request.member_id)
    return None
