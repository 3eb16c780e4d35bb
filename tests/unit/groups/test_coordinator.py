"""The directory: names to partitions, alarms, limits, loading; what stories do not show."""

from __future__ import annotations

import pytest

from headrace.base.errors import Code, Refused
from headrace.base.limits import GROUP_ID_LENGTH_MAX
from headrace.groups import coordinator as room
from headrace.groups.coordinator import TICK_GROUPS_MAX, Coordinator, coordinator_partition, make_member_id
from headrace.groups.decision import DescribedGroups, FetchedOffsets, ListedGroups, When
from headrace.groups.facts import GroupForgotten, GroupStored, OffsetCommitted, StoredMember, encode_fact, is_durable
from headrace.groups.requests import CommitRequest, HeartbeatRequest, JoinRequest, TopicCommit
from headrace.groups.settings import GroupSettings


@pytest.mark.parametrize(
    ("name", "partition"),
    # "hello".hashCode() is 99162322; the emoji is two UTF-16 units; "polygenelubricants" hashes to -2^31, which has no
    # positive twin: Kafka takes 0.
    [("", 0), ("a", 97 % 50), ("hello", 99162322 % 50), ("polygenelubricants", 0), ("\U0001f600", 1772899 % 50)],
)
def test_partition_of_a_group(name: str, partition: int) -> None:
    assert coordinator_partition(name, 50) == partition


def test_member_id() -> None:
    """The shape of a random UUID (version 4), from the chance that was brought."""
    assert make_member_id("c", None, b"\xff" * 16) == "c-ffffffff-ffff-4fff-bfff-ffffffffffff"
    assert make_member_id("c", "i", b"\0" * 16) == "i-00000000-0000-4000-8000-000000000000"


def join_request(group: str, member_id: str = "", session_ms: int = 10_000) -> JoinRequest:
    return JoinRequest(group, member_id, None, "c", "/h", "consumer", (("range", b""),), session_ms, 10_000)


def stored(group: str, members: int = 1) -> GroupStored:
    kept = tuple(StoredMember(f"m{i}", None, "c", "/h", 9000, 6000, b"", b"plan") for i in range(members))
    return GroupStored(group, "consumer", 3, "range", "m0", 500, kept)


def committed(group: str, topic: str = "t", partition: int = 0, offset: int = 1) -> OffsetCommitted:
    return OffsetCommitted(group, topic, partition, offset, -1, "", 1000)


def loaded(*facts: GroupStored | OffsetCommitted | GroupForgotten, now_ms: int = 1000) -> Coordinator:
    machine = Coordinator()
    for index, fact in enumerate(facts):
        machine.replay(*encode_fact(fact), index + 1)
    machine.apply(machine.loaded(now_ms).facts, len(facts))
    return machine


@pytest.mark.parametrize("name", ["", "x" * (GROUP_ID_LENGTH_MAX + 1), "ü" * (GROUP_ID_LENGTH_MAX // 2 + 1)])
def test_bad_group_names(name: str) -> None:
    (reply,) = Coordinator().join(join_request(name), 0, 1, "m").replies
    assert isinstance(reply.result, Refused) and reply.result.code is Code.BAD_GROUP


def test_a_group_of_a_tool_may_have_the_empty_name() -> None:
    machine = Coordinator()
    decision = machine.commit(CommitRequest("", "", None, -1, [TopicCommit("t", [(0, 5, -1, "")])]), 10, 1)
    machine.apply(decision.facts, 1)
    assert machine.groups[""].offsets.get("t", 0) is not None


def test_number_of_groups_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "GROUPS_MAX", 2)
    machine = loaded(stored("g"), stored("h"))
    (reply,) = machine.join(join_request("i"), 0, 1, "m").replies
    assert isinstance(reply.result, Refused) and reply.result.code is Code.POLICY_VIOLATION
    (reply,) = machine.commit(CommitRequest("i", "", None, -1, [TopicCommit("t", [(0, 5, -1, "")])]), 10, 1).replies
    assert isinstance(reply.result, Refused) and reply.result.code is Code.POLICY_VIOLATION


def test_handed_out_ids_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that ask for an id and never come back must not fill the memory."""
    monkeypatch.setattr("headrace.groups.membership.GROUP_MEMBERS_MAX", 3)
    machine = Coordinator()
    codes = []
    for number in range(4):
        decision = machine.join(join_request("g"), 0, number, f"m{number}")
        machine.apply(decision.facts, 0)
        codes.append(decision.replies[0].result.code)  # type: ignore[union-attr]
    assert codes == [Code.MEMBER_ID_REQUIRED] * 3 + [Code.GROUP_FULL]


def test_list_filters_in_any_case() -> None:
    machine = loaded(stored("b"), stored("a"), committed("simple"))

    def names(states: list[str], types: list[str]) -> list[str]:
        result = machine.list_groups(states, types, 1).replies[0].result
        assert isinstance(result, ListedGroups)
        return [listed.group for listed in result.groups]

    assert names([], []) == ["a", "b", "simple"]
    assert names(["STABLE"], []) == ["a", "b"]
    assert names(["empty", "Dead"], ["Classic"]) == ["simple"]
    assert names([], ["consumer"]) == []


def test_describe_shows_metadata_of_stable_groups_only() -> None:
    machine = loaded(stored("g"))
    result = machine.describe(["g", "nobody"], 1).replies[0].result
    assert isinstance(result, DescribedGroups)
    (_, described), (_, unknown) = result.groups
    assert not isinstance(described, Refused)
    assert (described.state, described.protocol, described.members[0].assignment) == ("Stable", "range", b"plan")
    assert isinstance(unknown, Refused) and unknown.code is Code.GROUP_NOT_FOUND


def test_reads_wait_for_what_they_saw() -> None:
    machine = loaded(stored("g"), committed("g"), committed("h"))
    decision = machine.fetch_offsets("g", None, 1)
    assert (decision.position, decision.replies[0].when) == (2, When.SETTLED)
    assert machine.fetch_offsets("nobody", None, 1).position == 3
    assert machine.describe(["g"], 1).position == 3


def test_sessions_begin_when_loaded() -> None:
    machine = loaded(stored("g"), now_ms=50_000)
    assert machine.groups["g"].deadlines == {"m0": 56_000}


def test_a_heartbeat_does_not_move_the_alarm() -> None:
    machine = loaded(stored("g"), now_ms=1000)
    machine.apply(machine.tick(1000).facts, 1)  # the check for expired offsets of an old log
    assert machine.deadline_ms() == 7000
    machine.apply(machine.heartbeat(HeartbeatRequest("g", "m0", None, 3), 5000, 1).facts, 1)
    assert machine.deadline_ms() == 7000
    decision = machine.tick(7000)
    assert not any(is_durable(fact) for fact in decision.facts)
    machine.apply(decision.facts, 1)
    assert machine.deadline_ms() == 11_000 and len(machine.alarms) == 1


def test_a_tick_takes_a_bounded_number_of_groups() -> None:
    machine = loaded(*[stored(f"g{number}") for number in range(TICK_GROUPS_MAX * 2 + 10)])
    sizes = []
    while (machine.deadline_ms() or 0) <= 100_000:
        decision = machine.tick(100_000)
        sizes.append(len({fact.group for fact in decision.facts if hasattr(fact, "group")}))
        machine.apply(decision.facts, 1)
    assert max(sizes) == TICK_GROUPS_MAX and sum(sizes) == TICK_GROUPS_MAX * 2 + 10


def test_offsets_outlive_a_group_that_moved_to_another_protocol() -> None:
    """Kafka writes a tombstone for a classic group that becomes one of the newer protocol; its offsets go on."""
    machine = loaded(stored("g"), committed("g", offset=7), GroupForgotten("g"))
    assert machine.groups["g"].stored is None
    result = machine.fetch_offsets("g", None, 1).replies[0].result
    assert isinstance(result, FetchedOffsets) and result.topics[0][1][0][1] == committed("g", offset=7)
    assert machine.snapshot() == [committed("g", offset=7)]


def test_the_last_of_each_key_counts() -> None:
    machine = loaded(committed("g", offset=1), stored("g"), committed("g", offset=2), stored("g", members=2))
    assert machine.snapshot() == [stored("g", members=2), committed("g", offset=2)]


def test_a_tombstone_of_nothing_is_no_harm() -> None:
    machine = loaded(GroupForgotten("g"))
    assert machine.snapshot() == [] and machine.position == 1


def test_two_thousand_members() -> None:
    """A large group forms, and no single decision is quadratic in its size."""
    machine = Coordinator(GroupSettings(initial_rebalance_delay_ms=0))
    machine.apply(machine.join(join_request("g"), 0, 0, "first").facts, 0)
    for number in range(2000):
        request = join_request("g")
        request.id_required = False
        machine.apply(machine.join(request, 0, number + 1, f"m{number}").facts, 0)
    (group,) = machine.groups.values()
    assert group.awaiting_join == 2000
    decision = machine.tick(10_000)  # "first" never came back
    machine.apply(decision.facts, 0)
    assert len(decision.replies) == 2000 and group.generation == 1
