"""What a scrape of `/metrics` shows, and how it is written.

`FAMILIES` is the one table of exported metrics: name, kind, unit, labels, help and where the samples come from. `docs/metrics.md`
lists the same names (a test compares them). The text is our own, in both forms Prometheus asks for (text 0.0.4 and
OpenMetrics 1.0): some thirty lines, and the start path is spared a library.

Law: rendering is a walk that hands out pieces of at most `PIECE_LINES` lines, because a node with 2,000 partitions and ten
groups has 40,000 lines of lag, and the loop must not be held for them. Whoever renders gives way between the pieces.
Latencies are counted in milliseconds and shown in seconds, as Prometheus wants base units.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from headrace.base.metrics import Histogram, Metrics, TopicMetrics

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PIECE_LINES = 500


@dataclass(slots=True)
class GroupLag:
    """How far a group lies behind in one partition, counted to the high watermark."""

    group: str
    topic: str
    partition: int
    records: int
    seconds: float | None  # age of the oldest record not yet committed; None where it cannot be told without reading


@dataclass(slots=True)
class NodeFigures:
    """What is asked of the node at the moment of a scrape; everything else is in `Metrics`."""

    version: str
    cluster_id: str
    node_id: int
    open_files: int = 0
    partitions: int = 0
    topics: int = 0
    groups: dict[str, int] = field(default_factory=dict)  # by state
    group_lags: Iterable[GroupLag] = ()  # walked once, in pieces: a generator must bear changes meanwhile


@dataclass(slots=True)
class Process:
    """What the kernel knows about this process."""

    cpu_s: float
    resident_bytes: int
    start_s: float
    open_descriptors: int
    descriptors_max: int


Labels = tuple[str, ...]
Samples = Iterable[tuple[Labels, float | Histogram]]


@dataclass(slots=True)
class Scrape:
    metrics: Metrics
    figures: NodeFigures
    process: Process


@dataclass(slots=True)
class Family:
    name: str  # without `_total`: the writer adds it to counters
    kind: str  # counter, gauge, histogram
    labels: Labels
    help: str
    samples: Callable[[Scrape], Samples]


def one(value: float | Histogram) -> Samples:
    return (((), value),)


def by_topic(look: Callable[[TopicMetrics], float]) -> Callable[[Scrape], Samples]:
    def samples(scrape: Scrape) -> Samples:
        return (((name,), look(topic)) for name, topic in sorted(scrape.metrics.topics.items()))

    return samples


def api_requests(scrape: Scrape) -> Samples:
    for name, api in sorted(scrape.metrics.apis.items()):
        for version, count in sorted(api.versions.items()):
            yield (name, str(version)), count


def lag_records(scrape: Scrape) -> Samples:
    return (((lag.group, lag.topic, str(lag.partition)), lag.records) for lag in scrape.figures.group_lags)


def lag_seconds(scrape: Scrape) -> Samples:
    return (
        ((lag.group, lag.topic, str(lag.partition)), lag.seconds) for lag in scrape.figures.group_lags if lag.seconds is not None
    )


FAMILIES = (
    Family(
        "headrace_build_info",
        "gauge",
        ("version", "cluster_id", "node_id"),
        "Always 1; the labels say what runs here.",
        lambda s: (((s.figures.version, s.figures.cluster_id, str(s.figures.node_id)), 1),),
    ),
    Family("headrace_topics", "gauge", (), "Topics, internal ones included.", lambda s: one(s.figures.topics)),
    Family("headrace_partitions", "gauge", (), "Partitions this node keeps.", lambda s: one(s.figures.partitions)),
    Family(
        "headrace_topic_in_bytes",
        "counter",
        ("topic",),
        "Batch bytes stored, by topic.",
        by_topic(lambda t: t.bytes_in),
    ),
    Family("headrace_topic_in_records", "counter", ("topic",), "Records stored, by topic.", by_topic(lambda t: t.records_in)),
    Family("headrace_topic_in_batches", "counter", ("topic",), "Batches stored, by topic.", by_topic(lambda t: t.batches_in)),
    Family(
        "headrace_topic_produces",
        "counter",
        ("topic",),
        "Partitions written to in produce requests, by topic.",
        by_topic(lambda t: t.produces),
    ),
    Family(
        "headrace_topic_out_bytes",
        "counter",
        ("topic",),
        "Batch bytes handed to readers, by topic.",
        by_topic(lambda t: t.bytes_out),
    ),
    Family(
        "headrace_topic_out_records",
        "counter",
        ("topic",),
        "Records handed to readers, counted by offsets, by topic.",
        by_topic(lambda t: t.records_out),
    ),
    Family(
        "headrace_topic_fetches",
        "counter",
        ("topic",),
        "Partitions read in fetch requests that returned records, by topic.",
        by_topic(lambda t: t.fetches),
    ),
    Family("headrace_api_requests", "counter", ("api", "version"), "Requests answered, by API and version.", api_requests),
    Family(
        "headrace_api_latency_seconds",
        "histogram",
        ("api",),
        "From the whole request to its answer on the way out, waits included.",
        lambda s: (((name,), api.latency_ms) for name, api in sorted(s.metrics.apis.items())),
    ),
    Family(
        "headrace_api_in_bytes",
        "counter",
        ("api",),
        "Bytes of requests, by API.",
        lambda s: (((name,), api.bytes_in) for name, api in sorted(s.metrics.apis.items())),
    ),
    Family(
        "headrace_api_out_bytes",
        "counter",
        ("api",),
        "Bytes of answers, by API.",
        lambda s: (((name,), api.bytes_out) for name, api in sorted(s.metrics.apis.items())),
    ),
    Family(
        "headrace_refused",
        "counter",
        ("code",),
        "Refusals by code; docs/errors.md has a section for each.",
        lambda s: (((code.value,), count) for code, count in sorted(s.metrics.refused.items(), key=lambda i: i[0].value)),
    ),
    Family("headrace_connections", "gauge", (), "Connections of clients, open now.", lambda s: one(s.metrics.connections)),
    Family(
        "headrace_connections_opened",
        "counter",
        (),
        "Connections accepted since the start.",
        lambda s: one(s.metrics.connections_opened),
    ),
    Family(
        "headrace_connections_closed",
        "counter",
        ("reason",),
        "Connections that ended, by reason.",
        lambda s: (((reason,), count) for reason, count in sorted(s.metrics.connections_closed.items())),
    ),
    Family("headrace_received_bytes", "counter", (), "Bytes read from clients.", lambda s: one(s.metrics.bytes_received)),
    Family("headrace_sent_bytes", "counter", (), "Bytes written to clients.", lambda s: one(s.metrics.bytes_sent)),
    Family(
        "headrace_unfinished_request_bytes",
        "gauge",
        (),
        "Bytes of requests that have not been answered yet.",
        lambda s: one(s.metrics.unfinished_request_bytes),
    ),
    Family(
        "headrace_unsent_answer_bytes",
        "gauge",
        (),
        "Bytes of answers that clients have not taken yet.",
        lambda s: one(s.metrics.unsent_answer_bytes),
    ),
    Family(
        "headrace_reading_pauses",
        "counter",
        (),
        "Times a connection was not read for a while because a byte budget was spent.",
        lambda s: one(s.metrics.reading_pauses),
    ),
    Family("headrace_flush_seconds", "histogram", (), "Time of one flush to the disk.", lambda s: one(s.metrics.flush_ms)),
    Family(
        "headrace_flush_failures",
        "counter",
        (),
        "Flushes the disk refused; each cut its log back to the last flushed position.",
        lambda s: one(s.metrics.flush_failures),
    ),
    Family(
        "headrace_loop_stall_seconds",
        "histogram",
        (),
        "How late the event loop was, sampled every 5 ms under load.",
        lambda s: one(s.metrics.stall_ms),
    ),
    Family(
        "headrace_loop_stall_max_seconds",
        "gauge",
        (),
        "The longest stall of the event loop since the start.",
        lambda s: one(s.metrics.stall_ms.maximum / 1000),
    ),
    Family(
        "headrace_loop_starved_seconds",
        "counter",
        (),
        "Time the loop was ready to run while the machine, or the host of a virtual machine, gave the CPU to others.",
        lambda s: one(s.metrics.starved_ms / 1000),
    ),
    Family("headrace_open_files", "gauge", (), "Files of the data folder open now.", lambda s: one(s.figures.open_files)),
    Family(
        "headrace_groups",
        "gauge",
        ("state",),
        "Consumer groups by state.",
        lambda s: (((state,), count) for state, count in sorted(s.figures.groups.items())),
    ),
    Family(
        "headrace_group_lag_records",
        "gauge",
        ("group", "topic", "partition"),
        "Records between a group's committed offset and the high watermark.",
        lag_records,
    ),
    Family(
        "headrace_group_lag_seconds",
        "gauge",
        ("group", "topic", "partition"),
        "Age of the oldest record a group has not committed; 0 when it has all.",
        lag_seconds,
    ),
    Family("process_cpu_seconds", "counter", (), "CPU time of the process, user and system.", lambda s: one(s.process.cpu_s)),
    Family(
        "process_resident_memory_bytes",
        "gauge",
        (),
        "Memory of the process that is in RAM.",
        lambda s: one(s.process.resident_bytes),
    ),
    Family("process_start_time_seconds", "gauge", (), "Start of the process, unix time.", lambda s: one(s.process.start_s)),
    Family(
        "process_open_fds",
        "gauge",
        (),
        "Open descriptors: files, sockets and all else.",
        lambda s: one(s.process.open_descriptors),
    ),
    Family("process_max_fds", "gauge", (), "Descriptors the system lets us open.", lambda s: one(s.process.descriptors_max)),
)


STARTED_S = time.time()


def look_at_process() -> Process:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    try:
        with open("/proc/self/statm", "rb") as statm:
            resident = int(statm.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):  # no /proc: the peak is the best that is known (KiB; bytes on macOS)
        resident = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    try:
        # Linux 6.2 and newer tell the number as the folder's size; older ones have 0 there and must be listed.
        descriptors = os.stat("/proc/self/fd").st_size or len(os.listdir("/proc/self/fd"))
    except OSError:
        descriptors = 0
    return Process(
        cpu_s=usage.ru_utime + usage.ru_stime,
        resident_bytes=resident,
        start_s=STARTED_S,
        open_descriptors=descriptors,
        descriptors_max=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    )


def escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def figure(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def label_text(names: Labels, values: Labels) -> str:
    return ",".join(f'{name}="{escape(value)}"' for name, value in zip(names, values, strict=True))


def histogram_lines(name: str, labels: str, histogram: Histogram) -> Iterator[str]:
    before = f"{labels}," if labels else ""
    counts = list(histogram.counts)
    below = 0
    for bound_ms, count in zip(histogram.bounds, counts, strict=False):
        below += count
        yield f'{name}_bucket{{{before}le="{bound_ms / 1000!r}"}} {below}\n'
    total = sum(counts)
    yield f'{name}_bucket{{{before}le="+Inf"}} {total}\n'
    braces = f"{{{labels}}}" if labels else ""
    yield f"{name}_sum{braces} {figure(histogram.total / 1000)}\n"
    yield f"{name}_count{braces} {total}\n"


def lines(scrape: Scrape, *, openmetrics: bool) -> Iterator[str]:
    for family in FAMILIES:
        sampled = family.name + "_total" if family.kind == "counter" else family.name
        described = family.name if openmetrics else sampled
        yield f"# HELP {described} {family.help}\n# TYPE {described} {family.kind}\n"
        for values, value in family.samples(scrape):
            labels = label_text(family.labels, values)
            if isinstance(value, Histogram):
                yield from histogram_lines(sampled, labels, value)
            elif labels:
                yield f"{sampled}{{{labels}}} {figure(value)}\n"
            else:
                yield f"{sampled} {figure(value)}\n"
    if openmetrics:
        yield "# EOF\n"


def render(metrics: Metrics, figures: NodeFigures, process: Process, *, openmetrics: bool = False) -> Iterator[bytes]:
    """The whole text in pieces; between two pieces the caller may let the loop go on, for nothing here is a live view."""
    lags = []
    for lag in figures.group_lags:
        lags.append(lag)
        if len(lags) % PIECE_LINES == 0:
            yield b""
    figures.group_lags = lags
    piece: list[str] = []
    for line in lines(Scrape(metrics, figures, process), openmetrics=openmetrics):
        piece.append(line)
        if len(piece) >= PIECE_LINES:
            yield "".join(piece).encode()
            piece.clear()
    yield "".join(piece).encode()


def wants_openmetrics(accept: str) -> bool:
    """Content negotiation, as far as scrapers need it: OpenMetrics when it is asked for and not preferred less than text."""
    weights = {"application/openmetrics-text": 0.0, "text/plain": 0.0, "*/*": 0.0}
    for part in accept.split(",")[:20]:
        kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    weight = float(parameter[2:])
                except ValueError:
                    weight = 0.0
        if kind in weights:
            weights[kind] = max(weights[kind], weight)
    wanted = weights["application/openmetrics-text"]
    return wanted > 0 and wanted >= max(weights["text/plain"], weights["*/*"])
