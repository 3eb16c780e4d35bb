"""The text of a scrape: Prometheus' own parsers read it, each family shows what was counted, docs/metrics.md lists them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from headrace.base.errors import Code
from headrace.base.metrics import Metrics
from headrace.server.metrics import (
    FAMILIES,
    PIECE_LINES,
    GroupLag,
    NodeFigures,
    Process,
    look_at_process,
    render,
    wants_openmetrics,
)

PROCESS = Process(cpu_s=1.5, resident_bytes=2048, start_s=1000.25, open_descriptors=7, descriptors_max=1024)


def a_busy_node() -> tuple[Metrics, NodeFigures]:
    metrics = Metrics()
    topic = metrics.topic('or"d\\er\ns')
    topic.bytes_in, topic.records_in, topic.batches_in, topic.produces = 1000, 10, 2, 1
    topic.bytes_out, topic.records_out, topic.fetches = 3000, 30, 3
    api = metrics.api("Produce")
    api.count(9)
    api.count(13)
    api.count(13)
    api.bytes_in, api.bytes_out = 1100, 90
    for ms in (0.04, 3.0, 100_000.0):
        api.latency_ms.observe(ms)
    metrics.refused[Code.BAD_ACKS] += 4
    metrics.flush_ms.observe(0.7)
    metrics.stall_ms.observe(21.0)
    metrics.connections = 5
    metrics.connections_closed["idle"] += 2
    lags = [GroupLag("g", "orders", 3, 42, 1.5), GroupLag("g", "orders", 4, 0, None)]
    return metrics, NodeFigures("0.1.0", "abc", 1, open_files=9, partitions=12, topics=3, groups={"stable": 1}, group_lags=lags)


def rendered(*, openmetrics: bool) -> str:
    metrics, figures = a_busy_node()
    return b"".join(render(metrics, figures, PROCESS, openmetrics=openmetrics)).decode()


@pytest.mark.parametrize(("openmetrics", "parse"), [(False, parse_text), (True, parse_openmetrics)])
def test_prometheus_reads_every_family_and_its_kind(openmetrics, parse):
    found = {family.name: family for family in parse(rendered(openmetrics=openmetrics))}
    assert {f.name: f.kind for f in FAMILIES} == {name: family.type for name, family in found.items()}
    assert all(family.samples for family in found.values()), "a_busy_node shows something of each family"


def test_what_was_counted_is_what_is_shown():
    samples = {(s.name, *s.labels.values()): s.value for f in parse_text(rendered(openmetrics=False)) for s in f.samples}
    assert samples["headrace_topic_in_bytes_total", 'or"d\\er\ns'] == 1000
    assert samples["headrace_topic_in_records_total", 'or"d\\er\ns'] == 10
    assert samples["headrace_topic_out_bytes_total", 'or"d\\er\ns'] == 3000
    assert samples["headrace_topic_out_records_total", 'or"d\\er\ns'] == 30
    assert samples["headrace_api_requests_total", "Produce", "13"] == 2
    assert samples["headrace_refused_total", "bad-acks"] == 4
    assert samples["headrace_connections",] == 5
    assert samples["headrace_loop_stall_max_seconds",] == 0.021
    assert samples["headrace_group_lag_records", "g", "orders", "3"] == 42
    assert samples["headrace_group_lag_seconds", "g", "orders", "3"] == 1.5
    assert ("headrace_group_lag_seconds", "g", "orders", "4") not in samples
    assert samples["process_start_time_seconds",] == 1000.25


def test_buckets_add_up_and_are_in_seconds():
    samples = {(s.name, *s.labels.values()): s.value for f in parse_text(rendered(openmetrics=False)) for s in f.samples}
    name = "headrace_api_latency_seconds"
    assert samples[f"{name}_bucket", "Produce", "5e-05"] == 1
    assert samples[f"{name}_bucket", "Produce", "0.005"] == 2
    assert samples[f"{name}_bucket", "Produce", "60.0"] == 2
    assert samples[f"{name}_bucket", "Produce", "+Inf"] == 3
    assert samples[f"{name}_count", "Produce"] == 3
    assert samples[f"{name}_sum", "Produce"] == pytest.approx(100.00304)


def test_a_node_that_has_done_nothing_can_be_scraped():
    text = b"".join(render(Metrics(), NodeFigures("0", "", 0), PROCESS, openmetrics=True)).decode()
    assert list(parse_openmetrics(text))


def test_the_text_comes_in_small_pieces():
    figures = NodeFigures("0", "", 0, group_lags=(GroupLag("g", "t", n, n, 1.0) for n in range(5000)))
    pieces = list(render(Metrics(), figures, PROCESS))
    assert max(piece.count(b"\n") for piece in pieces) <= PIECE_LINES * 2
    assert b"".join(pieces).count(b"headrace_group_lag_records{") == 5000
    assert pieces[:10] == [b""] * 10, "the lags are gathered in pieces, too"


def test_docs_list_every_family_with_its_kind_and_labels():
    page = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()
    rows = re.findall(r"^\| `([a-z0-9_]+)` \| (\w+) \| ([^|]*) \|", page, re.M)
    written = {name: (kind, tuple(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert written == {f.name + ("_total" if f.kind == "counter" else ""): (f.kind, f.labels) for f in FAMILIES}


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ("", False),
        ("*/*", False),
        ("text/plain", False),
        ("application/openmetrics-text", True),
        ("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2", True),
        ("application/openmetrics-text;q=0.2, text/plain;q=0.9", False),
        ("application/openmetrics-text;q=0", False),
        ("application/openmetrics-text;q=rubbish, text/plain", False),
    ],
)
def test_the_form_is_the_one_that_is_asked_for(accept, wanted):
    assert wants_openmetrics(accept) is wanted


def test_the_process_knows_itself():
    process = look_at_process()
    assert process.resident_bytes > 1_000_000
    assert process.open_descriptors >= 3
    assert process.cpu_s > 0
