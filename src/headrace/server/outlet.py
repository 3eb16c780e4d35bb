"""The way out of a connection: buffers and slices of files to a socket, in order, with back-pressure.

`SocketOutlet` writes to the socket itself: a batch of answers is one `sendmsg`, a slice of a file is `sendfile`, and
when the socket is full we wait for it to drain. (An event loop's transport would copy what the socket does not take,
and uvloop has no `sendfile`.) The loop watches a duplicate of the descriptor, because the original belongs to the
transport.

Before a slice goes out, its next piece is looked for in the page cache; what is not there is read in a thread
first, so that a cold consumer never holds the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from headrace.base.files import Body, FileSlice, FileSlices
from headrace.base.limits import KIB
from headrace.base.world import World
from headrace.server import linux
from headrace.server.disk import DiskFile

_IOV_MAX = 1024
# One piece of a slice: looked up in the page cache, then sent. At 2 GB/s a piece takes 0.25 ms.
_PIECE = 512 * KIB
# Slices up to this size are copied, if they lie in memory, and leave with their header in one `sendmsg`: for 16 kB that is
# two system calls, where looking (twice), sending the header and `sendfile` are four or five.
_COPIED = 64 * KIB
# What one connection may send in one turn of the loop (0.5 ms); then others get theirs, be they 200.
_TURN = 1024 * KIB


class Outlet(Protocol):
    queued_bytes: int
    """Bytes handed in and not yet taken by the socket."""
    memory_bytes: int
    """Of them, those that lie in memory: all but slices of files."""

    def send(self, buffers: Sequence[Body]) -> None: ...

    def close(self) -> None:
        """Drop what is queued and give everything back."""
        ...


class SocketOutlet:
    """Straight to a plain socket."""

    __slots__ = (
        "_busy",
        "_fd",
        "_loop",
        "_lost",
        "_moved",
        "_queue",
        "_socket",
        "_watching",
        "_world",
        "memory_bytes",
        "queued_bytes",
    )

    def __init__(
        self,
        world: World,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        moved: Callable[[], None],
        lost: Callable[[OSError], None],
    ) -> None:
        self._world = world
        self._loop = loop
        self._fd = os.dup(fd)
        self._socket = socket.socket(fileno=self._fd)
        self._socket.setblocking(False)
        self._moved = moved  # called when queued bytes have left
        self._lost = lost
        self._queue: deque[Body] = deque()
        self._busy = False  # a thread is reading ahead for us
        self._watching = False
        self.queued_bytes = 0
        self.memory_bytes = 0

    def send(self, buffers: Sequence[Body]) -> None:
        size = 0
        for buffer in buffers:
            length = len(buffer)
            size += length
            if isinstance(buffer, FileSlices):
                self._queue.extend(buffer.slices)
                continue
            if isinstance(buffer, FileSlice):
                if length > _COPIED or self._busy or self._watching:
                    self._queue.append(buffer)
                    continue
                buffer = _copy(buffer) or buffer
            self._queue.append(buffer)
            if not isinstance(buffer, FileSlice):
                self.memory_bytes += length
        self.queued_bytes += size
        if not self._busy and not self._watching:
            self._pump()

    def _pump(self) -> None:
        queue = self._queue
        turn = _TURN
        try:
            while queue:
                if turn <= 0:
                    self._watch()
                    return
                first = queue[0]
                if isinstance(first, FileSlice):
                    sent = self._send_slice(first)
                    if sent < 0:
                        return
                else:
                    sent = self._send_memory()
                    self.memory_bytes -= sent
                self.queued_bytes -= sent
                turn -= sent
        except BlockingIOError:
            self._watch()
        except OSError as error:
            self._fail(error)

    def _send_memory(self) -> int:
        queue = self._queue
        if len(queue) == 1:
            only = queue[0]
            sent = self._socket.send(only)  # type: ignore[arg-type]
            if sent == len(only):
                queue.popleft()
            else:
                queue[0] = memoryview(only)[sent:]  # type: ignore[arg-type]
            return sent
        batch = []
        more = 0
        for buffer in queue:
            if isinstance(buffer, FileSlice):
                more = socket.MSG_MORE if hasattr(socket, "MSG_MORE") else 0  # its header rides in the same segment
                break
            batch.append(buffer)
            if len(batch) == _IOV_MAX:
                break
        sent = self._socket.sendmsg(batch, (), more)  # type: ignore[arg-type]
        left = sent
        while left:
            first = queue[0]
            size = len(first)
            if size > left:
                queue[0] = memoryview(first)[left:]  # type: ignore[arg-type]
                break
            queue.popleft()
            left -= size
        while queue and not isinstance(queue[0], FileSlice) and not len(queue[0]):
            queue.popleft()
        return sent

    def _send_slice(self, part: FileSlice) -> int:
        """Send a piece; -1 when a thread has to bring it into memory first."""
        if not part.size:
            self._queue.popleft()
            return 0
        file = part.file
        assert isinstance(file, DiskFile)
        piece = min(part.size, _PIECE)
        if not file.is_cached(part.position, piece):
            self._busy = True
            reading = self._world.offload(lambda: file.read_ahead(part.position, piece))
            reading.add_done_callback(self._warmed)
            return -1
        fd = file.pin()
        try:
            sent = linux.send_file(self._fd, fd, part.position, piece)
        finally:
            file.unpin()
        if sent == 0:
            raise OSError(f"{file.path} ended before byte {part.position + part.size}")
        if sent == part.size:
            self._queue.popleft()
        else:
            part.position += sent
            part.size -= sent
        return sent

    def _warmed(self, reading: asyncio.Future[None]) -> None:
        self._busy = False
        if self._fd < 0:
            with contextlib.suppress(OSError):
                reading.result()
            return
        try:
            reading.result()
        except OSError as error:
            self._fail(error)
            return
        before = self.queued_bytes
        self._pump()
        if self.queued_bytes != before:
            self._moved()

    def _watch(self) -> None:
        if not self._watching:
            self._watching = True
            self._loop.add_writer(self._fd, self._writable)

    def _writable(self) -> None:
        self._watching = False
        self._loop.remove_writer(self._fd)
        self._pump()
        if self._fd >= 0:
            self._moved()

    def _fail(self, error: OSError) -> None:
        self.close()
        self._lost(error)

    def close(self) -> None:
        if self._fd < 0:
            return
        if self._watching:
            self._loop.remove_writer(self._fd)
            self._watching = False
        self._fd = -1
        self._socket.close()
        self._queue.clear()
        self.queued_bytes = self.memory_bytes = 0


def _copy(part: FileSlice) -> bytearray | None:
    """The bytes themselves, where they lie in memory."""
    file = part.file
    assert isinstance(file, DiskFile)
    data = bytearray(part.size)
    try:
        return data if file.read_into(part.position, data) else None
    except OSError:  # the file is gone, or the disk fails: sending the slice meets the same and reports it
        return None
