"""The client of the commands: versions, retries, and every way in which a broker can fail it."""

from __future__ import annotations

import pytest

from headrace.base.errors import ProtocolError
from headrace.cli.client import Client, parse_server
from headrace.cli.errors import CliError
from tests.support.fake_kafka import FakeKafka, FakeTerminal, run


def client(kafka: FakeKafka | None) -> Client:
    return Client(FakeTerminal(kafka), "fake:9092")  # type: ignore[arg-type]


def test_addresses():
    assert parse_server("a.b:1") == ("a.b", 1)
    assert parse_server("[::1]:9092") == ("::1", 9092)


def test_the_newest_version_both_speak_is_taken_below_topic_ids():
    kafka = FakeKafka()
    kafka.versions_max["Metadata"] = 5
    asked = client(kafka)
    assert asked.version(3) == 5
    assert asked.version(1) == 12  # Fetch by name


def test_no_version_in_common_says_both_ranges():
    kafka = FakeKafka()
    kafka.versions_max["CreateTopics"] = 1
    ran = run("topic create t", kafka)
    assert ran.status == 1 and "error no-common-version" in ran.err and "it offers 2 to 1" not in ran.err


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (TimeoutError("timed out"), "broker-silent"),
        (ProtocolError("announces an answer of 1213486160 bytes"), "not-kafka"),
        (ConnectionResetError("closed"), "broker-hung-up"),
    ],
)
def test_each_failure_has_its_code_and_status_3(failure, code):
    class Broken(FakeKafka):
        def answer(self, frame):
            raise failure

    with pytest.raises(CliError) as caught:
        client(Broken()).metadata(None)
    assert (caught.value.code, caught.value.status) == (code, 3)


def test_an_answer_to_another_request_is_no_kafka():
    class Confused(FakeKafka):
        def answer(self, frame):
            answer = bytearray(super().answer(frame))
            answer[3] ^= 0xFF
            return memoryview(answer)

    with pytest.raises(CliError, match="does not speak"):
        client(Confused()).metadata(None)


def test_rubbish_is_no_kafka():
    class Rubbish(FakeKafka):
        def answer(self, frame):
            return memoryview(b"HTTP/1.1 400 Bad Request\r\n")

    with pytest.raises(CliError) as caught:
        client(Rubbish()).metadata(None)
    assert caught.value.code == "not-kafka"
