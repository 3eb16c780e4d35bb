"""`headrace topic`, whole commands against a broker in memory."""

from __future__ import annotations

import json

import pytest

from headrace.protocols.kafka import errors
from tests.support.fake_kafka import FakeKafka, FakeTerminal, run


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.add("orders", 2)
    kafka.put("orders", 1, "a", "b")
    kafka.add("__consumer_offsets", 4)
    return kafka


def test_create_sends_partitions_and_settings(kafka):
    ran = run("topic create new --partitions 3 --set retention.ms=60000 --set a=b=c", kafka)
    assert (ran.status, ran.out) == (0, "created new with 3 partitions\n")
    assert len(kafka.topics["new"]) == 3
    assert kafka.configs["new"] == {"retention.ms": "60000", "a": "b=c"}


def test_create_leaves_what_is_not_said_to_the_broker(kafka):
    run("topic create new", kafka)
    assert (kafka.asked[-1].topics[0].num_partitions, kafka.asked[-1].topics[0].replication_factor) == (-1, -1)


def test_create_names_an_existing_topic_with_evidence_and_next_step(kafka):
    ran = run("topic create orders", kafka)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error topic-exists: topic 'orders' was not created\n")
    assert "TOPIC_ALREADY_EXISTS (36): said so" in ran.err
    assert "headrace topic describe orders" in ran.err


def test_list_hides_internal_topics_until_asked(kafka):
    assert run("topic list", kafka).out == "topic   partitions  replicas\norders           2         1\n"
    rows = json.loads(run("topic list --internal -o json", kafka).out)
    assert [row["topic"] for row in rows] == ["__consumer_offsets", "orders"]


def test_describe_shows_offsets_and_set_settings_only(kafka):
    kafka.configs["orders"]["retention.ms"] = "5"
    kafka.starts["orders", 1] = 1
    found = json.loads(run("topic describe orders -o json", kafka).out)
    assert [(p["start"], p["end"], p["records"]) for p in found["partitions"]] == [(0, 0, 0), (1, 2, 1)]
    assert found["settings"] == [{"setting": "retention.ms", "value": "5", "source": "topic"}]
    everything = json.loads(run("topic describe orders --all -o json", kafka).out)
    assert len(everything["settings"]) == 2


def test_describe_of_an_unknown_topic_creates_nothing(kafka):
    ran = run("topic describe nope", kafka)
    assert ran.status == 1 and "error unknown-topic" in ran.err
    assert "nope" not in kafka.topics


def test_alter_sets_unsets_and_grows(kafka):
    kafka.configs["orders"]["old"] = "1"
    ran = run("topic alter orders --partitions 4 --set retention.ms=9 --unset old", kafka)
    assert ran.status == 0
    assert len(kafka.topics["orders"]) == 4
    assert kafka.configs["orders"] == {"retention.ms": "9"}


def test_alter_changes_nothing_when_one_part_is_wrong(kafka):
    ran = run("topic alter orders --partitions 1 --set retention.ms=9", kafka)
    assert ran.status == 1 and "error bad-partitions" in ran.err
    assert kafka.configs["orders"] == {}


def test_alter_with_plan_changes_nothing(kafka):
    ran = run("topic alter orders --partitions 4 --plan", kafka)
    assert (ran.status, ran.out) == (0, "would change orders: 4 partitions\n")
    assert len(kafka.topics["orders"]) == 2


def test_alter_wants_something_to_do(kafka):
    assert run("topic alter orders", kafka).status == 2


def test_delete_deletes_all_or_none_of_what_exists(kafka):
    ran = run("topic delete orders nope", kafka)
    assert ran.status == 1 and "orders" in kafka.topics
    assert run("topic delete orders", kafka).out == "deleted orders\n"
    assert "orders" not in kafka.topics


@pytest.mark.parametrize(("answer", "gone"), [("y", True), ("yes", True), ("", False), ("n", False)])
def test_delete_asks_a_person(kafka, answer, gone):
    terminal = FakeTerminal(kafka, terminal=True)
    terminal.answers = [answer]
    ran = run("topic delete orders", terminal=terminal)
    assert "Delete orders (2 partitions) for ever? [y/N]" in ran.err
    assert ("orders" not in kafka.topics) is gone
    assert ran.status == (0 if gone else 1)


def test_delete_many_goes_in_small_requests_and_tells_each(kafka):
    for number in range(45):
        kafka.add(f"t{number}")
    ran = run(["topic", "delete", "-o", "json", *(f"t{n}" for n in range(45))], kafka)
    assert [len(r.topics) for r in kafka.asked if type(r).__name__ == "DeleteTopicsRequest"] == [20, 20, 5]
    assert len(json.loads(ran.out)) == 45


def test_delete_reports_what_the_broker_refuses(kafka):
    kafka.fail["DeleteTopics"] = [errors.TOPIC_DELETION_DISABLED]
    ran = run("topic delete orders", kafka)
    assert ran.status == 1 and "error topic-deletion-off" in ran.err


def test_a_leader_that_is_not_there_yet_is_asked_again(kafka):
    kafka.fail["ListOffsets"] = [errors.NOT_LEADER_OR_FOLLOWER, errors.NOT_LEADER_OR_FOLLOWER]
    assert run("topic describe orders", kafka).status == 0


def test_a_leader_that_never_comes_is_an_error(kafka):
    kafka.fail["ListOffsets"] = [errors.NOT_LEADER_OR_FOLLOWER] * 1000
    ran = run("topic describe orders", kafka)
    assert ran.status == 1 and "error not-leader" in ran.err
