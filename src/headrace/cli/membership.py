"""A seat in a consumer group, classic protocol, for `consume --group`.

Blocking and single: join, take the share, then call `beat` between fetches; when it says the group changes, commit and join again.
When it is our turn to lead, the range assignor shares the partitions out (each topic's partitions in order, cut into even
pieces), which every Kafka client knows.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from headrace.base.errors import ProtocolError
from headrace.cli.client import Client, Where
from headrace.cli.errors import CliError
from headrace.cli.refusals import refusal
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.codec import decode_message, encode_message
from headrace.protocols.kafka.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from headrace.protocols.kafka.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from headrace.protocols.kafka.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from headrace.protocols.kafka.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from headrace.protocols.kafka.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from headrace.protocols.kafka.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from headrace.protocols.kafka.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from headrace.protocols.kafka.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse

OFFSET_COMMIT, OFFSET_FETCH, JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = 8, 9, 11, 12, 13, 14
SESSION_MS = 30_000
REBALANCE_MS = 60_000
BEAT_PAUSE_S = 3.0
PROTOCOL, ASSIGNOR = "consumer", "range"
SUBSCRIPTION_VERSION_MAX = 3

NEW_GENERATION = {errors.REBALANCE_IN_PROGRESS, errors.ILLEGAL_GENERATION, errors.UNKNOWN_MEMBER_ID}
NEW_COORDINATOR = {errors.NOT_COORDINATOR, errors.COORDINATOR_NOT_AVAILABLE, errors.COORDINATOR_LOAD_IN_PROGRESS}


def share_out(members: Mapping[str, Sequence[str]], partitions: Mapping[str, int]) -> dict[str, dict[str, list[int]]]:
    """The range assignor: member -> topic -> partitions. `members` holds what each subscribes to."""
    shares: dict[str, dict[str, list[int]]] = {member: {} for member in members}
    for topic in sorted(partitions):
        wanting = sorted(member for member, topics in members.items() if topic in topics)
        if not wanting:
            continue
        even, more = divmod(partitions[topic], len(wanting))
        at = 0
        for index, member in enumerate(wanting):
            size = even + (index < more)
            if size:
                shares[member][topic] = list(range(at, at + size))
            at += size
    return shares


def write_subscription(topics: Sequence[str]) -> bytes:
    return struct.pack(">h", 0) + encode_message(ConsumerProtocolSubscription(topics), 0)


def read_subscription(data: bytes | memoryview) -> Sequence[str]:
    version = min(max(0, int.from_bytes(data[:2], "big", signed=True)), SUBSCRIPTION_VERSION_MAX)
    try:
        return decode_message(ConsumerProtocolSubscription, version, data[2:], whole=False).topics
    except ProtocolError:
        return ()  # a member we cannot read gets nothing from us


def write_assignment(share: Mapping[str, Sequence[int]]) -> bytes:
    assigned = [TopicPartition(topic, partitions) for topic, partitions in share.items()]
    return struct.pack(">h", 0) + encode_message(ConsumerProtocolAssignment(assigned), 0)


def read_assignment(data: bytes | memoryview) -> list[Where]:
    if len(data) < 2:
        return []
    found = decode_message(ConsumerProtocolAssignment, 0, data[2:], whole=False)
    return [(part.topic, partition) for part in found.assigned_partitions for partition in part.partitions]


def committed(client: Client, group: str, topics: Mapping[str, Sequence[int]] | None) -> dict[Where, int]:
    """The group's offsets (of these partitions, or all it has), -1 where it has none."""
    deadline_s = client.deadline()
    while True:
        at = client.coordinator(group)
        if topics is None:
            old, new = None, None
        else:
            old = [OffsetFetchRequestTopic(topic, partitions) for topic, partitions in topics.items()]
            new = [OffsetFetchRequestTopics(topic, partition_indexes=partitions) for topic, partitions in topics.items()]
        if client.version(OFFSET_FETCH, at) >= 8:
            request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=new)])
        else:
            request = OffsetFetchRequest(group, old)
        answer = client.call(OFFSET_FETCH, request, OffsetFetchResponse, at=at)
        code = answer.groups[0].error_code if answer.groups else answer.error_code
        if not code:
            break
        if not client.passing(code, deadline_s):
            raise refusal(code, f"the offsets of group {group!r} are not told", name=group)
        client.coordinators.pop(group, None)
    found: dict[Where, int] = {}
    for topic in answer.groups[0].topics if answer.groups else answer.topics:
        for p in topic.partitions:
            if p.error_code:
                raise refusal(p.error_code, f"the offset of {topic.name}-{p.partition_index} is not told", name=group)
            found[topic.name, p.partition_index] = p.committed_offset
    return found


def commit(client: Client, group: str, offsets: Mapping[Where, int], generation: int = -1, member: str = "") -> dict[Where, int]:
    """Set offsets; the partitions that were refused, with their codes."""
    by_topic: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        by_topic.setdefault(topic, []).append(OffsetCommitRequestPartition(partition, offset, -1, ""))
    topics = [OffsetCommitRequestTopic(topic, partitions=partitions) for topic, partitions in by_topic.items()]
    deadline_s = client.deadline()
    while True:
        request = OffsetCommitRequest(group, generation, member, topics=topics)
        answer = client.call(OFFSET_COMMIT, request, OffsetCommitResponse, at=client.coordinator(group))
        refused = {(t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions if p.error_code}
        if not refused or not any(client.passing(code, deadline_s) for code in list(refused.values())[:1]):
            return refused
        client.coordinators.pop(group, None)


class Membership:
    def __init__(self, client: Client, group: str, topic: str) -> None:
        self.client = client
        self.group = group
        self.topic = topic
        self.member = ""
        self.generation = -1
        self.beat_s = 0.0

    def join(self) -> list[Where]:
        """Until we have a share; waits for the others of the group as long as it takes them to come."""
        while True:
            try:
                share = self.try_to_join()
            except CliError:
                self.client.coordinators.pop(self.group, None)
                raise
            if share is not None:
                self.beat_s = self.client.terminal.monotonic_s()
                return share

    def try_to_join(self) -> list[Where] | None:
        at = self.client.coordinator(self.group)
        protocols = [JoinGroupRequestProtocol(ASSIGNOR, write_subscription([self.topic]))]
        request = JoinGroupRequest(self.group, SESSION_MS, REBALANCE_MS, self.member, None, PROTOCOL, protocols)
        joined = self.client.call(JOIN_GROUP, request, JoinGroupResponse, at=at, wait_s=REBALANCE_MS / 1000 + 30)
        if joined.error_code == errors.MEMBER_ID_REQUIRED:
            self.member = joined.member_id
            return None
        if not self.goes_on(joined.error_code, "was not joined"):
            return None
        self.member, self.generation = joined.member_id, joined.generation_id
        assignments = []
        if joined.leader == self.member:
            members = {member.member_id: read_subscription(member.metadata) for member in joined.members}
            topics = sorted({topic for topics in members.values() for topic in topics})
            partitions = {t.name or "": len(t.partitions) for t in self.client.metadata(topics).topics if not t.error_code}
            shares = share_out(members, partitions)
            assignments = [SyncGroupRequestAssignment(member, write_assignment(share)) for member, share in shares.items()]
        sync = SyncGroupRequest(self.group, self.generation, self.member, None, PROTOCOL, ASSIGNOR, assignments)
        synced = self.client.call(SYNC_GROUP, sync, SyncGroupResponse, at=at, wait_s=REBALANCE_MS / 1000 + 30)
        if not self.goes_on(synced.error_code, "did not share out"):
            return None
        return read_assignment(synced.assignment)

    def goes_on(self, code: int, what: str) -> bool:
        """Whether all is well; False means join again; everything else is raised."""
        if not code:
            return True
        if code in NEW_COORDINATOR:
            self.client.coordinators.pop(self.group, None)
            self.client.terminal.sleep(0.2)
        elif code == errors.UNKNOWN_MEMBER_ID:
            self.member = ""
        elif code not in NEW_GENERATION:
            raise refusal(code, f"group {self.group!r} {what}", name=self.group)
        return False

    def beat(self) -> bool:
        """A heartbeat when one is due; False when the group changes and we must join again."""
        now_s = self.client.terminal.monotonic_s()
        if now_s - self.beat_s < BEAT_PAUSE_S:
            return True
        self.beat_s = now_s
        request = HeartbeatRequest(self.group, self.generation, self.member)
        answer = self.client.call(HEARTBEAT, request, HeartbeatResponse, at=self.client.coordinator(self.group))
        return self.goes_on(answer.error_code, "does not take heartbeats")

    def commit(self, offsets: Mapping[Where, int]) -> bool:
        """False when the partitions are no longer ours: somebody else will read these records again."""
        if not offsets:
            return True
        refused = commit(self.client, self.group, offsets, self.generation, self.member)
        return all(self.goes_on(code, "does not take offsets") for code in refused.values())

    def leave(self) -> None:
        if self.member:
            at = self.client.coordinator(self.group)
            if self.client.version(LEAVE_GROUP, at) >= 3:
                request = LeaveGroupRequest(self.group, members=[MemberIdentity(self.member)])
            else:
                request = LeaveGroupRequest(self.group, self.member)
            self.client.call(LEAVE_GROUP, request, LeaveGroupResponse, at=at)
            self.member = ""
