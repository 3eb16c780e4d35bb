"""The clients that are not Python: small programs, each built once into `$XDG_CACHE_HOME/headrace/clients` at pinned versions.

Every program does the same short script: create a topic with 2 partitions, produce 20 records with each codec the client has,
read them all, read them all in a group and commit, produce 4 more, resume the group, list offsets, look at the metadata, delete
the topic. It prints one JSON object, and `test_programs.py` says what must stand in it.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support import kafka_jars
from tests.support.kafka_jars import Unavailable

HERE = Path(__file__).resolve().parent
BUILD_SECONDS_MAX = 600


def _run(*command: object, cwd: Path) -> None:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS_MAX,
    )
    if done.returncode:
        raise Unavailable(f"{command[0]} ended with {done.returncode}: {(done.stdout + done.stderr)[-1500:]}")


def _needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            raise Unavailable(f"no {tool} on the path")


def _built(name: str, source: Path, build: Callable[[Path], None]) -> Path:
    """The folder that `build` filled from a copy of `source`; built again only when the source changes."""
    files = sorted(f for f in source.rglob("*") if f.is_file())
    digest = hashlib.sha256(b"".join(str(f.relative_to(source)).encode() + f.read_bytes() for f in files)).hexdigest()
    folder = kafka_jars.cache() / "clients" / name
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "done"
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != digest:
            done.unlink(missing_ok=True)
            shutil.copytree(source, folder / "source", dirs_exist_ok=True)
            build(folder / "source")
            done.write_text(digest)
    return folder / "source"


def _go(program: str) -> list[str]:
    _needs("go")
    folder = _built("go", HERE / "go", lambda at: _run("go", "build", "-o", "bin/", "./franz", "./sarama", "./segmentio", cwd=at))
    return [str(folder / "bin" / program)]


def _node() -> list[str]:
    _needs("node", "npm")
    install = ("npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
    folder = _built("node", HERE / "node", lambda at: _run(*install, cwd=at))
    return ["node", str(folder / "kafkajs.js")]


def _rust() -> list[str]:
    _needs("cargo")

    def build(at: Path) -> None:
        # The pins are a Cargo.lock without the lines that name the registry, which cargo puts into any lock it writes itself.
        lock = at / "Cargo.lock"
        if not lock.exists():
            _run("cargo", "generate-lockfile", cwd=at)
        source = re.search(r'^source = "registry.*\n', lock.read_text(), re.MULTILINE)
        assert source is not None
        lock.write_text(re.sub(r"^checksum", source[0] + "checksum", (at / "Cargo.lock.pins").read_text(), flags=re.MULTILINE))
        _run("cargo", "build", "-q", "--locked", cwd=at)

    return [str(_built("rust", HERE / "rust", build) / "target" / "debug" / "headrace-clients")]


def _java(version: str) -> list[str]:
    _needs("java", "javac")
    libraries = (f"org.apache.kafka:kafka-clients:{version}", "org.apache.logging.log4j:log4j-slf4j-impl:2.24.3")
    jars = kafka_jars.fetch(f"kafka-clients-{version}", *libraries)
    path = f"{jars}/jars/*"
    folder = _built(f"java-{version}", HERE / "java", lambda at: _run("javac", "-cp", path, "-d", "classes", "Script.java", cwd=at))
    logging = f"-Dlog4j2.configurationFile={jars}/log4j2-tool.properties"
    return ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{folder}/classes:{path}", logging, "Script"]


PROGRAMS: dict[str, Callable[[], list[str]]] = {
    "java-3.9.2": lambda: _java("3.9.2"),
    "java-4.3.1": lambda: _java("4.3.1"),
    "franz-go": lambda: _go("franz"),
    "sarama": lambda: _go("sarama"),
    "kafka-go": lambda: _go("segmentio"),
    "kafkajs": _node,
    "rskafka": _rust,
}


def run(name: str, bootstrap: str, topic: str, group: str, seconds: float = 90) -> dict[str, Any]:
    """What the program printed. `Unavailable` when its toolchain is absent."""
    command = [*PROGRAMS[name](), bootstrap, topic, group]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, env={**os.environ, "LC_ALL": "C"}
        )
    except subprocess.TimeoutExpired as late:
        said = late.stderr.decode(errors="replace") if isinstance(late.stderr, bytes) else late.stderr
        raise AssertionError(f"{name} did not end within {seconds} s; it said: {said}") from None
    assert done.returncode == 0, f"{name} ended with {done.returncode}:\n{done.stdout[-1500:]}\n{done.stderr[-3000:]}"
    report = json.loads(done.stdout.strip().splitlines()[-1])
    assert isinstance(report, dict)
    return report
