"""The loop of the load generator: plain sockets, epoll, prebuilt bytes.

A request costs about one `send`, a share of one `recv` and one clock reading; nothing is encoded or decoded while the clock
runs, but that the length of every answer and the error code in it are looked at. Answers of one connection come in order, so the
times at which requests were sent lie in a queue and the one in front belongs to the next answer.

Two windows: `warm` seconds that are not counted, then `seconds` that are, or fewer when `bytes_max` is reached. The server's CPU
time is read at both ends of the counted window.
"""

import resource
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from bench.load import frames
from bench.process import cpu_seconds, machine_cpu_seconds

RECEIVE_SIZE = 1 << 20


class Window:
    """What happened while the clock ran."""

    def __init__(self, warm: float, seconds: float, server_pid: int) -> None:
        self.warm = warm
        self.wanted = seconds
        self.server_pid = server_pid
        self.requests = 0
        self.bytes = 0
        self.latencies: list[int] = []  # ns
        self.open_ns = 0
        self.close_ns = 0
        self.server_cpu = 0.0
        self.own_cpu = 0.0
        self.machine_cpu = 0.0

    def open(self, now_ns: int) -> None:
        self.requests = self.bytes = 0
        self.latencies.clear()
        self.open_ns = now_ns
        self.server_cpu = cpu_seconds(self.server_pid) if self.server_pid else 0.0
        self.own_cpu = _own_cpu()
        self.machine_cpu = machine_cpu_seconds()

    def close(self) -> None:
        self.close_ns = time.perf_counter_ns()
        self.server_cpu = cpu_seconds(self.server_pid) - self.server_cpu if self.server_pid else 0.0
        self.own_cpu = _own_cpu() - self.own_cpu
        self.machine_cpu = machine_cpu_seconds() - self.machine_cpu

    def report(self, records_per_request: float) -> dict[str, Any]:
        seconds = (self.close_ns - self.open_ns) / 1e9
        ordered = sorted(self.latencies)

        def percentile(share: float) -> float:
            return ordered[min(len(ordered) - 1, int(len(ordered) * share))] / 1000 if ordered else 0.0

        gigabytes = self.bytes / 1e9
        return {
            "seconds": seconds,
            "requests": self.requests,
            "bytes": self.bytes,
            "mb_s": self.bytes / 1e6 / seconds,
            "requests_s": self.requests / seconds,
            "records_s": self.requests * records_per_request / seconds,
            "latency_us": {"p50": percentile(0.5), "p99": percentile(0.99), "p999": percentile(0.999), "max": percentile(1.0)},
            "server_cpu_s": self.server_cpu,
            "server_cpu_s_gb": self.server_cpu / gigabytes if gigabytes else 0.0,
            "server_cpu_us_request": self.server_cpu * 1e6 / self.requests if self.requests else 0.0,
            "generator_cpu_share": self.own_cpu / seconds,
            "others_cpu_share": max(0.0, self.machine_cpu - self.own_cpu - self.server_cpu) / seconds,
        }


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    s = socket.create_connection((host, int(port)), 10)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.setblocking(False)
    return s


class _Sender:
    """One connection of a produce load."""

    __slots__ = ("buffer", "fill", "frames", "next", "sent_ns", "socket", "unsent", "view")

    def __init__(self, address: str, frames_: list[bytes]) -> None:
        self.socket = _connect(address)
        self.frames = [memoryview(f) for f in frames_]
        self.next = 0
        self.unsent: memoryview | None = None
        self.sent_ns: deque[int] = deque()
        self.buffer = bytearray(1 << 16)
        self.view = memoryview(self.buffer)
        self.fill = 0

    def send(self, count: int) -> None:
        """Put `count` more requests under way. What the socket does not take waits in `unsent` for EPOLLOUT."""
        now_ns = time.perf_counter_ns()
        for _ in range(count):
            self.sent_ns.append(now_ns)
        if len(self.frames) == 1 and count > 1 and self.unsent is None:
            data = memoryview(bytes(self.frames[0]) * count) if len(self.frames[0]) < 4096 else None
            if data is not None:
                self._write(data)
                return
        for _ in range(count):
            frame = self.frames[self.next]
            self.next = (self.next + 1) % len(self.frames)
            if self.unsent is None:
                self._write(frame)
            else:  # rare: the socket is full and more is due. Copy.
                self.unsent = memoryview(bytes(self.unsent) + bytes(frame))

    def _write(self, data: memoryview) -> None:
        try:
            taken = self.socket.send(data)
        except BlockingIOError:
            taken = 0
        self.unsent = data[taken:] if taken < len(data) else None

    def write_more(self) -> bool:
        """Whether all is sent now."""
        if self.unsent is not None:
            self._write(self.unsent)
        return self.unsent is None

    def receive(self, error_at: int) -> int:
        """How many answers came."""
        try:
            taken = self.socket.recv_into(self.view[self.fill :])
        except BlockingIOError:
            return 0
        if not taken:
            raise AssertionError("the broker closed the connection")
        end = self.fill + taken
        at = answers = 0
        buffer = self.buffer
        while end - at >= 4:
            size = 4 + int.from_bytes(buffer[at : at + 4], "big")
            if end - at < size:
                break
            if buffer[at + error_at] or buffer[at + error_at + 1]:
                frames.check_produced(bytes(buffer[at : at + size]))
            at += size
            answers += 1
        if at < end:
            buffer[: end - at] = buffer[at:end]
        self.fill = end - at
        return answers


def produce(
    address: str,
    topic: str,
    batch: frames.Batch,
    *,
    connections: int,
    in_flight: int,
    acks: int,
    partitions: int,
    window: Window,
    bytes_max: int = 0,
) -> dict[str, Any]:
    """Each connection keeps `in_flight` requests under way, each to the next of its partitions."""
    error_at = frames.produce_error_at(topic)
    made = [frames.produce_frame(topic, p, batch, acks) for p in range(partitions)]
    senders = [_Sender(address, made[i % partitions :] + made[: i % partitions]) for i in range(connections)]
    poll = select.epoll()
    by_fd = {s.socket.fileno(): s for s in senders}
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    size = len(batch.bytes)
    watched: set[int] = set()  # waiting for EPOLLOUT

    def send(fd: int, sender: _Sender, count: int) -> None:
        sender.send(count)
        if sender.unsent is not None and fd not in watched:
            watched.add(fd)
            poll.modify(fd, select.EPOLLIN | select.EPOLLOUT)

    def turn(going: bool) -> None:
        for fd, event in poll.poll(1.0):
            sender = by_fd[fd]
            if event & select.EPOLLOUT and sender.write_more():
                watched.discard(fd)
                poll.modify(fd, select.EPOLLIN)
            if event & ~select.EPOLLOUT:
                answers = sender.receive(error_at)
                if answers:
                    now_ns = time.perf_counter_ns()
                    for _ in range(answers):
                        window.latencies.append(now_ns - sender.sent_ns.popleft())
                    window.requests += answers
                    window.bytes += answers * size
                    if going:
                        send(fd, sender, answers)

    def drained() -> bool:
        return not any(s.sent_ns for s in senders)

    for fd, sender in by_fd.items():
        send(fd, sender, in_flight)
    _through(window, turn, bytes_max)
    _drain(turn, drained)
    for sender in senders:
        sender.socket.close()
    poll.close()
    return {**window.report(batch.count), "batch_bytes": size, "batch_records": batch.count}


def _through(window: Window, turn: Callable[[bool], None], bytes_max: int) -> None:
    began = time.perf_counter_ns()
    while (now_ns := time.perf_counter_ns()) - began < window.warm * 1e9:
        turn(True)
    window.open(now_ns)
    end_ns = now_ns + int(window.wanted * 1e9)
    while time.perf_counter_ns() < end_ns and (not bytes_max or window.bytes < bytes_max):
        turn(True)
    window.close()


def _drain(turn: Callable[[bool], None], drained: Callable[[], bool]) -> None:
    """Answers still under way are awaited, so that the next load finds a broker at rest."""
    deadline = time.monotonic() + 20
    while not drained():
        assert time.monotonic() < deadline, "answers stayed out for 20 s"
        turn(False)


class _Reader:
    """One connection of a fetch load: one request under way, the next offset reckoned and not read."""

    __slots__ = ("left", "offset", "sent_ns", "size", "socket")

    def __init__(self, address: str, offset: int) -> None:
        self.socket = _connect(address)
        self.offset = offset
        self.left = 0  # bytes of the answer under way that have not come yet; 0: its length has not come
        self.size = 0
        self.sent_ns = 0


def fetch(
    address: str, topic: str, *, size_max: int, connections: int, batch_bytes: int, batch_records: int, batches: int, window: Window
) -> dict[str, Any]:
    """Reads a topic of `batches` equal batches over and over.

    All batches are equal, so the number of whole ones in an answer follows from its length: nothing is parsed. The first answer is
    decoded in full, which gives what an answer weighs beside its records.
    """
    request = frames.FetchFrame(topic, 0, size_max)
    overhead = _overhead(address, request)
    poll = select.epoll()
    readers: dict[int, _Reader] = {}
    for i in range(connections):
        reader = _Reader(address, batches * i // connections * batch_records)
        readers[reader.socket.fileno()] = reader
        poll.register(reader.socket.fileno(), select.EPOLLIN)
    end_offset = batches * batch_records
    view = memoryview(bytearray(RECEIVE_SIZE))
    under_way = 0

    def ask(reader: _Reader) -> None:
        nonlocal under_way
        reader.sent_ns = time.perf_counter_ns()
        sent = reader.socket.send(request.at(reader.offset))
        assert sent == len(request.bytes)
        under_way += 1

    def turn(going: bool) -> None:
        nonlocal under_way
        for fd, _ in poll.poll(1.0):
            reader = readers[fd]
            taken = reader.socket.recv_into(view)
            if not taken:
                raise AssertionError("the broker closed the connection")
            if reader.left == 0:
                # The length and what follows it leave the broker in one write, so they come together.
                assert taken >= 4
                reader.size = reader.left = 4 + int.from_bytes(view[:4], "big")
            reader.left -= taken
            assert reader.left >= 0
            if reader.left:
                continue
            under_way -= 1
            window.latencies.append(time.perf_counter_ns() - reader.sent_ns)
            whole = _records(reader.size - overhead) // batch_bytes
            assert whole > 0, f"an answer of {reader.size} bytes at offset {reader.offset} holds no whole batch"
            window.requests += 1
            window.bytes += whole * batch_bytes  # brokers differ in whether they send a cut batch at the end: not counted
            reader.offset += whole * batch_records
            if reader.offset >= end_offset:
                reader.offset = 0
            if going:
                ask(reader)

    for reader in readers.values():
        ask(reader)
    _through(window, turn, 0)
    _drain(turn, lambda: under_way == 0)
    for reader in readers.values():
        reader.socket.close()
    poll.close()
    return window.report(size_max / batch_bytes * batch_records)


def _overhead(address: str, request: frames.FetchFrame) -> int:
    """Bytes of an answer that are neither records nor their length, which takes more bytes the larger it is."""
    s = _connect(address)
    s.setblocking(True)
    s.sendall(request.at(0))
    answer = b""
    while len(answer) < 4 or len(answer) < 4 + int.from_bytes(answer[:4], "big"):
        piece = s.recv(RECEIVE_SIZE)
        assert piece, "the broker closed the connection"
        answer += piece
    s.close()
    records = frames.fetched(answer)
    return len(answer) - records - _length_size(records)


def _length_size(records: int) -> int:
    """The compact length is a varint of one more, 7 bits to a byte."""
    return max(1, ((records + 1).bit_length() + 6) // 7)


def _records(rest: int) -> int:
    """How many bytes of `rest` are records, when their compact length stands before them."""
    return next(rest - size for size in range(1, 6) if _length_size(rest - size) == size)
