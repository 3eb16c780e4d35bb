"""Consumer groups of the classic protocol, committed offsets, and the views of them."""

from typing import Any

from headrace.protocols.kafka.messages import (
    delete_groups,
    describe_groups,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    list_groups,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
)
from headrace.protocols.kafka.messages.delete_groups import DeleteGroupsRequest
from headrace.protocols.kafka.messages.describe_groups import DescribeGroupsRequest
from headrace.protocols.kafka.messages.find_coordinator import FindCoordinatorRequest
from headrace.protocols.kafka.messages.heartbeat import HeartbeatRequest
from headrace.protocols.kafka.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from headrace.protocols.kafka.messages.leave_group import LeaveGroupRequest, MemberIdentity
from headrace.protocols.kafka.messages.list_groups import ListGroupsRequest
from headrace.protocols.kafka.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from headrace.protocols.kafka.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from headrace.protocols.kafka.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from headrace.protocols.kafka.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.differential.session import Lane, Session, scenario

# What consumers put into the opaque fields: an empty subscription, an empty assignment.
SUBSCRIPTION = bytes.fromhex("000000000000ffffffff")
ASSIGNMENT = bytes.fromhex("00000000000000000000")


def joining(group: str, member: str = "", **how: Any) -> JoinGroupRequest:
    names = how.pop("protocols", ("range",))
    how.setdefault("protocol_type", "consumer")
    how.setdefault("session_timeout_ms", 10_000)
    how.setdefault("rebalance_timeout_ms", 10_000)
    return JoinGroupRequest(group, member_id=member, protocols=[JoinGroupRequestProtocol(n, SUBSCRIPTION) for n in names], **how)


def join(s: Session, label: str, group: str, member: str = "", **how: Any) -> Any:
    """Joins, and once more with the id that was given out where the version wants that."""
    answer = s.ask(joining(group, member, **how), label)
    if answer is not None and answer.error_code == 79:
        return s.ask(joining(group, answer.member_id, **how), f"{label}, with the id given")
    return answer


def syncing(s: Session, group: str, generation: int, member: str, *members: str, **how: Any) -> SyncGroupRequest:
    if s.v(SyncGroupRequest()) >= 5:
        how.setdefault("protocol_type", "consumer")
        how.setdefault("protocol_name", "range")
    return SyncGroupRequest(
        group, generation, member, assignments=[SyncGroupRequestAssignment(m, ASSIGNMENT) for m in members], **how
    )


def leaving(s: Session, group: str, member: str, instance: str | None = None) -> LeaveGroupRequest:
    if s.v(LeaveGroupRequest()) >= 3:
        return LeaveGroupRequest(group, members=[MemberIdentity(member, instance)])
    return LeaveGroupRequest(group, member)


def stable(s: Session, group: str) -> Any:
    """A group of one member, joined and synced; nothing of it is recorded."""
    joined = s.quiet(joining(group), 4)
    joined = s.quiet(joining(group, joined.member_id), 4)
    assert joined.error_code == 0, joined
    assert (
        s.quiet(
            SyncGroupRequest(
                group,
                joined.generation_id,
                joined.member_id,
                assignments=[SyncGroupRequestAssignment(joined.member_id, ASSIGNMENT)],
            ),
            2,
        ).error_code
        == 0
    )
    return joined


@scenario(find_coordinator)
def coordinator(s: Session) -> None:
    def ask(label: str, *keys: str, kind: int = 0) -> None:
        if s.version >= 4:
            s.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=keys), label)
        else:
            s.ask(FindCoordinatorRequest(keys[0] if keys else "", kind if s.version >= 1 else 0), label)

    group = s.group()
    ask("a group", group)
    ask("empty name", "")
    if s.version >= 1:
        ask("no such kind", group, kind=9)
    if s.version >= 4:
        ask("two", group, group + "-2")
        ask("none")


@scenario(join_group)
def one_member(s: Session) -> None:
    group = s.group()
    joined = join(s, "first", group)
    if joined is None:
        return
    s.ask(syncing(s, group, joined.generation_id, joined.member_id, joined.member_id), "sync")
    s.ask(joining(group, joined.member_id), "again, nothing new")
    s.ask(HeartbeatRequest(group, joined.generation_id, joined.member_id), "heartbeat while it rebalances")
    s.ask(leaving(s, group, joined.member_id), "leave")
    s.ask(HeartbeatRequest(group, joined.generation_id, joined.member_id), "heartbeat after leaving")


@scenario(join_group)
def join_refused(s: Session) -> None:
    group = s.group()
    s.ask(joining(""), "empty group name")
    s.ask(joining(group, session_timeout_ms=1), "session too short")
    s.ask(joining(group, session_timeout_ms=10_000_000), "session too long")
    s.ask(joining(group, "nobody"), "unknown member")
    s.ask(joining(group, protocols=()), "no protocols")
    s.ask(joining(group, protocol_type=""), "no protocol type")
    stable(s, group)
    s.ask(joining(group, protocols=("other",)), "protocol that nobody else has")
    s.ask(joining(group, protocol_type="connect"), "other protocol type")
    s.ask(joining(group, "nobody"), "unknown member of a stable group")


@scenario(join_group, range(5, 99))
def static_members(s: Session) -> None:
    group = s.group()
    first = join(s, "static", group, group_instance_id="one")
    if first is None:
        return
    s.ask(syncing(s, group, first.generation_id, first.member_id, first.member_id, group_instance_id="one"), "sync")
    again = join(s, "came back without its id", group, group_instance_id="one")
    s.ask(HeartbeatRequest(group, first.generation_id, first.member_id, "one"), "the old one beats")
    s.ask(joining(group, first.member_id, group_instance_id="one"), "the old one joins")
    s.ask(syncing(s, group, first.generation_id, first.member_id, group_instance_id="one"), "the old one syncs")
    if again is not None:
        s.ask(HeartbeatRequest(group, again.generation_id, again.member_id, "one"), "the new one beats")
    s.ask(DescribeGroupsRequest([group]), "described")
    s.ask(leaving(s, group, "", "one"), "leaves by its instance id")
    s.ask(leaving(s, group, "", "nobody"), "unknown instance")


@scenario(join_group)
def two_members(s: Session) -> None:
    group = s.group()
    first = join(s, "first", group)
    if first is None:
        return
    s.ask(syncing(s, group, first.generation_id, first.member_id, first.member_id), "first syncs")
    other: Lane = s.lane()
    other.send(joining(group), "second")
    if s.version >= 4:
        given = other.take()
        other.send(joining(group, given.member_id), "second, with the id given")
    until_rebalancing(s, group, first)
    s.ask(HeartbeatRequest(group, first.generation_id, first.member_id), "first hears of it")
    leader = s.ask(joining(group, first.member_id), "first again")
    second = other.take()
    other.send(syncing(s, group, second.generation_id, second.member_id), "second syncs and waits")
    s.ask(syncing(s, group, leader.generation_id, leader.member_id, leader.member_id, second.member_id), "leader syncs")
    other.take()
    s.ask(syncing(s, group, leader.generation_id, leader.member_id), "leader syncs again")
    s.ask(syncing(s, group, leader.generation_id - 1, leader.member_id), "sync of an old generation")
    s.ask(leaving(s, group, second.member_id), "second leaves")
    s.ask(HeartbeatRequest(group, leader.generation_id, leader.member_id), "first hears of it")


def until_rebalancing(s: Session, group: str, member: Any) -> None:
    for _ in range(200):
        if s.quiet(HeartbeatRequest(group, member.generation_id, member.member_id)).error_code == 27:
            return


@scenario(sync_group)
def sync_refused(s: Session) -> None:
    group = s.group()
    s.ask(syncing(s, group, 1, "nobody"), "no such group")
    member = stable(s, group)
    s.ask(syncing(s, group, member.generation_id, "nobody"), "unknown member")
    s.ask(syncing(s, group, member.generation_id + 1, member.member_id), "generation of the future")
    s.ask(syncing(s, "", 1, "nobody"), "empty group name")
    s.ask(syncing(s, group, member.generation_id, member.member_id), "stable")
    if s.version >= 5:
        s.ask(syncing(s, group, member.generation_id, member.member_id, protocol_name="other"), "other protocol")
        s.ask(syncing(s, group, member.generation_id, member.member_id, protocol_type="connect"), "other protocol type")
        s.ask(SyncGroupRequest(group, member.generation_id, member.member_id), "protocol not said")


@scenario(heartbeat)
def heartbeats(s: Session) -> None:
    group = s.group()
    s.ask(HeartbeatRequest(group, 1, "nobody"), "no such group")
    member = stable(s, group)
    s.ask(HeartbeatRequest(group, member.generation_id, member.member_id), "right")
    s.ask(HeartbeatRequest(group, member.generation_id + 1, member.member_id), "generation of the future")
    s.ask(HeartbeatRequest(group, member.generation_id - 1, member.member_id), "old generation")
    s.ask(HeartbeatRequest(group, member.generation_id, "nobody"), "unknown member")
    s.ask(HeartbeatRequest("", 1, "nobody"), "empty group name")
    if s.version >= 3:
        s.ask(HeartbeatRequest(group, member.generation_id, member.member_id, "nobody"), "unknown instance")


@scenario(sync_group)
def before_the_plan(s: Session) -> None:
    """A group between its members' joining and the leader's plan, as all verbs see it."""
    group, topic = s.group(), s.topic()
    joined = s.quiet(joining(group), 4)
    joined = s.quiet(joining(group, joined.member_id), 4)
    generation, member = joined.generation_id, joined.member_id
    s.ask(HeartbeatRequest(group, generation, member), "heartbeat")
    s.ask(committing(s, group, topic, 3, generation=generation, member=member), "commit")
    s.ask(committing(s, group, topic, 4), "commit from outside")
    s.ask(DescribeGroupsRequest([group]), "described")
    s.ask(DeleteGroupsRequest([group]), "deleted")
    s.ask(syncing(s, group, generation + 1, member, member), "plan of another generation")
    s.ask(syncing(s, group, generation, member, member, "somebody"), "plan that names a stranger")
    s.ask(syncing(s, group, generation, member, member), "plan again")
    s.ask(DescribeGroupsRequest([group]), "described with its plan")


@scenario(join_group, range(4, 99))
def knocked_only(s: Session) -> None:
    """A member that was given its id and does not come back with it."""
    group, topic = s.group(), s.topic()
    given = s.ask(joining(group), "knocks")
    if given is None:
        return
    member = given.member_id
    s.ask(HeartbeatRequest(group, 0, member), "heartbeat")
    s.ask(syncing(s, group, 0, member), "sync")
    s.ask(committing(s, group, topic, 3, generation=0, member=member), "commit")
    s.ask(DescribeGroupsRequest([group]), "described")
    if s.version >= 5:
        s.ask(joining(group, member, group_instance_id="one"), "comes back as a static member")
    s.ask(leaving(s, group, member), "leaves")
    s.ask(leaving(s, group, member), "leaves again")
    s.ask(joining(group, member), "joins with the id it gave back")


@scenario(join_group)
def protocols_chosen(s: Session) -> None:
    """The protocol that all members can, by their votes; a leader that comes with something new."""
    group = s.group()
    first = join(s, "first", group, protocols=("range", "sticky"))
    if first is None:
        return
    s.ask(syncing(s, group, first.generation_id, first.member_id, first.member_id), "sync")
    again = s.ask(joining(group, first.member_id, protocols=("sticky", "range")), "the other way round")
    if again is None or again.error_code:
        return
    how = {"protocol_name": again.protocol_name} if s.v(SyncGroupRequest()) >= 5 else {}
    s.ask(syncing(s, group, again.generation_id, again.member_id, again.member_id, **how), "sync of that")
    s.ask(joining(group, first.member_id, protocols=("sticky", "range"), session_timeout_ms=20_000), "the same, other time-out")
    s.ask(DescribeGroupsRequest([group]), "described")


@scenario(leave_group, range(3, 99))
def several_left(s: Session) -> None:
    group = s.group()
    member = stable(s, group)
    s.ask(LeaveGroupRequest(group, members=[MemberIdentity("", "nobody")]), "unknown instance")
    s.ask(LeaveGroupRequest(group, members=[MemberIdentity("nobody", "nobody")]), "unknown member and instance")
    s.ask(LeaveGroupRequest(group, members=[MemberIdentity(member.member_id, "nobody")]), "known member, unknown instance")
    s.ask(LeaveGroupRequest(group, members=[MemberIdentity("", None)]), "nothing said")
    s.ask(LeaveGroupRequest(group, members=[MemberIdentity(member.member_id)] * 2), "twice in one")
    s.ask(LeaveGroupRequest(group + "-never", members=[MemberIdentity("a"), MemberIdentity("b", "i")]), "no such group")
    s.ask(DescribeGroupsRequest([group]), "described after")


@scenario(leave_group)
def left(s: Session) -> None:
    group = s.group()
    s.ask(leaving(s, group, "nobody"), "no such group")
    member = stable(s, group)
    s.ask(leaving(s, group, "nobody"), "unknown member")
    s.ask(leaving(s, "", "nobody"), "empty group name")
    s.ask(leaving(s, group, member.member_id), "right")
    s.ask(leaving(s, group, member.member_id), "again")
    if s.version >= 3:
        member = stable(s, group)
        two = [MemberIdentity(member.member_id), MemberIdentity("nobody")]
        s.ask(LeaveGroupRequest(group, members=two), "one right, one unknown")
        s.ask(LeaveGroupRequest(group, members=[]), "none")


def committing(
    s: Session,
    group: str,
    topic: str,
    *offsets: int,
    generation: int = -1,
    member: str = "",
    partition: int = 0,
    metadata: str | None = "m",
) -> OffsetCommitRequest:
    epoch = 0 if s.v(OffsetCommitRequest()) >= 6 else -1
    parts = [OffsetCommitRequestPartition(partition + i, o, epoch, metadata) for i, o in enumerate(offsets)]
    return OffsetCommitRequest(group, generation, member, topics=[OffsetCommitRequestTopic(topic, s.id_of(topic), parts)])


def fetching(s: Session, group: str, topic: str | None, *partitions: int) -> OffsetFetchRequest:
    if s.v(OffsetFetchRequest()) >= 8:
        wanted = None if topic is None else [OffsetFetchRequestTopics(topic, s.id_of(topic), partitions)]
        return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=wanted)])
    return OffsetFetchRequest(group, None if topic is None else [OffsetFetchRequestTopic(topic, partitions)])


@scenario(offset_commit)
def committed(s: Session) -> None:
    group, topic = s.group(), s.topic(partitions=2)
    s.ask(committing(s, group, topic, 5, 7), "no members, generation -1")
    s.ask(fetching(s, group, topic, 0, 1), "read back")
    s.ask(committing(s, group, topic, 3), "backwards")
    s.ask(committing(s, group, topic, 3, metadata=None), "null metadata")
    s.ask(committing(s, group, topic, 3, metadata="x" * 4096), "metadata of 4096")
    s.ask(committing(s, group, topic, 3, metadata="x" * 4097), "metadata of 4097")
    s.ask(committing(s, group, topic, -1), "offset -1")
    s.ask(committing(s, group, topic, -5), "offset -5")
    s.ask(committing(s, group, topic, 1, partition=9), "unknown partition")
    s.ask(committing(s, group, s.name + "-never", 1), "unknown topic")
    s.ask(committing(s, "", topic, 1), "empty group name")
    s.ask(committing(s, group, topic, 1, generation=3), "generation without a member")
    s.ask(committing(s, group, topic, 1, generation=3, member="nobody"), "unknown member")
    s.ask(OffsetCommitRequest(group), "nothing")
    parts = [OffsetCommitRequestPartition(0, 5, -1, "first"), OffsetCommitRequestPartition(0, 6, -1, "second")]
    s.ask(OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(topic, s.id_of(topic), parts)]), "twice in one")
    s.ask(committing(s, group, topic, 8, 8, 8), "two known partitions, one unknown")
    if s.version <= 4:
        request = committing(s, group, topic, 8)
        request.retention_time_ms = 1000
        s.ask(request, "with a retention")
    s.ask(fetching(s, group, topic, 0, 1), "read back at the end")


@scenario(offset_commit)
def committed_by_members(s: Session) -> None:
    group, topic = s.group(), s.topic()
    member = stable(s, group)
    s.ask(committing(s, group, topic, 4, generation=member.generation_id, member=member.member_id), "right")
    s.ask(committing(s, group, topic, 5, generation=member.generation_id - 1, member=member.member_id), "old generation")
    s.ask(committing(s, group, topic, 5, generation=member.generation_id, member="nobody"), "unknown member")
    s.ask(committing(s, group, topic, 5), "from outside, while it has members")
    s.ask(committing(s, group, topic, 5, member=member.member_id), "by a member, without a generation")
    s.ask(committing(s, group, topic, 5, generation=member.generation_id), "with a generation, by nobody")
    s.ask(committing(s, group, topic, 5, generation=member.generation_id + 1, member=member.member_id), "generation of the future")
    if s.version >= 7:
        request = committing(s, group, topic, 5, generation=member.generation_id, member=member.member_id)
        request.group_instance_id = "nobody"
        s.ask(request, "unknown instance")
    s.ask(fetching(s, group, topic, 0), "read back")


@scenario(offset_fetch)
def offsets_read(s: Session) -> None:
    group, topic = s.group(), s.topic(partitions=3)
    s.ask(fetching(s, group, topic, 0), "no such group")
    s.quiet(
        OffsetCommitRequest(
            group, topics=[OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(1, 42, 0, "note")])]
        ),
        8,
    )
    s.ask(fetching(s, group, topic, 0, 1, 2), "one of three")
    s.ask(fetching(s, group, topic, 9), "unknown partition")
    s.ask(fetching(s, group, s.name + "-never", 0), "unknown topic")
    s.ask(fetching(s, group, topic), "no partitions")
    s.ask(fetching(s, group, topic, 1, 1), "twice the same")
    s.ask(fetching(s, "", topic, 0), "empty group name")
    if s.version >= 2:
        s.ask(fetching(s, group, None), "all")
        s.ask(fetching(s, group + "-never", None), "all of no group")
    if s.version >= 8:
        both = [OffsetFetchRequestGroup(g, topics=None) for g in (group, group + "-never")]
        s.ask(OffsetFetchRequest(groups=both), "two groups")
        s.ask(OffsetFetchRequest(groups=[]), "no groups")
        s.ask(OffsetFetchRequest(groups=both, require_stable=True), "stable offsets")
        s.ask(OffsetFetchRequest(groups=both[:1] * 2), "the same group twice")
    if s.version >= 9:
        wanted = [OffsetFetchRequestTopics(topic, s.id_of(topic), [1])]
        s.ask(OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, "nobody", 3, wanted)]), "by an unknown member")


@scenario(describe_groups)
def described(s: Session) -> None:
    group, topic = s.group(), s.topic()
    s.ask(DescribeGroupsRequest([group]), "no such group")
    s.ask(DescribeGroupsRequest([]), "none")
    s.ask(DescribeGroupsRequest([""]), "empty name")
    s.quiet(
        OffsetCommitRequest(
            group + "-o", topics=[OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(0, 1, 0, "")])]
        ),
        8,
    )
    s.ask(DescribeGroupsRequest([group + "-o"]), "offsets only")
    member = stable(s, group)
    s.ask(DescribeGroupsRequest([group, group + "-never"]), "stable, and one unknown")
    if s.version >= 3:
        s.ask(DescribeGroupsRequest([group], True), "with what may be done")
    s.ask(DescribeGroupsRequest([group, group]), "twice in one")
    s.quiet(leaving_old(group, member.member_id), 2)
    s.ask(DescribeGroupsRequest([group]), "empty")


def leaving_old(group: str, member: str) -> LeaveGroupRequest:
    return LeaveGroupRequest(group, member)


@scenario(list_groups)
def listed(s: Session) -> None:
    group, topic = s.group(), s.topic()
    s.ask(ListGroupsRequest(), "before")
    stable(s, group)
    s.quiet(
        OffsetCommitRequest(
            group + "-o", topics=[OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(0, 1, 0, "")])]
        ),
        8,
    )
    s.ask(ListGroupsRequest(), "all")
    if s.version >= 4:
        for states in (["Stable"], ["Empty"], ["stable"], ["Nonsense"], ["Stable", "Empty"]):
            s.ask(ListGroupsRequest(states), f"states {states}")
    if s.version >= 5:
        for types in (["classic"], ["consumer"], ["Classic"], ["Nonsense"]):
            s.ask(ListGroupsRequest([], types), f"types {types}")


@scenario(delete_groups)
def groups_deleted(s: Session) -> None:
    group, topic = s.group(), s.topic()
    s.ask(DeleteGroupsRequest([group]), "no such group")
    s.ask(DeleteGroupsRequest([]), "none")
    s.ask(DeleteGroupsRequest([""]), "empty name")
    member = stable(s, group)
    s.ask(DeleteGroupsRequest([group]), "with a member")
    s.quiet(leaving_old(group, member.member_id), 2)
    s.quiet(
        OffsetCommitRequest(
            group, topics=[OffsetCommitRequestTopic(topic, partitions=[OffsetCommitRequestPartition(0, 1, 0, "")])]
        ),
        8,
    )
    s.ask(DeleteGroupsRequest([group, group + "-never"]), "empty, and one unknown")
    s.ask(DeleteGroupsRequest([group, group]), "twice in one")
    s.ask(DescribeGroupsRequest([group]), "described after")
    s.ask(fetching(s, group, topic, 0), "offsets after")


@scenario(offset_delete)
def offsets_deleted(s: Session) -> None:
    group, topic = s.group(), s.topic(partitions=2)

    def ask(label: str, name: str, topic: str, *partitions: int) -> None:
        parts = [OffsetDeleteRequestPartition(p) for p in partitions]
        s.ask(OffsetDeleteRequest(name, [OffsetDeleteRequestTopic(topic, parts)]), label)

    ask("no such group", group, topic, 0)
    commit = [OffsetCommitRequestPartition(p, 3, 0, "") for p in (0, 1)]
    s.quiet(OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(topic, partitions=commit)]), 8)
    ask("one", group, topic, 0)
    s.ask(fetching(s, group, topic, 0, 1), "what is left")
    ask("again", group, topic, 0)
    ask("unknown partition", group, topic, 9)
    ask("unknown topic", group, s.name + "-never", 0)
    ask("empty group name", "", topic, 0)
    s.ask(OffsetDeleteRequest(group, []), "none")
    stable(s, group)
    ask("with a member", group, topic, 1)
    reading, connect = s.group("reading"), s.group("connect")
    names = topic.encode()
    subscribed = b"\0\0\0\0\0\x01" + len(names).to_bytes(2, "big") + names + b"\xff\xff\xff\xff"
    for name, kind in ((reading, "consumer"), (connect, "connect")):
        wanted = [JoinGroupRequestProtocol("range", subscribed)]
        how: dict[str, Any] = {"protocol_type": kind, "session_timeout_ms": 10_000, "rebalance_timeout_ms": 10_000}
        given = s.quiet(JoinGroupRequest(name, protocols=wanted, **how), 4)
        joined = s.quiet(JoinGroupRequest(name, member_id=given.member_id, protocols=wanted, **how), 4)
        plan = [SyncGroupRequestAssignment(joined.member_id, ASSIGNMENT)]
        s.quiet(SyncGroupRequest(name, joined.generation_id, joined.member_id, assignments=plan), 2)
        ask(f"{kind}: a topic that is read", name, topic, 1)
        ask(f"{kind}: another", name, s.topic(f"other-{kind}"), 0)
