"""Counters are plain numbers; histograms put a value under the first bound that is not below it."""

from headrace.base.errors import Code
from headrace.base.metrics import Histogram, Metrics


def test_a_value_on_a_bound_counts_under_that_bound():
    histogram = Histogram([1.0, 5.0])
    for value in (0.0, 1.0, 1.1, 5.0, 5.1):
        histogram.observe(value)
    assert histogram.counts == [2, 2, 1]
    assert histogram.count == 5
    assert histogram.total == 12.2
    assert histogram.maximum == 5.1


def test_topics_and_apis_are_made_once_and_kept():
    metrics = Metrics()
    metrics.topic("a").bytes_in += 5
    metrics.topic("a").bytes_in += 6
    assert metrics.topics["a"].bytes_in == 11
    metrics.api("Produce").count(9)
    metrics.api("Produce").count(9)
    metrics.api("Produce").count(11)
    assert metrics.apis["Produce"].versions == {9: 2, 11: 1}


def test_a_deleted_topic_leaves_no_counter_behind():
    metrics = Metrics()
    metrics.topic("a")
    metrics.forget_topic("a")
    metrics.forget_topic("never")
    assert metrics.topics == {}


def test_refusals_count_by_code():
    metrics = Metrics()
    metrics.refused[Code.BAD_ACKS] += 1
    metrics.refused[Code.BAD_ACKS] += 1
    assert metrics.refused == {Code.BAD_ACKS: 2}
