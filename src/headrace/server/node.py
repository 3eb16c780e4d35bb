"""The node: its parts put together, started and stopped in order. The simulator runs this very code in another world.

Start: image from the store -> who we are -> folders against image, logs opened or recovered -> groups -> listeners.
Stop: no new connections -> what is under way is answered -> logs closed, checkpoint -> store closed. A node that is killed
instead loses nothing that was acknowledged: its logs are recovered at the next start.
"""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import Callable
from typing import Protocol

import msgspec

from headrace.base.errors import Refused
from headrace.base.files import Files
from headrace.base.ids import NodeId
from headrace.base.limits import FRAME_WAIT_MS_MAX
from headrace.base.metrics import Metrics
from headrace.base.settings import Settings
from headrace.base.world import World
from headrace.broker.broker import Broker
from headrace.broker.flushing import Flusher
from headrace.broker.housekeeping import Housekeeping
from headrace.broker.lag import LagSampler
from headrace.broker.shelf import LOG_FOLDER, Progress, Shelf
from headrace.broker.tasks import Tasks
from headrace.cluster.image import Delta, Image
from headrace.cluster.keeper import ImageKeeper
from headrace.cluster.metadata import Metadata
from headrace.cluster.store import ClusterStore
from headrace.protocols.kafka.dispatch import Dispatcher
from headrace.server.budget import Budget
from headrace.server.kafka_socket import KafkaEdge, KafkaSocket
from headrace.server.outlet import Outlet
from headrace.server.start_errors import StartRefused

FORMAT_VERSION = 1
IDENTITY = "headrace.json"
_DRAIN_S_MAX = 3.0
_FINISH_S_MAX = 1.0
_SWEEP_S = 5.0


class Identity(msgspec.Struct):
    """What a data folder is: written once, checked at every start."""

    format: int
    cluster_id: str
    node_id: int


class Listener(Protocol):
    host: str
    port: int

    def close(self) -> None:
        """Take no more connections."""
        ...


class Node:
    """One broker process (or one simulated one)."""

    def __init__(
        self,
        world: World,
        settings: Settings,
        store: ClusterStore,
        *,
        root: str,
        log: Callable[..., None],
        broken: Callable[[BaseException], None],
        make_outlet: Callable[[asyncio.Transport, KafkaSocket], Outlet],
    ) -> None:
        self.world = world
        self.settings = settings
        self.metrics = Metrics()
        self.progress = Progress()
        self.not_ready: str | None = "starting"
        self._store = store
        self._root = root
        self._log = log
        self._make_outlet = make_outlet
        self.tasks = Tasks(broken)
        self.image = Image(NodeId(settings.node_id), settings.topic_defaults())
        self.keeper = ImageKeeper(store, self.image, self._image_changed)
        self.flusher = Flusher(world, self.metrics, log)
        self.shelf = Shelf(world, self.image, self.flusher, self.metrics, log, producer_expiry_ms=settings.producer_expiry)
        self._metadata = Metadata(
            store,
            self.keeper,
            world.random_bytes,
            default_partitions=settings.default_partitions,
            default_replicas=settings.default_replicas,
        )
        self.broker = Broker(
            world, settings, self.image, self._metadata, self.shelf, self.flusher, self.tasks, self.metrics, log, root
        )
        self.housekeeping = Housekeeping(self.broker, settings.retention_check, log)
        self.lag = LagSampler(self.broker)
        self.budget = Budget(settings.request_memory_max)
        self.edge: KafkaEdge | None = None
        self._opened = False
        self._listener: Listener | None = None
        self.cluster_id = ""

    def _image_changed(self, delta: Delta) -> None:
        if self._opened:
            self.shelf.on_delta(delta)

    async def start(self) -> None:
        """Everything but the listeners. StartRefused in words an operator can act on."""
        settings, files = self.settings, self.world.files
        identity = await self.world.offload(lambda: read_identity(files))
        self._check_identity(identity)
        if identity is None:
            await self.world.offload(lambda: check_strange_logs(files, self._root))
        await self.keeper.begin()
        self.tasks.spawn(self.keeper.run())
        if identity is not None and self.image.cluster_id is None:
            raise StartRefused(
                "store-missing",
                "the data folder has logs, but its cluster store is empty",
                f"{self._root} belongs to cluster {identity.cluster_id}; the store has no cluster",
                "the file cluster.db was removed or is not the one that belongs here",
                "put the right cluster.db back, or start with an empty folder: --data DIR",
            )
        fresh = new_cluster_id(self.world.random_bytes(16))
        wanted = settings.cluster_id or (identity.cluster_id if identity is not None else None)
        cluster_id = await self._metadata.found_cluster(wanted, fresh)
        if isinstance(cluster_id, Refused):
            raise StartRefused(
                "cluster-mismatch",
                "the data folder belongs to another cluster",
                cluster_id.why,
                "--cluster-id or the folder is not the one you meant",
                "leave --cluster-id out, or name another folder: --data DIR",
            )
        self.cluster_id = cluster_id
        if identity is None:
            await self.world.offload(lambda: write_identity(files, Identity(FORMAT_VERSION, cluster_id, settings.node_id)))
        incarnation = uuid.UUID(bytes=self.world.random_bytes(16), version=4)
        address = settings.advertise or settings.kafka
        await self._metadata.register_node(NodeId(settings.node_id), address.host, address.port, incarnation)
        await self._metadata.sweep()
        self.not_ready = "recovering logs"
        recovered = await self.shelf.open_all(self.progress)
        self._opened = True
        self.tasks.spawn(self.shelf.run())
        if recovered:
            # The logs may end earlier than some client has seen: a new leader epoch lets it notice.
            await self._metadata.lead_again(NodeId(settings.node_id))
            await self.shelf.reach(self.image.revision)
        self.tasks.spawn(self.housekeeping.run())
        self.tasks.spawn(self.lag.run())
        self.edge = KafkaEdge(
            self.world,
            Dispatcher(self.broker, self.metrics),
            self.budget,
            self._make_outlet,
            self._log,
            connections_max=settings.connections_max,
            idle_ms_max=settings.connection_idle,
            frame_wait_ms_max=FRAME_WAIT_MS_MAX,
            frame_size_max=settings.request_size_max,
        )
        self.tasks.spawn(self._sweep(self.edge))

    def _check_identity(self, identity: Identity | None) -> None:
        if identity is None:
            return
        if identity.format > FORMAT_VERSION:
            raise StartRefused(
                "format-newer",
                "the data folder was written by a newer Headrace",
                f"{self._root} has format {identity.format}; this program knows formats up to {FORMAT_VERSION}",
                "this is an older program than the one that ran last",
                "start the newer Headrace again",
            )
        if identity.node_id != self.settings.node_id:
            raise StartRefused(
                "node-mismatch",
                "the data folder belongs to another node",
                f"{self._root} belongs to node {identity.node_id}; this is node {self.settings.node_id}",
                "--node-id or --data is not the one you meant",
                f"start with --node-id {identity.node_id}, or name another folder: --data DIR",
            )

    @property
    def recovering(self) -> bool:
        """Logs are still being opened: a node that is left here is like one that was killed, and loses nothing by it."""
        return not self._opened

    def ready(self, listener: Listener) -> None:
        """Clients may come."""
        self._listener = listener
        self.not_ready = None

    async def _sweep(self, edge: KafkaEdge) -> None:
        while True:
            await asyncio.sleep(_SWEEP_S)
            edge.sweep()

    async def stop(self) -> None:
        """Drain and close. The next start finds everything closed cleanly."""
        self.not_ready = "stopping"
        if self._listener is not None:
            self._listener.close()
        edge = self.edge
        if edge is not None:
            edge.stop_reading()
            self.broker.close_groups()
            deadline = self.world.monotonic_ms() + _DRAIN_S_MAX * 1000
            await self.flusher.drain()
            while edge.unanswered() and self.world.monotonic_ms() < deadline:
                await asyncio.sleep(0.01)
            for socket in list(edge.sockets):
                socket.drop("the node stops", "stopped")
            await edge.finish(_FINISH_S_MAX)
        await self.tasks.cancel()
        if self._opened:
            await self.flusher.drain()
            await self.housekeeping.finish()
            await self.shelf.close()
        self.keeper.close()
        await self._store.close()


def read_identity(files: Files) -> Identity | None:
    if not files.exists(IDENTITY):
        return None
    file = files.open(IDENTITY)
    data = file.read(0, file.size())
    file.close()
    try:
        return msgspec.json.decode(data, type=Identity)
    except msgspec.DecodeError as broken:
        raise StartRefused(
            "identity-unreadable",
            f"{IDENTITY} in the data folder cannot be read",
            str(broken),
            "the file was edited or damaged",
            "restore it from a backup; it holds format, cluster_id and node_id",
        ) from broken


def check_strange_logs(files: Files, root: str) -> None:
    """A node removes what lies in `log/` and belongs to no topic, so it takes no folder for its own that it did not make.

    (`--data /var` would mean `/var/log`.) The identity is durable before `log/` is made: no crash leaves one without the other.
    """
    strange = files.list(LOG_FOLDER) if files.exists(LOG_FOLDER) else []
    if strange:
        raise StartRefused(
            "identity-missing",
            f"the data folder has a folder {LOG_FOLDER}/, but nothing says that it is Headrace's",
            f"{root}/{LOG_FOLDER} holds {strange[0]} ({len(strange)} in all), and there is no {IDENTITY} in {root}",
            f"--data names a folder that belongs to something else, or {IDENTITY} was removed",
            f"name another folder: --data DIR; or restore {IDENTITY} from a backup",
        )


def write_identity(files: Files, identity: Identity) -> None:
    file = files.open(IDENTITY + ".tmp", create=True)
    file.truncate(0)
    file.write(0, [msgspec.json.encode(identity)])
    file.sync()
    file.close()
    files.rename(IDENTITY + ".tmp", IDENTITY)
    files.sync_folder("")


def new_cluster_id(chance: bytes) -> str:
    """Kafka's shape of a cluster id: 16 bytes in URL-safe base64, not beginning with a dash."""

    text = base64.urlsafe_b64encode(chance).rstrip(b"=").decode()
    return "h" + text[1:] if text.startswith("-") else text
