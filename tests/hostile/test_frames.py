"""Frames that lie about themselves, and requests cut short, against a real process."""

from __future__ import annotations

import random
import socket
import struct
import time
from pathlib import Path

import pytest

from headrace.protocols.kafka.codec import encode_request
from headrace.protocols.kafka.messages.api_versions import ApiVersionsRequest
from headrace.protocols.kafka.messages.metadata import MetadataRequest
from tests.hostile.attack import (
    Bystander,
    Hostile,
    check_alive,
    closed_by_peer,
    connect,
    exchange,
    framed,
    peak_mib,
    resident_mib,
    served,
)
from tests.support.broker import Broker
from tests.support.wire import Wire, frame

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "kafka").glob("*/*.txt"))


def golden_requests() -> list[bytes]:
    requests = []
    for path in GOLDEN:
        words = dict(line.split() for line in path.read_text().splitlines())
        requests.append(bytes.fromhex(words["request"]))
    return requests


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 3, 7, 100 * 1024 * 1024 + 1, 2**31 - 1])
def test_a_length_beyond_the_bounds_ends_the_connection(broker: Broker, length: int) -> None:
    with connect(broker.kafka) as connection:
        connection.sendall(struct.pack(">i", length))
        assert closed_by_peer(connection, 5)
    check_alive(broker)


def test_two_hundred_claims_of_100_mib_without_a_body_cost_nothing(broker: Broker) -> None:
    before = resident_mib(broker.pid)
    claims = [connect(broker.kafka) for _ in range(200)]
    with Bystander(broker) as bystander:
        for connection in claims:
            connection.sendall(struct.pack(">i", 100 * 1024 * 1024) + b"\0" * 20)
        time.sleep(0.5)
        held = resident_mib(broker.pid)
        for connection in claims:
            connection.close()
    assert held < before + 16  # 200 x 16 KiB, and the sockets
    assert bystander.worst_ms < 500
    check_alive(broker)


def test_half_frames_by_the_hundred_do_not_spend_the_budget(broker: Broker) -> None:
    # A claim of up to 2 MiB got its buffer at once: 48 connections of eight bytes each spent the budget of 96 MiB, and 400 of
    # them were 800 MiB of zeros that took half a second to write.
    before = resident_mib(broker.pid)
    claims = [connect(broker.kafka) for _ in range(400)]
    with Bystander(broker) as bystander:
        for connection in claims:
            connection.sendall(struct.pack(">i", 2 * 1024 * 1024 - 4) + b"\0" * 8)
        with Wire(broker.kafka) as wire:  # one whose frames come in pieces
            data = frame(3, 1, MetadataRequest(None), 7)
            for at in range(len(data)):
                wire.socket.sendall(data[at : at + 1])
            assert wire.receive()[:4] == b"\0\0\0\7"
        held = resident_mib(broker.pid)
        for connection in claims:
            connection.close()
    assert held < before + 32
    assert bystander.worst_ms < 500


def test_every_golden_request_cut_at_every_byte(broker: Broker) -> None:
    """A body that ends early, in a frame whose length is true: an answer or the end of the connection, for each of them."""
    chance = random.Random(3)
    count = 0
    with Bystander(broker) as bystander:
        for request in golden_requests():
            places = range(8, len(request)) if len(request) < 40 else sorted(chance.sample(range(8, len(request)), 16))
            for end in places:
                exchange(broker, framed(request[:end]))
                count += 1
    assert count > 1_000
    assert bystander.worst_ms < 1_000
    check_alive(broker)


def test_a_connection_that_ends_within_a_frame(broker: Broker) -> None:
    for request in golden_requests()[::3]:
        whole = framed(request)
        for end in {1, 3, 4, 5, len(whole) // 2, len(whole) - 1}:
            with connect(broker.kafka) as connection:
                connection.sendall(whole[:end])
    check_alive(broker)


LIES = {
    # ApiVersions v3: the software's name as a compact string
    "compact length 0": b"\0",
    "an overlong varint": b"\x80\x80\x80\x80\x80\x80\x01",
    "a varint beyond 32 bits": b"\xff\xff\xff\xff\x7f",
    "a string of 4 GiB": b"\xff\xff\xff\xff\x0f",
    "a string beyond its limit": b"\x82\x80\x02" + b"x" * 40_000,
    "text that is not UTF-8": b"\x03\xff\xff\x02x\0",
    "a thousand million tagged fields": b"\x02a\x02a\xff\xff\xff\xff\x0f",
    "a tagged field longer than the frame": b"\x02a\x02a\x01\x05\x7f",
    "tags that fall": b"\x02a\x02a\x02\x05\x00\x04\x00",
    "the same tag twice": b"\x02a\x02a\x02\x05\x00\x05\x00",
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_of_the_flexible_encoding_end_the_connection(broker: Broker, lie: str) -> None:
    head = struct.pack(">hhihb", 18, 3, 1, -1, 0)
    with connect(broker.kafka) as connection:
        connection.sendall(framed(head + LIES[lie]))
        assert closed_by_peer(connection, 5)
    check_alive(broker)


@pytest.mark.parametrize("count", [2**31 - 1, -2, -(2**31), 1_000_000, 5])
def test_arrays_that_claim_more_than_there_is(broker: Broker, count: int) -> None:
    before = resident_mib(broker.pid)
    with connect(broker.kafka) as connection:
        connection.sendall(framed(struct.pack(">hhihi", 3, 1, 1, -1, count)))
        assert closed_by_peer(connection, 5)
    assert resident_mib(broker.pid) < before + 16
    check_alive(broker)


def test_an_array_within_its_frame_but_beyond_the_limit(broker: Broker) -> None:
    # A million empty names in 2 MB would be 200 MB of objects and more than a second of the loop.
    before = resident_mib(broker.pid)
    with Bystander(broker) as bystander, connect(broker.kafka) as connection:
        connection.sendall(framed(struct.pack(">hhihi", 3, 1, 1, -1, 1_000_000) + b"\0\0" * 1_000_000))
        assert closed_by_peer(connection, 5)
    assert resident_mib(broker.pid) < before + 16
    assert bystander.worst_ms < 500
    check_alive(broker)


def test_answers_that_are_due_leave_before_the_goodbye(broker: Broker) -> None:
    # A broken request behind good ones took their answers with it; one in the same piece of bytes was served in spite of it.
    good = frame(18, 0, ApiVersionsRequest(), 1)
    with Wire(broker.kafka) as wire:
        wire.socket.sendall(good + good + framed(struct.pack(">hhih", 9_999, 0, 3, -1)) + good)
        assert wire.receive()[:4] == wire.receive()[:4] == b"\0\0\0\1"
        assert closed_by_peer(wire.socket, 5)
        assert not wire.buffer
    check_alive(broker)


def test_random_bytes(broker: Broker) -> None:
    chance = random.Random(11)
    for _ in range(150):
        with connect(broker.kafka) as connection:
            body = chance.randbytes(chance.choice((8, 12, 40, 300)))
            if chance.random() < 0.7:  # a header that is right
                body = struct.pack(">hhih", chance.randrange(0, 76), chance.randrange(0, 14), 1, -1) + body
            connection.sendall(framed(body) if chance.random() < 0.8 else body)
            connection.shutdown(socket.SHUT_WR)
            assert closed_by_peer(connection, 5)
    check_alive(broker)


def test_mutated_golden_frames(broker: Broker) -> None:
    chance = random.Random(12)
    requests = golden_requests()
    for _ in range(1_200):
        body = bytearray(chance.choice(requests))
        for _ in range(chance.choice((1, 1, 2, 8))):
            at = chance.randrange(4, len(body))
            body[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        exchange(broker, framed(bytes(body)))
    check_alive(broker)


def test_every_api_with_hostile_values(broker: Broker) -> None:
    """Well-formed requests with the nastiest values of each field: every version of every API, by chance."""
    apis = served(broker)
    with Bystander(broker) as bystander:
        for seed in range(2_500):
            hostile = Hostile(seed, ["orders", "__consumer_offsets"], ["g", "h"])
            key = sorted(apis)[seed % len(apis)]
            low, high = apis[key]
            version = hostile.chance.randint(low, high)
            message = hostile.message(_request(key), version)
            data = b"".join(
                bytes(piece) for piece in encode_request(key, version, seed, "x" * 32_767 if seed % 7 == 0 else "c", message)
            )  # type: ignore[arg-type]
            exchange(broker, data)
    print(f"worst of the bystander {bystander.worst_ms:.0f} ms, peak {peak_mib(broker.pid):.0f} MiB")
    check_alive(broker)


def _request(key: int) -> type:
    from headrace.protocols.kafka.messages import API

    return API[key].request
