"""A simulated network: connections between asyncio protocols, with delay, cuts, clogs and little pieces.

Both ends are what asyncio gives to real code: a transport that is written to, and a protocol (`BufferedProtocol` or
`Protocol`) that is called. Between them lie two pipes, one a direction, that keep the order of bytes, as TCP does, and
nothing else: bytes arrive late, split at places nobody chose, or not at all because the connection was cut.

Who owns what: an end belongs to the process it was made in, and its callbacks run in that process' context, so that a
killed process hears nothing any more. `Network.process_died` then resets (or forgets, for a power cut) its connections.

Back-pressure: an end that stops reading fills its pipe; what does not fit in the window (the kernel's socket buffers)
counts as the writer's buffer, with asyncio's `pause_writing` and `resume_writing`.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from sim.faults import NetworkFaults
from sim.loop import Process, SimLoop, current_process

ProtocolFactory = Callable[[], asyncio.BaseProtocol]


class Listener:
    """What stands behind an address. `close` refuses new connections and leaves the old ones."""

    def __init__(self, network: SimNetwork, address: tuple[str, int], factory: ProtocolFactory) -> None:
        self.address = address
        self.factory = factory
        self.context = contextvars.copy_context()
        self.process = current_process()
        self._network = network

    @property
    def port(self) -> int:
        return self.address[1]

    def close(self) -> None:
        if self._network.listeners.get(self.address) is self:
            del self._network.listeners[self.address]

    async def wait_closed(self) -> None:
        pass


class SimNetwork:
    def __init__(
        self,
        loop: SimLoop,
        chance: random.Random,
        faults: NetworkFaults | None = None,
        *,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self.faults = faults if faults is not None else NetworkFaults()
        self.listeners: dict[tuple[str, int], Listener] = {}
        self.connections = 0
        self.cuts = 0
        self.bytes = 0
        self.loop = loop
        self.chance = chance
        self._ends: dict[int, SimTransport] = {}  # by number: walked in order
        self._ports = 40_000
        self._trace = trace

    def listen(self, factory: ProtocolFactory, host: str, port: int) -> Listener:
        if port == 0:
            self._ports += 1
            port = self._ports
        address = (host, port)
        old = self.listeners.get(address)
        if old is not None and (old.process is None or old.process.alive):
            raise OSError(98, f"address {host}:{port} is taken")
        listener = self.listeners[address] = Listener(self, address, factory)
        return listener

    async def connect(self, factory: ProtocolFactory, host: str, port: int) -> asyncio.BaseProtocol:
        """As `loop.create_connection`: the client's protocol, connected; ConnectionRefusedError where nobody listens."""
        await asyncio.sleep(self.delay_s())
        listener = self.listeners.get((host, port))
        if listener is None or (listener.process is not None and not listener.process.alive):
            raise ConnectionRefusedError(111, f"nobody listens at {host}:{port}")
        self.connections += 1
        self._ports += 1
        number = self.connections
        here, there = ("127.0.0.1", self._ports), (host, port)
        server = listener.context.copy().run(listener.factory)
        client = factory()
        context = contextvars.copy_context()
        client_end = SimTransport(self, f"c{number}", client, context, current_process(), sockname=here, peername=there)
        server_end = SimTransport(
            self, f"s{number}", server, listener.context.copy(), listener.process, sockname=there, peername=here
        )
        client_end.peer, server_end.peer = server_end, client_end
        self._ends[2 * number] = client_end
        self._ends[2 * number + 1] = server_end
        client_end.number, server_end.number = 2 * number, 2 * number + 1
        self.trace(f"connect {number}")
        server_end.made()
        made = self.loop.create_future()
        client_end.made(made)
        await made
        return client

    # -- faults

    def process_died(self, process: Process, *, silent: bool = False, last_words: bool = True) -> None:
        """Its ends are gone. The others hear of it after a moment, or late when the machine lost its power."""
        for address in [a for a, listener in self.listeners.items() if listener.process is process]:
            del self.listeners[address]
        for end in [end for end in self._ends.values() if end.process is process]:
            peer = end.peer
            on_the_way = last_words and self.chance.random() < 0.5  # what it wrote had left the machine
            late_s = self.delay_s() if not on_the_way else max(0.0, end.arrival_s - self.loop.time()) + self.delay_s()
            if silent and self.chance.random() < 0.5:
                late_s += self.chance.uniform(0.0, 30.0)
            end.vanish(keep=on_the_way)
            self.loop.call_later(late_s, peer.reset, context=peer.context)

    def cut(self, end: SimTransport) -> None:
        """The connection breaks: both ends hear of it, each in its time; what was on the way is lost."""
        self.cuts += 1
        self.trace(f"cut {end.name}")
        for side in (end, end.peer):
            side.on_the_way.clear()
            side.cut = True
            self.loop.call_later(self.delay_s(), side.reset, context=side.context)

    def ends(self) -> Iterable[SimTransport]:
        return self._ends.values()

    def delay_s(self) -> float:
        low, high = self.faults.delay_ms
        return (low + (high - low) * self.chance.random()) / 1000

    def forget(self, end: SimTransport) -> None:
        self._ends.pop(end.number, None)

    def trace(self, text: str) -> None:
        if self._trace is not None:
            self._trace(text)


class SimTransport(asyncio.Transport):
    """One end of a connection."""

    def __init__(
        self,
        network: SimNetwork,
        name: str,
        protocol: asyncio.BaseProtocol,
        context: contextvars.Context,
        process: Process | None,
        **extra: Any,
    ) -> None:
        super().__init__(extra)
        self.network = network
        self.name = name
        self.number = 0
        self.context = context
        self.process = process
        self.peer: SimTransport = self
        self.on_the_way: deque[bytes] = deque()  # pieces written here that have not arrived; None ends them
        self.cut = False
        self.on_room: Callable[[], None] | None = None  # called, once, when nothing waits in the writer's buffer
        self._protocol = protocol
        self._unread = 0  # bytes written here that the peer has not taken
        self._inbox = bytearray()  # arrived here, not yet handed to the protocol
        self._end_arrived = False
        self._reading = True
        self._pumping = False
        self._closing = False
        self._lost = False
        self.arrival_s = 0.0
        self._high = 64 * 1024
        self._low = 16 * 1024
        self._writing_paused = False

    # -- asyncio's transport

    def write(self, data: Any) -> None:
        if self._closing or self._lost:
            return  # as asyncio: what is written after close is dropped
        size = len(data)
        if not size:
            return
        network = self.network
        chance, faults = network.chance, network.faults
        network.bytes += size
        self._unread += size
        if faults.cut_chance and not self.cut and chance.random() < faults.cut_chance:
            network.cut(self)
        if self.cut:
            return
        rest = bytes(data)
        if size > 1 and chance.random() < faults.split_chance:
            places = sorted(chance.randrange(1, size) for _ in range(chance.randrange(1, faults.pieces_max)))
        else:
            places = []
        start = 0
        for place in [*places, size]:
            if place > start:
                self._send(rest[start:place])
                start = place
        self._check_high()

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        raise NotImplementedError

    def can_write_eof(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return max(0, self._unread - self.network.faults.window_bytes)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low, self._high

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        if high is None:
            high = 4 * low if low is not None else 64 * 1024
        self._high = high
        self._low = low if low is not None else high // 4
        self._check_high()

    def pause_reading(self) -> None:
        self._reading = False

    def resume_reading(self) -> None:
        if not self._reading:
            self._reading = True
            self._pump_soon()

    def is_reading(self) -> bool:
        return self._reading and not self._closing

    def is_closing(self) -> bool:
        return self._closing

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._send(b"")  # the end, after all that was written
            self._closed_if_flushed()

    def abort(self) -> None:
        self._fail(None)
        self.peer_later(self.peer.reset)

    # -- the wire

    def made(self, then: asyncio.Future[None] | None = None) -> None:
        def call() -> None:
            if not self._lost:
                self._protocol.connection_made(self)
            if then is not None and not then.done():
                then.set_result(None)

        self.network.loop.call_soon(call, context=self.context)

    def peer_later(self, callback: Callable[[], None]) -> None:
        self.network.loop.call_later(self.network.delay_s(), callback, context=self.peer.context)

    def reset(self) -> None:
        """The other side is gone."""
        self._fail(ConnectionResetError(104, "connection reset by peer"))

    def vanish(self, *, keep: bool) -> None:
        """The process of this end died: it is told nothing."""
        self._lost = self._closing = True
        if not keep:
            self.on_the_way.clear()
        self.network.forget(self)

    def _send(self, piece: bytes) -> None:
        network = self.network
        loop = network.loop
        faults = network.faults
        arrival = max(self.arrival_s, loop.time() + network.delay_s())
        if faults.clog_chance and network.chance.random() < faults.clog_chance:
            low, high = faults.clog_ms
            arrival += (low + (high - low) * network.chance.random()) / 1000
        # Pieces of one connection must not meet at one moment: equal times may change their order.
        self.arrival_s = arrival + 1e-7
        self.on_the_way.append(piece)
        loop.call_at(arrival, self.peer.arrive, context=self.peer.context)

    def arrive(self) -> None:
        sender = self.peer
        if not sender.on_the_way or self.cut:
            return  # cut meanwhile
        piece = sender.on_the_way.popleft()
        if self._lost or (self._closing and piece):
            sender.peer_gone()
            return
        if piece:
            self._inbox += piece
        else:
            self._end_arrived = True
        self._pump_soon()

    def peer_gone(self) -> None:
        """We wrote to an end that is closed: TCP answers with a reset."""
        self.network.loop.call_later(self.network.delay_s(), self.reset, context=self.context)

    def _pump_soon(self) -> None:
        if not self._pumping:
            self._pumping = True
            self.network.loop.call_soon(self._pump, context=self.context)

    def _pump(self) -> None:
        """One read, as a loop does one for each turn."""
        self._pumping = False
        if self._lost or self._closing or not self._reading:
            return
        inbox = self._inbox
        protocol = self._protocol
        if inbox:
            if isinstance(protocol, asyncio.BufferedProtocol):
                buffer = memoryview(protocol.get_buffer(-1))
                size = min(len(buffer), len(inbox))
                assert size > 0, "get_buffer() returned an empty buffer"
                buffer[:size] = inbox[:size]
                self.network.trace(f"{self.name} reads {size}")
                del inbox[:size]
                self._taken(size)
                protocol.buffer_updated(size)
            else:
                assert isinstance(protocol, asyncio.Protocol)
                data = bytes(inbox[: self.network.faults.read_size_max])
                del inbox[: len(data)]
                self.network.trace(f"{self.name} reads {len(data)}")
                self._taken(len(data))
                protocol.data_received(data)
            if inbox or self._end_arrived:
                self._pump_soon()
        elif self._end_arrived:
            self._end_arrived = False
            self.network.trace(f"{self.name} reads the end")
            assert isinstance(protocol, asyncio.Protocol | asyncio.BufferedProtocol)
            if not protocol.eof_received():
                self.close()

    def _taken(self, size: int) -> None:
        sender = self.peer
        sender._unread -= size
        if sender._writing_paused or sender._closing or sender.on_room is not None:
            self.network.loop.call_soon(sender._drained, context=sender.context)

    def _drained(self) -> None:
        if self._lost:
            return
        if self._writing_paused and self.get_write_buffer_size() <= self._low:
            self._writing_paused = False
            self._protocol.resume_writing()
        if self.on_room is not None and self.get_write_buffer_size() == 0:
            on_room, self.on_room = self.on_room, None
            on_room()
        self._closed_if_flushed()

    def _check_high(self) -> None:
        if not self._writing_paused and self.get_write_buffer_size() > self._high:
            self._writing_paused = True
            self._protocol.pause_writing()

    def _closed_if_flushed(self) -> None:
        if self._closing and not self._lost and self.get_write_buffer_size() == 0:
            self._lost = True
            self.network.forget(self)
            self.network.loop.call_soon(self._protocol.connection_lost, None, context=self.context)

    def _fail(self, error: Exception | None) -> None:
        if self._lost:
            return
        self._lost = self._closing = True
        self.on_the_way.clear()
        self.network.forget(self)
        self.network.trace(f"{self.name} lost")
        self.network.loop.call_soon(self._protocol.connection_lost, error, context=self.context)
