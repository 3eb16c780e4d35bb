"""`headrace group`: what is planned is what is done, and a running group is left alone."""

from __future__ import annotations

import json

import pytest

from headrace.cli.membership import write_assignment
from headrace.protocols.kafka import errors
from tests.support.fake_kafka import NOW_MS, FakeKafka, FakeTerminal, run

HOUR_MS = 3_600_000


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.add("t", 2)
    for hour in range(10):  # partition 0: a record an hour, the last one an hour ago
        kafka.put("t", 0, f"h{hour}", timestamp=NOW_MS - (10 - hour) * HOUR_MS)
    kafka.put("t", 1, "x", timestamp=NOW_MS - 100 * HOUR_MS)
    kafka.offsets["g"] = {("t", 0): 6, ("t", 1): 1}
    return kafka


def test_list_and_describe(kafka):
    assert json.loads(run("group list -o json", kafka).out) == [
        {"group": "g", "state": "Empty", "protocol": "consumer", "coordinator": "fake:9092"}
    ]
    found = json.loads(run("group describe g -o json", kafka).out)
    assert [(row["offset"], row["end"], row["lag"]) for row in found["offsets"]] == [(6, 10, 4), (1, 1, 0)]


def test_describe_names_who_holds_a_partition(kafka):
    kafka.members["g"] = ["m1"]
    kafka.assignments["m1"] = write_assignment({"t": [0]})
    found = json.loads(run("group describe g -o json", kafka).out)
    assert [row["member"] for row in found["offsets"]] == ["m1", None]
    assert found["members"][0]["host"] == "10.0.0.1"


def test_describe_shows_offsets_of_a_topic_that_is_gone(kafka):
    kafka.offsets["g"]["gone", 0] = 5
    rows = json.loads(run("group describe g -o json", kafka).out)["offsets"]
    assert rows[0] == {"topic": "gone", "partition": 0, "offset": 5, "end": None, "lag": None, "member": None}


def test_a_group_nobody_knows(kafka):
    assert "error group-not-found" in run("group describe nope", kafka).err
    assert "error no-offsets" in run("group reset nope --to-latest", kafka).err


@pytest.mark.parametrize(
    ("way", "offsets"),
    [
        ("--to-earliest", (0, 0)),
        ("--to-latest", (10, 1)),
        ("--to-offset 3", (3, 1)),
        ("--to-offset 99", (10, 1)),
        ("--by -2", (4, 0)),
        ("--by +1", (7, 1)),
        ("--by -100", (0, 0)),
        ("--to-time -190m", (7, 1)),
        (f"--to-time {NOW_MS - 5 * HOUR_MS}", (5, 1)),
        ("--by -2h", (4, 1)),  # from the record at 6; partition 1 is at its end, so from now
        ("--by=+1h", (7, 1)),
    ],
)
def test_every_way_of_moving(kafka, way, offsets):
    before = dict(kafka.offsets["g"])
    planned = json.loads(run(f"group reset g {way} --plan -o json", kafka).out)
    assert kafka.offsets["g"] == before, "a plan changes nothing"
    ran = run(f"group reset g {way} -o json", kafka)
    assert ran.status == 0
    assert tuple(kafka.offsets["g"].values()) == offsets
    assert [row["new"] for row in planned] == list(offsets)
    assert json.loads(ran.out) == planned


def test_a_plan_says_that_it_is_one(kafka):
    ran = run("group reset g --to-earliest --plan", kafka)
    assert ran.out.startswith("would move 2 of 2 offsets of g\n") and "nothing was changed" in ran.out


def test_one_partition_of_one_topic(kafka):
    run("group reset g --to-earliest --topic t --partition 0", kafka)
    assert kafka.offsets["g"] == {("t", 0): 0, ("t", 1): 1}


def test_a_new_group_gets_offsets_for_a_topic(kafka):
    assert run("group reset fresh --to-latest --topic t", kafka).status == 0
    assert kafka.offsets["fresh"] == {("t", 0): 10, ("t", 1): 1}


def test_a_running_group_is_left_alone(kafka):
    kafka.members["g"] = ["m1"]
    ran = run("group reset g --to-earliest", kafka)
    assert ran.status == 1 and "error group-not-empty" in ran.err and "client at 10.0.0.1" in ran.err
    assert kafka.offsets["g"]["t", 0] == 6


@pytest.mark.parametrize(
    "words", ["", "--to-earliest --to-latest", "--to-earliest --partition 0", "--by 5x", "--to-time soon", "--to-offset -1"]
)
def test_what_makes_no_sense_is_wrong_usage(kafka, words):
    assert run(f"group reset g {words}", kafka).status == 2


def test_what_the_broker_refuses_is_told(kafka):
    kafka.fail["OffsetCommit"] = [errors.UNKNOWN_MEMBER_ID]
    ran = run("group reset g --to-earliest", kafka)
    assert ran.status == 1 and "error unknown-member" in ran.err and "0 of 1 topics are" in ran.err


def test_a_coordinator_that_loads_is_asked_again(kafka):
    kafka.fail["FindCoordinator"] = [errors.COORDINATOR_NOT_AVAILABLE]
    kafka.fail["OffsetFetch"] = [errors.COORDINATOR_LOAD_IN_PROGRESS]
    assert run("group describe g", kafka).status == 0


def test_delete(kafka):
    assert run("group delete g", kafka).out == "deleted g\n"
    ran = run("group delete g", kafka)
    assert ran.status == 1 and "error group-not-found" in ran.err


def test_delete_of_several_tells_each(kafka):
    ran = run("group delete g nope -o json", kafka)
    assert ran.status == 1
    assert [row["deleted"] for row in json.loads(ran.out)] == [True, False]


def test_delete_asks_a_person(kafka):
    terminal = FakeTerminal(kafka, terminal=True)
    terminal.answers = ["n"]
    assert run("group delete g", terminal=terminal).status == 1
    assert "g" in kafka.offsets
