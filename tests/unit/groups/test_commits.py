"""Committed offsets: what stories do not show."""

from __future__ import annotations

from uuid import UUID

from headrace.base.errors import Code
from headrace.groups import commits
from headrace.groups.decision import Committed, When
from headrace.groups.facts import GroupMade, OffsetCommitted
from headrace.groups.group import Group
from headrace.groups.requests import CommitRequest, TopicCommit, TopicPartitions
from headrace.groups.settings import GroupSettings

OLD, NEW, NONE = UUID(int=1), UUID(int=2), UUID(int=0)


def group_with(*facts: OffsetCommitted) -> Group:
    group = Group("g", GroupSettings(commit_metadata_length_max=4))
    group.apply(GroupMade("g", 0))
    for fact in facts:
        group.apply(fact)
    return group


def committed(topic_id: UUID = NONE) -> OffsetCommitted:
    return OffsetCommitted("g", "t", 0, 5, -1, "", 0, topic_id=topic_id)


def test_a_topic_made_anew_has_none_of_the_old_ones_offsets() -> None:
    """By the id, where both the commit and the question carry one."""

    def found(kept: OffsetCommitted, asked: UUID) -> bool:
        return commits.fetch(group_with(kept), [TopicPartitions("t", [0], asked)]).topics[0][1][0][1] is not None

    assert found(committed(OLD), OLD)
    assert not found(committed(OLD), NEW)
    assert found(committed(OLD), NONE)
    assert found(committed(), NEW)


def test_a_commit_carries_the_topic_id_and_the_time() -> None:
    request = CommitRequest("g", "", None, -1, [TopicCommit("t", [(0, 7, 3, "m")], OLD)])
    decision = commits.commit(group_with(), request, 99, 1)
    assert decision.facts == [OffsetCommitted("g", "t", 0, 7, 3, "m", 99, -1, OLD)]
    assert decision.replies[0].when is When.APPENDED


def test_metadata_is_counted_in_utf16_units() -> None:
    """Four of them are allowed here: two emojis fit, three do not."""
    partitions = [(0, 1, -1, "\U0001f600" * 2), (1, 1, -1, "\U0001f600" * 3)]
    decision = commits.commit(group_with(), CommitRequest("g", "", None, -1, [TopicCommit("t", partitions)]), 0, 1)
    assert len(decision.facts) == 1
    result = decision.replies[0].result
    assert isinstance(result, Committed)
    (_, ((_, good), (_, bad))) = result.topics[0]
    assert good is None and bad is not None and bad.code is Code.COMMIT_METADATA_TOO_LARGE


def test_nothing_kept_nothing_to_wait_for() -> None:
    request = CommitRequest("g", "", None, -1, [TopicCommit("t", [(0, 1, -1, "too long")])])
    decision = commits.commit(group_with(), request, 0, 1)
    assert decision.facts == [] and decision.replies[0].when is When.NOW
