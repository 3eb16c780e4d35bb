"""Apache Kafka beside us: one KRaft node from the jars Maven brings, with its data in a folder of ours.

When the checkout has `../shared/peers/kafka` its cached jars are used and nothing is fetched; an outsider needs `java` and
`mvn` and no more. The settings are Kafka's own defaults but for what one node needs, a heap of 1 GB (Kafka's start script
has the same), and no delay before a group's first rebalance.
"""

import contextlib
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

from tests.support import kafka_jars
from tests.support.kafka_jars import KAFKA_VERSION, Unavailable

__all__ = ["KAFKA_VERSION", "Peer", "Unavailable", "free_ports", "jars"]

READY_SECONDS_MAX = 120.0
_CLUSTER_ID = "aGVhZHJhY2UtcGVlci0xMQ"  # 16 bytes in base64, as the format wants
_SHARED = Path(__file__).resolve().parents[2] / "shared" / "peers" / "kafka"


def jars() -> Path:
    """The folder that holds `jars/` and two logging configurations."""
    if shutil.which("java") is None:
        raise Unavailable("no java on the path")
    if os.access(_SHARED, os.X_OK):
        found = subprocess.run([str(_SHARED), "classpath"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        folder = Path(found.stdout.strip()).parent.parent
        if found.returncode == 0 and (folder / "log4j2-server.properties").exists():
            return folder
    return kafka_jars.kafka()


def free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


class Peer:
    def __init__(self, folder: Path, *, port: int = 0, heap: str = "1g", **settings: object) -> None:
        """`settings` are Kafka's, with `__` for a dot where the name is no Python word: `num__partitions=3`."""
        self.folder = folder
        self.heap = heap
        self.port, self.controller_port = (port, port + 50) if port else free_ports(2)
        self.kafka = f"127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        self.settings = {name.replace("__", "."): value for name, value in settings.items()}
        self.process: subprocess.Popen[bytes] | None = None
        self.ready_seconds = 0.0

    def _properties(self) -> str:
        lines: dict[str, object] = {
            "process.roles": "broker,controller",
            "node.id": 0,
            "controller.quorum.voters": f"0@127.0.0.1:{self.controller_port}",
            "listeners": f"PLAINTEXT://{self.kafka},CONTROLLER://127.0.0.1:{self.controller_port}",
            "advertised.listeners": f"PLAINTEXT://{self.kafka}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": self.folder / "log",
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "share.coordinator.state.topic.replication.factor": 1,
            "share.coordinator.state.topic.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            **self.settings,
        }
        return "".join(f"{name}={value}\n" for name, value in lines.items())

    def start(self) -> "Peer":
        assert self.process is None
        libs = jars()
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "server.properties"
        file.write_text(self._properties())
        format_ = kafka_jars.java(
            "kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(file), "--ignore-formatted", folder=libs
        )
        done = subprocess.run(format_, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"kafka could not format its folder: {done.stdout}{done.stderr}")
        began = time.monotonic()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                kafka_jars.java("kafka.Kafka", str(file), folder=libs, heap=self.heap, log="server"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        while not _answers(self.port):
            late = time.monotonic() - began > READY_SECONDS_MAX
            if late or self.process.poll() is not None:
                text = self.log.read_text(errors="replace")[-2000:]
                self.kill()
                raise Unavailable(f"kafka {'is not up after two minutes' if late else 'ended'}:\n{text}")
            time.sleep(0.1)
        self.ready_seconds = time.monotonic() - began
        return self

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self) -> "Peer":
        return self if self.process else self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


_METADATA_OF_NOTHING = struct.pack(">hhih", 3, 1, 7, -1) + struct.pack(">i", 0)


def _answers(port: int) -> bool:
    """Whether Metadata names a broker: a node that listens but has not registered answers with an empty list."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as s:
            s.settimeout(2)
            s.sendall(struct.pack(">i", len(_METADATA_OF_NOTHING)) + _METADATA_OF_NOTHING)
            answer = b""
            while len(answer) < 12:
                piece = s.recv(4096)
                if not piece:
                    return False
                answer += piece
            return int.from_bytes(answer[8:12], "big") > 0
    except OSError:
        return False


if __name__ == "__main__":
    with Peer(Path(sys.argv[1])) as peer:
        print(f"ready kafka={peer.kafka} pid={peer.pid}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.read()
