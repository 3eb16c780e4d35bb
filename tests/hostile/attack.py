"""What the hostile tests share: raw connections, messages made of hostile values, and the well-behaved client beside them."""

from __future__ import annotations

import random
import re
import socket
import struct
import threading
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any
from uuid import UUID

from headrace.protocols.kafka.fields import Field, fields_of
from headrace.protocols.kafka.messages import API, Message
from headrace.protocols.kafka.messages.create_topics import CreatableTopic, CreateTopicsRequest
from headrace.protocols.kafka.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from headrace.protocols.kafka.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from headrace.records.build import build_batch
from headrace.records.record import Record
from tests.support.broker import Broker
from tests.support.wire import Wire

MIB = 1024 * 1024


def connect(address: str, seconds: float = 10.0) -> socket.socket:
    host, _, port = address.rpartition(":")
    made = socket.create_connection((host, int(port)), seconds)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def exchange(broker: Broker, data: bytes, seconds: float = 10.0) -> None:
    """Send it, say that nothing follows, and see the connection end."""
    try:
        connection = connect(broker.kafka)
    except ConnectionRefusedError:
        raise AssertionError(f"the node died\n{broker.tail(5)}") from None
    with connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        assert closed_by_peer(connection, seconds), data[:200].hex()


def closed_by_peer(connection: socket.socket, seconds: float = 10.0) -> bool:
    """Whether the peer ends the connection in time. What it sends before is read and thrown away."""
    connection.settimeout(seconds)
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionError:
        return True
    except TimeoutError:
        return False
    return True


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def batch(count: int = 1, size: int = 20, **more: Any) -> bytearray:
    return build_batch([Record(index, 1_700_000_000_000, b"k", b"v" * size) for index in range(count)], **more)


def produce(topic: str, data: bytes | bytearray | None, partition: int = 0, acks: int = -1) -> ProduceRequest:
    part = PartitionProduceData(partition, memoryview(data) if data is not None else None)
    return ProduceRequest(None, acks, 10_000, [TopicProduceData(name=topic, partition_data=[part])])


def fetch(topic: str, offset: int = 0, partition: int = 0, *, wait_ms: int = 100, size_max: int = MIB) -> FetchRequest:
    part = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=size_max)
    return FetchRequest(
        max_wait_ms=wait_ms, min_bytes=1, max_bytes=size_max, topics=[FetchTopic(topic=topic, partitions=[part])], session_epoch=-1
    )


def make_topic(wire: Wire, name: str, partitions: int = 1) -> None:
    answer = wire.ask(19, 5, CreateTopicsRequest([CreatableTopic(name, partitions, 1)], 10_000))
    assert answer.topics[0].error_code in (0, 36), answer  # type: ignore[attr-defined]


class Hostile:
    """Messages whose every field is legal on the wire and as nasty as its type allows. One seed, one message."""

    def __init__(self, seed: int, topics: list[str], groups: list[str]) -> None:
        self.chance = random.Random(seed)
        self.texts = [
            *topics,
            *groups,
            *topics,
            *groups,
            "",
            "x" * 32_767,
            "²",
            "--5",
            "9" * 5_000,
            "\0",
            "../..",
            "𝄞" * 400,
            "-1",
            "*",
        ]
        self.topic_ids: list[UUID] = [UUID(int=0), UUID(int=1), UUID(int=2**128 - 1)]

    def message(self, struct_class: type[Message], version: int, depth: int = 0) -> Message:
        values = {}
        for field in fields_of(struct_class):
            if version in field.versions and not (field.is_tagged(version) and self.chance.random() < 0.5):
                values[field.name] = self._value(field, version, depth)
        return struct_class(**values)

    def _value(self, field: Field, version: int, depth: int) -> Any:
        if field.is_nullable(version) and self.chance.random() < 0.2:
            return None
        if not field.is_array:
            return self._item(field, version, depth)
        count = self.chance.choice((0, 1, 1, 1, 2, 3))
        if field.struct is None and self.chance.random() < 0.05:
            count = 300
        items = [self._item(field, version, depth + 1) for _ in range(count)]
        if items and self.chance.random() < 0.2:
            items.append(items[0])
        return items

    def _item(self, field: Field, version: int, depth: int) -> Any:
        chance = self.chance
        if field.struct is not None:
            return self.message(field.struct, version, depth + 1)
        if field.kind == "string":
            return chance.choice(self.texts)
        if field.kind == "bytes":
            return chance.randbytes(chance.choice((0, 1, 20, 400, 40_000)))
        if field.kind == "records":
            data = batch(chance.choice((1, 3, 100)))
            for _ in range(chance.choice((0, 1, 3))):
                data[chance.randrange(len(data))] = chance.randrange(256)
            return memoryview(data[: chance.choice((len(data), chance.randrange(len(data) + 1)))])
        if field.kind == "bool":
            return chance.random() < 0.5
        if field.kind == "uuid":
            return chance.choice(self.topic_ids)
        if field.kind == "float64":
            return chance.choice((0.0, float("nan"), float("inf"), -1e300))
        bits = {"int8": 7, "int16": 15, "uint16": 16, "int32": 31, "int64": 63}[field.kind]
        low = 0 if field.kind == "uint16" else -(2**bits)
        high = 2**bits - 1
        small = [number for number in (0, 0, 0, 1, 1, -1, -2, 2, 4, 8, 100, 6_000, 10_000, 1_000_000) if low <= number <= high]
        return chance.choice([*small, *small, low, high, low + 1, high - 1, chance.randint(low, high)])


def served(broker: Broker) -> dict[int, tuple[int, int]]:
    """The APIs, and versions of them that our codec knows."""
    with Wire(broker.kafka) as wire:
        return {key: (max(low, API[key].min_version), high) for key, (low, high) in wire.versions().items()}


class Bystander(threading.Thread):
    """A well-behaved client: it produces, reads back and asks for metadata, and keeps the time each took."""

    def __init__(self, broker: Broker, topic: str = "bystander") -> None:
        super().__init__(daemon=True)
        self.broker = broker
        self.topic = topic
        self.took_ms: list[float] = []
        self.failure: BaseException | None = None
        self._stop_asking = threading.Event()

    def run(self) -> None:
        try:
            with Wire(self.broker.kafka, "bystander") as wire:
                make_topic(wire, self.topic)
                while not self._stop_asking.wait(0.02):
                    began = time.monotonic()
                    offset = self._round(wire)
                    self.took_ms.append((time.monotonic() - began) * 1000)
                    assert offset >= 0
        except BaseException as error:
            self.failure = error

    def _round(self, wire: Wire) -> int:
        answer: Any = wire.ask(0, 9, produce(self.topic, batch(5)))
        row = answer.responses[0].partition_responses[0]
        assert row.error_code == 0, row.error_code
        read: Any = wire.ask(1, 12, fetch(self.topic, row.base_offset))
        found = read.responses[0].partitions[0]
        assert found.error_code == 0 and len(found.records) > 60
        return int(row.base_offset)

    def _more(self, rounds: int, seconds: float = 10.0) -> None:
        """Wait until it was served so many times more, or failed."""
        wanted, deadline = len(self.took_ms) + rounds, time.monotonic() + seconds
        while len(self.took_ms) < wanted and self.failure is None and time.monotonic() < deadline:
            time.sleep(0.002)

    def __enter__(self) -> Bystander:
        self.start()
        self._more(1)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        served = len(self.took_ms)
        self._more(2)
        self._stop_asking.set()
        self.join(20)
        if kind is None:
            assert self.failure is None, f"the bystander failed: {self.failure!r}\n{self.broker.tail()}"
            assert len(self.took_ms) >= served + 2, "the bystander was served no longer"

    @property
    def worst_ms(self) -> float:
        return max(self.took_ms, default=0.0)

    @property
    def median_ms(self) -> float:
        return sorted(self.took_ms)[len(self.took_ms) // 2] if self.took_ms else 0.0


def resident_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    assert found
    return int(found[1]) / 1024


def peak_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", text)
    assert found
    return int(found[1]) / 1024


def metric(broker: Broker, name: str) -> float:
    """The sum of a metric's samples."""
    with urllib.request.urlopen(f"http://{broker.http}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if re.match(rf"{re.escape(name)}(\{{| )", line)]
    assert values, f"there is no metric {name}"
    return sum(values)


def settled_mib(pid: int, below: float, seconds: float = 10.0) -> float:
    """Resident memory once it has come down to `below`, or as it is when the time is up."""
    deadline = time.monotonic() + seconds
    while (now := resident_mib(pid)) > below and time.monotonic() < deadline:
        time.sleep(0.1)
    return now


def check_alive(broker: Broker) -> None:
    """It lives, says nothing of a bug, and answers."""
    assert broker.process is not None
    assert broker.process.poll() is None, f"the node died\n{broker.tail(80)}"
    log = broker.log.read_text(errors="replace")
    assert "Traceback" not in log and "a bug ended" not in log, broker.tail(80)
    with Wire(broker.kafka) as wire:
        assert wire.versions()
