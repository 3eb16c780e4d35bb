"""`headrace produce`: lines become records; what is acknowledged is told, whatever happens."""

from __future__ import annotations

import json

import pytest

from headrace.protocols.kafka import errors
from tests.support.fake_kafka import NOW_MS, FakeKafka, FakeTerminal, run


@pytest.fixture
def kafka() -> FakeKafka:
    kafka = FakeKafka()
    kafka.add("t", 3)
    return kafka


def test_each_line_is_a_record_in_order(kafka):
    ran = run("produce t --partition 1", kafka, input=b"one\ntwo\r\n\nfour")
    assert kafka.values("t", 1) == [b"one", b"two", b"", b"four"]
    assert ran.out == "4 records stored in t, partition 1, offsets 0 to 3\n"


def test_lines_may_be_cut_anywhere(kafka):
    run("produce t --partition 0", kafka, input=[b"on", b"e\ntw", b"o\nthree", b"\n"])
    assert kafka.values("t", 0) == [b"one", b"two", b"three"]


def test_a_line_is_stored_before_the_next_is_waited_for(kafka):
    run("produce t --partition 0", kafka, input=[b"one\n", b"two\n"])
    assert [type(r).__name__ for r in kafka.asked].count("ProduceRequest") == 2


def test_key_and_labels_go_with_every_record(kafka):
    run(["produce", "t", "--key", "k", "--label", "a=1", "--label", "b=x=y"], kafka, input=b"v\n")
    (record,) = kafka.topics["t"][0] + kafka.topics["t"][1] + kafka.topics["t"][2]
    assert (record.key, record.labels) == (b"k", ((b"a", b"1"), (b"b", b"x=y")))
    assert NOW_MS <= record.timestamp < NOW_MS + 60_000


def test_a_key_goes_where_kafkas_producer_sends_it(kafka):
    # murmur2("k") % 3 == 2, as Kafka's own producer computes it.
    run("produce t --key k", kafka, input=b"v\n")
    assert kafka.values("t", 2) == [b"v"]


def test_json_lines_carry_everything(kafka):
    line = {"key": None, "value": {"base64": "/w=="}, "labels": {"a": ["1", None]}, "timestamp": 5, "partition": 2}
    run("produce t --json", kafka, input=json.dumps(line).encode() + b"\n\n")
    (record,) = kafka.topics["t"][2]
    assert (record.key, record.value, record.timestamp) == (None, b"\xff", 5)
    assert record.labels == ((b"a", b"1"), (b"a", None))


def test_a_wrong_line_stops_after_those_before_it_are_stored(kafka):
    ran = run("produce t --json --partition 0", kafka, input=b'{"value":"a"}\n{"valu":"b"}\n{"value":"c"}\n')
    assert kafka.values("t", 0) == [b"a"]
    assert ran.status == 1
    assert ran.err.startswith("stopped: 1 record stored in t, partition 0, offset 0\nerror bad-input: line 2 is no record\n")


def test_a_partition_that_is_not_there_is_refused_first(kafka):
    ran = run("produce t --partition 3", kafka, input=b"x\n")
    assert ran.status == 2 and "it has 0 to 2" in ran.err


def test_an_answer_that_was_lost_is_asked_for_again_with_the_same_sequence(kafka):
    kafka.add("u")
    run("produce u", kafka, input=b"warm\n")
    original = kafka.on_Produce
    calls = []

    def flaky(request, code):
        calls.append(bytes(request.topic_data[0].partition_data[0].records))
        if len(calls) == 1:
            original(request, code)
            raise ConnectionResetError("hung up")
        return original(request, errors.DUPLICATE_SEQUENCE_NUMBER)

    kafka.on_Produce = flaky  # type: ignore[method-assign]
    ran = run("produce u", kafka, input=b"x\n")
    assert ran.status == 0
    assert calls[0] == calls[1]
    assert kafka.values("u") == [b"warm", b"x"]


def test_without_a_producer_id_a_lost_answer_is_an_error(kafka):
    kafka.fail["InitProducerId"] = [errors.UNKNOWN_SERVER_ERROR]
    original = kafka.on_Produce

    def hang_up(request, code):
        original(request, code)
        raise ConnectionResetError("hung up")

    kafka.on_Produce = hang_up  # type: ignore[method-assign]
    ran = run("produce t", kafka, input=b"x\n")
    assert ran.status == 3 and "error broker-hung-up" in ran.err


def test_a_leader_that_moves_is_followed(kafka):
    kafka.fail["Produce"] = [errors.NOT_LEADER_OR_FOLLOWER, errors.NOT_LEADER_OR_FOLLOWER]
    assert run("produce t --partition 0", kafka, input=b"x\n").status == 0
    assert kafka.values("t", 0) == [b"x"]


def test_what_the_broker_refuses_is_told(kafka):
    kafka.fail["Produce"] = [errors.MESSAGE_TOO_LARGE]
    ran = run("produce t", kafka, input=b"x\n")
    assert ran.status == 1 and "error batch-too-large" in ran.err and "max.message.bytes" in ran.err


def test_large_input_is_cut_into_batches_below_the_limit(kafka):
    kafka.add("one")
    run("produce one", kafka, input=b"".join(b"%0100d\n" % n for n in range(20_000)))
    sizes = [len(r.topic_data[0].partition_data[0].records) for r in kafka.asked if type(r).__name__ == "ProduceRequest"]
    assert len(kafka.values("one")) == 20_000
    assert kafka.values("one")[12_345] == b"%0100d" % 12_345
    assert len(sizes) >= 3 and max(sizes) < 1_000_000


def test_ctrl_c_tells_what_is_stored(kafka):
    ran = run("produce t --partition 0", kafka, input=[b"one\n", b"half", b"^C"])
    assert ran.status == 130
    assert ran.err == "interrupted: 1 record stored in t, partition 0, offset 0\n"
    assert kafka.values("t", 0) == [b"one"]


def test_json_output_has_the_ranges(kafka):
    found = json.loads(run("produce t --partition 2 -o json", kafka, input=b"a\nb\n").out)
    assert found == {"topic": "t", "records": 2, "partitions": [{"partition": 2, "first": 0, "last": 1, "records": 2}]}


def test_a_new_topic_comes_into_being(kafka):
    assert run("produce fresh", kafka, input=b"x\n").status == 0
    assert kafka.values("fresh") == [b"x"]


def test_a_line_without_end_is_refused(kafka, monkeypatch):
    monkeypatch.setattr("headrace.cli.produce.LINE_BYTES_MAX", 10)
    ran = run("produce t", kafka, input=[b"aaaaaaaa", b"aaaaaaaa"])
    assert ran.status == 1 and "error bad-input" in ran.err


def test_a_person_is_told_how_to_end(kafka):
    assert "Ctrl-D" in run("produce t", terminal=FakeTerminal(kafka, terminal=True)).err
