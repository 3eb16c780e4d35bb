"""The shape of what the maker makes; what it does is held by test_codec.py and test_oracles.py."""

from __future__ import annotations

from headrace.protocols.kafka.codec_maker import _DecodeMaker, _EncodeMaker, is_flexible
from headrace.protocols.kafka.messages import API
from headrace.protocols.kafka.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from headrace.protocols.kafka.messages.heartbeat import HeartbeatRequest
from headrace.protocols.kafka.messages.produce import ProduceResponse


def test_flexible_from() -> None:
    assert [is_flexible(HeartbeatRequest, version) for version in (3, 4)] == [False, True]
    assert not is_flexible(ConsumerProtocolSubscription, 3)


def test_neighbours_are_read_and_written_at_once() -> None:
    """Index, error code, offset, two times and the number of errors of Produce 8 are one call each way."""
    reader, writer = _DecodeMaker(ProduceResponse, 8), _EncodeMaker(ProduceResponse, 8)
    reader.function(ProduceResponse)
    writer.function(ProduceResponse)
    assert sum("unpack_ihqqqi(d, at)" in line for line in reader.lines) == 1
    assert sum("pack_ihqqqi(" in line for line in writer.lines) == 1


def test_formats_of_one_size_do_not_share_a_name() -> None:
    maker = _DecodeMaker(HeartbeatRequest, 0)
    names = {maker.struct_name("unpack", form) for form in ("?", "B", "b", "16s", "h", "H")}
    assert len(names) == 6


def test_no_codec_nests_beyond_what_python_can_compile() -> None:
    for api in API.values():
        for struct in (api.request, api.response):
            for maker in (_DecodeMaker(struct, api.max_version), _EncodeMaker(struct, api.max_version)):
                maker.function(struct)
                deepest = max(len(line) - len(line.lstrip()) for line in maker.lines) // 4
                assert deepest <= 20
