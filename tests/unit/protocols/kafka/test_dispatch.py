"""From a request's bytes to its answer's: which handler and version, what ends the connection, what is counted."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import pytest

from headrace.base.errors import ProtocolError
from headrace.base.metrics import Metrics
from headrace.broker.waiting import Later
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.codec import decode_header, decode_response, encode_request
from headrace.protocols.kafka.connection import Request
from headrace.protocols.kafka.dispatch import Dispatcher
from headrace.protocols.kafka.handlers.context import Peer
from headrace.protocols.kafka.messages import Message
from headrace.protocols.kafka.messages.api_versions import ApiVersionsRequest
from headrace.protocols.kafka.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from headrace.protocols.kafka.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest

HEARTBEAT = 12


class World:
    def monotonic_ms(self) -> float:
        return 7.0

    def random_bytes(self, size: int) -> bytes:
        return bytes(size)


class Settings:
    fetch_sessions_max = 10


class Broker:
    settings = Settings()
    world = World()


@pytest.fixture
def dispatcher() -> Dispatcher:
    return Dispatcher(Broker(), Metrics())  # type: ignore[arg-type]


def request_of(data: bytes) -> Request:
    frame = memoryview(data)
    header, at = decode_header(frame)
    request = Request(header, frame, at, None)
    request.began_ms = 2.0
    return request


def request(key: int, version: int, message: Message, client_id: str | None = "c") -> Request:
    return request_of(b"".join(bytes(piece) for piece in encode_request(key, version, 42, client_id, message))[4:])  # type: ignore[arg-type]


def read(key: int, version: int, buffers: Any) -> Message:
    number, message = decode_response(key, version, memoryview(b"".join(buffers)[4:]))
    assert number == 42
    return message


def handle_with(dispatcher: Dispatcher, answer: Any) -> None:
    served = dispatcher._api(HEARTBEAT)
    assert served is not None
    served.handle = lambda broker, message, context: answer  # type: ignore[method-assign,assignment]


def test_an_answer_at_once(dispatcher: Dispatcher):
    peer = Peer()
    answer = dispatcher.serve(request(18, 3, ApiVersionsRequest("me", "1.0")), peer)
    message: Any = read(18, 3, answer)
    assert message.error_code == 0 and len(message.api_keys) > 30
    assert (peer.client_id, peer.software_name, peer.software_version) == ("c", "me", "1.0")


@pytest.mark.parametrize("version", [5, 6, 999, -1, -32768])
def test_an_unknown_version_of_api_versions_is_answered_with_version_0(dispatcher: Dispatcher, version: int):
    answer = dispatcher.serve(request_of(struct.pack(">hhih", 18, version, 42, -1) + b"what comes here nobody knows"), Peer())
    message: Any = read(18, 0, answer)
    assert message.error_code == errors.UNSUPPORTED_VERSION
    assert [(row.api_key, row.min_version, row.max_version) for row in message.api_keys] == [(18, 0, 4)]


@pytest.mark.parametrize(("key", "version"), [(3, 999), (3, -1), (0, 2), (7, 0), (9_999, 0), (-1, 0), (-32768, -32768)])
def test_what_is_not_served_ends_the_connection(dispatcher: Dispatcher, key: int, version: int):
    answer = dispatcher.serve(request_of(struct.pack(">hhih", key, version, 42, -1) + bytes(20)), Peer())
    assert isinstance(answer, ProtocolError) and (str(key) in str(answer) or str(version) in str(answer))


def test_what_cannot_be_read_ends_the_connection(dispatcher: Dispatcher):
    whole = b"".join(bytes(piece) for piece in encode_request(HEARTBEAT, 4, 42, "c", HeartbeatRequest("group", 3, "member")))[4:]  # type: ignore[arg-type]
    handle_with(dispatcher, HeartbeatResponse())
    for end in range(12, len(whole)):
        assert isinstance(dispatcher.serve(request_of(whole[:end]), Peer()), ProtocolError)
    assert isinstance(dispatcher.serve(request_of(whole), Peer()), list)


def test_a_later_answer_is_encoded_when_it_comes(dispatcher: Dispatcher):
    later: Later[Any] = Later()
    handle_with(dispatcher, later)
    answer = dispatcher.serve(request(HEARTBEAT, 4, HeartbeatRequest("g", 1, "m")), Peer())
    assert isinstance(answer, Later) and not answer.done
    later.complete(HeartbeatResponse(error_code=27))
    assert answer.done
    message: Any = read(HEARTBEAT, 4, answer.value)
    assert message.error_code == 27


def test_a_later_that_is_there_already_is_an_answer_at_once(dispatcher: Dispatcher):
    later: Later[Any] = Later()
    later.complete(HeartbeatResponse(error_code=27))
    handle_with(dispatcher, later)
    assert isinstance(dispatcher.serve(request(HEARTBEAT, 4, HeartbeatRequest("g", 1, "m")), Peer()), list)


def test_a_coroutine_and_one_that_ends_in_a_later(dispatcher: Dispatcher):
    async def story() -> None:
        later: Later[Any] = Later()

        async def slow(result: Any) -> Any:
            await asyncio.sleep(0)
            return result

        for result in (HeartbeatResponse(error_code=5), later):
            handle_with(dispatcher, slow(result))
            answer: Any = await dispatcher.serve(request(HEARTBEAT, 4, HeartbeatRequest("g", 1, "m")), Peer())  # type: ignore[misc]
            if isinstance(answer, Later):
                later.complete(HeartbeatResponse(error_code=5))
                answer = answer.value
            message: Any = read(HEARTBEAT, 4, answer)
            assert message.error_code == 5

    asyncio.run(story())


def test_no_answer_is_an_empty_one(dispatcher: Dispatcher):
    handle_with(dispatcher, None)
    assert dispatcher.serve(request(HEARTBEAT, 4, HeartbeatRequest("g", 1, "m")), Peer()) == []


def test_it_is_counted(dispatcher: Dispatcher):
    one = request(18, 3, ApiVersionsRequest("me", "1.0"))
    answer: Any = dispatcher.serve(one, Peer())
    metrics = dispatcher.metrics.api("ApiVersions")
    assert metrics.bytes_in == len(one.frame) + 4
    assert metrics.bytes_out == sum(map(len, answer))
    assert metrics.latency_ms.count == 1 and metrics.latency_ms.maximum == 5.0


def test_an_error_text_that_quotes_a_long_name_is_cut(dispatcher: Dispatcher):
    # A name may fill a string of the protocol; the text around it no longer fitted, and an assert of the codec ended the node.
    long = "é" * 16_383
    asked = UpdateFeaturesRequest(60_000, [FeatureUpdateKey(long, 1, upgrade_type=1)], False)
    message: Any = read(57, 1, dispatcher.serve(request(57, 1, asked), Peer()))
    text = message.error_message
    assert len(text.encode()) < 2_100 and text.startswith("there is no feature é") and text.endswith("é ...")
