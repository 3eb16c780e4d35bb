"""Batches that lie, produced to a real process: each is refused with Kafka's code, nothing of it is stored."""

from __future__ import annotations

import gzip
import random
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import cramjam
import crc32c
import pytest

from headrace.protocols.kafka.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from headrace.records.build import build_batch
from headrace.records.compression import Codec, compress
from headrace.records.header import HEADER_SIZE
from headrace.records.record import Record
from tests.hostile.attack import Bystander, batch, check_alive, fetch, peak_mib, produce, resident_mib, settled_mib
from tests.support.broker import Broker
from tests.support.wire import Closed, Wire

CORRUPT_MESSAGE, INVALID_TIMESTAMP, INVALID_RECORD, RECORD_TOO_LARGE = 2, 32, 87, 10


@pytest.fixture
def wire(broker: Broker) -> Iterator[Wire]:
    with Wire(broker.kafka) as made:
        yield made


def sealed(data: bytearray) -> bytearray:
    """With the length and the checksum of what it now says."""
    struct.pack_into(">i", data, 8, len(data) - 12)
    struct.pack_into(">I", data, 17, crc32c.crc32c(memoryview(data)[21:]))
    return data


def with_int(data: bytearray, at: int, form: str, value: int) -> bytearray:
    struct.pack_into(form, data, at, value)
    return sealed(data)


def wrong_checksum() -> bytearray:
    data = batch(3)
    data[-1] ^= 1
    return data


def with_records(records: bytes, count: int) -> bytearray:
    data = batch(count)
    return sealed(data[:HEADER_SIZE] + records)


def last_record_gone() -> bytearray:
    return sealed(batch(3)[:-28])


LIES: dict[str, tuple[Callable[[], bytearray], tuple[int, ...]]] = {
    "a wrong checksum": (wrong_checksum, (CORRUPT_MESSAGE,)),
    "magic 1": (lambda: with_int(batch(), 16, ">b", 1), (INVALID_RECORD, 43)),
    "magic 9": (lambda: with_int(batch(), 16, ">b", 9), (INVALID_RECORD, CORRUPT_MESSAGE)),
    "magic -1": (lambda: with_int(batch(), 16, ">b", -1), (INVALID_RECORD, CORRUPT_MESSAGE)),
    "more records than offsets": (lambda: with_int(batch(3), 57, ">i", 4), (INVALID_RECORD,)),
    "no records": (lambda: with_int(batch(3), 57, ">i", 0), (INVALID_RECORD,)),
    "a negative count": (lambda: with_int(batch(3), 57, ">i", -1), (INVALID_RECORD,)),
    "2^31-1 records": (lambda: with_int(with_int(batch(3), 57, ">i", 2**31 - 1), 23, ">i", 2**31 - 2), (INVALID_RECORD,)),
    "a last offset before the first": (lambda: with_int(batch(3), 23, ">i", -1), (INVALID_RECORD,)),
    "a length beyond the batch": (lambda: _length(1_000), (CORRUPT_MESSAGE, INVALID_RECORD)),
    "a length short of it": (lambda: _length(50), (CORRUPT_MESSAGE, INVALID_RECORD)),
    "a negative length": (lambda: _length(-1), (CORRUPT_MESSAGE, INVALID_RECORD)),
    "half a header": (lambda: batch()[:30], (CORRUPT_MESSAGE, INVALID_RECORD)),
    "an unknown codec": (lambda: with_int(batch(), 21, ">h", 7), (76, INVALID_RECORD, CORRUPT_MESSAGE)),
    "a control batch": (lambda: with_int(batch(), 21, ">h", 0x20), (INVALID_RECORD,)),
    "records that do not chain": (last_record_gone, (INVALID_RECORD, CORRUPT_MESSAGE)),
    "a record of 2^31 bytes": (lambda: with_records(b"\xfe\xff\xff\xff\x0f" + bytes(40), 1), (INVALID_RECORD, CORRUPT_MESSAGE)),
    "an overlong varint": (lambda: with_records(b"\x80" * 12 + b"\x01" + bytes(40), 1), (INVALID_RECORD, CORRUPT_MESSAGE)),
    "a record of size 0": (lambda: with_records(b"\0" * 40, 1), (INVALID_RECORD, CORRUPT_MESSAGE)),
    "two batches where one is due": (lambda: batch() + batch(), (INVALID_RECORD,)),
    "no bytes at all": (bytearray, (INVALID_RECORD, CORRUPT_MESSAGE)),
    "a time in the far future": (lambda: _times(2**62), (INVALID_TIMESTAMP, INVALID_RECORD)),
    "rubbish said to be gzip": (lambda: with_int(batch(), 21, ">h", 1), (INVALID_RECORD, CORRUPT_MESSAGE)),
    "rubbish said to be snappy": (lambda: with_int(batch(), 21, ">h", 2), (INVALID_RECORD, CORRUPT_MESSAGE)),
    "rubbish said to be lz4": (lambda: with_int(batch(), 21, ">h", 3), (INVALID_RECORD, CORRUPT_MESSAGE)),
    "rubbish said to be zstd": (lambda: with_int(batch(), 21, ">h", 4), (INVALID_RECORD, CORRUPT_MESSAGE)),
}


def _length(size: int) -> bytearray:
    data = batch()
    struct.pack_into(">i", data, 8, size)
    return data


def _times(base: int) -> bytearray:
    data = batch()
    struct.pack_into(">qq", data, 27, base, base)
    return sealed(data)


def outcome(wire: Wire, data: bytes | bytearray, partition: int = 0) -> int:
    answer: Any = wire.ask(0, 9, produce("orders", data, partition))
    return int(answer.responses[0].partition_responses[0].error_code)


def end_of(wire: Wire) -> int:
    answer: Any = wire.ask(1, 12, fetch("orders", 0, wait_ms=0))
    return int(answer.responses[0].partitions[0].high_watermark)


@pytest.mark.parametrize("lie", LIES)
def test_a_batch_that_lies_is_refused(broker: Broker, wire: Wire, lie: str) -> None:
    make, codes = LIES[lie]
    before = end_of(wire)
    assert outcome(wire, make()) in codes
    assert end_of(wire) == before
    assert outcome(wire, batch()) == 0  # the connection goes on
    check_alive(broker)


def bomb(codec: Codec) -> bytes:
    """Half a GiB of zeros, as few bytes as the codec makes of them; for gzip three layers would be needed to fit 1 MiB."""
    size = 512 << 20
    if codec is Codec.GZIP:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        piece = bytes(1 << 20)
        return b"".join(packer.compress(piece) for _ in range(size >> 20)) + packer.flush()
    if codec is Codec.ZSTD:
        return bytes(cramjam.zstd.compress(bytes(size), 3))
    if codec is Codec.LZ4:
        return bytes(cramjam.lz4.compress(bytes(200 << 20), 1))
    return bytes(cramjam.snappy.compress_raw(bytes(20 << 20)))


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD])
def test_a_decompression_bomb(broker: Broker, wire: Wire, codec: Codec) -> None:
    data = batch()[:HEADER_SIZE] + bomb(codec)
    struct.pack_into(">h", data, 21, codec.value)
    sealed(data)
    assert len(data) < 1 << 20, len(data)
    before = resident_mib(broker.pid)
    with Bystander(broker) as bystander:
        for _ in range(3):
            assert outcome(wire, data) in (INVALID_RECORD, CORRUPT_MESSAGE, RECORD_TOO_LARGE)
    after = settled_mib(broker.pid, before + 48)
    peak, worst = peak_mib(broker.pid), bystander.worst_ms
    print(f"{codec.name}: {len(data)} bytes; RSS {before:.0f} -> {after:.0f}, peak {peak:.0f} MiB, bystander {worst:.0f} ms")
    assert after < before + 48
    assert bystander.worst_ms < 2_000
    check_alive(broker)


def test_bombs_from_many_at_once(broker: Broker) -> None:
    data = batch()[:HEADER_SIZE] + bomb(Codec.ZSTD)
    struct.pack_into(">h", data, 21, 4)
    sealed(data)
    wires = [Wire(broker.kafka) for _ in range(16)]
    with Bystander(broker) as bystander:
        for one in wires:
            one.send(0, 9, produce("orders", data))
        for one in wires:
            one.receive()
            one.close()
    # 8 of them took all threads and 2 GiB, and a flush waited 8 seconds for its turn.
    print(f"16 bombs: peak {peak_mib(broker.pid):.0f} MiB, bystander {bystander.worst_ms:.0f} ms")
    assert peak_mib(broker.pid) < 800
    assert bystander.worst_ms < 2_000
    check_alive(broker)


def test_a_good_batch_inflates_within_bounds(broker: Broker, wire: Wire) -> None:
    """The bounds leave room for what compresses well and honestly."""
    data = build_batch([Record(0, 1_700_000_000_000, b"k", bytes(20 << 20))], codec=Codec.ZSTD)
    assert outcome(wire, data) == 0
    assert compress(Codec.GZIP, b"x") and gzip.compress(b"x")


def test_the_same_partition_twice_in_one_request(broker: Broker, wire: Wire) -> None:
    request = produce("orders", batch(2), 1)
    request.topic_data[0].partition_data = [
        *request.topic_data[0].partition_data,
        *produce("orders", batch(3), 1).topic_data[0].partition_data,
    ]
    answer: Any = wire.ask(0, 9, request)
    rows = answer.responses[0].partition_responses
    assert [(row.error_code, row.base_offset) for row in rows] == [(0, 0), (0, 2)]


TOPICS = {
    "compacted": {"cleanup.policy": "compact"},
    "stamped": {"message.timestamp.type": "LogAppendTime"},
    "recompressed": {"compression.type": "lz4"},
    "strict": {"message.timestamp.after.max.ms": "1000", "message.timestamp.before.max.ms": "1000"},
}


def test_mutated_batches_to_topics_of_every_kind(broker: Broker, wire: Wire) -> None:
    """Cut, changed and sealed again: whatever comes of it, it is an answer, and what was stored can be read."""
    configs = [
        CreatableTopic(name, 1, 1, (), [CreatableTopicConfig(*item) for item in more.items()]) for name, more in TOPICS.items()
    ]
    made: Any = wire.ask(19, 5, CreateTopicsRequest(configs, 10_000))
    assert all(topic.error_code == 0 for topic in made.topics)
    chance = random.Random(21)
    codes: Counter[int] = Counter()
    for number in range(1_500):
        name = chance.choice(list(TOPICS))
        records = [Record(index, 1_700_000_000_000, None if chance.random() < 0.1 else b"k", b"v" * 20) for index in range(3)]
        data = build_batch(records, codec=chance.choice(list(Codec)))
        for _ in range(chance.choice((0, 1, 1, 2, 5))):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
        if chance.random() < 0.2:
            del data[chance.randrange(len(data)) :]
        if len(data) > 21 and chance.random() < 0.8:
            sealed(data)
        try:
            answer: Any = wire.ask(0, 9, produce(name, data))
        except Closed:
            raise AssertionError(f"{name}: {data.hex()}\n{broker.tail(2)}") from None
        codes[answer.responses[0].partition_responses[0].error_code] += 1
        if number % 100 == 0:
            for each in TOPICS:
                read: Any = wire.ask(1, 12, fetch(each, 0, wait_ms=0))
                assert read.responses[0].partitions[0].error_code == 0
    print(dict(codes))
    assert codes[0] > 50 and len(codes) >= 4
    check_alive(broker)
