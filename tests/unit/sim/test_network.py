"""The simulated network: bytes keep their order whatever happens, and ends hear what TCP would tell them."""

from __future__ import annotations

import asyncio
import random

import pytest

from sim.faults import NetworkFaults
from sim.loop import Process, run
from sim.network import SimNetwork


class Taker(asyncio.BufferedProtocol):
    """A server side as the node has it: a buffer of its own, of a size that fits nothing."""

    def __init__(self, size=7, greeting=b""):
        self.buffer = bytearray(size)
        self.data = bytearray()
        self.story = []
        self.greeting = greeting

    def connection_made(self, transport):
        self.transport = transport
        self.story.append("made")
        if self.greeting:
            transport.write(self.greeting)

    def get_buffer(self, sizehint):
        return self.buffer

    def buffer_updated(self, nbytes):
        self.data += self.buffer[:nbytes]

    def eof_received(self):
        self.story.append("eof")

    def connection_lost(self, exc):
        self.story.append("lost" if exc is None else type(exc).__name__)

    def pause_writing(self):
        self.story.append("pause")

    def resume_writing(self):
        self.story.append("resume")


class Plain(asyncio.Protocol):
    def __init__(self):
        self.data = bytearray()
        self.story = []

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.data += data

    def eof_received(self):
        self.story.append("eof")

    def connection_lost(self, exc):
        self.story.append("lost" if exc is None else type(exc).__name__)


async def pair(seed=1, faults=None, server=None):
    network = SimNetwork(asyncio.get_running_loop(), random.Random(seed), faults)
    server = server if server is not None else Taker()
    network.listen(lambda: server, "127.0.0.1", 9092)
    client = await network.connect(Plain, "127.0.0.1", 9092)
    return network, client, server


def test_bytes_arrive_in_order_and_in_pieces():
    async def main(seed):
        _, client, server = await pair(seed, server=Taker(greeting=b"hello"))
        sent = bytearray()
        for number in range(100):
            data = bytes([number]) * (number % 13 + 1)
            client.transport.write(data)
            sent += data
            if number % 10 == 0:
                await asyncio.sleep(0.0005)
        await asyncio.sleep(1)
        assert server.data == sent
        assert client.data == b"hello"

    for seed in range(20):
        run(main(seed), random.Random(seed))


def test_addresses():
    async def main():
        network, client, server = await pair()
        assert client.transport.get_extra_info("peername") == ("127.0.0.1", 9092)
        assert server.transport.get_extra_info("sockname") == ("127.0.0.1", 9092)
        assert server.transport.get_extra_info("peername") == client.transport.get_extra_info("sockname")
        assert server.transport.get_extra_info("socket") is None
        with pytest.raises(OSError):
            network.listen(Plain, "127.0.0.1", 9092)
        with pytest.raises(ConnectionRefusedError):
            await network.connect(Plain, "127.0.0.1", 9093)

    run(main())


def test_close_delivers_what_was_written_and_then_the_end():
    async def main():
        _, client, server = await pair()
        client.transport.write(b"last words")
        client.transport.close()
        client.transport.write(b"never")
        assert client.transport.is_closing()
        await asyncio.sleep(1)
        assert server.data == b"last words"
        assert server.story == ["made", "eof", "lost"]
        assert client.story == ["lost"]

    run(main())


def test_abort_resets_the_other_side():
    async def main():
        network, client, server = await pair()
        server.transport.abort()
        await asyncio.sleep(1)
        assert server.story == ["made", "lost"]
        assert client.story == ["ConnectionResetError"]
        assert not list(network.ends())

    run(main())


def test_writing_to_a_closed_end_resets_the_writer():
    async def main():
        class Deaf(Plain):
            def eof_received(self):
                return True  # stays half open

        network = SimNetwork(asyncio.get_running_loop(), random.Random(1))
        server = Taker()
        network.listen(lambda: server, "h", 1)
        client = await network.connect(Deaf, "h", 1)
        await asyncio.sleep(0.1)
        server.transport.close()
        await asyncio.sleep(1)
        assert server.story == ["made", "lost"] and client.story == []
        client.transport.write(b"anybody?")
        await asyncio.sleep(1)
        assert client.story == ["ConnectionResetError"]

    run(main())


def test_a_reader_that_pauses_stops_the_writer():
    async def main():
        faults = NetworkFaults(window_bytes=1000)
        _, client, server = await pair(1, faults, Taker(size=300))
        client.transport.pause_reading()
        server.transport.set_write_buffer_limits(high=500, low=100)
        server.transport.write(b"x" * 1400)
        assert server.story == ["made"] and server.transport.get_write_buffer_size() == 400
        server.transport.write(b"x" * 200)
        assert server.story == ["made", "pause"]
        await asyncio.sleep(1)
        assert client.data == b""
        client.transport.resume_reading()
        await asyncio.sleep(1)
        assert len(client.data) == 1600
        assert server.story == ["made", "pause", "resume"]
        assert server.transport.get_write_buffer_size() == 0

    run(main())


def test_a_closing_end_waits_for_its_buffer():
    async def main():
        _, client, server = await pair(1, NetworkFaults(window_bytes=10))
        client.transport.pause_reading()
        server.transport.write(b"x" * 100)
        server.transport.close()
        await asyncio.sleep(10)
        assert server.story == ["made"]
        client.transport.resume_reading()
        await asyncio.sleep(1)
        assert server.story == ["made", "lost"] and len(client.data) == 100

    run(main())


def test_cuts_reset_both_ends():
    async def main():
        network, client, server = await pair(1, NetworkFaults(cut_chance=1.0))
        client.transport.write(b"x" * 10)
        await asyncio.sleep(1)
        assert client.story == ["ConnectionResetError"] and server.story == ["made", "ConnectionResetError"]
        assert server.data == b"" and network.cuts == 1

    run(main())


def test_clogs_delay_and_keep_order():
    async def main():
        _, client, server = await pair(3, NetworkFaults(clog_chance=0.5, clog_ms=(1000.0, 2000.0)))
        for number in range(20):
            client.transport.write(bytes([number]))
        await asyncio.sleep(0.5)
        assert len(server.data) < 20
        await asyncio.sleep(100)
        assert server.data == bytes(range(20))

    run(main())


def test_a_dead_process_hears_nothing_and_its_peers_a_reset():
    async def main():
        network = SimNetwork(asyncio.get_running_loop(), random.Random(1))
        process = Process("node")
        server = Taker()
        process.run(network.listen, lambda: server, "h", 1)
        client = await network.connect(Plain, "h", 1)
        client.transport.write(b"one")
        await asyncio.sleep(1)
        client.transport.write(b"two")
        process.kill()
        network.process_died(process)
        await asyncio.sleep(1)
        assert server.data == b"one" and server.story == ["made"]
        assert client.story == ["ConnectionResetError"]
        with pytest.raises(ConnectionRefusedError):
            await network.connect(Plain, "h", 1)
        Process("next").run(network.listen, lambda: server, "h", 1)
        await network.connect(Plain, "h", 1)

    run(main())
