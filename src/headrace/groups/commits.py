"""Decisions about committed offsets: commit, fetch, delete, expire.

Who may commit: a member, with the number of its generation and with no plan outstanding; or, while the group has no
members, anybody who names neither (a consumer that picks its partitions itself, a tool that resets offsets). So a member
that was thrown out cannot move the offsets of those who came after it. A commit of a member keeps its session alive.

When an offset is forgotten without being asked for (KIP-211): `offsets_retention_ms` after the group became empty; where
there never was a member, after its last commit; in a stable group of consumers, after its last commit, if nobody
subscribes to the topic any more. Old clients can ask for a time of their own, which then counts from the commit.
An empty group whose last offset is gone is gone too.
"""

from __future__ import annotations

from collections.abc import Sequence

from headrace.base.errors import Code, Refused
from headrace.groups.decision import Committed, Decision, FetchedOffsets, OffsetsDeleted, Reply, When
from headrace.groups.facts import Fact, GroupDropped, GroupForgotten, OffsetCommitted, OffsetForgotten, SessionExtended
from headrace.groups.group import Group, State
from headrace.groups.membership import UNFINISHED, check_generation, check_member
from headrace.groups.requests import CommitRequest, TopicPartitions

NO_ID = 0


def commit(group: Group, request: CommitRequest, now_ms: int, waiter: int) -> Decision:
    refused = _check_commit(group, request)
    if refused is not None:
        return Decision([], [Reply(waiter, refused)])
    facts: list[Fact] = []
    if group.state is State.STABLE or group.state is State.PREPARING:
        deadline_ms = now_ms + group.members[request.member_id].session_timeout_ms
        facts.append(SessionExtended(group.group_id, request.member_id, deadline_ms))
    expire_ms = -1 if request.retention_ms == -1 else now_ms + request.retention_ms
    length_max = group.settings.commit_metadata_length_max
    group_id = group.group_id
    results = []
    is_stored = False
    for commits in request.topics:
        topic, topic_id = commits.topic, commits.topic_id
        outcome: list[tuple[int, Refused | None]] = []
        for partition, offset, leader_epoch, metadata in commits.partitions:
            if metadata and _length(metadata) > length_max:
                why = f"{_length(metadata)} characters of metadata; the limit is {length_max}"
                outcome.append((partition, Refused(Code.COMMIT_METADATA_TOO_LARGE, why)))
                continue
            facts.append(OffsetCommitted(group_id, topic, partition, offset, leader_epoch, metadata, now_ms, expire_ms, topic_id))
            outcome.append((partition, None))
            is_stored = True
        results.append((topic, outcome))
    when = When.APPENDED if is_stored else When.NOW
    return Decision(facts, [Reply(waiter, Committed(results), when)])


def _check_commit(group: Group, request: CommitRequest) -> Refused | None:
    if request.generation < 0 and group.state is State.EMPTY:
        return None
    if request.generation < 0 and not request.member_id and request.instance_id is None:
        why = f"the group has {len(group.members)} members: only they may commit, or anybody once they have left"
        return Refused(Code.UNKNOWN_MEMBER, why)
    refused = check_member(group, request.member_id, request.instance_id) or check_generation(group, request.generation)
    if refused is None and group.state is State.COMPLETING:
        return UNFINISHED
    return refused


def _length(metadata: str) -> int:
    """As Kafka counts: UTF-16 code units."""
    return len(metadata) if metadata.isascii() else len(metadata.encode("utf-16-le")) // 2


def fetch(group: Group | None, topics: Sequence[TopicPartitions] | None) -> FetchedOffsets:
    """`topics` None: all there are. A topic that was made anew under its name has none of the old one's offsets."""
    if topics is None:
        names = [] if group is None else sorted(group.offsets.by_topic)
        return FetchedOffsets([(name, [(c.partition, c) for c in group.offsets.of_topic(name)]) for name in names if group])
    found = []
    for asked in topics:
        partitions: list[tuple[int, OffsetCommitted | None]] = []
        for partition in asked.partitions:
            committed = None if group is None else group.offsets.get(asked.topic, partition)
            if committed is not None and asked.topic_id.int != NO_ID and committed.topic_id.int not in (NO_ID, asked.topic_id.int):
                committed = None
            partitions.append((partition, committed))
        found.append((asked.topic, partitions))
    return FetchedOffsets(found)


def delete(group: Group, topics: Sequence[TopicPartitions], waiter: int) -> Decision:
    """A group of consumers may have members, as long as they do not subscribe to the topic."""
    if group.state is not State.EMPTY and not group.is_consumer:
        return Decision([], [Reply(waiter, Refused(Code.GROUP_NOT_EMPTY, f"it has {len(group.members)} members"))])
    facts: dict[tuple[str, int], Fact] = {}
    results = []
    for asked in topics:
        outcome: list[tuple[int, Refused | None]] = []
        for partition in asked.partitions:
            if group.is_subscribed(asked.topic):
                outcome.append((partition, Refused(Code.GROUP_SUBSCRIBED, f"members subscribe to {asked.topic}")))
                continue
            outcome.append((partition, None))
            if group.offsets.get(asked.topic, partition) is not None:
                facts[asked.topic, partition] = OffsetForgotten(group.group_id, asked.topic, partition)
        results.append((asked.topic, outcome))
    when = When.APPENDED if facts else When.SETTLED
    return Decision(list(facts.values()), [Reply(waiter, OffsetsDeleted(results), when)], group.position)


def forget_topics(group: Group, topics: Sequence[str]) -> list[Fact]:
    """The topics do not exist any more."""
    return [
        OffsetForgotten(group.group_id, topic, committed.partition)
        for topic in topics
        for committed in group.offsets.of_topic(topic)
    ]


def end(group: Group) -> list[Fact]:
    """All that is kept of an empty group, taken back."""
    assert group.state is State.EMPTY
    facts: list[Fact] = [OffsetForgotten(group.group_id, c.topic, c.partition) for c in group.offsets]
    facts.append(GroupForgotten(group.group_id) if group.stored is not None else GroupDropped(group.group_id))
    return facts


def expire(group: Group, now_ms: int) -> list[Fact]:
    """The offsets whose time is over; with the last of an empty group, the group."""
    expired: list[Fact] = [
        OffsetForgotten(group.group_id, committed.topic, committed.partition)
        for committed in group.offsets
        if _is_expired(group, committed, now_ms)
    ]
    if len(expired) == len(group.offsets) and group.state is State.EMPTY and not group.pending:
        return end(group)
    return expired


def _is_expired(group: Group, committed: OffsetCommitted, now_ms: int) -> bool:
    if group.is_subscribed(committed.topic):
        return False
    if group.protocol_type is None:
        since_ms = committed.commit_ms
    elif group.state is State.EMPTY:
        since_ms = committed.commit_ms if group.state_ms == -1 else group.state_ms
    elif group.state is State.STABLE and group.is_consumer and group.subscribed is not None:
        since_ms = committed.commit_ms
    else:
        return False
    if committed.expire_ms != -1:
        return now_ms >= committed.expire_ms
    return now_ms - since_ms >= group.settings.offsets_retention_ms
