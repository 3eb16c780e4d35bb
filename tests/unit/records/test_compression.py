from __future__ import annotations

import gzip
import struct
import tracemalloc
import zlib
from typing import Any

import aiokafka.codec
import cramjam
import kafka.codec
import lz4.frame
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.base.errors import Code, Refused
from headrace.records import compression
from headrace.records.compression import Codec, compress, inflate, zstd

MIB = 1024 * 1024
TEXT = b"".join(b"a line of text, number %d\n" % i for i in range(10_000))
PACKED = (Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD)


@pytest.fixture(params=["igzip", "zlib"])
def either_gzip(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both gzips must do: Intel's has no wheel everywhere."""
    if request.param == "zlib":
        monkeypatch.setattr(compression, "_igzip", None)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many turns of the loop with little data."""
    monkeypatch.setattr(compression, "_PIECE_SIZE", 1_000)
    monkeypatch.setattr(compression, "_SLICE_SIZE", 70)


def refused(outcome: bytes | Refused) -> Code:
    assert isinstance(outcome, Refused), outcome[:50]
    assert outcome.why
    return outcome.code


@pytest.mark.parametrize("codec", Codec)
@pytest.mark.parametrize("data", [b"", b"x", TEXT, bytes(100_000)])
def test_round_trip_to_the_byte(codec: Codec, data: bytes, either_gzip: None) -> None:
    packed = compress(codec, memoryview(data))
    assert inflate(codec, memoryview(packed), len(data)) == data
    if data:
        assert refused(inflate(codec, packed, len(data) - 1)) is Code.BATCH_TOO_LARGE


@pytest.mark.parametrize("codec", Codec)
def test_round_trip_by_small_pieces(codec: Codec, either_gzip: None, small_pieces: None) -> None:
    for size in (999, 1_000, 1_001, 2_000, 54_321):
        packed = compress(codec, TEXT[:size])
        assert inflate(codec, packed, size) == TEXT[:size]
        assert refused(inflate(codec, packed, size - 1)) is Code.BATCH_TOO_LARGE


@pytest.mark.parametrize("level", [None, -1, 1, 2, 3, 4, 6, 9])
def test_gzip_levels(level: int | None, either_gzip: None) -> None:
    assert gzip.decompress(compress(Codec.GZIP, TEXT, level)) == TEXT


@pytest.mark.parametrize("level", [None, 1, 3, 9, 12, 17])
def test_lz4_levels(level: int | None) -> None:
    assert lz4.frame.decompress(compress(Codec.LZ4, TEXT, level)) == TEXT


@pytest.mark.parametrize("level", [None, -7, 1, 3, 22])
def test_zstd_levels(level: int | None) -> None:
    assert zstd.decompress(compress(Codec.ZSTD, TEXT, level)) == TEXT


def test_a_higher_level_makes_less() -> None:
    for codec, low, high in ((Codec.GZIP, 1, 9), (Codec.LZ4, 9, 12), (Codec.ZSTD, -7, 3)):
        assert len(compress(codec, TEXT, high)) < len(compress(codec, TEXT, low))


ENCODERS: list[tuple[Codec, Any]] = [
    (Codec.GZIP, kafka.codec.gzip_encode),
    (Codec.LZ4, kafka.codec.lz4_encode),
    (Codec.GZIP, aiokafka.codec.gzip_encode),
    (Codec.SNAPPY, aiokafka.codec.snappy_encode),
    (Codec.LZ4, aiokafka.codec.lz4_encode),
    (Codec.ZSTD, aiokafka.codec.zstd_encode),
]
DECODERS: list[tuple[Codec, Any]] = [
    (Codec.GZIP, kafka.codec.gzip_decode),
    (Codec.LZ4, kafka.codec.lz4_decode),
    (Codec.GZIP, aiokafka.codec.gzip_decode),
    (Codec.SNAPPY, aiokafka.codec.snappy_decode),
    (Codec.LZ4, aiokafka.codec.lz4_decode),
    (Codec.ZSTD, aiokafka.codec.zstd_decode),
]


@pytest.mark.parametrize(("codec", "encode"), ENCODERS)
def test_what_clients_write(codec: Codec, encode: Any) -> None:
    assert inflate(codec, bytes(encode(TEXT)), len(TEXT)) == TEXT


@pytest.mark.parametrize(("codec", "decode"), DECODERS)
def test_clients_read_what_we_write(codec: Codec, decode: Any) -> None:
    assert bytes(decode(compress(codec, TEXT))) == TEXT


# Magic, version 1, compatible with 1: as `test_golden.py` has it from Java.
XERIAL = bytes.fromhex("82534e41505059000000000100000001")


def java_snappy(*blocks: bytes) -> bytes:
    packed = [bytes(cramjam.snappy.compress_raw(block)) for block in blocks]
    return XERIAL + b"".join(struct.pack(">i", len(block)) + block for block in packed)


def test_our_snappy_has_javas_framing() -> None:
    assert compress(Codec.SNAPPY, b"a" * 40_000) == java_snappy(b"a" * 32_768, b"a" * 7_232)


def test_snappy_as_others_write_it() -> None:
    assert inflate(Codec.SNAPPY, bytes(cramjam.snappy.compress_raw(TEXT)), MIB) == TEXT  # librdkafka: bare
    assert inflate(Codec.SNAPPY, java_snappy(TEXT), MIB) == TEXT  # one large block
    assert inflate(Codec.SNAPPY, XERIAL, MIB) == b""


def test_snappy_that_only_java_would_read_is_refused() -> None:
    """Java takes a second header between blocks, and any version: other clients do not."""
    assert refused(inflate(Codec.SNAPPY, java_snappy(TEXT) + java_snappy(b"more"), MIB)) is Code.INVALID_RECORD
    assert refused(inflate(Codec.SNAPPY, java_snappy(TEXT).replace(XERIAL, XERIAL[:-1] + b"\2"), MIB)) is Code.INVALID_RECORD


def test_several_frames_in_one_stream(either_gzip: None, small_pieces: None) -> None:
    one, two = TEXT[:3_000], TEXT[3_000:5_000]
    for codec in (Codec.GZIP, Codec.ZSTD):
        packed = compress(codec, one) + compress(codec, b"") + compress(codec, two)
        assert inflate(codec, packed, 5_000) == one + two
        assert refused(inflate(codec, packed, 4_999)) is Code.BATCH_TOO_LARGE
        assert refused(inflate(codec, packed[:-1], 5_000)) is Code.INVALID_RECORD
        assert refused(inflate(codec, packed + b"rubbish", 5_000)) is Code.INVALID_RECORD
    # Java's reader stops after the first LZ4 frame: Kafka refuses the batch, as records are missing.
    assert refused(inflate(Codec.LZ4, compress(Codec.LZ4, one) + compress(Codec.LZ4, two), MIB)) is Code.INVALID_RECORD


def test_zstd_frames_without_their_size() -> None:
    stream = zstd.ZstdCompressor()
    packed = stream.compress(TEXT) + stream.flush()
    assert zstd.get_frame_info(packed).decompressed_size is None
    assert inflate(Codec.ZSTD, packed, MIB) == TEXT


def test_lz4_blocks_that_depend_on_one_another_are_refused() -> None:
    """Kafka refuses them too: its consumers could not read them."""
    linked = lz4.frame.compress(TEXT, block_linked=True)
    assert refused(inflate(Codec.LZ4, linked, MIB)) is Code.INVALID_RECORD
    for options in ({"content_checksum": True}, {"block_checksum": True}, {"store_size": True}, {"block_size": 7}):
        alone = lz4.frame.compress(TEXT, block_linked=False, **options)
        assert inflate(Codec.LZ4, alone, MIB) == TEXT


def test_unknown_codecs() -> None:
    for codec in (5, 6, 7):
        assert refused(inflate(codec, b"", MIB)) is Code.UNSUPPORTED_CODEC


@pytest.mark.parametrize("codec", PACKED)
def test_every_cut_and_every_wrong_byte(codec: Codec, either_gzip: None) -> None:
    packed = compress(codec, TEXT[:300])
    for end in range(len(packed)):
        outcome = inflate(codec, packed[:end], MIB)
        if not (codec is Codec.SNAPPY and end == len(XERIAL)):  # a snappy stream may hold no block
            assert refused(outcome) is Code.INVALID_RECORD, end
        for wrong in (0x00, 0x7F, 0x80, 0xFF):
            inflate(codec, packed[:end] + bytes([wrong]) + packed[end + 1 :], MIB)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(PACKED),
    st.binary(max_size=200),
    st.sampled_from([b"", XERIAL, b"\x04\x22\x4d\x18\x60\x40", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd"]),
)
def test_rubbish_is_a_refusal(codec: Codec, data: bytes, front: bytes) -> None:
    outcome = inflate(codec, front + data, 1_000)
    assert isinstance(outcome, Refused) or len(outcome) <= 1_000


def zeros_by(codec: str, mib: int) -> bytes:
    """A stream that says it holds so many MiB of zeros, made without holding them."""
    zeros = bytes(MIB)
    match codec:
        case "gzip":
            squeezer = zlib.compressobj(9, zlib.DEFLATED, 31)
            return b"".join(squeezer.compress(zeros) for _ in range(mib)) + squeezer.flush()
        case "lz4":
            frame = lz4.frame.LZ4FrameCompressor(block_linked=False)
            return frame.begin() + b"".join(frame.compress(zeros) for _ in range(mib)) + frame.flush()
        case "zstd":
            stream = zstd.ZstdCompressor()
            return b"".join(stream.compress(zeros) for _ in range(mib)) + stream.flush()
        case "snappy blocks":
            block = bytes(cramjam.snappy.compress_raw(bytes(32 * 1024)))
            return XERIAL + (struct.pack(">i", len(block)) + block) * (32 * mib)
        case "snappy":
            return bytes(cramjam.snappy.compress_raw(bytes(mib * MIB)))
        case _:
            raise AssertionError(codec)


CODEC_OF = {"gzip": Codec.GZIP, "lz4": Codec.LZ4, "zstd": Codec.ZSTD, "snappy blocks": Codec.SNAPPY, "snappy": Codec.SNAPPY}


@pytest.mark.parametrize("kind", CODEC_OF)
def test_a_bomb_costs_no_more_than_the_bound(kind: str) -> None:
    bomb = zeros_by(kind, 64)
    tracemalloc.start()
    try:
        assert refused(inflate(CODEC_OF[kind], bomb, 6 * MIB)) is Code.BATCH_TOO_LARGE
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * MIB, peak


def test_a_claim_costs_nothing() -> None:
    """A snappy block of a few bytes that claims a gigabyte: the claim alone must not make room."""
    claim = b"\x80\x80\x80\x80\x04" + b"\x00a" * 3
    for data in (claim, XERIAL + struct.pack(">i", len(claim)) + claim):
        tracemalloc.start()
        try:
            outcome = inflate(Codec.SNAPPY, data, 2**31)
            assert isinstance(outcome, Refused)
            assert "claim to hold 1073741824" in outcome.why  # the library, which would make the room, was not asked
            assert tracemalloc.get_traced_memory()[1] < MIB
        finally:
            tracemalloc.stop()
    huge_block = XERIAL + struct.pack(">i", 2**31 - 1) + b"abc"
    assert refused(inflate(Codec.SNAPPY, huge_block, MIB)) is Code.INVALID_RECORD
    assert refused(inflate(Codec.SNAPPY, XERIAL + struct.pack(">i", -1), MIB)) is Code.INVALID_RECORD


def test_a_decoder_that_stands_still_is_left() -> None:
    class Stuck:
        eof = False
        needs_input = False
        unused_data = b""

        def decompress(self, data: object, max_length: int) -> bytes:
            return b""

    assert refused(compression._inflate_frames(Stuck, b"data", MIB)) is Code.INVALID_RECORD


def test_a_crowd_of_empty_frames_is_cut_off() -> None:
    for codec in (Codec.GZIP, Codec.ZSTD):
        crowd = compress(codec, b"") * 20_000
        assert refused(inflate(codec, crowd, MIB)) is Code.INVALID_RECORD
