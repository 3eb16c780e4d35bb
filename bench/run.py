"""Headrace and Apache Kafka side by side: the same loads, one broker up at a time, in turn.

Each round starts both brokers once, in alternating order, in fresh folders. Every load gets a topic of its own. A load runs in
short windows that are thrown away until the broker's CPU time for a GB (a JVM compiles while it runs) no longer falls by a tenth,
and then once for the record. Only ratios of one run mean anything on a machine that others use: for each round the ratio is taken,
and the median of the rounds is reported with their range.
"""

import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.load.frames import Batch
from bench.measures import MEASURES
from bench.peer import KAFKA_VERSION, Peer
from bench.process import memory_mb
from tests.support.broker import ROOT, Broker

WARM_WINDOWS_MAX = 6
STORED_BATCH = 16384

Side = Broker | Peer
Results = dict[str, list[dict[str, Any]]]  # "measure/side/variant" -> one a round


class Bench:
    def __init__(self, options: Namespace) -> None:
        self.options = options
        self.results: Results = {}
        self.measures = [
            m
            for m in MEASURES
            if (m.name in options.only if options.only else m.quick or not options.quick) or m.name in options.only
        ]
        self.seconds = 1.5 if options.quick else 3.0
        self.stored_batches = (128 << 20 if options.quick else 512 << 20) // STORED_BATCH
        self.bytes_max = 600_000_000 if options.quick else 1_500_000_000

    def go(self) -> None:
        sides = [s for s in ("headrace", "kafka") if not self.options.side or s in self.options.side]
        for round_ in range(self.options.rounds):
            for side in sides if round_ % 2 == 0 else reversed(sides):
                self._side(side, round_)

    def _side(self, name: str, round_: int) -> None:
        base = Path(tempfile.mkdtemp(prefix="headrace-bench-", dir=self.options.folder))
        try:
            say(f"round {round_ + 1} of {self.options.rounds}: {name}")
            side: Side
            if name == "headrace":
                side = Broker(base / "data", python=self.options.python)
            else:
                side = Peer(base / "data", heap=self.options.heap)
            with side:
                self._loads(name, side)
                self._keep("memory", name, "", memory_mb(side.pid))
                self._keep("start", name, "", {"seconds": side.ready_seconds})
        finally:
            shutil.rmtree(base, ignore_errors=True)

    def _loads(self, name: str, side: Side) -> None:
        stored = False
        for measure in self.measures:
            variants = measure.ours if name == "headrace" else {"": measure.peer}
            for variant, settings in variants.items():
                words = [measure.kind, side.kafka, "--server-pid", str(side.pid), *measure.arguments]
                topic = f"{measure.name}-{variant}".strip("-")
                create = [word for key, value in settings.items() for word in ("--create", f"{key}={value}")] or ["--create", ""]
                if measure.kind == "fetch":
                    topic = "stored"
                    if not stored:
                        self._store(side.kafka, create)
                        stored = True
                    words += ["--batch", str(STORED_BATCH), "--batches", str(self.stored_batches), "--topic", topic]
                    create = []
                else:
                    words += ["--bytes-max", str(self.bytes_max), "--topic", topic]
                self._warm(words, create)
                os.sync()  # what earlier loads left dirty is not written back at the cost of this one
                with profile(self.options.profile if name == "headrace" else None, side.pid, topic):
                    result = load(*words, "--seconds", str(self.seconds))
                self._keep(measure.name, name, variant, result)
                say(
                    f"  {measure.name} {variant or '-'}: {result['mb_s']:.1f} MB/s, {result['requests_s']:.0f} requests/s, "
                    f"{result['server_cpu_s_gb']:.2f} CPU-s/GB, p99 {result['latency_us']['p99']:.0f} µs, "
                    f"generator {result['generator_cpu_share']:.0%}, others {result['others_cpu_share']:.0%}"
                )

    def _warm(self, words: list[str], create: list[str]) -> None:
        last = float("inf")
        for i in range(WARM_WINDOWS_MAX):
            cost = float(load(*words, *(create if i == 0 else []), "--seconds", "1", "--warm", "0.2")["server_cpu_us_request"])
            if cost > last * 0.9:
                return
            last = cost

    def _store(self, address: str, create: list[str]) -> None:
        """The topic that fetch loads read. One connection with one request under way: exactly so many batches, in order."""
        batch = Batch(STORED_BATCH, 100)
        load(
            *("produce", address, "--topic", "stored", *create, "--batch", str(STORED_BATCH), "--warm", "0", "--seconds", "600"),
            *("--connections", "4", "--in-flight", "5", "--bytes-max", str((self.stored_batches + 40) * len(batch.bytes))),
        )

    def _keep(self, measure: str, side: str, variant: str, result: dict[str, Any]) -> None:
        self.results.setdefault("/".join(word for word in (measure, side, variant) if word), []).append(result)


class profile:
    """`py-spy` beside a load: where the broker spends it. The figures of a profiled run are not comparable."""

    def __init__(self, folder: Path | None, pid: int, name: str) -> None:
        self.folder, self.pid, self.name = folder, pid, name
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        tool = shutil.which("py-spy", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        assert tool, "PROFILE needs py-spy"
        out = self.folder / f"{self.name}.svg"
        self.process = subprocess.Popen(
            [tool, "record", "--native", "--rate", "500", "--pid", str(self.pid), "--output", str(out), "--duration", "3600"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(0.5)

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.send_signal(2)
            self.process.wait(60)


def load(*words: str) -> dict[str, Any]:
    """One run of the load generator, in its own process."""
    command = [sys.executable, "-m", "bench.load", *words]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        timeout=900,
    )
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(words)} failed:\n{done.stderr[-3000:]}")
    result = json.loads(done.stdout)
    assert isinstance(result, dict)
    return result


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# What the rounds say together.


def ratios(results: Results, ours: str, peer: str, *path: str) -> list[float]:
    def value(result: Any) -> float:
        for word in path:
            result = result[word]
        return float(result)

    pairs = zip(results.get(ours, []), results.get(peer, []), strict=False)
    return [value(a) / value(b) for a, b in pairs if value(b)]


def median(results: Results, key: str, *path: str) -> float | None:
    values: list[Any] = list(results.get(key, []))
    for word in path:
        values = [v[word] for v in values]
    return statistics.median(values) if values else None


def rows(bench: Bench) -> list[dict[str, Any]]:
    """One row a comparison: measure, ours, peer, unit, ratio (median of the rounds), range, goal, met."""
    found = []
    r = bench.results

    def row(name: str, title: str, ours: str, peer: str, unit: str, goal: float | None, least: bool, *path: str) -> None:
        mine, theirs, each = median(r, ours, *path), median(r, peer, *path), ratios(r, ours, peer, *path)
        if mine is None and theirs is None:
            return
        ratio = statistics.median(each) if each else None
        met = None if ratio is None or goal is None else ratio >= goal if least else ratio <= goal
        span = [min(each), max(each)] if each else None
        found.append(
            {"measure": name, "title": title, "ours": mine, "peer": theirs, "unit": unit, "ratio": ratio, "range": span}
            | {"goal": goal, "goal_is": "at least" if least else "at most", "met": met}
        )

    for m in bench.measures:
        figure = "requests_s" if m.unit == "requests/s" else "mb_s"
        for variant in m.ours:
            ours, peer = "/".join(filter(None, (m.name, "headrace", variant))), f"{m.name}/kafka"
            title = m.title + {"": "", "header": ", headers only", "records": ", walked"}[variant]
            name = f"{m.name}-{variant}".strip("-")
            # The warning line is the prototype's, which looked at headers only.
            goal, cpu_goal = (None, None) if variant == "records" else (m.goal, m.cpu_goal)
            row(name, title, ours, peer, m.unit, goal, True, figure)
            if m.unit == "MB/s":
                row(f"{name}-cpu", "  broker's CPU", ours, peer, "CPU-s/GB", cpu_goal, False, "server_cpu_s_gb")
            else:
                row(f"{name}-cpu", "  broker's CPU", ours, peer, "CPU-µs/request", None, False, "server_cpu_us_request")
            row(f"{name}-p99", "  p99", ours, peer, "µs", None, False, "latency_us", "p99")
    row("memory", "resident memory after these loads", "memory/headrace", "memory/kafka", "MB", 0.15, False, "rss")
    row("memory-pss", "  its proportional share (PSS)", "memory/headrace", "memory/kafka", "MB", None, False, "pss")
    row("start", "from the command to serving", "start/headrace", "start/kafka", "s", None, False, "seconds")
    return found


def surroundings(bench: Bench) -> dict[str, Any]:
    """What the figures depend on."""
    o = bench.options
    ask = "import sys, platform; print(platform.python_implementation(), sys.version.replace(chr(10), ' '))"
    python = subprocess.run([o.python or sys.executable, "-c", ask], capture_output=True, text=True).stdout.strip()
    walk = importlib.util.find_spec("headrace.records.walk")
    cpu = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), platform.machine()
    )
    memory = next((int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal")), 0)
    java = subprocess.run(["java", "-version"], capture_output=True, text=True).stderr.splitlines() if shutil.which("java") else []
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    shares = [x["generator_cpu_share"] for values in bench.results.values() for x in values if "generator_cpu_share" in x]
    others = [x["others_cpu_share"] for values in bench.results.values() for x in values if "others_cpu_share" in x]
    return {
        "date": time.strftime("%Y-%m-%d %H:%M %Z"),
        "commit": git,
        "machine": f"{os.cpu_count()} cores, {cpu}, {memory // 1_000_000} GB, {platform.system()} {platform.release()}",
        "interpreter": python,
        "compiled": "yes" if walk and (walk.origin or "").endswith(".so") else "no (interpreted)",
        "generator": f"CPython {platform.python_version()}, at most {max(shares, default=0):.0%} of a core",
        "others": f"took {statistics.median(others):.0%} of a core in the median load, {max(others):.0%} at most"
        if others
        else "unknown",
        "kafka": f"{KAFKA_VERSION}, KRaft on one node, heap {o.heap}, {java[0] if java else 'no java'}",
        "load": f"{o.rounds} rounds of {bench.seconds} s a load, after warm-up; acks=1; no idempotence; one partition unless said",
        "profiled": bool(o.profile),
    }


def _lines(path: str) -> Iterable[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
