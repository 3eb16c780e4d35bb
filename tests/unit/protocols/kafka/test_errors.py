"""Kafka's error codes: the table of refusals is total, and the numbers are Kafka's."""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.base.metrics import Metrics
from headrace.protocols.kafka import errors

NUMBERS = {name: value for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}


def test_every_refusal_has_a_code():
    assert set(errors.CODES) == set(Code)
    assert set(errors.CODES.values()) <= set(NUMBERS.values())
    assert errors.NONE not in errors.CODES.values()


def test_no_number_has_two_names():
    assert len(set(NUMBERS.values())) == len(NUMBERS)


def test_what_a_client_is_told_is_counted():
    metrics = Metrics()
    assert errors.tell(Refused(Code.UNKNOWN_TOPIC, "why"), metrics) == errors.UNKNOWN_TOPIC_OR_PARTITION == 3
    errors.tell(Refused(Code.UNKNOWN_TOPIC, "why"), metrics)
    assert metrics.refused == {Code.UNKNOWN_TOPIC: 2}
