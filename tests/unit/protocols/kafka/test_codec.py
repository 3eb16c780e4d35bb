"""The codec as its callers see it: frames in, frames out, and what hostile bytes get."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
import tracemalloc
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.base.errors import ProtocolError
from headrace.base.files import FileSlice, FileSlices
from headrace.base.ids import NO_TOPIC_ID
from headrace.base.limits import ARRAY_LENGTH_MAX, REQUEST_ARRAY_LENGTH_MAX, TAGGED_FIELDS_MAX
from headrace.protocols.kafka.codec import (
    RequestHeader,
    UnsupportedVersion,
    decode_header,
    decode_message,
    decode_request,
    decode_response,
    encode_message,
    encode_request,
    encode_response,
)
from headrace.protocols.kafka.codec_maker import is_flexible
from headrace.protocols.kafka.messages import API, Message
from headrace.protocols.kafka.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from headrace.protocols.kafka.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from headrace.protocols.kafka.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
    ReplicaState,
)
from headrace.protocols.kafka.messages.heartbeat import HeartbeatRequest
from headrace.protocols.kafka.messages.metadata import MetadataRequest, MetadataRequestTopic
from headrace.protocols.kafka.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.unit.protocols.kafka.samples import all_messages, sample, with_unknown_tags

EVERY_API = pytest.mark.parametrize("api_key", sorted(API), ids=lambda key: API[key].name)


def joined(buffers: Any) -> memoryview:
    """The frame without its length, which must be right."""
    data = b"".join(buffers)
    assert struct.unpack_from(">i", data) == (len(data) - 4,)
    return memoryview(data)[4:]


def requests(api_key: int) -> list[tuple[int, Message, memoryview]]:
    """One request a version: version, message, frame."""
    api = API[api_key]
    found = []
    for version in range(api.min_version, api.max_version + 1):
        message = sample(api.request, version, random.Random(f"{api_key} {version}"))
        found.append((version, message, joined(encode_request(api_key, version, 77, "a client", message))))
    return found


# --- round trips


@EVERY_API
def test_request_round_trip(api_key: int) -> None:
    for version, message, frame in requests(api_key):
        header, at = decode_header(frame)
        assert (header.api_key, header.api_version) == (api_key, version)
        assert (header.correlation_id, header.client_id) == (77, "a client")
        assert decode_request(header, frame, at) == message


@EVERY_API
def test_response_round_trip(api_key: int) -> None:
    api = API[api_key]
    for version in range(api.min_version, api.max_version + 1):
        for seed in range(3):
            message = sample(api.response, version, random.Random(f"{api_key} {version} {seed}"))
            frame = joined(encode_response(api_key, version, -5, message))
            assert decode_response(api_key, version, frame) == (-5, message)


@EVERY_API
def test_defaults_round_trip(api_key: int) -> None:
    """A message that nobody filled in can be written in every version, and comes back the same."""
    api = API[api_key]
    for version in range(api.min_version, api.max_version + 1):
        for message_class in (api.request, api.response):
            assert decode_message(message_class, version, encode_message(message_class(), version)) == message_class()


def test_unknown_tagged_fields_are_skipped() -> None:
    skipped = 0
    for _, version, message_class in all_messages():
        if is_flexible(message_class, version):
            data = encode_message(message_class(), version)
            if data[-1] == 0:
                assert decode_message(message_class, version, with_unknown_tags(data, message_class, version)) == message_class()
                skipped += 1
    assert skipped > 250


def test_struct_of_defaults_in_a_tagged_field_is_not_written() -> None:
    """As Kafka does it: equal to the default is absent."""
    absent, default = FetchRequest(), FetchRequest(replica_state=ReplicaState())
    assert encode_message(absent, 15) == encode_message(default, 15)
    assert encode_message(FetchRequest(replica_state=ReplicaState(replica_id=3)), 15) != encode_message(absent, 15)


# --- the header


def test_header_of_what_we_do_not_know() -> None:
    """Key, version, correlation id and client id stand at the same place in every version of the header."""
    for key, version in ((999, 0), (18, 99), (-1, -1)):
        frame = memoryview(struct.pack(">hhih", key, version, 5, 3) + b"abc" + b"rest")
        header, at = decode_header(frame)
        assert (header.api_key, header.api_version, header.correlation_id, header.client_id, at) == (key, version, 5, "abc", 13)
        with pytest.raises(UnsupportedVersion):
            decode_request(header, frame, at)


def test_header_client_id() -> None:
    def client_id(size: int, text: bytes) -> str | None:
        return decode_header(memoryview(struct.pack(">hhih", 3, 1, 5, size) + text))[0].client_id

    assert client_id(-1, b"") is None
    assert client_id(0, b"") == ""
    assert client_id(4, "żó".encode()) == "żó"
    for size, text in ((5, b"abc"), (-2, b""), (2, b"\xc3\x28")):
        with pytest.raises(ProtocolError):
            client_id(size, text)


def test_header_cut_short() -> None:
    frame = joined(encode_request(3, 9, 1, "abc", MetadataRequest()))
    for size in range(14):
        with pytest.raises(ProtocolError):
            decode_header(frame[:size])


def test_client_ids_are_kept_within_a_bound() -> None:
    from headrace.protocols.kafka import codec

    for number in range(codec.CLIENT_IDS_KEPT_MAX * 2 + 5):
        text = f"client {number}".encode()
        decode_header(memoryview(struct.pack(">hhih", 3, 1, 5, len(text)) + text))
    assert len(codec._client_ids) <= codec.CLIENT_IDS_KEPT_MAX


def test_api_versions_response_has_no_tags_in_its_header() -> None:
    """KIP-511: the asking client cannot know yet that headers may be flexible."""
    data = b"".join(encode_response(18, 3, 9, ApiVersionsResponse()))  # type: ignore[arg-type]
    assert data == struct.pack(">iihBiB", 12, 9, 0, 1, 0, 0)
    assert b"".join(encode_response(12, 4, 9, API[12].response()))[4:9] == struct.pack(">iB", 9, 0)  # type: ignore[arg-type]


def test_produce_is_advertised_from_0_and_served_from_3() -> None:
    api = API[0]
    assert (api.advertised_min, api.min_version) == (0, 3)
    header = RequestHeader(0, 2, 1, None)
    with pytest.raises(UnsupportedVersion, match="Produce version 2 is not among 3 to 13"):
        decode_request(header, memoryview(bytes(40)), 0)


# --- records are handed through


class Untouchable:
    """A body that may be measured and nothing else."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __len__(self) -> int:
        return self.size


def test_bodies_pass_through_untouched() -> None:
    bodies: list[Any] = [Untouchable(5), FileSlice(None, 0, 1000), FileSlices([FileSlice(None, 7, 70)])]  # type: ignore[arg-type]
    partitions = [PartitionData(number, records=body) for number, body in enumerate(bodies)]
    response = FetchResponse(responses=[FetchableTopicResponse(topic_id=UUID(int=7), partitions=partitions)])
    for version in (4, 12, 18):
        buffers = encode_response(1, version, 3, response)
        assert [part for part in buffers if not isinstance(part, bytearray)] == bodies
        assert all(map(len, buffers))
        size = struct.unpack_from(">i", buffers[0])[0]  # type: ignore[arg-type]
        assert size == sum(map(len, buffers)) - 4
        flat = b"".join(part if isinstance(part, bytearray) else bytes(len(part)) for part in buffers)
        _, decoded = decode_response(1, version, memoryview(flat)[4:])
        assert isinstance(decoded, FetchResponse)
        assert [len(p.records or b"") for p in decoded.responses[0].partitions] == [5, 1000, 70]


def test_no_buffer_for_an_empty_body() -> None:
    partitions = [PartitionData(0, records=b""), PartitionData(1, records=None)]
    buffers = encode_response(1, 18, 3, FetchResponse(responses=[FetchableTopicResponse(partitions=partitions)]))
    assert len(buffers) == 1


def test_records_are_a_view_into_the_frame() -> None:
    body = b"0123456789"
    topics = [TopicProduceData("t", NO_TOPIC_ID, [PartitionProduceData(0, memoryview(body))])]
    for version in (3, 9, 12):
        frame = memoryview(bytearray(joined(encode_request(0, version, 1, None, ProduceRequest(None, 1, 1, topics)))))
        header, at = decode_header(frame)
        request = decode_request(header, frame, at)
        assert isinstance(request, ProduceRequest)
        records = request.topic_data[0].partition_data[0].records
        assert records is not None and records.obj is frame.obj and records == body and not records.readonly


# --- our own bugs


def test_a_value_that_would_be_lost_is_our_bug() -> None:
    with pytest.raises(AssertionError, match=r"HeartbeatRequest\.group_instance_id in version 2"):
        encode_message(HeartbeatRequest(group_instance_id="me"), 2)
    assert encode_message(FetchResponse(error_code=9), 4) == encode_message(FetchResponse(), 4)  # ignorable


def test_an_answer_in_a_version_that_does_not_exist_is_our_bug() -> None:
    with pytest.raises(AssertionError):
        encode_response(12, 5, 1, API[12].response())
    with pytest.raises(AssertionError):
        encode_message(ApiVersionsRequest("x" * 40_000, "1"), 3)


# --- hostile bytes


@EVERY_API
def test_every_request_cut_at_every_byte(api_key: int) -> None:
    for _, _, frame in requests(api_key):
        for size in range(len(frame)):
            cut = frame[:size]
            with pytest.raises(ProtocolError):
                decode_request(*_header_of(cut))


@EVERY_API
def test_every_response_cut_at_every_byte(api_key: int) -> None:
    """What our own client gets from a broken peer."""
    api = API[api_key]
    for version in range(api.min_version, api.max_version + 1):
        frame = joined(encode_response(api_key, version, 1, sample(api.response, version, random.Random(version))))
        for size in range(len(frame)):
            with pytest.raises(ProtocolError):
                decode_response(api_key, version, frame[:size])


@EVERY_API
def test_every_request_with_a_byte_too_many(api_key: int) -> None:
    """librdkafka 2.16 asks for all topics (Metadata 13) with three bytes too many: no reason to hang up."""
    for _, _, frame in requests(api_key):
        assert decode_request(*_header_of(memoryview(bytes(frame) + b"\0"))) == decode_request(
            *_header_of(memoryview(bytes(frame)))
        )


def _header_of(frame: memoryview) -> tuple[RequestHeader, memoryview, int]:
    header, at = decode_header(frame)
    return header, frame, at


VERSIONS = [(api.key, version) for api in API.values() for version in range(api.min_version, api.max_version + 1)]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(VERSIONS), st.binary(max_size=200))
def test_any_bytes_give_a_message_or_a_protocol_error(api: tuple[int, int], data: bytes) -> None:
    try:
        message = decode_request(RequestHeader(*api, 1, None), memoryview(data), 0)
    except ProtocolError:
        return
    # What was understood can be said again (maybe in other words: unknown tagged fields and long varints are gone).
    again = encode_message(message, api[1])
    assert decode_message(type(message), api[1], again) == message


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(VERSIONS), st.integers(0, 2**32), st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), max_size=4)
)
def test_a_broken_message_gives_a_message_or_a_protocol_error(
    api: tuple[int, int], seed: int, wounds: list[tuple[int, int]]
) -> None:
    message_class = API[api[0]].request
    data = bytearray(encode_message(sample(message_class, api[1], random.Random(seed)), api[1]))
    for place, byte in wounds:
        if data:
            data[place % len(data)] = byte
    try:
        message = decode_message(message_class, api[1], data)
    except ProtocolError:
        return
    assert decode_message(message_class, api[1], encode_message(message, api[1])) == message


def refused(message_class: type[Message], version: int, data: bytes, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        decode_message(message_class, version, data)


def test_arrays_that_lie() -> None:
    for count in (2**31 - 1, ARRAY_LENGTH_MAX + 1, 4):
        refused(MetadataRequest, 1, struct.pack(">i", count) + b"\0\1a" * 2, "topics")
    refused(MetadataRequest, 1, struct.pack(">i", -2), "negative length -2")
    refused(MetadataRequest, 0, struct.pack(">i", -1), "topics is null")
    refused(MetadataRequest, 9, b"\xff\xff\xff\xff\x0f" + bytes(20), "topics has 4294967294 items")
    refused(MetadataRequest, 9, b"\x16" + bytes(20), "topics claims 21 items")


def test_a_lying_array_costs_no_memory() -> None:
    """A count that the bytes left could hold is believed as far as they go, and no further."""
    frames = [struct.pack(">i", 2**31 - 1) + bytes(1000), struct.pack(">i", 500) + bytes(998) + b"\xff\xff"]
    for data in frames:
        refused(MetadataRequest, 1, data, "topics|name")  # the codec is made
    tracemalloc.start()
    for data in frames * 50:
        refused(MetadataRequest, 1, data, "topics|name")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200_000


def test_the_arrays_of_one_message_have_one_budget() -> None:
    """An array of arrays cannot multiply the limit."""
    inner = struct.pack(">hi", 0, 0)  # a topic without name or partitions
    data = struct.pack(">hhii", -1, 1, 0, REQUEST_ARRAY_LENGTH_MAX + 1) + inner * (REQUEST_ARRAY_LENGTH_MAX + 1)
    refused(ProduceRequest, 3, data, "exceed the limit by")


def test_strings_that_lie() -> None:
    refused(HeartbeatRequest, 0, struct.pack(">h", -1) + bytes(10), "group_id is null")
    refused(HeartbeatRequest, 0, struct.pack(">h", -7) + bytes(10), "negative length -7")
    refused(HeartbeatRequest, 0, struct.pack(">h", 11) + bytes(10), "group_id would end at byte 13")
    refused(HeartbeatRequest, 4, b"\0" + bytes(10), "group_id is null")
    refused(HeartbeatRequest, 4, b"\x20" + bytes(10), "group_id would end")
    refused(HeartbeatRequest, 4, b"\x81\x80\x02" + bytes(40_000), "a string of 32768 bytes; the limit is 32767")
    refused(HeartbeatRequest, 4, b"\x80\x80\x80\x80\x80\x01" + bytes(10), "longer than 5 bytes")
    refused(HeartbeatRequest, 4, b"\xff\xff\xff\xff\x1f" + bytes(10), "32 bits")
    refused(HeartbeatRequest, 0, struct.pack(">h2s", 2, b"\xc3\x28") + bytes(10), "UTF-8")


def test_a_string_as_long_as_allowed() -> None:
    for version in (0, 4):
        message = HeartbeatRequest("g" * 32767, 1, "m")
        assert decode_message(HeartbeatRequest, version, encode_message(message, version)) == message


def test_records_that_lie() -> None:
    head = struct.pack(">hhiihi", -1, 1, 0, 1, 0, 1) + struct.pack(">i", 0)
    refused(ProduceRequest, 3, head + struct.pack(">i", 2**31 - 1), "records would end")
    refused(ProduceRequest, 3, head + struct.pack(">i", -2), "negative length -2")
    assert decode_message(ProduceRequest, 3, head + struct.pack(">i", -1)).topic_data[0].partition_data[0].records is None


def test_tagged_fields_that_lie() -> None:
    whole = encode_message(FetchRequest(cluster_id="c"), 12)
    tags = b"\x01\x00\x02\x02c"
    assert whole.endswith(tags)
    head = whole[: -len(tags)]
    assert decode_message(FetchRequest, 12, head + tags).cluster_id == "c"
    refused(FetchRequest, 12, head + b"\x01\x00\x03\x02c\x00", "ends at byte")  # larger than its value
    refused(FetchRequest, 12, head + b"\x01\x00\x01\x02c", "ends at byte")  # smaller than its value
    refused(FetchRequest, 12, head + b"\x01\x00\x7f\x02c", "claims 127 bytes where 2 are left")
    refused(FetchRequest, 12, head + b"\x02\x00\x02\x02c\x00\x02\x02d", "tags rise")  # twice
    refused(FetchRequest, 12, head + b"\x02\x05\x00\x04\x00", "tags rise")
    refused(FetchRequest, 12, head + b"\x02\x00\x02\x02c", "within a field")
    refused(FetchRequest, 12, head + b"\xff\x7f", f"the limit is {TAGGED_FIELDS_MAX}")
    refused(FetchRequest, 12, head + b"\x80\x80\x80\x80\x80\x01", "longer than 5 bytes")


def test_a_nullable_struct_with_a_strange_marker() -> None:
    cursor = API[75].request()
    data = encode_message(cursor, 0)
    assert data.endswith(b"\xff\0")
    refused(API[75].request, 0, data[:-2] + b"\x02\0", "marked by 2")


# --- bytes inside of messages


def test_what_a_newer_version_added_may_be_left_unread() -> None:
    """The consumers' own metadata is not negotiated: a reader takes what it knows."""
    data = encode_message(ConsumerProtocolSubscription(topics=["a"], generation_id=4), 3)
    assert decode_message(ConsumerProtocolSubscription, 1, data, whole=False).topics == ["a"]
    with pytest.raises(ProtocolError, match="follow the end"):
        decode_message(ConsumerProtocolSubscription, 1, data)


# --- what it costs


def test_importing_one_api_imports_no_other() -> None:
    code = (
        "import sys, headrace.protocols.kafka.messages.produce\n"
        "print(*sorted(name.rpartition('.')[2] for name in sys.modules if name.startswith('headrace.protocols.kafka.messages.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["exceptions", "message", "produce", "table"]


# --- messages as values


def test_messages_compare_by_value() -> None:
    one, other = MetadataRequest(topics=[MetadataRequestTopic(name="a")]), MetadataRequest(topics=(MetadataRequestTopic(name="a"),))
    assert one == other
    other.topics[0].name = "b"  # type: ignore[index]
    assert one != other
    assert LeaderIdAndEpoch() != ReplicaState()
    assert one != "a"


def test_messages_show_their_fields_and_hide_long_bytes() -> None:
    assert repr(LeaderIdAndEpoch(1, 2)) == "LeaderIdAndEpoch(leader_id=1, leader_epoch=2)"
    assert repr(PartitionProduceData(1, memoryview(bytes(100)))) == "PartitionProduceData(index=1, records=<100 bytes>)"
    assert repr(PartitionProduceData(1, memoryview(b"ab"))) == "PartitionProduceData(index=1, records=b'ab')"
