"""Too much of everything: answers nobody reads, requests by the thousand, members that never come back. Memory returns, and
a well-behaved client beside them is served."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from typing import Any

from headrace.protocols.kafka.messages.create_topics import CreatableTopic, CreateTopicsRequest
from headrace.protocols.kafka.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from headrace.protocols.kafka.messages.describe_groups import DescribeGroupsRequest
from headrace.protocols.kafka.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from headrace.protocols.kafka.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from headrace.protocols.kafka.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from headrace.protocols.kafka.messages.message import Message
from headrace.protocols.kafka.messages.metadata import MetadataRequest
from headrace.protocols.kafka.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from headrace.protocols.kafka.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from tests.hostile.attack import (
    Bystander,
    batch,
    check_alive,
    closed_by_peer,
    connect,
    fetch,
    make_topic,
    metric,
    peak_mib,
    produce,
    resident_mib,
    settled_mib,
)
from tests.support.broker import Broker
from tests.support.wire import Closed, Wire, frame


def fill(broker: Broker, topic: str, mib: int) -> None:
    with Wire(broker.kafka) as wire:
        make_topic(wire, topic)
        for _ in range(mib):
            answer: Any = wire.ask(0, 9, produce(topic, batch(10, 100_000)))
            assert answer.responses[0].partition_responses[0].error_code == 0


def report(what: str, broker: Broker, before: float, bystander: Bystander) -> None:
    print(
        f"{what}: RSS {before:.0f} -> {resident_mib(broker.pid):.0f} (peak {peak_mib(broker.pid):.0f}) MiB; "
        f"bystander median {bystander.median_ms:.1f}, worst {bystander.worst_ms:.0f} ms in {len(bystander.took_ms)} rounds"
    )


def push(connection: socket.socket, data: bytes, seconds: float) -> int:
    """Send for so long as the peer takes it; the number of bytes."""
    connection.settimeout(0.03)
    deadline = time.monotonic() + seconds
    sent = 0
    with contextlib.suppress(TimeoutError, ConnectionError):
        while sent < len(data) and time.monotonic() < deadline:
            sent += connection.send(data[sent : sent + (1 << 16)])
    return sent


def test_clients_that_never_read_their_fetches(broker: Broker) -> None:
    fill(broker, "wide", 24)
    before = resident_mib(broker.pid)
    request = frame(1, 12, fetch("wide", size_max=50 << 20))
    slow = [connect(broker.kafka) for _ in range(200)]
    with Bystander(broker) as bystander:
        for connection in slow:
            connection.sendall(request * 20)
        time.sleep(1.0)
        # Slices of files wait, not their bytes; and they do not spend the budget for others.
        held = resident_mib(broker.pid)
        for connection in slow[:50]:  # some of them begin to read
            connection.settimeout(5)
            assert len(connection.recv(1 << 20)) > 0
        for connection in slow:
            connection.close()
    report("200 slow readers of 24 MiB x 20", broker, before, bystander)
    assert held < before + 48
    assert settled_mib(broker.pid, before + 24) < before + 24
    assert bystander.worst_ms < 1_000
    check_alive(broker)


def test_floods_of_tiny_requests_with_large_answers(broker: Broker) -> None:
    # One receive of 256 KiB holds 14,000 Metadata requests of 18 bytes; with a thousand partitions each answer is 30 KB, 400 MB
    # in all, and they were made in one turn of the loop.
    with Wire(broker.kafka) as wire:
        make_topic(wire, "many", 1_000)
    before = resident_mib(broker.pid)
    flood = frame(3, 1, MetadataRequest(None), client_id=None) * 14_000
    slow = [connect(broker.kafka) for _ in range(4)]
    with Bystander(broker) as bystander:
        for connection in slow:
            push(connection, flood, 1.0)
        time.sleep(0.5)
        held = resident_mib(broker.pid)
        for connection in slow:
            connection.close()
    report("floods of Metadata", broker, before, bystander)
    assert held < before + 4 * 16 + 32  # 8 MiB of answers each, what waits to be served, and the heap around it
    assert settled_mib(broker.pid, before + 32) < before + 32
    assert bystander.worst_ms < 1_000
    check_alive(broker)


def test_a_flood_is_answered_in_order(broker: Broker) -> None:
    count = 3_000
    with Wire(broker.kafka) as wire:
        wire.socket.sendall(b"".join(frame(3, 1, MetadataRequest(()), number) for number in range(count)))
        for number in range(count):
            assert struct.unpack(">i", wire.receive()[:4])[0] == number


def test_answers_behind_one_that_waits(broker: Broker) -> None:
    """A long poll in front, thousands of quick requests behind it: their answers are kept, up to a bound, and leave in order."""
    before = resident_mib(broker.pid)
    with Bystander(broker) as bystander, Wire(broker.kafka) as wire:
        wire.socket.sendall(frame(1, 12, fetch("orders", 0, 3, wait_ms=1_500), 1))
        push(wire.socket, frame(3, 1, MetadataRequest(None), 2, None) * 5_000, 1.0)
        held = resident_mib(broker.pid)
        wire.socket.settimeout(10)
        assert struct.unpack(">i", wire.receive()[:4])[0] == 1
        for _ in range(1_000):
            assert struct.unpack(">i", wire.receive()[:4])[0] == 2
    report("5,000 behind a long poll", broker, before, bystander)
    assert held < before + 48
    assert bystander.worst_ms < 1_000


def test_two_thousand_idle_connections(broker: Broker) -> None:
    before = resident_mib(broker.pid)
    with Bystander(broker) as bystander:
        idle = [connect(broker.kafka) for _ in range(2_000)]
        held = resident_mib(broker.pid)
        for connection in idle:
            connection.close()
    report(f"2,000 idle connections ({(held - before) * 1024 / 2_000:.1f} KiB each)", broker, before, bystander)
    assert held < before + 2_000 * 16 / 1024
    assert bystander.worst_ms < 1_000
    check_alive(broker)


def test_ten_thousand_partitions_in_one_fetch(broker: Broker) -> None:
    with Wire(broker.kafka) as wire, Bystander(broker) as bystander:
        before = resident_mib(broker.pid)
        unknown = [FetchTopic(topic="nowhere", partitions=[FetchPartition(partition=index) for index in range(10_000)])]
        known = [FetchTopic(topic="many", partitions=[FetchPartition(partition=index % 1_000) for index in range(10_000)])]
        for topics in (unknown, known):
            answer: Any = wire.ask(1, 12, FetchRequest(max_wait_ms=0, topics=topics, session_epoch=-1))
            assert len(answer.responses[0].partitions) in (10_000, 1_000)
        # Sessions of 10,000 each, over and over, by a client that forgets them.
        for _ in range(20):
            wire.ask(1, 12, FetchRequest(max_wait_ms=0, topics=unknown, session_epoch=0))
    report("10,000 partitions in one fetch", broker, before, bystander)
    assert resident_mib(broker.pid) < before + 120  # 200,000 partitions in sessions
    assert bystander.worst_ms < 1_000
    check_alive(broker)


def test_long_arrays(broker: Broker) -> None:
    """As many items as a request may have, in the requests whose handlers look at each of them."""
    many = 150_000
    parts = [OffsetCommitRequestPartition(index % 3, 5) for index in range(many)]
    requests: list[tuple[int, int, Message]] = [
        (8, 8, OffsetCommitRequest("g", topics=[OffsetCommitRequestTopic("orders", partitions=parts)])),
        (
            1,
            12,
            FetchRequest(
                max_wait_ms=0, topics=[FetchTopic("t", partitions=[FetchPartition(i) for i in range(many)])], session_epoch=-1
            ),
        ),
        (2, 7, ListOffsetsRequest(topics=[ListOffsetsTopic("orders", [ListOffsetsPartition(i, -1, 7) for i in range(many)])])),
        (2, 7, ListOffsetsRequest(topics=[ListOffsetsTopic("many", [ListOffsetsPartition(i, -1, 7) for i in range(1_000)])])),
        (15, 5, DescribeGroupsRequest(["g"] * many)),
        (32, 4, DescribeConfigsRequest([DescribeConfigsResource(2, "orders", None)] * many)),
        (
            47,
            0,
            OffsetDeleteRequest(
                "g",
                [OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(i % 2 * 9) for i in range(many)])],
            ),
        ),
    ]
    with Wire(broker.kafka, seconds=20) as wire, Bystander(broker) as bystander:
        before = resident_mib(broker.pid)
        for key, version, message in requests:
            began = time.monotonic()
            wire.ask(key, version, message)
            print(f"api {key}: {(time.monotonic() - began) * 1000:.0f} ms")
    report("150,000 items", broker, before, bystander)
    assert bystander.worst_ms < 5_000
    assert settled_mib(broker.pid, before + 64) < before + 64
    check_alive(broker)


def test_topics_with_a_million_partitions(broker: Broker) -> None:
    with Wire(broker.kafka) as wire:
        for count in (1_000_000, 2**31 - 1, -7, 0):
            answer: Any = wire.ask(19, 5, CreateTopicsRequest([CreatableTopic(f"huge{count}", count, 1)], 5_000))
            assert answer.topics[0].error_code == 37
    check_alive(broker)


def test_two_thousand_members_that_never_come_back(broker: Broker) -> None:
    before = resident_mib(broker.pid)
    lost = []
    with Bystander(broker) as bystander:
        for number in range(2_000):
            request = JoinGroupRequest(
                "crowd", 1_000, 1_000, "", None, "consumer", [JoinGroupRequestProtocol("range", bytes(2_000))]
            )
            connection = connect(broker.kafka)
            connection.sendall(frame(11, 3, request, number, f"lost-{number}"))
            lost.append(connection)
        with Wire(broker.kafka) as wire:
            crowd: Any = wire.ask(15, 5, DescribeGroupsRequest(["crowd"]))
            assert len(crowd.groups[0].members) == 2_000
        for connection in lost:
            connection.close()
        deadline = time.monotonic() + 15
        with Wire(broker.kafka) as wire:
            while time.monotonic() < deadline:
                answer: Any = wire.ask(15, 5, DescribeGroupsRequest(["crowd"]))
                if answer.groups[0].group_state in ("Empty", "Dead"):
                    break
                time.sleep(0.2)
            assert answer.groups[0].group_state in ("Empty", "Dead"), (answer.groups[0].group_state, len(answer.groups[0].members))
    report("2,000 members that never come back", broker, before, bystander)
    assert settled_mib(broker.pid, before + 32) < before + 32
    assert bystander.worst_ms < 2_000
    check_alive(broker)


def test_join_requests_whose_names_fill_a_string(broker: Broker) -> None:
    with Wire(broker.kafka, client_id="c" * 32_767) as wire:
        protocols = [JoinGroupRequestProtocol("p" * 32_767, b"x")]
        answer: Any = wire.ask(11, 9, JoinGroupRequest("long", 6_000, 6_000, "", "i" * 32_767, "t" * 32_767, protocols))
        assert len(answer.member_id) < 32_767
    check_alive(broker)


def test_partial_frames_beyond_the_budget(broker: Broker) -> None:
    """96 MiB of budget, 120 clients that send 3 MiB of a frame of 90 and stop: whoever is served in pieces comes in its turn."""
    before = resident_mib(broker.pid)
    hogs = [connect(broker.kafka) for _ in range(120)]
    with Bystander(broker) as bystander:
        for connection in hogs:
            push(connection, struct.pack(">i", 90 << 20) + bytes(3 << 20), 0.1)
        held = resident_mib(broker.pid)
        spent = metric(broker, "headrace_unfinished_request_bytes")
        for connection in hogs:
            connection.close()
    report(f"partial frames (held {spent / (1 << 20):.0f} MiB)", broker, before, bystander)
    assert held < before + 200
    assert settled_mib(broker.pid, before + 40) < before + 40
    assert metric(broker, "headrace_unfinished_request_bytes") < 1 << 20
    check_alive(broker)


def test_the_http_port(broker: Broker) -> None:
    before = resident_mib(broker.pid)
    pieces = [
        b"GET /metrics HTTP/1.1\r\nHost: x\r\n" + b"a: " + b"b" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 10_000 + b"\r\n",
        b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        b"GET " + b"/" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"\0" * 1_000,
        struct.pack(">i", 20) + bytes(20),
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 5_000,
        b"\r\n" * 50_000,
    ]
    with Bystander(broker) as bystander:
        for piece in pieces:
            with connect(broker.http) as connection:
                push(connection, piece, 1.0)
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_WR)
                assert closed_by_peer(connection, 12), piece[:40]
        idle = [connect(broker.http) for _ in range(400)]
        for connection in idle:
            connection.close()
    report("the HTTP port", broker, before, bystander)
    assert settled_mib(broker.pid, before + 16) < before + 16
    check_alive(broker)


def test_the_loop_was_not_held(broker: Broker) -> None:
    """After all of the above: what the node says of itself."""
    for name in ("headrace_loop_stall_seconds_count", "headrace_loop_stall_seconds_sum", "headrace_loop_stall_max_seconds"):
        with contextlib.suppress(AssertionError):
            print(name, metric(broker, name))
    with contextlib.suppress(Closed), Wire(broker.kafka) as wire:
        wire.versions()
    check_alive(broker)
