"""`headrace consume`: every record once, in order, from the place that was asked for; groups remember what was printed."""

from __future__ import annotations

import json

import pytest

from headrace.protocols.kafka import errors
from headrace.records.record import Record
from tests.support.fake_kafka import NOW_MS, FakeKafka, run


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.add("t")
    kafka.put("t", 0, *(f"v{n}" for n in range(7)))
    return kafka


def values(ran) -> list[str]:
    return ran.out.split()


def test_latest_is_the_default_and_waits(kafka):
    ran = run("consume t --timeout 1s", kafka)
    assert (ran.status, ran.out) == (0, "")


@pytest.mark.parametrize(
    ("place", "first"), [("--from earliest", "v0"), ("--from 4", "v4"), ("--from 0", "v0"), ("--since 1h", "v3")]
)
def test_it_begins_where_it_is_told_to(kafka, place, first):
    for record in kafka.topics["t"][0][:3]:
        record.timestamp = NOW_MS - 2 * 3_600_000
    ran = run(f"consume t {place} --values --timeout 1s", kafka)
    assert values(ran) == [f"v{n}" for n in range(int(first[1:]), 7)]


@pytest.mark.parametrize("offset", ["1", "8"])
def test_an_offset_the_log_does_not_hold_is_refused(kafka, offset):
    kafka.starts["t", 0] = 2
    ran = run(f"consume t --from {offset}", kafka)
    assert ran.status == 1 and "error offset-out-of-range" in ran.err and "from 2 up to 7" in ran.err


def test_max_stops_within_a_batch(kafka):
    assert values(run("consume t --from earliest --max 4 --values", kafka)) == ["v0", "v1", "v2", "v3"]


def test_a_bound_that_was_not_reached_in_time_is_a_failure(kafka):
    assert run("consume t --from earliest --max 8 --timeout 1s", kafka).status == 1


def test_a_line_shows_place_time_key_value_and_labels(kafka):
    kafka.topics["t"][0][:] = [Record(0, 1_000, b"k", b"a\tb\x1b[2J", [(b"x", b"1"), (b"y", None)]), Record(1, 1_000, None, None)]
    ran = run("consume t --from earliest --max 2", kafka)
    assert ran.out == "0/0\t1970-01-01T00:00:01.000Z\tk\ta\\tb\\x1b[2J\tx=1,y=-\n0/1\t1970-01-01T00:00:01.000Z\t-\t-\n"


def test_json_lines_are_what_produce_takes(kafka):
    kafka.add("copy")
    kafka.topics["t"][0][:] = [Record(0, 5, b"\xff", b"v", [(b"x", b"1"), (b"x", b"2")])]
    ran = run("consume t --from earliest --max 1 --json", kafka)
    found = json.loads(ran.out)
    assert found["key"] == {"base64": "/w=="} and found["labels"] == {"x": ["1", "2"]}
    run("produce copy --json", kafka, input=ran.out.encode())
    copy = kafka.topics["copy"][0][0]
    assert (copy.key, copy.value, copy.labels, copy.timestamp) == (b"\xff", b"v", ((b"x", b"1"), (b"x", b"2")), 5)


def test_labels_filter_and_filtered_records_do_not_count(kafka):
    kafka.topics["t"][0][5].labels = ((b"a", b"1"), (b"b", b"2"))
    kafka.topics["t"][0][6].labels = ((b"a", b"1"),)
    assert values(run("consume t --from earliest --label a=1 --max 2 --values", kafka)) == ["v5", "v6"]
    assert values(run("consume t --from earliest --label a=1 --label b=2 --max 1 --values", kafka)) == ["v5"]


def test_chosen_partitions_only(kafka):
    kafka.add("p", 3)
    for partition in range(3):
        kafka.put("p", partition, f"p{partition}")
    assert values(run("consume p --from earliest --partition 2 --partition 0 --values --max 2", kafka)) == ["p0", "p2"]
    assert run("consume p --partition 3", kafka).status == 2


@pytest.mark.parametrize("words", ["--from x", "--from earliest --since 1h", "--group g --partition 0", "--since 5", "--max 0"])
def test_what_makes_no_sense_is_wrong_usage(kafka, words):
    ran = run(f"consume t {words}", kafka)
    assert ran.status == 2 and "error bad-value" in ran.err


def test_an_unknown_topic_is_named(kafka):
    assert "error unknown-topic" in run("consume nope", kafka).err


def test_records_removed_meanwhile_are_told_and_passed_over(kafka):
    original = kafka.on_Fetch

    def fetch(request, code):
        kafka.starts["t", 0] = 3
        return original(request, code)

    kafka.on_Fetch = fetch  # type: ignore[method-assign]
    ran = run("consume t --from earliest --values --max 4", kafka)
    assert values(ran) == ["v3", "v4", "v5", "v6"]
    assert "offset 0 is gone" in ran.err


def test_bytes_that_changed_on_the_way_are_never_shown(kafka):
    original = kafka.on_Fetch

    def fetch(request, code):
        answer = original(request, code)
        data = answer.responses[0].partitions[0]
        broken = bytearray(data.records)
        broken[-3] ^= 1
        data.records = memoryview(broken)
        return answer

    kafka.on_Fetch = fetch  # type: ignore[method-assign]
    ran = run("consume t --from earliest", kafka)
    assert (ran.status, ran.out) == (1, "") and "error corrupt-batch" in ran.err


def test_a_group_goes_on_where_it_stopped(kafka):
    assert values(run("consume t --group g --from earliest --max 2 --values", kafka)) == ["v0", "v1"]
    assert kafka.offsets["g"] == {("t", 0): 2}
    assert values(run("consume t --group g --from earliest --max 3 --values", kafka)) == ["v2", "v3", "v4"]
    assert kafka.members["g"] == []


def test_a_group_that_has_read_nothing_keeps_its_beginning(kafka):
    run("consume t --group g --timeout 1s", kafka)
    kafka.put("t", 0, "late")
    assert values(run("consume t --group g --timeout 1s --values", kafka)) == ["late"]


def test_a_rebalance_is_joined_again(kafka):
    kafka.fail["Heartbeat"] = [errors.REBALANCE_IN_PROGRESS, errors.UNKNOWN_MEMBER_ID]
    ran = run("consume t --group g --from earliest --timeout 9s --values", kafka)
    assert values(ran) == [f"v{n}" for n in range(7)]
    assert [type(r).__name__ for r in kafka.asked].count("SyncGroupRequest") >= 2


def test_ctrl_c_commits_what_was_printed_and_leaves(kafka):
    original = kafka.on_Fetch
    fetched = []

    def fetch(request, code):
        if fetched:
            raise KeyboardInterrupt
        fetched.append(1)
        return original(request, code)

    kafka.on_Fetch = fetch  # type: ignore[method-assign]
    ran = run("consume t --group g --from earliest --values", kafka)
    assert ran.status == 130
    assert values(ran) == ["v0", "v1", "v2"]
    assert kafka.offsets["g"] == {("t", 0): 3} and kafka.members["g"] == []
