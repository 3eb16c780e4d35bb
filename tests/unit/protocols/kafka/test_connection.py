"""One connection without IO: the requests do not depend on how the bytes came, and answers leave in the order of the requests."""

from __future__ import annotations

import random
import struct

from headrace.base.files import FileSlice
from headrace.base.limits import KIB, MIB
from headrace.protocols.kafka.connection import Connection, FrameBuffers, Request, memory_size

SCRATCH = 256 * KIB


def frame(number: int, size: int = 0, key: int = 3) -> bytes:
    body = struct.pack(">hhih", key, 1, number, -1) + bytes(size)
    return struct.pack(">i", len(body)) + body


class Feeder:
    """Brings bytes as the event loop does: into the shared buffer, or in place where a frame waits for its rest."""

    def __init__(self, connection: Connection | None = None) -> None:
        self.connection = connection or Connection(FrameBuffers())
        self.scratch = memoryview(bytearray(SCRATCH))
        self.seen: list[tuple[int, bytes]] = []

    def feed(self, data: bytes) -> list[Request]:
        requests: list[Request] = []
        while data:
            room = self.connection.room()
            if room is not None:
                count = min(len(room), len(data))
                room[:count] = data[:count]
                del room
                new = self.connection.filled(count)
            else:
                count = min(len(self.scratch), len(data))
                self.scratch[:count] = data[:count]
                new = self.connection.receive(self.scratch[:count])
            self.seen += [(request.header.correlation_id, bytes(request.frame)) for request in new]
            requests += new
            data = data[count:]
        return requests


def as_seen(stream: bytes) -> list[tuple[int, bytes]]:
    seen = []
    while stream:
        size = struct.unpack_from(">i", stream)[0]
        body, stream = stream[4 : 4 + size], stream[4 + size :]
        seen.append((struct.unpack_from(">i", body, 4)[0], body))
    return seen


def test_every_split_gives_the_same_requests():
    stream = frame(1) + frame(2, 30) + frame(3) + frame(4, 5)
    wanted = as_seen(stream)
    for first in range(1, len(stream)):
        for second in range(first, len(stream), 7):
            feeder = Feeder()
            feeder.feed(stream[:first])
            feeder.feed(stream[first:second])
            feeder.feed(stream[second:])
            assert feeder.seen == wanted
            assert not feeder.connection.in_frame


def test_byte_by_byte():
    stream = frame(1) + frame(2, 300)
    feeder = Feeder()
    for byte in stream:
        feeder.feed(bytes((byte,)))
    assert feeder.seen == as_seen(stream)


def test_large_frames_in_pieces_by_chance():
    chance = random.Random(5)
    stream = b"".join(frame(number, chance.choice((0, 10, 5_000, 300_000, 3_000_000))) for number in range(12))
    wanted = as_seen(stream)
    for _ in range(3):
        feeder = Feeder()
        at = 0
        while at < len(stream):
            size = chance.choice((1, 3, 100, 70_000, 900_000))
            for request in feeder.feed(stream[at : at + size]):
                feeder.connection.respond(request, [])
                feeder.connection.served(request)
            feeder.connection.take_buffers()
            at += size
        assert feeder.seen == wanted


def test_a_whole_frame_is_served_from_the_shared_buffer():
    feeder = Feeder()
    (request,) = feeder.feed(frame(1, 100))
    assert request.shared and request.buffer is None
    feeder.scratch[20:60] = b"\xff" * 40
    assert bytes(request.frame[16:56]) == b"\xff" * 40
    request.keep()
    feeder.scratch[20:60] = b"\xee" * 40
    assert bytes(request.frame[16:56]) == b"\xff" * 40  # kept: nobody writes over it


def test_answers_leave_in_the_order_of_the_requests():
    chance = random.Random(1)
    for _ in range(50):
        connection = Connection(FrameBuffers())
        requests = Feeder(connection).feed(b"".join(frame(number) for number in range(20)))
        order = list(range(20))
        chance.shuffle(order)
        out: list[bytes] = []
        for index in order:
            connection.respond(requests[index], [b"%d" % index])
            if chance.random() < 0.5:
                out += connection.take_buffers()  # type: ignore[arg-type]
        out += connection.take_buffers()  # type: ignore[arg-type]
        assert out == [b"%d" % number for number in range(20)]
        assert connection.unanswered == connection.request_bytes == connection.answer_bytes == 0


def test_a_request_without_an_answer_takes_its_turn_all_the_same():
    connection = Connection(FrameBuffers())
    first, silent, last = Feeder(connection).feed(frame(1) + frame(2) + frame(3))
    connection.respond(silent, [])
    connection.respond(last, [b"last"])
    assert connection.take_buffers() == []
    connection.respond(first, [b"first"])
    assert connection.take_buffers() == [b"first", b"last"]


def test_lengths_beyond_the_bounds_end_it():
    for size in (-1, -(2**31), 0, 3, 7, 1_001, 2**31 - 1):
        connection = Connection(FrameBuffers(), frame_size_max=1_000)
        requests = Feeder(connection).feed(frame(1) + struct.pack(">i", size))
        assert len(requests) == 1
        assert connection.closing is not None and f"{size} bytes" in connection.closing
    split = Connection(FrameBuffers(), frame_size_max=1_000)
    feeder = Feeder(split)
    for byte in struct.pack(">i", -5):
        feeder.feed(bytes((byte,)))
    assert split.closing


def test_a_header_that_cannot_be_read_ends_it_after_those_before():
    connection = Connection(FrameBuffers())
    bad = struct.pack(">ihhih", 10, 3, 1, 9, 500)
    requests = Feeder(connection).feed(frame(1) + bad + frame(2))
    assert [request.header.correlation_id for request in requests] == [1]
    assert connection.closing


def test_refusing_a_request_takes_those_behind_it_and_leaves_those_before():
    # The slot of the broken request stayed in the queue for ever, so that what was due before it could not be waited for.
    connection = Connection(FrameBuffers())
    first, bad, behind = Feeder(connection).feed(frame(1) + frame(2) + frame(3))
    connection.respond(behind, [b"never"])
    connection.refuse(bad, "broken")
    assert connection.closing == "broken" and connection.unanswered == 1
    connection.respond(first, [b"first"])
    assert connection.take_buffers() == [b"first"]
    assert connection.unanswered == connection.request_bytes == connection.answer_bytes == 0


def test_a_claim_without_a_body_costs_little():
    # Frames of up to 2 MiB got their buffer at once, all of it written with zeros.
    for claimed in (100 * MIB, 2 * MIB - 4, 200 * KIB):
        connection = Connection(FrameBuffers())
        Feeder(connection).feed(struct.pack(">i", claimed) + bytes(20))
        assert connection.in_frame and connection.receiving
        assert connection.frame_bytes <= 16 * KIB


def test_a_buffer_grows_with_what_arrives_and_not_beyond_twice_of_it():
    connection = Connection(FrameBuffers())
    feeder = Feeder(connection)
    size = 9 * MIB
    data = frame(1, size)
    for at in range(0, len(data), 50_000):
        feeder.feed(data[at : at + 50_000])
        assert connection.frame_bytes <= max(2 * (at + 50_000), 16 * KIB) + SCRATCH
    assert feeder.seen == as_seen(data)
    assert connection.frame_bytes == 0 and not connection.in_frame


def test_what_waits_is_counted():
    connection = Connection(FrameBuffers())
    produce, fetch = Feeder(connection).feed(frame(1, 1_000, key=0) + frame(2, 1_000, key=1))
    assert connection.request_bytes == len(produce.frame) + 16 * len(fetch.frame)
    connection.respond(fetch, [b"x" * 500])
    assert connection.answer_bytes == 500  # it waits for the first
    connection.respond(produce, [b"y" * 100])
    connection.take_buffers()
    assert connection.answer_bytes == connection.request_bytes == 0


def test_slices_of_files_are_no_memory():
    part = FileSlice(None, 0, 10_000)  # type: ignore[arg-type]
    assert memory_size([b"head", part, bytearray(3)]) == 7


def test_full_at_so_many_unanswered_requests():
    connection = Connection(FrameBuffers(), requests_max=3)
    requests = Feeder(connection).feed(frame(1) + frame(2))
    assert not connection.full
    requests += Feeder(connection).feed(frame(3))
    assert connection.full
    connection.respond(requests[0], [])
    connection.take_buffers()
    assert not connection.full


def received_in_pieces(connection: Connection, size: int) -> Request:
    feeder = Feeder(connection)
    data = frame(1, size)
    (request,) = feeder.feed(data[:100]) + feeder.feed(data[100:])
    return request


def test_a_buffer_that_nobody_looks_at_is_used_again():
    buffers = FrameBuffers()
    connection = Connection(buffers)
    first = received_in_pieces(connection, 90_000)
    own = first.buffer
    connection.served(first)
    del first
    second = received_in_pieces(connection, 100_000)
    assert second.buffer is own


def test_a_buffer_that_somebody_looks_at_is_not():
    buffers = FrameBuffers()
    connection = Connection(buffers)
    first = received_in_pieces(connection, 90_000)
    own = first.buffer
    records = first.frame[10:]
    before = bytes(records)
    connection.served(first)
    second = received_in_pieces(connection, 90_000)
    assert second.buffer is not own
    assert bytes(records) == before


def test_a_buffer_given_back_while_the_loop_still_held_it_is_used_later():
    # The loop holds the buffer it has received into until the turn ends, and requests are served within that turn: no buffer
    # was ever used again but for answers that had to wait.
    buffers = FrameBuffers()
    connection = Connection(buffers)
    first = received_in_pieces(connection, 90_000)
    own = first.buffer
    assert own is not None
    held_by_the_loop = memoryview(own)
    connection.served(first)
    del first
    held_by_the_loop.release()
    assert received_in_pieces(connection, 90_000).buffer is own


def test_spare_buffers_are_bounded():
    buffers = FrameBuffers(spare_bytes_max=MIB)
    for _ in range(50):
        buffers.give(bytearray(128 * KIB))
    assert buffers._spare_bytes == MIB
    buffers = FrameBuffers()
    for _ in range(50):
        buffers.give(bytearray(4 * MIB))
        buffers.give(bytearray(5_000))
    assert buffers._spare_bytes == 0


def test_a_lost_connection_gives_its_half_frame_back():
    buffers = FrameBuffers()
    connection = Connection(buffers)
    Feeder(connection).feed(frame(1, 100_000)[:50_000])
    assert connection.frame_bytes
    connection.lost()
    assert connection.frame_bytes == 0 and not connection.in_frame
    assert buffers._spare_bytes > 0
