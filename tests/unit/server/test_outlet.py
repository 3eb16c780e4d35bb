"""The way out of a connection, over pairs of real sockets: nothing lost, nothing doubled, nothing out of order."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from headrace.base.files import Body, FileSlice, FileSlices
from headrace.server import linux
from headrace.server.disk import DiskFile, DiskFiles
from headrace.server.outlet import SocketOutlet


class World:
    """Threads that finish when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[asyncio.Future[Any], Callable[[], Any]]] = []

    def offload(self, work: Callable[[], Any]) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.waiting.append((future, work))
        return future

    def finish(self) -> int:
        waiting, self.waiting = self.waiting, []
        for future, work in waiting:
            try:
                future.set_result(work())
            except OSError as error:
                future.set_exception(error)
        return len(waiting)


class Pair:
    """An outlet, and the peer's end."""

    def __init__(self) -> None:
        ours, self.peer = socket.socketpair()
        for end in (ours, self.peer):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * 1024)
            end.setblocking(False)
        self.world = World()
        self.moved = 0
        self.lost: list[OSError] = []
        self.outlet = SocketOutlet(
            self.world,  # type: ignore[arg-type]
            asyncio.get_running_loop(),
            ours.fileno(),
            self._moved,
            self.lost.append,
        )
        self.ours = ours  # the transport's own descriptor
        self.received = bytearray()

    def _moved(self) -> None:
        self.moved += 1

    def read(self, size: int = 1 << 20) -> int:
        try:
            piece = self.peer.recv(size)
        except BlockingIOError:
            return 0
        self.received += piece
        return len(piece)

    async def read_all(self, total: int) -> None:
        for _ in range(20_000):
            self.read()
            self.world.finish()
            if len(self.received) >= total:
                return
            await asyncio.sleep(0)
        raise AssertionError(f"{len(self.received)} of {total} bytes came")

    def close(self) -> None:
        self.outlet.close()
        self.ours.close()
        self.peer.close()


def run(story: Callable[[Pair], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        pair = Pair()
        try:
            await story(pair)
        finally:
            pair.close()

    asyncio.run(whole())


def a_file(folder: Path, data: bytes, name: str = "f") -> DiskFile:
    file = DiskFiles(str(folder), 10).open(name, create=True)
    file.write(0, [data])
    return file


def test_what_the_socket_takes_leaves_at_once():
    async def story(pair: Pair) -> None:
        pair.outlet.send([b"one", b"", bytearray(b"two"), memoryview(b"three")])
        assert pair.outlet.queued_bytes == pair.outlet.memory_bytes == 0
        await pair.read_all(11)
        assert pair.received == b"onetwothree"

    run(story)


def test_partial_sends_go_on_where_they_stopped():
    async def story(pair: Pair) -> None:
        chance = random.Random(2)
        buffers = [chance.randbytes(chance.choice((0, 1, 10, 5_000, 200_000))) for _ in range(60)]
        wanted = b"".join(buffers)
        pair.outlet.send(buffers[:30])
        assert 0 < pair.outlet.queued_bytes == pair.outlet.memory_bytes < len(wanted)
        pair.outlet.send(buffers[30:])
        await pair.read_all(len(wanted))
        assert pair.received == wanted
        assert pair.outlet.queued_bytes == pair.outlet.memory_bytes == 0 and pair.moved

    run(story)


def test_more_buffers_than_one_call_takes():
    async def story(pair: Pair) -> None:
        buffers = [b"%04d" % index for index in range(2_500)]
        pair.outlet.send(buffers)
        await pair.read_all(10_000)
        assert pair.received == b"".join(buffers)

    run(story)


def test_slices_of_files_between_bytes(tmp_path: Path):
    data = random.Random(3).randbytes(1_500_000)

    async def story(pair: Pair) -> None:
        file = a_file(tmp_path, data)
        bodies: list[Body] = [
            b"head",
            FileSlice(file, 100, 1_000_000),
            b"between",
            FileSlices([FileSlice(file, 0, 10), FileSlice(file, 1_400_000, 100_000), FileSlice(file, 5, 0)]),
            FileSlice(file, 7, 3_000),
            b"end",
        ]
        total = sum(map(len, bodies))
        pair.outlet.send(bodies)
        # Slices wait without their bytes.
        assert pair.outlet.queued_bytes > 900_000 and pair.outlet.memory_bytes < 4_000
        await pair.read_all(total)
        assert pair.received == b"".join(
            (b"head", data[100:1_000_100], b"between", data[:10], data[1_400_000:], data[7:3_007], b"end")
        )
        assert pair.outlet.queued_bytes == pair.outlet.memory_bytes == 0

    run(story)


class ColdFile(DiskFile):
    """Not in memory until a thread has read it."""

    __slots__ = ("warm",)

    def is_cached(self, position: int, size: int) -> bool:
        return (position, size) in self.warm

    def read_into(self, position: int, buffer: Any) -> bool:
        return False

    def read_ahead(self, position: int, size: int) -> None:
        self.warm.add((position, size))


def a_cold_file(folder: Path, data: bytes) -> ColdFile:
    warm = a_file(folder, data)
    file = ColdFile(warm._files, warm.path)
    file.warm = set()
    return file


def test_cold_pages_are_read_in_a_thread_first(tmp_path: Path):
    data = random.Random(4).randbytes(1_200_000)

    async def story(pair: Pair) -> None:
        pair.outlet.send([b"head", FileSlice(a_cold_file(tmp_path, data), 0, len(data)), b"tail"])
        pair.read()
        assert bytes(pair.received) == b"head" and len(pair.world.waiting) == 1
        pair.outlet.send([b"more"])  # it waits its turn
        await asyncio.sleep(0)
        assert pair.read() == 0
        await pair.read_all(len(data) + 12)
        assert bytes(pair.received) == b"head" + data + b"tailmore"

    run(story)


def test_closing_while_a_thread_reads_for_it(tmp_path: Path):
    async def story(pair: Pair) -> None:
        pair.outlet.send([FileSlice(a_cold_file(tmp_path, bytes(100_000)), 0, 100_000)])
        pair.outlet.close()
        assert pair.world.finish() == 1
        await asyncio.sleep(0)
        assert pair.moved == 0 and not pair.lost and pair.outlet.queued_bytes == 0

    run(story)


def test_a_disk_that_fails_ends_the_connection(tmp_path: Path):
    class Failing(ColdFile):
        __slots__ = ()

        def read_ahead(self, position: int, size: int) -> None:
            raise OSError(5, "input/output error")

    async def story(pair: Pair) -> None:
        warm = a_file(tmp_path, bytes(100_000))
        file = Failing(warm._files, warm.path)
        file.warm = set()
        pair.outlet.send([FileSlice(file, 0, 100_000)])
        pair.world.finish()
        await asyncio.sleep(0)
        assert [error.errno for error in pair.lost] == [5]

    run(story)


def test_a_file_that_was_removed_ends_the_connection(tmp_path: Path):
    # Retention took the segment between the read and the send; for small slices the error came out of `send` itself.
    async def story(pair: Pair) -> None:
        for size in (1_000, 100_000):
            file = a_file(tmp_path, bytes(size), f"f{size}")
            file._files.remove(file.path)
            other = Pair()
            other.outlet.send([b"head", FileSlice(file, 0, size)])
            assert len(other.lost) == 1 and other.outlet.queued_bytes == 0
            other.close()

    run(story)


def test_a_file_that_became_shorter_ends_the_connection(tmp_path: Path):
    async def story(pair: Pair) -> None:
        file = a_file(tmp_path, bytes(1_000))
        pair.outlet.send([FileSlice(file, 500, 200_000)])
        pair.read()
        for _ in range(5):
            await asyncio.sleep(0)
            pair.world.finish()
            pair.read()
        assert len(pair.lost) == 1

    run(story)


def test_closing_in_the_middle():
    async def story(pair: Pair) -> None:
        pair.outlet.send([bytes(1_000_000)])
        assert pair.outlet.queued_bytes
        pair.outlet.close()
        pair.outlet.close()
        assert pair.outlet.queued_bytes == pair.outlet.memory_bytes == 0
        while pair.read():
            pass
        for _ in range(5):
            await asyncio.sleep(0)
        assert pair.moved == 0 and not pair.lost

    run(story)


def test_a_peer_that_has_gone():
    async def story(pair: Pair) -> None:
        pair.outlet.send([bytes(1_000_000)])
        pair.peer.close()
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(pair.lost) == 1 and pair.outlet.queued_bytes == 0

    run(story)


def test_one_connection_does_not_keep_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # 200 readers that took 4 MiB each in a turn made others wait for two seconds.
    sent: list[int] = []

    def takes_all(to_fd: int, from_fd: int, position: int, size: int) -> int:
        sent.append(size)
        return size

    monkeypatch.setattr(linux, "send_file", takes_all)

    async def story(pair: Pair) -> None:
        pair.outlet.send([FileSlice(a_file(tmp_path, bytes(8 << 20)), 0, 8 << 20)])
        assert sum(sent) <= 2 << 20
        for _ in range(40):
            await asyncio.sleep(0)
        assert sum(sent) == 8 << 20 and pair.outlet.queued_bytes == 0

    run(story)
