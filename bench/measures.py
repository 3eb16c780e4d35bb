"""What is measured: each load once, with the settings of both sides and the line below which a lead counts as lost."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Measure:
    """One load. `arguments` go to the load generator as they are."""

    name: str
    title: str
    kind: str  # produce or fetch
    unit: str  # MB/s or requests/s: what is compared
    arguments: tuple[str, ...]
    goal: float | None  # ours / Kafka, at least: the ratio of the plain prototype, see docs/benchmarks.md
    cpu_goal: float | None = None  # ours / Kafka in CPU seconds a GB, at most
    ours: dict[str, dict[str, str]] = field(default_factory=dict)  # variant -> topic settings
    peer: dict[str, str] = field(default_factory=dict)  # topic settings
    quick: bool = True


_CACHED = {
    "header": {"durability": "pagecache", "record.validation": "header"},
    "records": {"durability": "pagecache", "record.validation": "records"},
}
_FLUSHED = {"records": {"durability": "fsynced", "record.validation": "records"}}
_STORED = {"": {"durability": "pagecache", "record.validation": "header"}}

MEASURES = [
    Measure(
        "produce-16k",
        "produce, 16 kB batches",
        "produce",
        "MB/s",
        ("--batch", "16384", "--connections", "4", "--in-flight", "5"),
        goal=1.5,
        cpu_goal=0.5,
        ours=_CACHED,
    ),
    Measure(
        "produce-1m",
        "produce, 1 MB batches",
        "produce",
        "MB/s",
        ("--batch", str(1 << 20), "--connections", "4", "--in-flight", "5"),
        goal=1.2,
        cpu_goal=0.7,
        ours=_CACHED,
    ),
    Measure(
        "produce-single",
        "produce, one record a request, 16 connections",
        "produce",
        "requests/s",
        ("--batch", "0", "--connections", "16", "--in-flight", "5"),
        goal=1.4,
        ours=_CACHED,
    ),
    Measure(
        "fetch-16k",
        "fetch, 16 kB a request",
        "fetch",
        "MB/s",
        ("--size", "16384", "--connections", "4"),
        goal=3.0,
        cpu_goal=0.3,
        ours=_STORED,
    ),
    Measure(
        "fetch-1m",
        "fetch, 1 MB a request",
        "fetch",
        "MB/s",
        ("--size", str(1 << 20), "--connections", "4"),
        goal=1.0,
        cpu_goal=1.2,
        ours=_STORED,
    ),
    Measure(
        "produce-16k-flushed",
        "produce, 16 kB batches, flushed",
        "produce",
        "MB/s",
        ("--batch", "16384", "--connections", "4", "--in-flight", "5"),
        goal=None,
        ours=_FLUSHED,
        peer={"flush.messages": "1"},
    ),
    Measure(
        "produce-16k-flushed-100",
        "produce, 16 kB batches, flushed, 100 partitions",
        "produce",
        "MB/s",
        ("--batch", "16384", "--connections", "4", "--in-flight", "5", "--partitions", "100"),
        goal=None,
        ours=_FLUSHED,
        peer={"flush.messages": "1"},
        quick=False,
    ),
    *(
        Measure(
            f"produce-{codec}",
            f"produce, 64 kB batches of 1,500 B records with {codec}",
            "produce",
            "MB/s",
            ("--batch", "65536", "--record", "1500", "--codec", codec, "--connections", "4", "--in-flight", "5"),
            goal=None,
            ours=_CACHED,
            quick=False,
        )
        for codec in ("lz4", "zstd")
    ),
]
