"""The process: event loop, signals, the lock on the data folder, sockets, and one node in it."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from headrace import __version__
from headrace.base.errors import Refused
from headrace.base.settings import Address, Settings
from headrace.cluster.stores.embedded import open_embedded
from headrace.server import linux
from headrace.server.disk import DiskFiles
from headrace.server.http import HttpServer, start_http
from headrace.server.kafka_socket import KafkaSocket
from headrace.server.logging import logger
from headrace.server.metrics import GroupLag, NodeFigures
from headrace.server.node import Node
from headrace.server.outlet import Outlet, SocketOutlet
from headrace.server.probes import probe_routes
from headrace.server.stall import StallMeter
from headrace.server.start_errors import StartRefused
from headrace.server.world import RealWorld

STORE_FILE = "cluster.db"
LOCK_FILE = "lock"
_BACKLOG = 1024
_DESCRIPTORS_SPARE = 128
_TELL_S = 0.2
# A thread that computes (the walk of a large batch) keeps the interpreter's lock for so long while the loop waits for it. The
# loop gives the lock away with every system call, so that Python's own 5 ms would add up.
_SWITCH_INTERVAL_S = 0.0005


@dataclass(slots=True)
class Started:
    """What the operator is told once the node serves."""

    kafka: str
    http: str
    data: str
    cluster_id: str
    node_id: int
    seconds: float


def run(
    settings: Settings, *, started: Callable[[Started], None], recovering: Callable[[int, int, int], None] | None = None
) -> int:
    """Run one node until SIGTERM or SIGINT; the exit status.

    While logs are recovered, `recovering` hears a few times a second: logs done, logs in all, bytes read.
    """
    began = time.monotonic()
    lock = take_lock(settings.data)
    try:
        return _run_loop(_serve(settings, started, recovering, began))
    finally:
        os.close(lock)


def _run_loop(main: object) -> int:
    try:
        import uvloop

        factory: Callable[[], asyncio.AbstractEventLoop] | None = uvloop.new_event_loop
    except ImportError:
        factory = None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(main)  # type: ignore[arg-type]


def take_lock(folder: str) -> int:
    """The data folder is ours alone; the lock goes with the process."""
    try:
        os.makedirs(folder, exist_ok=True)
        fd = os.open(os.path.join(folder, LOCK_FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StartRefused(
            "data-folder-unusable",
            "the data folder cannot be used",
            str(error),
            "it belongs to another user, lies on a read-only disk, or is a file",
            "name a folder you may write to: --data DIR",
        ) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(fd)
        raise StartRefused(
            "data-folder-locked",
            "another process serves this data folder",
            f"{os.path.abspath(folder)} is locked by process {holder}",
            "a Headrace is running here already",
            "stop it, or name another folder: --data DIR",
        ) from error
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    return fd


async def _tell_recovery(node: Node, recovering: Callable[[int, int, int], None]) -> None:
    while True:
        await asyncio.sleep(_TELL_S)
        done = node.progress
        if done.logs_total:
            recovering(done.logs_done, done.logs_total, done.bytes_done)


async def _serve(
    settings: Settings, started: Callable[[Started], None], recovering: Callable[[int, int, int], None] | None, began: float
) -> int:
    loop = asyncio.get_running_loop()
    log = logger(node=settings.node_id)
    stop = asyncio.Event()
    failure: list[BaseException] = []

    def broken(error: BaseException) -> None:
        """A bug of ours: the trace is written and the node ends; the log brings everything back."""
        if not failure:
            failure.append(error)
            log.error("a bug ended this node", trace="".join(traceback.format_exception(error)))
            stop.set()

    def loop_broken(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError):
            log.info("connection failed", error=str(error))
        elif isinstance(error, BaseException):
            broken(error)
        else:
            log.warning("event loop", message=str(context.get("message")))

    loop.set_exception_handler(loop_broken)
    linux.give_memory_back()
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    descriptors = linux.allow_descriptors()
    root = os.path.abspath(settings.data)
    files = DiskFiles(root, settings.open_files_max)
    world = RealWorld(files)
    store = await open_embedded(os.path.join(root, STORE_FILE), world)
    if isinstance(store, Refused):
        world.close()
        raise StartRefused(
            "store-unusable",
            "the cluster store cannot be opened",
            store.why,
            "the file is damaged, or of a newer Headrace",
            "restore cluster.db from a backup, or start with an empty folder: --data DIR",
        )

    def make_outlet(transport: asyncio.Transport, connection: KafkaSocket) -> Outlet:
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return SocketOutlet(world, loop, raw.fileno(), connection.moved, connection.broken)

    def note(event: str, **facts: object) -> None:
        log.info(event, **facts)

    node = Node(world, settings, store, root=root, log=note, broken=broken, make_outlet=make_outlet)
    http: HttpServer | None = None
    meter = StallMeter(node.metrics)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        http = await _listen_http(settings, node)
        telling = loop.create_task(_tell_recovery(node, recovering)) if recovering is not None else None
        try:
            if not await start_unless_told(node, stop, failure):
                return 70 if failure else 0
        finally:
            if telling is not None:
                telling.cancel()
        assert node.edge is not None
        # A connection takes two descriptors; the rest is for segments, the store and the listeners.
        connections = max((descriptors - settings.open_files_max - _DESCRIPTORS_SPARE) // 2, 16)
        if connections < settings.connections_max:
            node.edge.connections_max = connections
            log.debug("the limit of open files leaves room for fewer connections", open_files=descriptors, connections=connections)
        # What is there now stays: the collector need not look at it again. (With 2,000 partitions this takes 40 ms.)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        listener = await _listen_kafka(settings, node)
        node.ready(listener)
        meter.start(loop)
        started(
            Started(
                str(Address(listener.host, listener.port)),
                str(Address(http.host, http.port)),
                root,
                node.cluster_id,
                settings.node_id,
                time.monotonic() - began,
            )
        )
        await stop.wait()
    finally:
        if not failure:
            await node.stop()
        meter.stop()
        if http is not None:
            await http.stop()
        world.close()
    return 70 if failure else 0


async def start_unless_told(node: Node, stop: asyncio.Event, failure: list[BaseException]) -> bool:
    """Start the node; False when it was told to stop before. Recovery may take minutes, and nobody should wait for it to stop."""
    starting = asyncio.create_task(node.start())
    told = asyncio.create_task(stop.wait())
    await asyncio.wait((starting, told), return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if not starting.done() and (node.recovering or failure):
        node.progress.given_up = True
        starting.cancel()
    try:
        await starting
    except asyncio.CancelledError:
        return False
    except OSError as error:
        raise StartRefused(
            "data-folder-unusable",
            "the data folder cannot be used",
            str(error),
            "the disk is full or failing, or something in the folder is not what Headrace left there",
            "look at the path in the message; name another folder: --data DIR",
        ) from error
    return True


class _KafkaListener:
    def __init__(self, server: asyncio.AbstractServer, host: str, port: int) -> None:
        self._server = server
        self.host = host
        self.port = port

    def close(self) -> None:
        self._server.close()


async def _listen_kafka(settings: Settings, node: Node) -> _KafkaListener:
    assert node.edge is not None
    address = settings.kafka
    try:
        server = await asyncio.get_running_loop().create_server(
            node.edge.make, address.host, address.port, backlog=_BACKLOG, reuse_address=True
        )
    except OSError as error:
        raise _address_taken("kafka", str(address), error) from error
    host, port = server.sockets[0].getsockname()[:2]
    return _KafkaListener(server, address.host if address.host != "" else host, port)


async def _listen_http(settings: Settings, node: Node) -> HttpServer:
    def figures() -> NodeFigures:
        node.metrics.unfinished_request_bytes = node.budget.held_bytes
        files = node.world.files
        return NodeFigures(
            version=__version__,
            cluster_id=node.cluster_id,
            node_id=settings.node_id,
            open_files=files.open_count if isinstance(files, DiskFiles) else 0,
            partitions=len(node.shelf),
            topics=len(node.image.topics()),
            groups=node.lag.groups_by_state(),
            group_lags=(GroupLag(lag.group, lag.topic, lag.partition, lag.records, lag.seconds) for lag in node.lag.lags()),
        )

    address = settings.http
    try:
        return await start_http(address.host, address.port, probe_routes(node.metrics, figures, lambda: node.not_ready))
    except OSError as error:
        raise _address_taken("http", str(address), error) from error


def _address_taken(what: str, address: str, error: OSError) -> StartRefused:
    return StartRefused(
        "address-taken",
        f"cannot listen on {address}",
        str(error),
        "another program listens there, or the address is not one of this machine's",
        f"stop the other program, or choose another address: --{what} HOST:PORT",
    )
