"""The way out of a simulated connection: the twin of `server/outlet.SocketOutlet`.

It keeps the same promises: what the transport's window does not take waits here and counts as queued; a slice of a
file is looked up piece by piece when its turn comes, and what is cold is read off the loop first.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from headrace.base.files import Body, FileSlice, FileSlices
from headrace.base.world import World
from sim.network import SimTransport

_PIECE = 64 * 1024


class SimOutlet:
    def __init__(self, world: World, transport: SimTransport, moved: Callable[[], None], lost: Callable[[OSError], None]) -> None:
        self._world = world
        self._transport: SimTransport | None = transport
        self._moved = moved
        self._lost = lost
        self._queue: deque[Body] = deque()
        self._busy = False
        self.queued_bytes = 0
        self.memory_bytes = 0  # of them, all but slices of files

    def send(self, buffers: Sequence[Body]) -> None:
        for buffer in buffers:
            if isinstance(buffer, FileSlices):
                self._queue.extend(buffer.slices)
            else:
                self._queue.append(buffer)
                if not isinstance(buffer, FileSlice):
                    self.memory_bytes += len(buffer)
            self.queued_bytes += len(buffer)
        self._pump()

    def close(self) -> None:
        self._transport = None
        self._queue.clear()
        self.queued_bytes = self.memory_bytes = 0

    def _pump(self) -> None:
        transport = self._transport
        while self._queue and not self._busy and transport is not None:
            if transport.get_write_buffer_size():
                transport.on_room = self._room
                return
            first = self._queue[0]
            if isinstance(first, FileSlice):
                if not self._send_slice(first, transport):
                    return
            else:
                self._queue.popleft()
                self.queued_bytes -= len(first)
                self.memory_bytes -= len(first)
                transport.write(first)

    def _send_slice(self, part: FileSlice, transport: SimTransport) -> bool:
        piece = min(part.size, _PIECE)
        try:
            data = part.file.read_cached(part.position, piece)
        except OSError as error:
            self._fail(error)
            return False
        if data is None:
            self._busy = True
            reading = self._world.offload(lambda: part.file.read_ahead(part.position, piece))
            reading.add_done_callback(self._warmed)
            return False
        if len(data) < piece:
            self._fail(OSError(f"{part.file.path} ended before byte {part.position + part.size}"))
            return False
        transport.write(data)
        self.queued_bytes -= piece
        if piece == part.size:
            self._queue.popleft()
        else:
            self._queue[0] = FileSlice(part.file, part.position + piece, part.size - piece)
        return True

    def _warmed(self, reading: asyncio.Future[None]) -> None:
        self._busy = False
        error = reading.exception()
        if self._transport is None:
            return
        if isinstance(error, OSError):
            self._fail(error)
        elif error is not None:
            raise error
        else:
            self._room()

    def _room(self) -> None:
        if self._transport is None:
            return
        before = self.queued_bytes
        self._pump()
        if self._transport is not None and self.queued_bytes != before:
            self._moved()

    def _fail(self, error: OSError) -> None:
        self.close()
        self._lost(error)
