"""The edge of a Kafka connection, with a transport, a way out and a dispatcher that are made for the test."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Coroutine
from typing import Any

from headrace.base.errors import ProtocolError
from headrace.base.limits import CONNECTION_ANSWER_BYTES_MAX, MIB
from headrace.base.metrics import Metrics
from headrace.broker.waiting import Later
from headrace.server.budget import Budget
from headrace.server.kafka_socket import SCRATCH_SIZE, KafkaEdge, KafkaSocket


def frame(number: int, size: int = 0) -> bytes:
    body = struct.pack(">hhih", 3, 1, number, -1) + bytes(size)
    return struct.pack(">i", len(body)) + body


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic_ms(self) -> float:
        return self.now


class Dispatcher:
    """Answers as the test says: `serve_as(number)` gives the answer to the request of that correlation id."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.served: list[int] = []
        self.serve_as: Callable[[int], Any] = lambda number: [b"%d" % number]
        self.took_ms = 0.0
        self.clock: Clock | None = None

    def serve(self, request: Any, peer: Any) -> Any:
        self.served.append(request.header.correlation_id)
        if self.clock is not None:
            self.clock.now += self.took_ms
        return self.serve_as(request.header.correlation_id)


class Outlet:
    """A peer that takes everything at once, or nothing until told so."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.takes = True
        self.queued_bytes = self.memory_bytes = 0
        self.closed = False

    def send(self, buffers: Any) -> None:
        self.sent += buffers
        if not self.takes:
            self.queued_bytes += sum(map(len, buffers))
            self.memory_bytes = self.queued_bytes

    def close(self) -> None:
        self.closed = True
        self.queued_bytes = self.memory_bytes = 0


class Transport:
    def __init__(self) -> None:
        self.reading = True
        self.aborted = False

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 9092) if name == "sockname" else ("10.0.0.1", 5)

    def pause_reading(self) -> None:
        assert self.reading
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True

    def abort(self) -> None:
        self.aborted = True


class Stage:
    def __init__(self, budget: int = 64 * MIB, connections_max: int = 100) -> None:
        self.clock = Clock()
        self.dispatcher = Dispatcher()
        self.outlets: list[Outlet] = []
        self.why: list[str] = []
        self.edge = KafkaEdge(
            self.clock,  # type: ignore[arg-type]
            self.dispatcher,  # type: ignore[arg-type]
            Budget(budget),
            self._outlet,  # type: ignore[arg-type]
            lambda event, **facts: self.why.append(str(facts.get("why"))),
            connections_max=connections_max,
            idle_ms_max=600_000,
            frame_wait_ms_max=60_000,
        )

    def _outlet(self, transport: Any, connection: Any) -> Outlet:
        self.outlets.append(Outlet())
        return self.outlets[-1]

    def connect(self) -> Client:
        return Client(self)


class Client:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.transport = Transport()
        self.socket: KafkaSocket = stage.edge.make()
        self.socket.connection_made(self.transport)  # type: ignore[arg-type]
        self.outlet = stage.outlets[-1] if stage.outlets else Outlet()

    def send(self, data: bytes) -> None:
        """As the loop does: nothing while reading is paused."""
        while data and self.transport.reading and not self.transport.aborted:
            buffer = self.socket.get_buffer(-1)
            count = min(len(buffer), len(data))
            buffer[:count] = data[:count]
            del buffer
            self.socket.buffer_updated(count)
            data = data[count:]

    def read_all(self) -> None:
        """The peer takes what is queued."""
        self.outlet.queued_bytes = self.outlet.memory_bytes = 0
        self.socket.moved()


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(story)


async def turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_requests_are_answered_in_order():
    async def story() -> None:
        client = Stage().connect()
        client.send(frame(1) + frame(2) + frame(3))
        assert client.outlet.sent == [b"1", b"2", b"3"]

    run(story())


def test_a_later_answer_holds_those_behind_it_but_not_their_serving():
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        later: Later[Any] = Later()
        stage.dispatcher.serve_as = lambda number: later if number == 1 else [b"%d" % number]
        client.send(frame(1) + frame(2))
        assert stage.dispatcher.served == [1, 2] and client.outlet.sent == []
        later.complete([b"1"])
        await turns()
        assert client.outlet.sent == [b"1", b"2"]

    run(story())


def test_a_coroutine_holds_what_comes_behind_it():
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        gate = asyncio.Event()

        async def slowly() -> list[bytes]:
            await gate.wait()
            return [b"slow"]

        stage.dispatcher.serve_as = lambda number: slowly() if number == 1 else [b"%d" % number]
        client.send(frame(1) + frame(2, 50) + frame(3))
        await turns()
        assert stage.dispatcher.served == [1]
        assert not client.transport.reading
        stage.edge.scratch[:] = bytes(SCRATCH_SIZE)  # another connection receives
        gate.set()
        await turns(6)
        assert stage.dispatcher.served == [1, 2, 3]
        assert client.outlet.sent == [b"slow", b"2", b"3"]
        assert client.transport.reading
        assert stage.edge.budget.held_bytes == 0

    run(story())


def test_a_flood_is_served_in_turns():
    # 14,000 requests of one receive were served in one turn of the loop.
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        stage.dispatcher.clock, stage.dispatcher.took_ms = stage.clock, 1.0
        client.send(b"".join(frame(number) for number in range(1_000)))
        assert len(stage.dispatcher.served) < 10
        assert not client.transport.reading
        await turns(400)
        assert stage.dispatcher.served == list(range(1_000))
        assert client.outlet.sent == [b"%d" % number for number in range(1_000)]
        assert client.transport.reading and stage.edge.budget.held_bytes == 0

    run(story())


def test_a_peer_that_takes_nothing_is_not_served_on():
    # Answers were made as long as requests lay in the buffer: megabytes for each 18 bytes.
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        client.outlet.takes = False
        stage.dispatcher.serve_as = lambda number: [bytes(MIB)]
        for _ in range(20):
            client.send(b"".join(frame(number) for number in range(10)))
            await turns()
        most = CONNECTION_ANSWER_BYTES_MAX // MIB + 10
        assert len(stage.dispatcher.served) <= most
        assert not client.transport.reading
        assert stage.edge.budget.held_bytes <= (most + 1) * MIB
        client.outlet.takes = True
        client.read_all()
        await turns(10)
        assert client.transport.reading and stage.edge.budget.held_bytes == 0

    run(story())


def test_answers_behind_one_that_waits_are_bounded():
    # They were in nobody's count: a long poll in front, and answers of gigabytes behind it.
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        later: Later[Any] = Later()
        stage.dispatcher.serve_as = lambda number: later if number == 0 else [bytes(MIB)]
        client.send(b"".join(frame(number) for number in range(100)))
        await turns()
        assert len(stage.dispatcher.served) <= CONNECTION_ANSWER_BYTES_MAX // MIB + 2
        later.complete([b"0"])
        await turns(300)
        assert len(stage.dispatcher.served) == 100
        assert len(client.outlet.sent) == 100 and client.outlet.sent[0] == b"0"

    run(story())


def test_a_broken_request_ends_it_after_the_answers_that_are_due():
    # What was due was dropped, and what stood behind the broken request in the same bytes was served.
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        later: Later[Any] = Later()
        answers: dict[int, Any] = {1: later, 2: ProtocolError("broken")}
        stage.dispatcher.serve_as = lambda number: answers.get(number) or [b"%d" % number]
        client.send(frame(1) + frame(2) + frame(3))
        assert stage.dispatcher.served == [1, 2]
        assert not client.transport.aborted and not client.transport.reading
        later.complete([b"1"])
        await turns()
        assert client.outlet.sent == [b"1"]
        assert client.transport.aborted and "broken" in stage.why[-1]
        assert stage.edge.budget.held_bytes == 0 and not stage.edge.sockets

    run(story())


def test_the_goodbye_does_not_wait_for_ever():
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        stage.dispatcher.serve_as = lambda number: Later()
        client.send(frame(1) + struct.pack(">i", -1))
        stage.edge.sweep()
        assert not client.transport.aborted
        stage.clock.now += 11_000
        stage.edge.sweep()
        assert client.transport.aborted

    run(story())


def test_a_connection_that_ends_is_not_read_again_when_the_budget_has_room():
    # Whoever was woken by the budget or by a drain looked anew whether to read, and did not look whether it was closing.
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        client.outlet.takes = False
        client.send(frame(1) + struct.pack(">i", -1) + frame(2))
        assert not client.transport.reading
        client.socket.resume()
        assert not client.transport.reading
        client.read_all()
        assert client.transport.aborted

    run(story())


def test_an_answer_for_a_connection_that_has_gone_is_dropped():
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        later: Later[Any] = Later()

        async def slowly() -> list[bytes]:
            await asyncio.sleep(0)
            return [b"2"]

        stage.dispatcher.serve_as = lambda number: later if number == 1 else slowly()
        client.send(frame(1) + frame(2) + frame(3))
        client.socket.connection_lost(None)
        later.complete([b"1"])
        await turns(6)
        assert client.outlet.sent == [] and stage.dispatcher.served == [1, 2]
        assert stage.edge.budget.held_bytes == 0 and not stage.edge.sockets

    run(story())


def test_too_many_connections():
    async def story() -> None:
        stage = Stage(connections_max=2)
        clients = [stage.connect() for _ in range(3)]
        assert [client.transport.aborted for client in clients] == [False, False, True]
        clients[0].socket.connection_lost(None)
        assert not stage.connect().transport.aborted

    run(story())


def test_no_descriptor_for_the_way_out():
    # The exception left a connection that was neither served nor closed.
    async def story() -> None:
        stage = Stage()

        def none_left(transport: Any, connection: Any) -> Any:
            raise OSError(24, "too many open files")

        stage.edge.make_outlet = none_left
        client = stage.connect()
        assert client.transport.aborted and not stage.edge.sockets
        client.socket.connection_lost(None)

    run(story())


def test_half_a_frame_has_its_time():
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        client.send(frame(1, 1_000)[:100])
        for _ in range(6):  # a byte now and then does not help
            stage.clock.now += 9_000
            client.send(b"\0")
        stage.edge.sweep()
        assert not client.transport.aborted
        stage.clock.now += 9_000
        stage.edge.sweep()
        assert client.transport.aborted

    run(story())


def test_the_clock_of_a_frame_stands_still_while_we_do_not_read():
    # A client that read its answers slowly, with half a request sent ahead, was closed for our own pause.
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        client.outlet.takes = False
        stage.dispatcher.serve_as = lambda number: [bytes(10 * MIB)]
        client.send(frame(1) + frame(2, 1_000)[:100])
        assert not client.transport.reading
        stage.clock.now += 100_000
        client.socket.heard_ms = stage.clock.now
        stage.edge.sweep()
        assert not client.transport.aborted
        client.outlet.takes = True
        client.read_all()
        await turns()
        stage.edge.sweep()
        assert client.transport.reading and not client.transport.aborted

    run(story())


def test_who_holds_a_spent_budget_and_does_nothing_goes_soon():
    async def story() -> None:
        stage = Stage(budget=MIB)
        hog, other = stage.connect(), stage.connect()
        hog.outlet.takes = False
        stage.dispatcher.serve_as = lambda number: [bytes(2 * MIB)]
        hog.send(frame(1))
        assert stage.edge.budget.spent
        other.send(frame(2, 300_000)[:200_000])
        assert other.transport.reading  # one may always go on
        third = stage.connect()
        third.send(frame(3, 300_000)[:200_000])
        assert not third.transport.reading
        stage.clock.now += 11_000
        other.socket.heard_ms = other.socket.frame_ms = third.socket.heard_ms = third.socket.frame_ms = stage.clock.now
        stage.edge.sweep()
        assert hog.transport.aborted and not other.transport.aborted and not third.transport.aborted
        assert third.transport.reading

    run(story())


def test_idle_and_unread():
    async def story() -> None:
        stage = Stage()
        idle, unread, waiting = stage.connect(), stage.connect(), stage.connect()
        unread.outlet.takes = False
        unread.send(frame(1))
        stage.dispatcher.serve_as = lambda number: Later()
        waiting.send(frame(2))
        stage.clock.now += 601_000
        stage.edge.sweep()
        assert idle.transport.aborted and unread.transport.aborted and not waiting.transport.aborted

    run(story())


def test_a_drain_waits_for_an_answer_on_its_way_out():
    # Between an answer and the turn in which it leaves, the node thought that nothing was due and closed the connection.
    async def story() -> None:
        stage = Stage()
        client = stage.connect()
        later: Later[Any] = Later()
        stage.dispatcher.serve_as = lambda number: later
        client.send(frame(1))
        stage.edge.stop_reading()
        assert not client.transport.reading and not stage.edge.unanswered()
        later.complete([b"1"])
        assert stage.edge.unanswered() == 1
        await turns()
        assert client.outlet.sent == [b"1"] and not stage.edge.unanswered()

    run(story())


def test_a_failing_world_ends_the_connection_and_not_the_node():
    """An OSError that nobody had turned into an answer left the request unanswered for ever: the loop logged it and went on."""

    def fail(number: int) -> Any:
        raise OSError(5, "the disk is gone")

    async def fail_later() -> Any:
        raise OSError(5, "the disk is gone")

    async def story() -> None:
        for failing in (fail, lambda number: fail_later()):
            stage = Stage()
            stage.dispatcher.serve_as = failing
            client = stage.connect()
            client.send(frame(1))
            await turns()
            assert client.transport.aborted and "the disk is gone" in stage.why[-1]
            assert not stage.edge.sockets

    run(story())


def test_bytes_and_ends_are_counted():
    """Six figures of the status port stood at zero for ever: nobody counted them."""

    async def story() -> None:
        stage = Stage()
        metrics = stage.dispatcher.metrics
        client = stage.connect()
        client.send(frame(1))
        assert (metrics.connections_opened, metrics.bytes_received, metrics.bytes_sent) == (1, len(frame(1)), 1)
        client.outlet.takes = False
        client.send(frame(2) + frame(3))
        assert (metrics.bytes_sent, metrics.unsent_answer_bytes) == (1, 2)
        client.read_all()
        assert (metrics.bytes_sent, metrics.unsent_answer_bytes) == (3, 0)
        client.outlet.takes = False
        client.send(frame(4))
        client.socket.connection_lost(None)
        assert metrics.unsent_answer_bytes == 0
        other = stage.connect()
        other.send(b"\xff\xff\xff\xff")
        assert metrics.connections_closed == {"peer": 1, "protocol": 1}

    run(story())
