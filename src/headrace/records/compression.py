"""The four codecs of a batch, each with a hard bound on what comes out.

A batch's records are one stream: gzip members or Zstandard frames (several may follow one another, and a frame need not say its
size), one LZ4 frame of independent blocks (Java's reader knows no others and reads no second frame), or snappy, which comes bare
or in the framing of Java's snappy library ("xerial"):

    82 'SNAPPY' 00 · version (4) · compatible with (4) · blocks: size (4) · a raw snappy block, of 32 KiB when Java writes

Nothing here trusts a size that the bytes claim: the streaming decoders are asked for one byte more than the bound and no further,
and snappy, which cannot stream, says its size first, which is held against the bound and against the most that its bytes can hold.
Rubbish is a `Refused`, never an exception. The libraries release the interpreter lock: long work belongs in a thread.
"""

from __future__ import annotations

import enum
import struct
import sys
import zlib
from collections.abc import Callable
from typing import Any, Protocol, assert_never

import cramjam
import lz4.frame

from headrace.base.errors import Code, Refused
from headrace.base.files import Buffer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Codec(enum.IntEnum):
    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def _import_igzip() -> Any:
    """Intel's gzip, or None where it has no wheel: the standard library does the same, at a tenth of the speed."""
    try:
        from isal import igzip_lib
    except ImportError:
        return None
    return igzip_lib


_igzip = _import_igzip()

_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_SIZE = 32 * 1024
_INT = struct.Struct(">i")
# A snappy copy of 3 bytes makes up to 64; no raw block holds more than that ratio.
_SNAPPY_RATIO_MAX = 22
# Kafka's default "level" of LZ4 stands for the fast compressor, other levels for the high one.
_LZ4_LEVEL_FAST = 9
# Level -1 is gzip's own choice. Up to 3 Intel's gzip does the work (its default is 2); who asks for more wants size, not speed.
_GZIP_LEVEL_DEFAULT = -1
_IGZIP_LEVEL_DEFAULT = 2
_IGZIP_LEVEL_MAX = 3
_GZIP_WBITS = 31
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_LZ4_INDEPENDENT = 0x20
# Every client writes one frame. Each further frame costs a decoder and, at its end, a copy of what is left of its input.
_FRAMES_MAX = 1_000
_SLICE_SIZE = 64 * 1024
_PIECE_SIZE = 4 * 1024 * 1024


def compress(codec: int, data: Buffer, level: int | None = None) -> bytes:
    """The records section `data` as one stream of the codec. `level` means what Kafka's `compression.<codec>.level` means."""
    match Codec(codec):
        case Codec.NONE:
            return bytes(data)
        case Codec.GZIP:
            return _gzip(data, level)
        case Codec.SNAPPY:
            return _snappy(data)
        case Codec.LZ4:
            high = 0 if level is None or level == _LZ4_LEVEL_FAST else level
            # Java reads independent blocks only.
            return bytes(
                lz4.frame.compress(
                    data, compression_level=high, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=False, store_size=False
                )
            )
        case Codec.ZSTD:
            return bytes(zstd.compress(data, 3 if level is None else level))
        case unknown:
            assert_never(unknown)


def inflate(codec: int, data: Buffer, size_max: int) -> bytes | Refused:
    """What the stream holds, up to `size_max` bytes."""
    try:
        match codec:
            case Codec.NONE:
                return bytes(data) if len(data) <= size_max else _too_large(size_max)
            case Codec.GZIP:
                return _inflate_frames(_new_gzip, data, size_max)
            case Codec.SNAPPY:
                return _inflate_snappy(data, size_max)
            case Codec.LZ4:
                return _inflate_lz4(data, size_max)
            case Codec.ZSTD:
                return _inflate_frames(_new_zstd, data, size_max)
    except _BROKEN as error:
        return _rubbish(f"{Codec(codec).name.lower()}: {error}")
    return Refused(Code.UNSUPPORTED_CODEC, f"compression codec {codec} is unknown")


def _too_large(size_max: int) -> Refused:
    return Refused(Code.BATCH_TOO_LARGE, f"the records inflate to more than {size_max} bytes")


def _rubbish(why: str) -> Refused:
    return Refused(Code.INVALID_RECORD, f"the records cannot be inflated: {why}")


class _Decompressor(Protocol):
    """What the streaming decoders have in common: one frame each, output on demand."""

    eof: bool
    needs_input: bool
    unused_data: bytes | None

    def decompress(self, data: Buffer, max_length: int) -> bytes: ...


def _inflate_lz4(data: Buffer, size_max: int) -> bytes | Refused:
    head = bytes(data[:5])
    if head[:4] != _LZ4_MAGIC or len(head) < 5:
        return _rubbish("lz4: this is no frame")
    if not head[4] & _LZ4_INDEPENDENT:
        return _rubbish("lz4: blocks must not depend on one another, Java's consumers could not read them")
    return _inflate_frames(lz4.frame.LZ4FrameDecompressor, data, size_max, frames_max=1)


def _inflate_frames(
    new: Callable[[], _Decompressor], data: Buffer, size_max: int, frames_max: int = _FRAMES_MAX
) -> bytes | Refused:
    """Frames one after another. Nearly always it is one small one, and then all of this is a single call."""
    stream = new()
    inflated = stream.decompress(data, min(size_max + 1, _PIECE_SIZE))
    if stream.eof and not stream.unused_data:
        return inflated if len(inflated) <= size_max else _too_large(size_max)
    return _inflate_more(new, stream, memoryview(data), inflated, size_max, frames_max)


def _inflate_more(
    new: Callable[[], _Decompressor], stream: _Decompressor, data: memoryview, first: bytes, size_max: int, frames_max: int
) -> bytes | Refused:
    """What one call did not finish. Later frames get their input by slices, as each frame's end copies what is left of its input;
    output comes by pieces, as a decoder needs twice the room of what it is asked for."""
    parts = [first]
    room = size_max + 1 - len(first)
    frames = 1
    at = len(data) - len(stream.unused_data or b"") if stream.eof else len(data)
    while room > 0:
        if stream.eof:
            if at == len(data):
                return b"".join(parts)
            if frames == frames_max:
                return _rubbish(f"{len(data) - at} bytes follow frame {frames}, the last allowed in a batch")
            frames += 1
            stream = new()
        part: Buffer = b""
        if stream.needs_input:
            part = data[at : at + _SLICE_SIZE]
            if not len(part):
                return _rubbish(f"the stream ends in the middle, after {len(data)} bytes")
        inflated = stream.decompress(part, min(room, _PIECE_SIZE))
        if not (inflated or len(part) or stream.eof):
            return _rubbish("the decoder stands still")
        at += len(part)
        if stream.eof:
            at -= len(stream.unused_data or b"")
        parts.append(inflated)
        room -= len(inflated)
    return _too_large(size_max)


def _gzip(data: Buffer, level: int | None) -> bytes:
    level = _GZIP_LEVEL_DEFAULT if level is None else level
    if _igzip is not None and level <= _IGZIP_LEVEL_MAX:
        quick = _IGZIP_LEVEL_DEFAULT if level == _GZIP_LEVEL_DEFAULT else level
        return bytes(_igzip.compress(data, quick, _igzip.COMP_GZIP))
    squeezer = zlib.compressobj(level, zlib.DEFLATED, _GZIP_WBITS)
    return squeezer.compress(data) + squeezer.flush()


class _ZlibDecompressor:
    """The standard library's gzip with the manners of the others."""

    __slots__ = ("_stream", "eof", "needs_input", "unused_data")

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP_WBITS)
        self.eof = False
        self.needs_input = True
        self.unused_data: bytes | None = b""

    def decompress(self, data: Buffer, max_length: int) -> bytes:
        left = self._stream.unconsumed_tail
        inflated = self._stream.decompress(left + bytes(data) if left else data, max_length)
        self.eof = self._stream.eof
        self.unused_data = self._stream.unused_data
        self.needs_input = not self._stream.unconsumed_tail
        return inflated


def _new_gzip() -> Any:
    return _ZlibDecompressor() if _igzip is None else _igzip.IgzipDecompressor(flag=_igzip.DECOMP_GZIP)


def _new_zstd() -> Any:
    return zstd.ZstdDecompressor()


def _snappy(data: Buffer) -> bytes:
    view = memoryview(data)
    out = [_XERIAL_HEADER]
    for at in range(0, len(view), _XERIAL_BLOCK_SIZE):
        block = bytes(cramjam.snappy.compress_raw(view[at : at + _XERIAL_BLOCK_SIZE]))
        out += (_INT.pack(len(block)), block)
    return b"".join(out)


def _inflate_snappy(data: Buffer, size_max: int) -> bytes | Refused:
    view = memoryview(data)
    if view[: len(_XERIAL_MAGIC)] != _XERIAL_MAGIC:
        return _inflate_snappy_block(view, size_max)
    if view[: len(_XERIAL_HEADER)] != _XERIAL_HEADER:
        return _rubbish("snappy: the framing's header is cut, or not of version 1")
    parts = []
    room = size_max
    at = len(_XERIAL_HEADER)
    while at < len(view):
        if len(view) - at < _INT.size:
            return _rubbish("snappy: a block's size is cut")
        (size,) = _INT.unpack_from(view, at)
        at += _INT.size
        if not 0 < size <= len(view) - at:
            return _rubbish(f"snappy: a block of {size} bytes where {len(view) - at} are left")
        inflated = _inflate_snappy_block(view[at : at + size], room)
        if isinstance(inflated, Refused):
            return inflated if inflated.code is not Code.BATCH_TOO_LARGE else _too_large(size_max)
        parts.append(inflated)
        room -= len(inflated)
        at += size
    return b"".join(parts)


def _inflate_snappy_block(block: memoryview, size_max: int) -> bytes | Refused:
    if not len(block):
        return _rubbish("snappy: an empty block")
    claimed = cramjam.snappy.decompress_raw_len(block)
    if claimed > len(block) * _SNAPPY_RATIO_MAX:
        return _rubbish(f"snappy: {len(block)} bytes claim to hold {claimed}")
    if claimed > size_max:
        return _too_large(size_max)
    return bytes(cramjam.snappy.decompress_raw(block))


_BROKEN: tuple[type[Exception], ...] = (zlib.error, RuntimeError, EOFError, zstd.ZstdError, cramjam.DecompressionError)
if _igzip is not None:
    _BROKEN = (*_BROKEN, _igzip.IsalError)
