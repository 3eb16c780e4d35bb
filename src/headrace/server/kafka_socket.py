"""The edge of a Kafka connection: read, feed, serve, drain. No decisions about the protocol are made here.

One scratch buffer serves all connections of the node: the loop asks for it, receives into it and hands it over in
one turn, and what must outlive the turn is copied by whoever keeps it.

Requests that cannot be served at once wait in the connection's backlog: behind one that must be finished first
(`held`), behind answers that the peer does not take, or because this connection has had its share of the turn (a
receive may bring 18,000 tiny requests, each with an answer of megabytes).

Reading pauses while: requests wait in the backlog, too many or too large ones are unanswered, answers are not taken by
the peer, or the node's byte budget is spent.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, cast

from headrace.base.errors import ProtocolError
from headrace.base.files import Body
from headrace.base.limits import (
    BUDGET_SPENT_WAIT_MS_MAX,
    CONNECTION_ANSWER_BYTES_MAX,
    CONNECTION_REQUEST_BYTES_MAX,
    CONNECTION_SHARE_BYTES,
    FRAME_SIZE_MAX,
    GOODBYE_WAIT_MS_MAX,
    KIB,
)
from headrace.base.world import World
from headrace.broker.waiting import Later
from headrace.protocols.kafka.connection import Connection, FrameBuffers, Request
from headrace.protocols.kafka.dispatch import Answer, Dispatcher
from headrace.protocols.kafka.handlers.context import Peer
from headrace.server.budget import Budget
from headrace.server.outlet import Outlet

# Five batches of 16 kB in flight arrive in one receive; of a frame of 1 MiB an eighth at most is copied out of it.
SCRATCH_SIZE = 128 * KIB
# What one connection is served in one turn of the loop; then others get theirs.
_TURN_MS = 5.0


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
        frame_size_max: int = FRAME_SIZE_MAX,
    ) -> None:
        self.world = world
        self.dispatcher = dispatcher
        self.budget = budget
        self.make_outlet = make_outlet
        self.log = log
        self.connections_max = connections_max
        self.idle_ms_max = idle_ms_max
        self.frame_wait_ms_max = frame_wait_ms_max
        self.frame_size_max = frame_size_max
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
        """Close those that are idle, or stuck in the middle of something. Called every few seconds.

        While the budget is spent, those who hold it by doing nothing have less time.
        """
        now = self.world.monotonic_ms()
        for socket in list(self.sockets):
            why = socket.overdue(now)
            if why is not None:
                socket.drop(why, "overdue")


class KafkaSocket(asyncio.BufferedProtocol):
    """One connection."""

    __slots__ = (
        "_backlog",
        "_backlog_due",
        "_closing_ms",
        "_counted",
        "_edge",
        "_flush_due",
        "_handed",
        "_held",
        "_paused",
        "_paused_by_us",
        "_refused",
        "_sent",
        "_transport",
        "_unsent",
        "connection",
        "frame_ms",
        "heard_ms",
        "outlet",
        "peer",
    )

    def __init__(self, edge: KafkaEdge) -> None:
        self._edge = edge
        self.connection = Connection(edge.buffers, frame_size_max=edge.frame_size_max)
        self.peer = Peer()
        self.outlet: Outlet | None = None
        self._transport: asyncio.Transport | None = None
        self._backlog: deque[Request] = deque()  # requests that wait to be served
        self._backlog_due = False
        self._held = False  # a request is under way that must be finished before the next one is served
        self._paused = False
        self._paused_by_us = False  # for another reason than the node's budget: the frame's clock stands still
        self._flush_due = False
        self._counted = 0  # what this connection has reported to the budget
        self._handed = 0  # bytes of answers given to the outlet, ever
        self._sent = self._unsent = 0  # of them, what the metrics know
        self._closing_ms = -1.0
        self._refused = False  # a request broke the protocol: nothing behind it is served
        self.heard_ms = 0.0
        self.frame_ms = 0.0

    # from the loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's do not say that they are one
        edge = self._edge
        self.heard_ms = self.frame_ms = edge.world.monotonic_ms()
        try:
            self.outlet = edge.make_outlet(self._transport, self)
        except OSError as error:  # the peer has gone already, or there are no descriptors left
            edge.log("connection refused", why=str(error))
            self._transport = None
            transport.abort()  # type: ignore[attr-defined]
            return
        here, there = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        self.peer.local_host, self.peer.local_port = (here[0], here[1]) if here else ("", 0)
        self.peer.remote_host = there[0] if there else ""
        edge.sockets[self] = None
        metrics = edge.dispatcher.metrics
        metrics.connections = len(edge.sockets)
        metrics.connections_opened += 1
        if len(edge.sockets) > edge.connections_max:
            self.drop(f"more than {edge.connections_max} connections", "limit")

    def get_buffer(self, sizehint: int) -> memoryview:
        return self.connection.room() or self._edge.scratch

    def buffer_updated(self, count: int) -> None:
        edge = self._edge
        connection = self.connection
        if self.outlet is None or connection.closing is not None:
            return  # what was under way when we stopped to listen
        edge.dispatcher.metrics.bytes_received += count
        now = self.heard_ms = edge.world.monotonic_ms()
        was_in_frame = connection.in_frame
        if connection.receiving:
            requests = connection.filled(count)
        else:
            requests = connection.receive(edge.scratch[:count])
        if requests or not was_in_frame:
            self.frame_ms = now
        several = len(requests) > 1
        for index, request in enumerate(requests):
            request.began_ms = now
            if self._backlog or not self._may_serve():
                request.keep()
                self._backlog.append(request)
                continue
            self._serve(request)
            if self._refused:
                break
            if several and edge.world.monotonic_ms() - now > _TURN_MS:
                for later in requests[index + 1 :]:
                    later.began_ms = now
                    later.keep()
                    self._backlog.append(later)
                break
        self._flush()

    def eof_received(self) -> bool:
        return False  # close: Kafka's clients do not half-close

    def connection_lost(self, error: Exception | None) -> None:
        self._gone("peer")

    # serving

    def _may_serve(self) -> bool:
        """Whether the next request may be served: nothing is under way before it, and the peer takes its answers."""
        outlet = self.outlet
        if outlet is None or self._held:
            return False
        return outlet.queued_bytes + self.connection.answer_bytes <= CONNECTION_ANSWER_BYTES_MAX

    def _serve(self, request: Request) -> None:
        try:
            answer = self._edge.dispatcher.serve(request, self.peer)
        except OSError as error:
            self._world_failed(error)
            return
        # Whoever needs the request's bytes for longer has copied them.
        self.connection.served(request)
        if isinstance(answer, list):
            self.connection.respond(request, answer)
        elif isinstance(answer, Later):
            answer.then(lambda value: self._answer_later(request, value))
        elif isinstance(answer, ProtocolError):
            self._refuse(request, answer)
        else:
            self._held = True
            self._edge.spawn(self._finish(request, answer))

    def _world_failed(self, error: OSError) -> None:
        """The disk or the store failed in a way that nobody below turned into an answer: the client comes again and hears more."""
        self._edge.log("a request could not be served", client=self.peer.client_id, error=str(error))
        self.drop(f"the world failed: {error}", "storage")

    def _refuse(self, request: Request, why: ProtocolError) -> None:
        self.connection.refuse(request, str(why))
        self._backlog.clear()
        self._refused = True

    async def _finish(self, request: Request, work: Coroutine[Any, Any, Answer]) -> None:
        try:
            answer = await work
        except OSError as error:
            self._world_failed(error)
            return
        self._held = False
        if isinstance(answer, list):
            self.connection.respond(request, answer)
        elif isinstance(answer, Later):  # its effect is made: what comes behind may go on
            answer.then(lambda value: self._answer_later(request, value))
        else:
            assert isinstance(answer, ProtocolError)
            self._refuse(request, answer)
        self._serve_backlog()

    def _serve_backlog(self) -> None:
        """What waits, as much as fits into one turn."""
        self._backlog_due = False
        backlog, world = self._backlog, self._edge.world
        began = world.monotonic_ms()
        while backlog and self._may_serve():
            self._serve(backlog.popleft())
            if world.monotonic_ms() - began > _TURN_MS:
                break
        self._flush()

    def _answer_later(self, request: Request, buffers: list[Body]) -> None:
        if self.outlet is None:
            return
        self.connection.respond(request, buffers)
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
            self._handed += sum(map(len, buffers))
            outlet.send(buffers)
            if self.outlet is None:
                return
        if self.connection.closing is not None:
            self._goodbye()
        else:
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
        return self.outlet is not None and (self._flush_due or bool(self.outlet.queued_bytes))

    def _regulate(self) -> None:
        connection, outlet, transport = self.connection, self.outlet, self._transport
        if outlet is None or transport is None:
            return
        self._count_sent(outlet)
        budget = self._edge.budget
        frame_bytes = connection.frame_bytes
        owed = connection.request_bytes + connection.answer_bytes + outlet.memory_bytes
        held = frame_bytes + owed
        if held != self._counted:
            delta, self._counted = held - self._counted, held
            budget.change(delta)
        by_us = (
            self._held
            or bool(self._backlog)
            or self._edge.draining
            or connection.full
            or connection.closing is not None
            or outlet.queued_bytes + connection.answer_bytes > CONNECTION_ANSWER_BYTES_MAX
            or connection.request_bytes > CONNECTION_REQUEST_BYTES_MAX
        )
        if by_us or not frame_bytes:
            budget.forget(self)
            # Who is owed much answers gets them before anything more is read from it; this needs no place in the line.
            pause = by_us or (owed > CONNECTION_SHARE_BYTES and budget.spent)
        else:
            pause = budget.wait(self)
        if self._paused_by_us and not by_us:
            self.frame_ms = self._edge.world.monotonic_ms()
        self._paused_by_us = by_us
        if pause != self._paused:
            self._paused = pause
            if pause:
                if not by_us:
                    self._edge.dispatcher.metrics.reading_pauses += 1
                transport.pause_reading()
            else:
                transport.resume_reading()
        if self._backlog and not self._backlog_due and self._may_serve():
            self._backlog_due = True
            asyncio.get_running_loop().call_soon(self._serve_backlog)

    def _count_sent(self, outlet: Outlet) -> None:
        unsent = outlet.queued_bytes
        sent = self._handed - unsent
        if sent != self._sent or unsent != self._unsent:
            metrics = self._edge.dispatcher.metrics
            metrics.bytes_sent += sent - self._sent
            metrics.unsent_answer_bytes += unsent - self._unsent
            self._sent, self._unsent = sent, unsent

    # ending

    def overdue(self, now: float) -> str | None:
        """Why this connection has had time enough."""
        connection, outlet, edge = self.connection, self.outlet, self._edge
        quiet = now - self.heard_ms
        spent = edge.budget.spent
        unsent = outlet is not None and outlet.queued_bytes > 0
        if connection.closing is not None:
            return connection.closing if now - self._closing_ms > GOODBYE_WAIT_MS_MAX else None
        frame_wait = min(edge.frame_wait_ms_max, BUDGET_SPENT_WAIT_MS_MAX) if spent else edge.frame_wait_ms_max
        if connection.in_frame and not self._paused_by_us and now - self.frame_ms > frame_wait:
            return f"a frame was not whole after {frame_wait} ms"
        if spent and unsent and quiet > BUDGET_SPENT_WAIT_MS_MAX:
            return f"answers were not read for {quiet:.0f} ms, and the node's memory for requests is spent"
        if quiet > edge.idle_ms_max and unsent:
            return f"answers were not read for {quiet:.0f} ms"
        if quiet > edge.idle_ms_max and not connection.unanswered:
            return f"idle for {quiet:.0f} ms"
        return None

    def _goodbye(self) -> None:
        """Close once the answers that are due have left."""
        outlet = self.outlet
        assert outlet is not None
        if self._closing_ms < 0:
            self._closing_ms = self._edge.world.monotonic_ms()
        if self.connection.unanswered or outlet.queued_bytes:
            self._regulate()
        else:
            self.drop(self.connection.closing or "done", "protocol")

    def drop(self, why: str, reason: str) -> None:
        """End the connection now. `reason` is the word that the metrics count it under."""
        transport = self._transport
        if transport is None:
            return
        self._edge.log("connection closed", peer=self.peer.remote_host, client=self.peer.client_id, why=why)
        self._gone(reason)
        transport.abort()

    def broken(self, error: OSError) -> None:
        """The way out failed."""
        transport = self._transport
        self._gone("peer")
        if transport is not None:
            transport.abort()

    def _gone(self, reason: str) -> None:
        if self._transport is None:
            return
        self._transport = None
        edge = self._edge
        edge.sockets.pop(self, None)
        metrics = edge.dispatcher.metrics
        metrics.connections = len(edge.sockets)
        metrics.connections_closed[reason] += 1
        metrics.unsent_answer_bytes -= self._unsent
        self._unsent = 0
        if self.outlet is not None:
            self.outlet.close()
            self.outlet = None
        self.connection.lost()
        self._backlog.clear()
        counted, self._counted = self._counted, 0
        edge.budget.change(-counted)
        edge.budget.forget(self)
