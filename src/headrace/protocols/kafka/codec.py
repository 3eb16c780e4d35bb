"""Frames and messages of Kafka's protocol: bytes to objects and back, twins by name.

A frame as the connection cuts it (without its four bytes of length):

    request   int16 api key, int16 version, int32 correlation id, string client id, [tagged fields], message
    response  int32 correlation id, [tagged fields], message

The tagged fields are there in flexible versions, with the exceptions of `messages/exceptions.py`.

A codec is made when a class and version is met for the first time (`codec_maker.py`), and kept. Whatever a peer may send,
decoding ends in a message or in a `ProtocolError`. Records are not looked at: on the way in they are a view into the frame, on
the way out they are handed on as they are (`encode_response` gives a list of buffers), so that a slice of a file reaches the
socket.
"""

from __future__ import annotations

import struct
from typing import TypeVar, cast

from headrace.base.errors import ProtocolError
from headrace.base.files import Body
from headrace.protocols.kafka.codec_maker import Decode, Encode, make_decode, make_encode
from headrace.protocols.kafka.messages import API, Message
from headrace.protocols.kafka.primitives import skip_tags

M = TypeVar("M", bound=Message)

# Client ids repeat for as long as a connection lives; as many are kept, then all are dropped.
CLIENT_IDS_KEPT_MAX = 1_000

_unpack_head = struct.Struct(">hhih").unpack_from
_pack_size_and_id = struct.Struct(">ii").pack_into
_pack_request_head = struct.Struct(">ihhih").pack_into
_unpack_id = struct.Struct(">i").unpack_from


class UnsupportedVersion(ProtocolError):
    """An API or a version of it that the codec does not speak. The header was read and is trustworthy."""


class RequestHeader:
    """What stands before every request."""

    __slots__ = ("api_key", "api_version", "client_id", "correlation_id")

    def __init__(self, api_key: int, api_version: int, correlation_id: int, client_id: str | None) -> None:
        self.api_key = api_key
        self.api_version = api_version
        self.correlation_id = correlation_id
        self.client_id = client_id

    def __repr__(self) -> str:
        return f"RequestHeader({self.api_key}, {self.api_version}, {self.correlation_id}, {self.client_id!r})"


_client_ids: dict[bytes, str] = {}
_request_decoders: dict[tuple[int, int], Decode] = {}
_response_encoders: dict[tuple[int, int], tuple[Encode, bytes]] = {}
_decoders: dict[tuple[type[Message], int], Decode] = {}
_encoders: dict[tuple[type[Message], int], Encode] = {}


def decode_header(frame: memoryview) -> tuple[RequestHeader, int]:
    """The header of a request, and the position of the message.

    An API or version we do not know still gives key, version, correlation id and client id: they stand at the same place in
    every version of the header. The position is then where the unknown begins.
    """
    try:
        key, version, correlation_id, size = _unpack_head(frame, 0)
    except struct.error:
        raise ProtocolError(f"a request of {len(frame)} bytes is too short for its header") from None
    at = 10
    client_id = None
    if size > 0:
        at += size
        if at > len(frame):
            raise ProtocolError(f"the client id would end at byte {at}; the request ends at {len(frame)}")
        text = bytes(frame[10:at])
        client_id = _client_ids.get(text) or _make_client_id(text)
    elif size == 0:
        client_id = ""
    elif size != -1:
        raise ProtocolError(f"the client id has the negative length {size}")
    api = API.get(key)
    if api is not None and api.flexible_from is not None and api.flexible_from <= version <= api.max_version:
        try:
            tags = frame[at]
            at += 1
            if tags:
                at = skip_tags(frame, at, len(frame), tags)
        except IndexError:
            raise ProtocolError(f"the request ends at byte {len(frame)}, within its header") from None
    return RequestHeader(key, version, correlation_id, client_id), at


def _make_client_id(text: bytes) -> str:
    try:
        made = text.decode()
    except UnicodeDecodeError as error:
        raise ProtocolError(f"the client id is not UTF-8: {error.reason}") from None
    if len(_client_ids) >= CLIENT_IDS_KEPT_MAX:
        _client_ids.clear()
    _client_ids[text] = made
    return made


def decode_request(header: RequestHeader, frame: memoryview, at: int) -> Message:
    """The message that begins at `at`. What follows it in the frame is left unread: librdkafka 2.16 sends Metadata for all topics
    with three bytes too many, and Kafka has never looked."""
    key = (header.api_key, header.api_version)
    decode = _request_decoders.get(key)
    if decode is None:
        decode = _request_decoders[key] = _decoder(_request_class(*key), key[1])
    try:
        return decode(frame, at, len(frame), False)
    except (struct.error, IndexError):
        raise ProtocolError(f"the request ends at byte {len(frame)}, within a field") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"a string is not UTF-8: {error.reason}") from None


def encode_response(api_key: int, version: int, correlation_id: int, message: Message) -> list[Body]:
    """A whole frame, its four bytes of length first, as the buffers to be sent one after another."""
    key = (api_key, version)
    found = _response_encoders.get(key)
    if found is None:
        api = API[api_key]
        assert api.min_version <= version <= api.max_version, f"{api} has no version {version}"
        head = bytes(8 + api.response_header_version(version))
        found = _response_encoders[key] = (_encoder(api.response, version), head)
    encode, head = found
    out = bytearray(head)
    bodies: list[Body] = []
    last = encode(message, out, bodies)
    if not bodies:
        _pack_size_and_id(out, 0, len(out) - 4, correlation_id)
        return [out]
    if last:
        bodies.append(last)
    _pack_size_and_id(out, 0, sum(map(len, bodies)) - 4, correlation_id)
    return bodies


def encode_request(api_key: int, version: int, correlation_id: int, client_id: str | None, message: Message) -> list[Body]:
    """A whole request frame, its four bytes of length first, as the buffers to be sent one after another."""
    text = b"" if client_id is None else client_id.encode()
    out = bytearray(14) + text
    if API[api_key].request_header_version(version) == 2:
        out.append(0)
    bodies: list[Body] = []
    last = _encoder(_request_class(api_key, version), version)(message, out, bodies)
    if last or not bodies:
        bodies.append(last)
    size = sum(map(len, bodies)) - 4
    _pack_request_head(out, 0, size, api_key, version, correlation_id, -1 if client_id is None else len(text))
    return bodies


def decode_response(api_key: int, version: int, frame: memoryview) -> tuple[int, Message]:
    """Correlation id and message of a response frame (without its length)."""
    api = API[api_key]
    assert api.min_version <= version <= api.max_version, f"{api} has no version {version}"
    decode = _decoder(api.response, version)
    end = len(frame)
    at = 4
    try:
        (correlation_id,) = _unpack_id(frame, 0)
        if api.response_header_version(version) == 1:
            at = skip_tags(frame, 5, end, frame[4])
        return correlation_id, decode(frame, at, end, True)
    except (struct.error, IndexError):
        raise ProtocolError(f"the response ends at byte {end}, within a field") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"a string is not UTF-8: {error.reason}") from None


def decode_message(struct_class: type[M], version: int, data: bytes | bytearray | memoryview, *, whole: bool = True) -> M:
    """A struct by itself. Unless `whole`, bytes may follow it (what a newer version added, where versions are not negotiated)."""
    try:
        return cast(M, _decoder(struct_class, version)(memoryview(data), 0, len(data), whole))
    except (struct.error, IndexError):
        raise ProtocolError(f"{struct_class.__name__} ends at byte {len(data)}, within a field") from None
    except UnicodeDecodeError as error:
        raise ProtocolError(f"a string is not UTF-8: {error.reason}") from None


def encode_message(message: Message, version: int) -> bytes:
    """A struct by itself. Records in it must be bytes in memory."""
    bodies: list[Body] = []
    last = _encoder(type(message), version)(message, bytearray(), bodies)
    if not bodies:
        return bytes(last)
    return b"".join(cast(list[bytes], [*bodies, last]))


def _request_class(api_key: int, version: int) -> type[Message]:
    api = API.get(api_key)
    if api is None:
        raise UnsupportedVersion(f"api key {api_key} is not known")
    if not api.min_version <= version <= api.max_version:
        raise UnsupportedVersion(f"{api.name} version {version} is not among {api.min_version} to {api.max_version}")
    return api.request


def _decoder(struct_class: type[Message], version: int) -> Decode:
    made = _decoders.get((struct_class, version))
    if made is None:
        made = _decoders[struct_class, version] = make_decode(struct_class, version)
    return made


def _encoder(struct_class: type[Message], version: int) -> Encode:
    made = _encoders.get((struct_class, version))
    if made is None:
        made = _encoders[struct_class, version] = make_encode(struct_class, version)
    return made
