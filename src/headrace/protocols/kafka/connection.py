"""One Kafka connection, without IO: bytes in, requests out; answers in, buffers out.

A frame is four bytes of length and that many bytes. Three laws shape this room:

- **No copy on the way in.** Bytes arrive in a scratch buffer that all connections of a node share (a receive and
  its handling are one turn of the loop), and whole frames are served straight from it: the produced batch goes from
  the scratch buffer to the page cache. Only a frame that is not whole yet gets a buffer of its own, and from then
  on the rest of it is received in place. So an idle connection owns no buffer.
- **Answers leave in the order of the requests.** Each request has a slot; `take_buffers` hands out the answers from
  the front of the queue as far as they are there. Several requests may wait (for a flush, for data) at once.
- **What is claimed is not believed.** A frame's buffer starts small and doubles as bytes really arrive, so a length
  of 100 MiB without a body costs its sender nothing and us no more than 16 KiB. Only a spare buffer that is there
  already is taken whole. (A new one would be: Python writes zeros to all of it.)

What a connection costs is counted in three sums: the arriving frame, requests that are not answered, and answers that
wait behind an earlier one. The edge reports them to the node's budget and stops reading when they are too large.

A frame buffer goes back to the node's spare buffers when its request has been served. A view on it that somebody
still holds makes it unfit (a bytearray with exports cannot be resized, and that is how we ask). The event loop itself
holds one until the turn ends, so such a buffer is asked again when the next one is wanted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from struct import Struct

from headrace.base.errors import ProtocolError
from headrace.base.files import Body, FileSlice, FileSlices
from headrace.base.limits import CONNECTION_REQUESTS_MAX, FRAME_SIZE_MAX, KIB, MIB
from headrace.protocols.kafka.codec import RequestHeader, decode_header

_length = Struct(">i").unpack_from
_BUFFER_KEPT_MAX = 2 * MIB  # larger ones are not kept as spares: the usual largest batch is 1 MiB
_CLAIM_FIRST = 16 * KIB
_FRAME_SIZE_MIN = 8  # api key, version, correlation id
_PRODUCE = 0
# A request that waits lives on as objects, which take about this many times their bytes on the wire (an int16 is an
# int of 28 bytes, a partition an object of 100). Of a Produce only the rows of its answer are left.
_OBJECTS_FACTOR = 16
_DOUBTFUL_MAX = 8


class FrameBuffers:
    """Spare buffers for frames that come in pieces. Making a fresh one of 1 MiB costs more than receiving into it."""

    __slots__ = ("_doubtful", "_spare", "_spare_bytes", "spare_bytes_max")

    def __init__(self, spare_bytes_max: int = 16 * MIB) -> None:
        self._spare: dict[int, list[bytearray]] = {}
        self._spare_bytes = 0
        self._doubtful: deque[bytearray] = deque()  # somebody looked at them when they were given back
        self.spare_bytes_max = spare_bytes_max

    def take(self, size: int, least: int) -> bytearray:
        """A spare buffer for the whole frame, or else a new one for `least` bytes of it."""
        for _ in range(len(self._doubtful)):
            self._keep(self._doubtful.popleft())
        whole = _round_up(size)
        spare = self._spare.get(whole)
        if spare:
            self._spare_bytes -= whole
            return spare.pop()
        return bytearray(_round_up(min(least, size)))

    def give(self, buffer: bytearray) -> None:
        if not self._keep(buffer) and len(self._doubtful) < _DOUBTFUL_MAX:
            self._doubtful.append(buffer)

    def _keep(self, buffer: bytearray) -> bool:
        """False when somebody still looks at it."""
        size = len(buffer)
        if size & (size - 1) or size > _BUFFER_KEPT_MAX or self._spare_bytes + size > self.spare_bytes_max:
            return True
        try:
            buffer.append(0)
        except BufferError:
            return False
        buffer.pop()
        self._spare.setdefault(size, []).append(buffer)
        self._spare_bytes += size
        return True


class Request:
    """One request: its header, its bytes, and the slot its answer goes to."""

    __slots__ = ("answer", "answer_bytes", "at", "began_ms", "buffer", "frame", "header", "shared", "weight")

    def __init__(self, header: RequestHeader, frame: memoryview, at: int, buffer: bytearray | None) -> None:
        self.header = header
        self.frame = frame
        self.at = at  # where the body begins
        self.buffer = buffer  # the frame's own buffer; None when the bytes lie in the shared scratch buffer
        self.shared = buffer is None
        self.answer: Sequence[Body] | None = None
        self.answer_bytes = 0  # memory of the answer, as long as it waits for earlier ones
        self.weight = len(frame) if header.api_key == _PRODUCE else len(frame) * _OBJECTS_FACTOR
        self.began_ms = 0.0

    def keep(self) -> None:
        """The request cannot be served in this turn: its bytes leave the shared buffer."""
        if self.shared:
            self.frame = memoryview(bytearray(self.frame))
            self.shared = False


class Connection:
    """The framing of one connection and the order of its answers."""

    __slots__ = (
        "_buffer",
        "_buffers",
        "_filled",
        "_head",
        "_slots",
        "answer_bytes",
        "closing",
        "frame_size_max",
        "request_bytes",
        "requests_max",
    )

    def __init__(
        self, buffers: FrameBuffers, *, frame_size_max: int = FRAME_SIZE_MAX, requests_max: int = CONNECTION_REQUESTS_MAX
    ) -> None:
        self._buffers = buffers
        self._head = b""  # 0 to 3 bytes of a length
        self._buffer: bytearray | None = None  # the frame that is arriving, its length of 4 bytes included
        self._filled = 0
        self._slots: deque[Request] = deque()
        self.closing: str | None = None  # why this connection ends; nothing more is read
        self.request_bytes = 0  # weight of the requests that are not answered
        self.answer_bytes = 0  # memory of answers that wait for earlier ones
        self.frame_size_max = frame_size_max
        self.requests_max = requests_max

    # bytes in

    def room(self) -> memoryview | None:
        """Where the rest of an arriving frame is to be received; None for the shared buffer."""
        if self._buffer is None:
            return None
        size = _length(self._buffer)[0] + 4
        if self._filled == len(self._buffer) < size:
            self._grow(size)
        return memoryview(self._buffer)[self._filled : size]

    def filled(self, count: int) -> list[Request]:
        """`count` bytes were received into `room()`."""
        assert self._buffer is not None
        self._filled += count
        size = _length(self._buffer)[0] + 4
        if self._filled < size:
            return []
        buffer = self._buffer
        self._drop_buffer()
        requests: list[Request] = []
        self._cut(memoryview(buffer)[4:size], buffer, requests)
        return requests

    def receive(self, data: memoryview) -> list[Request]:
        """Bytes in the shared buffer. The requests are valid in this turn only; `keep` those that must wait."""
        assert self._buffer is None
        requests: list[Request] = []
        at, end = 0, len(data)
        if self._head:
            need = 4 - len(self._head)
            self._head += bytes(data[:need])
            if len(self._head) < 4:
                return requests
            at = need
            size = self._checked(_length(self._head)[0])
            if size is None:
                return requests
            if at + size <= end:
                self._head = b""
                if not self._cut(data[at : at + size], None, requests):
                    return requests
                at += size
            else:
                self._begin(size, self._head, data[at:])
                self._head = b""
                return requests
        while at + 4 <= end:
            size = self._checked(_length(data, at)[0])
            if size is None:
                return requests
            next_at = at + 4 + size
            if next_at > end:
                self._begin(size, data[at : at + 4], data[at + 4 :])
                return requests
            if not self._cut(data[at + 4 : next_at], None, requests):
                return requests
            at = next_at
        self._head = bytes(data[at:])
        return requests

    def _checked(self, size: int) -> int | None:
        if size < _FRAME_SIZE_MIN or size > self.frame_size_max:
            self.closing = f"a frame of {size} bytes: allowed are {_FRAME_SIZE_MIN} to {self.frame_size_max}"
            return None
        return size

    def _begin(self, size: int, head: bytes | memoryview, part: memoryview) -> None:
        whole = size + 4
        buffer = self._buffers.take(whole, max(_CLAIM_FIRST, len(part) + 4))
        buffer[:4] = head
        buffer[4 : 4 + len(part)] = part
        self._buffer = buffer
        self._filled = 4 + len(part)

    def _grow(self, size: int) -> None:
        assert self._buffer is not None
        length = len(self._buffer)
        more = length if 2 * length <= _BUFFER_KEPT_MAX else min(length, size - length)
        self._buffer.extend(bytes(more))

    def _drop_buffer(self) -> None:
        self._buffer = None
        self._filled = 0

    def _cut(self, frame: memoryview, buffer: bytearray | None, requests: list[Request]) -> bool:
        try:
            header, at = decode_header(frame)
        except ProtocolError as broken:
            self.closing = str(broken)
            return False
        request = Request(header, frame, at, buffer)
        self._slots.append(request)
        self.request_bytes += request.weight
        requests.append(request)
        return True

    @property
    def in_frame(self) -> bool:
        """A frame has begun and is not whole."""
        return self._buffer is not None or bool(self._head)

    @property
    def receiving(self) -> bool:
        """The next bytes are to be received into `room()`."""
        return self._buffer is not None

    @property
    def frame_bytes(self) -> int:
        """Memory of the arriving frame."""
        return len(self._buffer) if self._buffer is not None else 0

    # answers out

    @property
    def full(self) -> bool:
        """So many requests are unanswered that no more should be read."""
        return len(self._slots) >= self.requests_max

    @property
    def unanswered(self) -> int:
        return len(self._slots)

    def respond(self, request: Request, buffers: Sequence[Body]) -> None:
        """The answer to a request; no buffers for a request that gets none (acks 0)."""
        assert request.answer is None
        request.answer = buffers
        self.request_bytes -= request.weight
        if self._slots and self._slots[0] is not request:
            request.answer_bytes = memory_size(buffers)
            self.answer_bytes += request.answer_bytes

    def refuse(self, request: Request, why: str) -> None:
        """The request breaks the protocol: it and all behind it get no answer, and the connection ends."""
        self.closing = why
        slots = self._slots
        while slots:
            last = slots.pop()
            if last.answer is None:
                self.request_bytes -= last.weight
            else:
                self.answer_bytes -= last.answer_bytes
            self.served(last)
            if last is request:
                return

    def served(self, request: Request) -> None:
        """Nobody looks at the request's bytes any more."""
        buffer = request.buffer
        if buffer is not None:
            request.buffer = None
            request.frame = memoryview(b"")
            self._buffers.give(buffer)

    def take_buffers(self) -> list[Body]:
        """All that can leave now, in order."""
        slots = self._slots
        out: list[Body] = []
        while slots and slots[0].answer is not None:
            request = slots.popleft()
            self.answer_bytes -= request.answer_bytes
            out.extend(request.answer)  # type: ignore[arg-type]
        return out

    def lost(self) -> None:
        """The peer has gone."""
        if self._buffer is not None:
            self._buffers.give(self._buffer)
        self._drop_buffer()
        self._head = b""


def _round_up(size: int) -> int:
    """To a power of two, so that buffers of nearly the same size can stand in for each other."""
    return 1 << max(12, (size - 1).bit_length())


def memory_size(buffers: Sequence[Body]) -> int:
    """What of an answer lies in memory: slices of files do not."""
    return sum(0 if isinstance(buffer, (FileSlice, FileSlices)) else len(buffer) for buffer in buffers)
