"""What a node counts about itself: plain ints in slots objects, bumped by hot code, read by whoever scrapes.

Owner: the node; one `Metrics` each, written on its loop only (worker threads hand their measurements back to it).
Law: counting happens per batch, per request or per flush, never per record, and never formats, hashes a long name or
allocates: hot code asks once for its `TopicMetrics` or `ApiMetrics` and keeps it. Law: nothing a stranger sends makes
an entry; topics enter when they exist, APIs and codes come from closed tables.
Not here: names and text of the exported metrics (`server/metrics.py`), lag (computed from offsets when it is asked for).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from headrace.base.errors import Code

# Milliseconds. From a request served out of memory (20 µs) to one that waited for a slow disk or a long poll.
LATENCY_BOUNDS_MS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 10000.0, 60000.0)
# A flush is a disk's business: a good NVMe needs 0.1 ms, a tired disk seconds.
FLUSH_BOUNDS_MS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 10000.0)
# The promise is 20 ms, so the buckets are narrow around it.
STALL_BOUNDS_MS = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0, 250.0, 1000.0)


class Histogram:
    """Counts by fixed upper bounds; a value equal to a bound falls under it, as Prometheus has it."""

    __slots__ = ("bounds", "counts", "maximum", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self.counts = [0] * (len(self.bounds) + 1)  # the last one: above every bound
        self.total = 0.0
        self.maximum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value
        if value > self.maximum:
            self.maximum = value

    @property
    def count(self) -> int:
        return sum(self.counts)


class TopicMetrics:
    """One topic, all its partitions on this node. Bytes are batch bytes as they lie in the log."""

    __slots__ = ("batches_in", "bytes_in", "bytes_out", "fetches", "produces", "records_in", "records_out")

    def __init__(self) -> None:
        self.bytes_in = 0
        self.records_in = 0
        self.batches_in = 0
        self.produces = 0
        self.bytes_out = 0
        self.records_out = 0  # by offsets: a fetch hands on slices of a file and counts no records
        self.fetches = 0


class ApiMetrics:
    """One API of one protocol: requests by version, bytes, and the time from the whole request to its answer."""

    __slots__ = ("bytes_in", "bytes_out", "latency_ms", "versions")

    def __init__(self) -> None:
        self.versions: dict[int, int] = {}
        self.latency_ms = Histogram(LATENCY_BOUNDS_MS)
        self.bytes_in = 0
        self.bytes_out = 0

    def count(self, version: int) -> None:
        self.versions[version] = self.versions.get(version, 0) + 1


class Metrics:
    """Everything one node counts."""

    __slots__ = (
        "apis",
        "bytes_received",
        "bytes_sent",
        "connections",
        "connections_closed",
        "connections_opened",
        "flush_failures",
        "flush_ms",
        "reading_pauses",
        "refused",
        "stall_ms",
        "starved_ms",
        "topics",
        "unfinished_request_bytes",
        "unsent_answer_bytes",
    )

    def __init__(self) -> None:
        self.topics: dict[str, TopicMetrics] = {}
        self.apis: dict[str, ApiMetrics] = {}
        self.refused: Counter[Code] = Counter()  # `metrics.refused[code] += 1`
        self.flush_ms = Histogram(FLUSH_BOUNDS_MS)
        self.flush_failures = 0
        self.stall_ms = Histogram(STALL_BOUNDS_MS)  # its `maximum` is the longest stall since the start
        self.starved_ms = 0.0  # the loop wanted to run and the machine gave the CPU to others
        self.connections = 0  # open now
        self.connections_opened = 0
        self.connections_closed: Counter[str] = Counter()  # by reason: a short fixed word of the connection's own
        self.bytes_received = 0
        self.bytes_sent = 0
        self.unfinished_request_bytes = 0  # held now, all connections
        self.unsent_answer_bytes = 0  # held now, all connections
        self.reading_pauses = 0  # times a connection was not read because a byte budget was spent

    def topic(self, name: str) -> TopicMetrics:
        found = self.topics.get(name)
        if found is None:
            found = self.topics[name] = TopicMetrics()
        return found

    def forget_topic(self, name: str) -> None:
        self.topics.pop(name, None)

    def api(self, name: str) -> ApiMetrics:
        found = self.apis.get(name)
        if found is None:
            found = self.apis[name] = ApiMetrics()
        return found
