"""What is sent, built once before the clock starts, and where in an answer lies what has to be looked at.

Produce version 9 and Fetch version 12 are the newest in which a topic goes by its name, so that a frame suits any broker.
"""

import struct
import time

from headrace.protocols.kafka.codec import decode_response
from headrace.protocols.kafka.messages import Message
from headrace.protocols.kafka.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from headrace.protocols.kafka.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from headrace.protocols.kafka.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from headrace.protocols.kafka.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from headrace.protocols.kafka.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from headrace.records.build import build_batch
from headrace.records.record import Record
from tests.support.wire import Wire, frame

PRODUCE, FETCH, METADATA, CREATE_TOPICS = 0, 1, 3, 19
PRODUCE_VERSION, FETCH_VERSION, METADATA_VERSION, CREATE_TOPICS_VERSION = 9, 12, 9, 5
LIST_OFFSETS, LIST_OFFSETS_VERSION = 2, 5
CLIENT_ID = "headrace-bench"
CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}

_OFFSET_MARK = 0x0123456789ABCDEF


class Batch:
    """One record batch of about the wanted size, and what is in it."""

    __slots__ = ("bytes", "count", "record_size")

    def __init__(self, size: int, record_size: int, codec: str = "none") -> None:
        """The largest batch of `record_size`-byte values that is no larger than `size`; size 0 is a batch of one record.

        A compressed batch is made of the same records as an uncompressed one of `size`, with values that compress about 4 : 1.
        """
        now_ms = int(time.time() * 1000)
        value = (b"%08x" % 0x5EED) * (record_size // 8 + 1)
        text = b"the quick brown fox jumps over the lazy dog; "

        def record(i: int) -> Record:
            if codec == "none":
                return Record(0, now_ms, None, value[:record_size])
            return Record(0, now_ms, None, (b"%016x" % (i * 0x9E3779B97F4A7C15 & (1 << 64) - 1) + text * 100)[:record_size])

        count = 1
        if size:
            one, two = (len(build_batch([record(i) for i in range(n)])) for n in (1, 2))
            count = max(1, (size - one) // (two - one))
            while count > 1 and len(build_batch([record(i) for i in range(count)])) > size:
                count -= max(1, count // 200)
        self.bytes = bytes(build_batch([record(i) for i in range(count)], codec=CODECS[codec]))
        self.count = count
        self.record_size = record_size


def produce_frame(topic: str, partition: int, batch: Batch, acks: int) -> bytes:
    data = [TopicProduceData(name=topic, partition_data=[PartitionProduceData(partition, memoryview(batch.bytes))])]
    return frame(PRODUCE, PRODUCE_VERSION, ProduceRequest(None, acks, 30_000, data), 0, CLIENT_ID)


def produce_error_at(topic: str) -> int:
    """Where the error code of the only partition lies in a whole answer to `produce_frame`.

    length 4 · correlation id 4 · tags 1 · topics 1 · name 1 + n · partitions 1 · index 4 · ERROR CODE 2 · …
    """
    assert len(topic) < 127
    return 4 + 4 + 1 + 1 + 1 + len(topic) + 1 + 4


def check_produced(answer: bytes) -> None:
    """A whole answer, decoded in full: done for the first one of a connection, and for one that looks wrong."""
    _, message = decode_response(PRODUCE, PRODUCE_VERSION, memoryview(answer)[4:])
    assert isinstance(message, ProduceResponse)
    partition = message.responses[0].partition_responses[0]
    assert partition.error_code == 0, f"produce was refused with {partition.error_code}: {partition.error_message}"


class FetchFrame:
    """A fetch whose offset can be changed in place."""

    __slots__ = ("bytes", "offset_at")

    def __init__(self, topic: str, partition: int, size_max: int) -> None:
        asked = FetchPartition(partition, fetch_offset=_OFFSET_MARK, partition_max_bytes=size_max)
        message = FetchRequest(
            max_wait_ms=500, min_bytes=1, max_bytes=size_max, topics=[FetchTopic(topic=topic, partitions=[asked])]
        )
        self.bytes = bytearray(frame(FETCH, FETCH_VERSION, message, 0, CLIENT_ID))
        self.offset_at = self.bytes.index(struct.pack(">q", _OFFSET_MARK))

    def at(self, offset: int) -> bytearray:
        struct.pack_into(">q", self.bytes, self.offset_at, offset)
        return self.bytes


def fetched(answer: bytes) -> int:
    """How many bytes of records a whole answer carries."""
    _, message = decode_response(FETCH, FETCH_VERSION, memoryview(answer)[4:])
    assert isinstance(message, FetchResponse) and message.error_code == 0
    partition = message.responses[0].partitions[0]
    assert partition.error_code == 0, f"fetch was refused with {partition.error_code}"
    return len(partition.records or b"")


def create_topic(wire: Wire, topic: str, partitions: int, configs: dict[str, str]) -> None:
    wanted = [CreatableTopicConfig(name, value) for name, value in configs.items()]
    request = CreateTopicsRequest([CreatableTopic(topic, partitions, 1, configs=wanted)], timeout_ms=10_000)
    answer = wire.ask(CREATE_TOPICS, CREATE_TOPICS_VERSION, request)
    assert isinstance(answer, CreateTopicsResponse)
    made = answer.topics[0]
    if made.error_code:
        raise AssertionError(f"topic {topic} {configs}: error {made.error_code}: {made.error_message}")
    await_leaders(wire, topic, partitions)


def await_leaders(wire: Wire, topic: str, partitions: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        answer: Message = wire.ask(METADATA, METADATA_VERSION, MetadataRequest([MetadataRequestTopic(name=topic)]))
        assert isinstance(answer, MetadataResponse)
        found = answer.topics[0]
        if not found.error_code and sum(p.error_code == 0 and p.leader_id >= 0 for p in found.partitions) == partitions:
            break
        time.sleep(0.05)
    while time.monotonic() < deadline:  # Kafka names a leader a moment before that leader takes it up
        parts = [ListOffsetsPartition(index, timestamp=-1) for index in range(partitions)]
        asked = wire.ask(LIST_OFFSETS, LIST_OFFSETS_VERSION, ListOffsetsRequest(-1, 0, [ListOffsetsTopic(topic, parts)]))
        assert isinstance(asked, ListOffsetsResponse)
        if not any(part.error_code for part in asked.topics[0].partitions):
            return
        time.sleep(0.05)
    raise AssertionError(f"topic {topic} got no leaders in 30 s")
