"""The state of a group by itself: what facts do to it."""

from __future__ import annotations

import pytest

from headrace.groups.facts import GroupMade, GroupStored, MemberJoined, MemberLeft, StoredMember
from headrace.groups.group import Group, State
from headrace.groups.requests import Protocols
from headrace.groups.settings import GroupSettings

TOPIC_T = bytes.fromhex("00000000000100017400000000")


def joined(name: str, *protocols: str, instance: str | None = None) -> MemberJoined:
    offered: Protocols = tuple((protocol, TOPIC_T) for protocol in protocols)
    return MemberJoined("g", name, instance, "c", "/h", "consumer", offered, 100, 50, 1, 1000)


def group_of(*members: MemberJoined) -> Group:
    group = Group("g", GroupSettings())
    group.apply(GroupMade("g", 0))
    for member in members:
        group.apply(member)
    return group


def stored(protocol: str, subscription: bytes, *names: str) -> GroupStored:
    members = tuple(StoredMember(name, None, "c", "/h", 100, 50, subscription, b"plan") for name in names)
    return GroupStored("g", "consumer", 4, protocol, names[0] if names else None, 77, members)


def test_a_draft_is_another_group() -> None:
    group = group_of(joined("a", "range"), joined("b", "range", instance="B"))
    draft = group.draft()
    draft.apply(MemberLeft("g", "a"))
    draft.apply(joined("c", "range"))
    assert list(group.members) == ["a", "b"] and group.awaiting_join == 2 and group.leader == "a"
    assert group.supporters == {"range": 2} and group.deadlines == {"a": 1000, "b": 1000}
    assert list(draft.members) == ["b", "c"] and draft.leader == "b"


@pytest.mark.parametrize(
    ("offers", "chosen"),
    [
        ((("range",),), "range"),
        ((("range", "sticky"), ("sticky", "range"), ("sticky", "range")), "sticky"),
        ((("range", "sticky"), ("sticky", "range")), "range"),  # a tie: who was voted for first
        ((("new", "range"), ("new", "range"), ("range",)), "range"),  # what one does not support cannot be chosen
    ],
)
def test_votes(offers: tuple[tuple[str, ...], ...], chosen: str) -> None:
    assert group_of(*[joined(str(number), *offer) for number, offer in enumerate(offers)]).choose_protocol() == chosen


def test_who_fits_in() -> None:
    group = group_of()
    assert group.supports("anything", (("x", b""),))
    assert not group.supports("", (("x", b""),)) and not group.supports("consumer", ())
    group = group_of(joined("a", "range"))
    group.apply(stored("range", TOPIC_T, "a"))
    assert group.supports("consumer", (("other", b""), ("range", b"")))
    assert not group.supports("consumer", (("other", b""),)) and not group.supports("connect", (("range", b""),))


def test_what_a_member_offered_outlives_the_record_that_keeps_one_protocol() -> None:
    group = group_of(joined("a", "range", "sticky"))
    group.apply(stored("range", TOPIC_T, "a"))
    assert group.members["a"].protocols == (("range", TOPIC_T), ("sticky", TOPIC_T))
    assert (group.state, group.members["a"].assignment) == (State.STABLE, b"plan")
    group.apply(stored("other", TOPIC_T, "a"))  # while a log is read
    assert group.members["a"].protocols == (("other", TOPIC_T),) and group.supporters == {"other": 1}


def test_subscriptions_that_cannot_be_read_might_be_any() -> None:
    group = group_of()
    assert not group.is_subscribed("t")
    group.apply(stored("range", TOPIC_T, "a"))
    assert group.is_subscribed("t") and not group.is_subscribed("u")
    group.apply(stored("range", b"?", "a"))
    assert group.is_subscribed("t") and group.is_subscribed("u")
    group.apply(stored("range", b""))
    assert not group.is_subscribed("t") and group.state is State.EMPTY


def test_a_member_never_joins_twice() -> None:
    with pytest.raises(AssertionError):
        group_of(joined("a", "range"), joined("a", "range"))
