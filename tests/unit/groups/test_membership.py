"""What can be said about a join without the group; sizes that have a limit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headrace.base.errors import Code, Refused
from headrace.base.limits import GROUP_MEMBER_METADATA_MAX
from headrace.groups.coordinator import Coordinator
from headrace.groups.membership import check_join_shape
from headrace.groups.requests import JoinRequest, SyncRequest
from headrace.groups.settings import GroupSettings

GOOD = JoinRequest("g", "", None, "c", "/h", "consumer", (("range", b"m"), ("sticky", b"")), 10_000, 20_000, id_required=False)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, None),
        ({"session_timeout_ms": 5_999}, Code.BAD_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, Code.BAD_SESSION_TIMEOUT),
        ({"protocols": (("range", b""), ("range", b"x"))}, Code.INCONSISTENT_PROTOCOL),
        ({"protocols": (("range", b"x" * (GROUP_MEMBER_METADATA_MAX + 1)),)}, Code.BAD_REQUEST),
        ({"instance_id": "x" * 32_704}, Code.BAD_REQUEST),
        ({"instance_id": "ü" * 16_352}, Code.BAD_REQUEST),
        ({"instance_id": "x" * 32_703}, None),
    ],
)
def test_shape_of_a_join(change: dict[str, object], code: Code | None) -> None:
    """The record of a member has int16 lengths; an id is a name and 37 characters more."""
    refused = check_join_shape(replace(GOOD, **change), GroupSettings())  # type: ignore[arg-type]
    assert (refused.code if refused else None) is code


def test_a_plan_that_no_record_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.groups.membership.GROUP_STORED_SIZE_MAX", 100)
    machine = Coordinator(GroupSettings(initial_rebalance_delay_ms=0))
    machine.apply(machine.join(GOOD, 0, 1, "m").facts, 0)
    machine.apply(machine.tick(0).facts, 0)
    decision = machine.sync(SyncRequest("g", "m", None, 1, plan=[("m", b"x" * 100)]), 0, 2)
    assert decision.facts == []
    assert isinstance(decision.replies[0].result, Refused) and "101 bytes; the limit is 100" in decision.replies[0].result.why
    assert machine.sync(SyncRequest("g", "m", None, 1, plan=[("m", b"x" * 99)]), 0, 3).facts != []
