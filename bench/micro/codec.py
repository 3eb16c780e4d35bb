"""What it costs to read and write the hot messages: our codec beside kio and kafka-python, in one run.

    python -m bench.micro.codec

One topic, one partition; records of 16 kB, which nobody here looks at. Best of five, in microseconds a message. kio and
kafka-python are test dependencies; all three get the same bytes.
"""

from __future__ import annotations

import io
import platform
import timeit
from collections.abc import Callable
from typing import Any
from uuid import UUID

import kio.index
from kafka.protocol.consumer import fetch as theirs_fetch
from kafka.protocol.producer import produce as theirs_produce
from kio.serial import entity_reader, entity_writer

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.codec import (
    decode_header,
    decode_request,
    encode_message,
    encode_request,
    encode_response,
)
from headrace.protocols.kafka.messages import Message
from headrace.protocols.kafka.messages import fetch as f
from headrace.protocols.kafka.messages import produce as p

BODY = bytes(16_384)
TOPIC_ID = UUID(int=0x1234567890ABCDEF)


def best_us(work: Callable[[], object], count: int = 20_000) -> float:
    work()
    return min(timeit.repeat(work, number=count, repeat=5)) / count * 1e6


def messages(api_key: int, version: int) -> tuple[Message, Message]:
    """A request and a response as they come by the thousand."""
    named = version < 13
    name, topic_id = ("orders", NO_TOPIC_ID) if named else ("", TOPIC_ID)
    if api_key == 0:
        data = [p.TopicProduceData(name, topic_id, [p.PartitionProduceData(3, memoryview(BODY))])]
        answers = [p.TopicProduceResponse(name, topic_id, [p.PartitionProduceResponse(3, 0, 12345, -1, 0)])]
        return p.ProduceRequest(None, -1, 30_000, data), p.ProduceResponse(answers)
    asked = [f.FetchTopic(name, topic_id, [f.FetchPartition(3, -1, 12345, -1, -1, 1 << 20)])]
    got = [f.FetchableTopicResponse(name, topic_id, [f.PartitionData(3, 0, 999, 999, 0, records=BODY)])]
    return f.FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=50 << 20, topics=asked), f.FetchResponse(responses=got)


def row(name: str, ours: float, kio_us: float, kafka_python: float) -> None:
    print(f"{name:28} {ours:8.2f} {kio_us:8.2f} {kafka_python:8.2f}   {min(kio_us, kafka_python) / ours:5.1f} x")


def bench(api_key: int, version: int, name: str, theirs: Any) -> None:
    request, response = messages(api_key, version)
    frame = memoryview(b"".join(bytes(part) for part in encode_request(api_key, version, 7, "a client", request)))[4:]  # type: ignore[arg-type]
    header, at = decode_header(frame)
    body = bytes(frame[at:])
    kio_request, kio_response = kio.index.load_request_schema(api_key, version), kio.index.load_response_schema(api_key, version)
    read = entity_reader(kio_request)
    their_request, their_response = theirs
    row(
        f"{name} {version} request, decode",
        best_us(lambda: decode_request(header, frame, at)),
        best_us(lambda: read(body, 0)),
        best_us(lambda: their_request.decode(body, version=version)),
    )
    data = encode_message(response, version)
    entity, _ = entity_reader(kio_response)(data, 0)
    write = entity_writer(kio_response)
    alien = their_response.decode(data, version=version)
    alien._header = None
    row(
        f"{name} {version} response, encode",
        best_us(lambda: encode_response(api_key, version, 7, response)),
        best_us(lambda: write(io.BytesIO(), entity), 5_000),
        best_us(lambda: alien.encode(version=version)),
    )


def main() -> None:
    print(f"{platform.python_implementation()} {platform.python_version()}, us a message")
    print(f"{'':28} {'headrace':>8} {'kio':>8} {'kafka-py':>8}   against the better")
    for version in (3, 9, 12):
        bench(0, version, "Produce", (theirs_produce.ProduceRequest, theirs_produce.ProduceResponse))
    for version in (4, 12, 16):
        bench(1, version, "Fetch", (theirs_fetch.FetchRequest, theirs_fetch.FetchResponse))


if __name__ == "__main__":
    main()
