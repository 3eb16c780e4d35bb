"""A blocking connection that speaks Kafka's protocol through our own codec: for tests and benchmarks."""

import socket
import struct
from types import TracebackType
from typing import cast

from headrace.protocols.kafka.codec import decode_response, encode_request
from headrace.protocols.kafka.messages import Message
from headrace.protocols.kafka.messages.api_versions import API_KEY as API_VERSIONS
from headrace.protocols.kafka.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse


class Closed(Exception):
    """The peer closed the connection."""


class Wire:
    """One request at a time with `ask`; `send` and `receive` for whoever wants several under way, or broken bytes."""

    def __init__(self, address: str, client_id: str | None = "headrace-test", seconds: float = 30.0) -> None:
        host, _, port = address.rpartition(":")
        self.client_id = client_id
        self.socket = socket.create_connection((host, int(port)), seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.correlation_id = 0
        self.buffer = bytearray()

    def ask(self, api_key: int, version: int, message: Message) -> Message:
        self.send(api_key, version, message)
        correlation_id, answer = decode_response(api_key, version, memoryview(self.receive()))
        assert correlation_id == self.correlation_id, f"asked {self.correlation_id}, was answered {correlation_id}"
        return answer

    def send(self, api_key: int, version: int, message: Message) -> None:
        self.correlation_id += 1
        self.socket.sendall(frame(api_key, version, message, self.correlation_id, self.client_id))

    def receive(self) -> bytes:
        """One frame, without its length."""
        size = struct.unpack(">i", self._take(4))[0]
        return self._take(size)

    def _take(self, size: int) -> bytes:
        while len(self.buffer) < size:
            try:
                piece = self.socket.recv(1 << 20)
            except ConnectionError as error:
                raise Closed(str(error)) from None
            if not piece:
                raise Closed(f"{len(self.buffer)} of {size} bytes came")
            self.buffer += piece
        taken = bytes(self.buffer[:size])
        del self.buffer[:size]
        return taken

    def versions(self) -> dict[int, tuple[int, int]]:
        """What the broker says it speaks."""
        answer = self.ask(API_VERSIONS, 3, ApiVersionsRequest("headrace-test", "1"))
        assert isinstance(answer, ApiVersionsResponse)
        return {row.api_key: (row.min_version, row.max_version) for row in answer.api_keys}

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def frame(api_key: int, version: int, message: Message, correlation_id: int = 0, client_id: str | None = "headrace-test") -> bytes:
    """A whole request, with its length."""
    return b"".join(cast(list[bytes], encode_request(api_key, version, correlation_id, client_id, message)))
