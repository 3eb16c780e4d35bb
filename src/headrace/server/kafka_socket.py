"""The edge of a Kafka connection: read, feed, serve, drain. No decisions about the protocol are made here.

One scratch buffer serves all connections of the node: the loop asks for it, receives into it and hands it over in
one turn, and what must outlive the turn is copied by whoever keeps it.

Reading pauses while: a request that must be finished first is under way (`held`), too many requests are
unanswered, answers are not taken by the peer, or the node's byte budget is spent.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, cast

from headrace.base.errors import ProtocolError
from headrace.base.files import Body
from headrace.base.limits import CONNECTION_ANSWER_BYTES_MAX, KIB
from headrace.base.world import World
from headrace.broker.waiting import Later
from headrace.protocols.kafka.connection import Connection, FrameBuffers, Request
from headrace.protocols.kafka.dispatch import Answer, Dispatcher
from headrace.protocols.kafka.handlers.context import Peer
from headrace.server.budget import Budget
from headrace.server.outlet import Outlet

SCRATCH_SIZE = 256 * KIB


class KafkaEdge:
    """What the Kafka connections of one node share."""

    def __init__(
        self,
        world: World,
        dispatcher: Dispatcher,
        budget: Budget,
        make_outlet: Callable[[asyncio.Transport, KafkaSocket], Outlet],
        log: Callable[..., None],
        *,
        connections_max: int,
        idle_ms_max: int,
        frame_wait_ms_max: int,
    ) -> None:
        self.world = world
        self.dispatcher = dispatcher
        self.budget = budget
        self.make_outlet = make_outlet
        self.log = log
        self.connections_max = connections_max
        self.idle_ms_max = idle_ms_max
        self.frame_wait_ms_max = frame_wait_ms_max
        self.scratch = memoryview(bytearray(SCRATCH_SIZE))
        self.buffers = FrameBuffers()
        self.sockets: dict[KafkaSocket, None] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.draining = False

    def make(self) -> KafkaSocket:
        return KafkaSocket(self)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def stop_reading(self) -> None:
        """The node stops: what was asked is answered, nothing more is taken."""
        self.draining = True
        for socket in list(self.sockets):
            socket.resume()

    async def finish(self, wait_s_max: float) -> None:
        """What was begun comes to its end, though nobody hears of it; what takes too long is left in the middle."""
        tasks = list(self.tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=wait_s_max)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def unanswered(self) -> int:
        return sum(socket.busy for socket in self.sockets)

    def sweep(self) -> None:
        """Close those that are idle, or stuck in the middle of a frame. Called every few seconds."""
        now = self.world.monotonic_ms()
        for socket in list(self.sockets):
            quiet = now - socket.heard_ms
            if socket.connection.in_frame and now - socket.frame_ms > self.frame_wait_ms_max:
                socket.drop(f"a frame was not whole after {self.frame_wait_ms_max} ms")
            elif quiet > self.idle_ms_max and not socket.connection.unanswered:
                socket.drop(f"idle for {quiet:.0f} ms")
            elif quiet > self.idle_ms_max and socket.outlet is not None and socket.outlet.queued_bytes:
                socket.drop(f"answers were not read for {quiet:.0f} ms")


class KafkaSocket(asyncio.BufferedProtocol):
    """One connection."""

    __slots__ = (
        "_backlog",
        "_counted",
        "_edge",
        "_flush_due",
        "_held",
        "_paused",
        "_transport",
        "connection",
        "frame_ms",
        "heard_ms",
        "outlet",
        "peer",
    )

    def __init__(self, edge: KafkaEdge) -> None:
        self._edge = edge
        self.connection = Connection(edge.buffers)
        self.peer = Peer()
        self.outlet: Outlet | None = None
        self._transport: asyncio.Transport | None = None
        self._backlog: deque[Request] = deque()  # requests behind one that must be finished first
        self._held = False
        self._paused = False
        self._flush_due = False
        self._counted = 0  # what this connection has reported to the budget
        self.heard_ms = 0.0
        self.frame_ms = 0.0

    # from the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's do not say that they are one
        edge = self._edge
        self.heard_ms = self.frame_ms = edge.world.monotonic_ms()
        self.outlet = edge.make_outlet(self._transport, self)
        here, there = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        self.peer.local_host, self.peer.local_port = (here[0], here[1]) if here else ("", 0)
        self.peer.remote_host = there[0] if there else ""
        edge.sockets[self] = None
        edge.dispatcher.metrics.connections = len(edge.sockets)
        if len(edge.sockets) > edge.connections_max:
            self.drop(f"more than {edge.connections_max} connections")

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.connection.room() or self._edge.scratch

    def buffer_updated(self, count: int) -> None:
        edge = self._edge
        connection = self.connection
        now = self.heard_ms = edge.world.monotonic_ms()
        was_in_frame = connection.in_frame
        if connection.held_bytes:
            requests = connection.filled(count)
        else:
            requests = connection.receive(edge.scratch[:count])
        if requests or not was_in_frame:
            self.frame_ms = now
        for request in requests:
            request.began_ms = now
            if self._held or self._backlog:
                request.keep()
                self._backlog.append(request)
            else:
                self._serve(request)
        self._flush()

    def eof_received(self) -> bool:
        return False  # close: Kafka's clients do not half-close

    def connection_lost(self, error: Exception | None) -> None:
        self._gone()

    # serving

    def _serve(self, request: Request) -> None:
        answer = self._edge.dispatcher.serve(request, self.peer)
        if isinstance(answer, list):
            self._answer(request, answer)
        elif isinstance(answer, Later):
            answer.then(lambda value: self._answer_later(request, value))
        elif isinstance(answer, ProtocolError):
            self.connection.closing = str(answer)
        else:
            self._held = True
            self._edge.spawn(self._finish(request, answer))

    async def _finish(self, request: Request, work: Coroutine[Any, Any, Answer]) -> None:
        answer = await work
        while not isinstance(answer, list):
            if isinstance(answer, ProtocolError):
                self.connection.closing = str(answer)
                self._flush()
                return
            if isinstance(answer, Later):  # its effect is made: what comes behind may go on
                answer.then(lambda value: self._answer_later(request, value))
                break
            answer = await answer
        else:
            self._answer(request, answer)
        self._held = False
        while self._backlog and not self._held and self.connection.closing is None:
            self._serve(self._backlog.popleft())
        self._flush()

    def _answer(self, request: Request, buffers: list[Body]) -> None:
        self.connection.served(request)
        self.connection.respond(request, buffers)

    def _answer_later(self, request: Request, buffers: list[Body]) -> None:
        self._answer(request, buffers)
        if not self._flush_due:
            self._flush_due = True
            asyncio.get_running_loop().call_soon(self._flush)

    def _flush(self) -> None:
        """Hand out what can leave, then see whether reading may go on."""
        self._flush_due = False
        outlet = self.outlet
        if outlet is None:
            return
        buffers = self.connection.take_buffers()
        if buffers:
            outlet.send(buffers)
            if self.outlet is None:
                return
        if self.connection.closing is not None:
            self._goodbye()
            return
        self._regulate()

    def moved(self) -> None:
        """The peer took bytes."""
        self.heard_ms = self._edge.world.monotonic_ms()
        if self.connection.closing is not None:
            self._goodbye()
        else:
            self._regulate()

    def resume(self) -> None:
        """The node's budget has room again, or the node drains: look anew whether to read."""
        self._regulate()

    @property
    def busy(self) -> bool:
        """Answers are due that a drain should wait for. Long polls are not: nobody loses anything by them."""
        return bool(self.outlet is not None and self.outlet.queued_bytes)

    def _regulate(self) -> None:
        connection, outlet, transport = self.connection, self.outlet, self._transport
        if outlet is None or transport is None:
            return
        budget = self._edge.budget
        held = connection.held_bytes + outlet.queued_bytes
        for request in self._backlog:
            held += len(request.frame)
        if held != self._counted:
            delta, self._counted = held - self._counted, held
            budget.change(delta)
        if not connection.held_bytes:
            budget.forget(self)
        pause = (
            self._held
            or self._edge.draining
            or connection.full
            or outlet.queued_bytes > CONNECTION_ANSWER_BYTES_MAX
            or (connection.in_frame and budget.spent and budget.wait(self))
        )
        if pause != self._paused:
            self._paused = pause
            if pause:
                transport.pause_reading()
            else:
                transport.resume_reading()

    # ending

    def _goodbye(self) -> None:
        """Close once the answers that are due have left."""
        assert self.outlet is not None
        if self.connection.unanswered and not self.connection.closing:
            return
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        if not self.outlet.queued_bytes:
            self.drop(self.connection.closing or "done")

    def drop(self, why: str) -> None:
        """End the connection now."""
        transport = self._transport
        if transport is None:
            return
        self._edge.log("connection closed", peer=self.peer.remote_host, client=self.peer.client_id, why=why)
        self._gone()
        transport.abort()

    def broken(self, error: OSError) -> None:
        """The way out failed."""
        transport = self._transport
        self._gone()
        if transport is not None:
            transport.abort()

    def _gone(self) -> None:
        if self._transport is None:
            return
        self._transport = None
        edge = self._edge
        edge.sockets.pop(self, None)
        edge.dispatcher.metrics.connections = len(edge.sockets)
        if self.outlet is not None:
            self.outlet.close()
            self.outlet = None
        self.connection.lost()
        for request in self._backlog:
            self.connection.served(request)
        self._backlog.clear()
        counted, self._counted = self._counted, 0
        edge.budget.change(-counted)
        edge.budget.forget(self)
