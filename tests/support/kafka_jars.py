"""Jars of Apache Kafka, fetched by Maven once into `$XDG_CACHE_HOME/headrace/jars`.

Used by the tests that ask the real thing (DumpLogSegments over our files, Java clients, the differential test) and by
`make bench`. Everything here is pinned, so a run today and a run next year compare with the same Kafka.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

KAFKA_VERSION = "4.3.1"
KAFKA = (
    f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION}",
    f"org.apache.kafka:kafka-tools:{KAFKA_VERSION}",
    "org.apache.logging.log4j:log4j-slf4j-impl:2.24.3",
)

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>headrace</groupId><artifactId>jars</artifactId><version>1</version><dependencies>
{dependencies}
</dependencies></project>
"""
_LOG4J = """rootLogger.level = {level}
rootLogger.appenderRef.err.ref = err
appender.err.type = Console
appender.err.name = err
appender.err.target = SYSTEM_ERR
appender.err.layout.type = PatternLayout
appender.err.layout.pattern = [%d] %p %m (%c)%n
"""


class Unavailable(Exception):
    """Java, Maven or the jars cannot be had here; the text says which."""


def cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headrace"


def fetch(name: str, *coordinates: str) -> Path:
    """The folder `name` of the jar cache with these artifacts and all they need. Safe when several processes ask at once."""
    if shutil.which("java") is None:
        raise Unavailable("no java on the path")
    folder = cache() / "jars" / name
    wanted = "\n".join(coordinates)
    done = folder / "done"
    if done.exists() and done.read_text() == wanted:
        return folder
    if shutil.which("mvn") is None:
        raise Unavailable("no mvn on the path to fetch Kafka's jars with")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if done.exists() and done.read_text() == wanted:
            return folder
        dependencies = "\n".join(
            "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>".format(*c.split(":"))
            for c in coordinates
        )
        (folder / "pom.xml").write_text(_POM.format(dependencies=dependencies))
        for kind, level in (("tool", "WARN"), ("server", "INFO")):
            (folder / f"log4j2-{kind}.properties").write_text(_LOG4J.format(level=level))
        command = ["mvn", "-q", "-B", "-f", str(folder / "pom.xml"), "dependency:copy-dependencies"]
        result = subprocess.run(
            [*command, f"-DoutputDirectory={folder / 'jars'}"], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if result.returncode:
            raise Unavailable(f"mvn could not fetch {', '.join(coordinates)}: {(result.stdout + result.stderr)[-1500:]}")
        done.write_text(wanted)
    return folder


def kafka() -> Path:
    """The jars of the broker and its tools."""
    return fetch(f"kafka-{KAFKA_VERSION}", *KAFKA)


def java(main: str, *arguments: str, folder: Path | None = None, heap: str = "512m", log: str = "tool") -> list[str]:
    """The command that runs a class of these jars, for example `org.apache.kafka.tools.DumpLogSegments`."""
    folder = folder or kafka()
    logging = f"-Dlog4j2.configurationFile={folder}/log4j2-{log}.properties"
    return ["java", f"-Xmx{heap}", "-cp", str(folder / "jars" / "*"), logging, main, *arguments]


if __name__ == "__main__":
    try:
        print(kafka() / "jars")
    except Unavailable as why:
        sys.exit(f"kafka jars: {why}")
