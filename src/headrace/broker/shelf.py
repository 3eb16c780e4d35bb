"""The shelf: this node's partitions, and the folders they lie in.

Owner: the broker. The cluster store says which partitions there are; the shelf makes the folders agree with it. A folder is
`log/<topic>-<partition>` as at Kafka, with the topic's id in `partition.metadata`, because a topic may be deleted and made
again under the same name while this node is down. What the store no longer has is renamed to `….<chance>-delete` at once and
removed off the loop.

At start the folders are compared with the image: a folder whose topic is gone (the store had committed a deletion, the node
died before the rename) is removed, a partition without a folder is made. An empty store with full folders is not such a
crash: it is the wrong store, and the start is refused.

Changes of the image are worked off in order by one task, a few milliseconds a turn: making a topic of 1,000 partitions must
not hold the loop.

Many logs are recovered or closed in several threads at once, and made durable by one sync of the disk instead of several
for each: 2,000 partitions would take half a minute otherwise.
"""

from __future__ import annotations

import asyncio
import base64
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from uuid import UUID

import msgspec

from headrace.base.errors import Code, Refused
from headrace.base.files import File
from headrace.base.ids import TopicId
from headrace.base.metrics import Metrics
from headrace.base.world import World
from headrace.broker.flushing import Flusher
from headrace.broker.pace import Pace
from headrace.broker.partition import Partition
from headrace.broker.policy import TopicPolicy
from headrace.cluster.image import Delta, Image, PartitionImage, TopicImage
from headrace.log.log import CleanState, Log

LOG_FOLDER = "log"
CHECKPOINT = "clean-shutdown.json"
_METADATA_FILE = "partition.metadata"
_DELETED = "-delete"
_MAKE_AGAIN_S = 1.0
_FOLDERS_A_JOB = 32  # made or renamed one after another in a thread
_LOGS_A_JOB_MAX = 16  # recovered one after another in a thread
_CLOSED_ONE_BY_ONE_MAX = 32  # more logs than that are synced together


class CleanPartition(msgspec.Struct):
    topic: str
    index: int
    topic_id: UUID
    log: CleanState


class Checkpoint(msgspec.Struct):
    """What a clean shutdown leaves: with it nothing has to be scanned or listed at the next start."""

    partitions: list[CleanPartition]
    doomed: list[str] = []  # folders that were to be removed and are there still
    v: int = 1


class GivenUp(Exception):
    """Recovery was left in the middle; the next start begins it again."""


class Progress:
    """How far recovery has come; somebody else shows it."""

    __slots__ = ("given_up", "logs_done", "logs_total", "read")

    def __init__(self) -> None:
        self.given_up = False  # the node is to stop: threads leave their logs where they are
        self.logs_done = 0
        self.logs_total = 0
        self.read: dict[str, int] = {}  # bytes of each log that is being recovered or has been; threads write, keys stay

    @property
    def bytes_done(self) -> int:
        return sum(self.read.values())


class _Made:
    """A new partition's log, the file that says whose it is, and what stood in the way."""

    __slots__ = ("doomed", "identity", "log")

    def __init__(self, log: Log, identity: tuple[File, bytes], doomed: str | None) -> None:
        self.log = log
        self.identity = identity
        self.doomed = doomed


class Shelf:
    """All partitions that this node leads."""

    def __init__(
        self,
        world: World,
        image: Image,
        flusher: Flusher,
        metrics: Metrics,
        log: Callable[..., None],
        *,
        producer_expiry_ms: int,
    ) -> None:
        self._world = world
        self._files = world.files
        self._image = image
        self._flusher = flusher
        self._metrics = metrics
        self._log = log
        self._producer_expiry_ms = producer_expiry_ms
        self._by_name: dict[tuple[str, int], Partition] = {}
        self._by_id: dict[tuple[TopicId, int], Partition] = {}
        self._deltas: deque[Delta] = deque()
        self._wake: asyncio.Event = asyncio.Event()
        self._done_revision = 0
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._closed = False
        self._doomed: deque[str] = deque()  # folders to remove off the loop
        self._doom_again: list[tuple[str, int]] = []  # could not be renamed, and are tried once more
        self._again: list[tuple[TopicImage, PartitionImage]] = []  # could not be made, and are tried once more
        self._leaving: dict[str, Partition] = {}  # by folder: gone, but work off the loop knows the folder by its name
        self.made: Callable[[Partition], None] = lambda partition: None
        self.gone: Callable[[TopicImage], None] = lambda topic: None

    # looking up

    def find(self, topic: str, index: int) -> Partition | Refused:
        found = self._by_name.get((topic, index))
        if found is not None:
            return found
        known = self._image.partition(topic, index)
        if known is None:
            return Refused(Code.UNKNOWN_TOPIC, f"there is no partition {topic}-{index}")
        return Refused(Code.NOT_LEADER, f"{topic}-{index} is not led by this node (yet)")

    def find_by_id(self, topic_id: TopicId, index: int) -> Partition | Refused:
        found = self._by_id.get((topic_id, index))
        if found is not None:
            return found
        topic = self._image.topic_by_id(topic_id)
        if topic is None:
            return Refused(Code.UNKNOWN_TOPIC_ID, f"there is no topic with the id {topic_id}")
        if not 0 <= index < len(topic.partitions):
            return Refused(Code.UNKNOWN_TOPIC, f"there is no partition {topic.name}-{index}")
        return Refused(Code.NOT_LEADER, f"{topic.name}-{index} is not led by this node (yet)")

    def __iter__(self) -> Iterator[Partition]:
        return iter(list(self._by_name.values()))

    def __len__(self) -> int:
        return len(self._by_name)

    # beginning

    async def open_all(self, progress: Progress) -> list[Partition]:
        """Open what the image says we lead; recover what was not closed cleanly. The partitions that were recovered."""
        files = self._files
        await self._world.offload(self._make_log_folder)
        checkpoint = await self._world.offload(self._take_checkpoint)
        clean = {(row.topic, row.index): row for row in checkpoint.partitions} if checkpoint is not None else {}
        mine = [(topic, part) for topic in self._image.topics() for part in topic.partitions if self._is_mine(part)]
        present: dict[str, UUID | None] = {}
        if checkpoint is None:
            present = await self._world.offload(self._look_at_folders)
            self._doom_strangers(present)
        lost: list[tuple[TopicImage, PartitionImage]] = []
        missing: list[tuple[TopicImage, PartitionImage]] = []
        progress.logs_total = len(mine)
        pace = Pace(self._world)
        policies = {topic.id: self._policy(topic) for topic in self._image.topics()}
        for topic, part in mine:
            row = clean.get((topic.name, part.index))
            if row is not None and row.topic_id == topic.id:
                policy = policies[topic.id]
                log = Log.open(files, _folder(topic, part), policy.log, clean=row.log, now_ms=self._world.now_ms())
                self._add(topic, part, log, policy)
            elif checkpoint is None and present.get(f"{topic.name}-{part.index}") == topic.id:
                lost.append((topic, part))
                continue
            else:
                missing.append((topic, part))
            progress.logs_done += 1
            await pace.step()
        recovered = await self._recover(lost, policies, progress)
        for start in range(0, len(missing), _FOLDERS_A_JOB):
            await self._make_some(missing[start : start + _FOLDERS_A_JOB])
        if checkpoint is not None:
            known = {(topic.name, part.index, topic.id) for topic, part in mine}
            for row in checkpoint.partitions:
                if (row.topic, row.index, row.topic_id) not in known:
                    self._doom(f"{LOG_FOLDER}/{row.topic}-{row.index}")
            for folder in checkpoint.doomed:
                self._remove_later(folder)
        self._done_revision = self._image.revision
        return recovered

    def _make_log_folder(self) -> None:
        """The folders of partitions are kept by syncing it; it is kept itself by syncing what it lies in."""
        if not self._files.exists(LOG_FOLDER):
            self._files.make_folder(LOG_FOLDER)
        self._files.sync_folder("")

    def _take_checkpoint(self) -> Checkpoint | None:
        """The checkpoint, taken away before anything is written: it tells the truth only as long as nothing changes."""
        files = self._files
        if not files.exists(CHECKPOINT):
            return None
        file = files.open(CHECKPOINT)
        data = file.read(0, file.size())
        file.close()
        files.remove(CHECKPOINT)
        files.sync_folder("")
        try:
            return msgspec.json.decode(data, type=Checkpoint)
        except msgspec.DecodeError as broken:
            self._log("the checkpoint of the last shutdown cannot be read; all logs are recovered", why=str(broken))
            return None

    def _look_at_folders(self) -> dict[str, UUID | None]:
        """Every partition folder and the topic id in it. All that lies there is durable afterwards."""
        found: dict[str, UUID | None] = {}
        for name in self._files.list(LOG_FOLDER):
            found[name] = None
            path = f"{LOG_FOLDER}/{name}/{_METADATA_FILE}"
            if self._files.exists(path):
                file = self._files.open(path)
                data = file.read(0, file.size())
                found[name] = decode_metadata(data)
                if found[name] is not None:
                    # Whose folder this is may lie in the page cache alone, where a failed sync has left it looking clean.
                    with suppress(OSError):  # a full disk must not keep the node from serving what it has
                        file.write(0, (data,))
                file.close()
        self._files.sync_all()
        return found

    def _doom_strangers(self, present: dict[str, UUID | None]) -> None:
        for name, topic_id in present.items():
            topic = self._image.topic_by_id(topic_id) if topic_id is not None else None
            if topic is None or not name.startswith(f"{topic.name}-") or name.endswith(_DELETED):
                self._log("a folder without a topic is removed", folder=name)
                self._doom(f"{LOG_FOLDER}/{name}")

    async def _recover(
        self, lost: list[tuple[TopicImage, PartitionImage]], policies: dict[TopicId, TopicPolicy], progress: Progress
    ) -> list[Partition]:
        """Open logs that were not closed, a few in each thread."""
        files, now_ms = self._files, self._world.now_ms()
        progress.read = {_folder(topic, part): 0 for topic, part in lost}

        def open_some(some: list[tuple[TopicImage, PartitionImage]]) -> list[Log]:
            logs = []
            for topic, part in some:
                if progress.given_up:
                    raise GivenUp
                folder = _folder(topic, part)

                def note(done: int, total: int, folder: str = folder) -> None:
                    progress.read[folder] = done
                    if progress.given_up:
                        raise GivenUp

                settings = policies[topic.id].log
                logs.append(Log.open(files, folder, settings, now_ms=now_ms, progress=note, is_synced=True))
                progress.logs_done += 1  # only shown: should two threads count as one, it is set right in the end
            return logs

        size = min(max(len(lost) // 64, 1), _LOGS_A_JOB_MAX)
        pieces = [lost[start : start + size] for start in range(0, len(lost), size)]
        opened = await asyncio.gather(
            *(self._world.offload(lambda piece=piece: open_some(piece)) for piece in pieces)  # type: ignore[misc]
        )
        progress.logs_done = progress.logs_total
        pace = Pace(self._world)
        recovered = []
        for (topic, part), log in zip(lost, chain.from_iterable(opened), strict=True):
            for damage in log.report:
                self._log(
                    "recovery cut a torn end" if damage.is_cut else "recovery found damage",
                    file=damage.file, position=damage.position, offset=damage.offset, what=damage.what,
                )  # fmt: skip
            recovered.append(self._add(topic, part, log, policies[topic.id]))
            await pace.step()
        return recovered

    # following the image

    def on_delta(self, delta: Delta) -> None:
        """The image has changed. What is gone is refused from now on; folders follow in the background."""
        if self._leaving:
            self._leaving = {folder: gone for folder, gone in self._leaving.items() if gone.guests}
        for topic in delta.topics_gone:
            why = Refused(Code.UNKNOWN_TOPIC, f"topic {topic.name} was deleted")
            for part in topic.partitions:
                partition = self._by_name.get((topic.name, part.index))
                if partition is not None and partition.topic_id == topic.id:
                    self._drop(partition, why)
            self._metrics.forget_topic(topic.name)
            self.gone(topic)
        for topic in delta.settings_changed:
            policy = self._policy(topic)
            for part in topic.partitions:
                partition = self._by_id.get((topic.id, part.index))
                if partition is not None:
                    self._give(partition, policy)
        self._deltas.append(delta)
        self._wake.set()

    def _give(self, partition: Partition, policy: TopicPolicy) -> None:
        was_fsynced = partition.policy.fsynced
        partition.policy = policy
        partition.log.settings = policy.log
        if was_fsynced and not policy.fsynced:
            # Whoever waits for a flush waits no longer: the next one moves the committed end no more.
            partition.advance(partition.log.end_offset)
        elif policy.fsynced and not was_fsynced:
            self._flusher.must(partition)

    async def run(self) -> None:
        """Work off changes, in order."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._deltas:
                await self._follow(self._deltas.popleft())
            doom, self._doom_again = self._doom_again, []
            await self._doom_some(doom)
            again, self._again = self._again, []
            await self._make_some(again)

    async def _follow(self, delta: Delta) -> None:
        pace = Pace(self._world)
        for topic in delta.topics_gone:
            for start in range(0, len(topic.partitions), _FOLDERS_A_JOB):
                await self._doom_some([(topic.name, part.index) for part in topic.partitions[start : start + _FOLDERS_A_JOB]])
        wanted = [(topic, part) for topic in delta.topics_made for part in topic.partitions]
        for topic, part in delta.partitions_changed:
            known = self._by_id.get((topic.id, part.index))
            if known is not None:
                known.leader_epoch = part.leader_epoch
                await pace.step()
            else:
                wanted.append((topic, part))
        for start in range(0, len(wanted), _FOLDERS_A_JOB):
            await self._make_some(wanted[start : start + _FOLDERS_A_JOB])
        self._done_revision = delta.revision
        still = []
        for revision, future in self._waiting:
            if revision > delta.revision:
                still.append((revision, future))
            elif not future.done():
                future.set_result(None)
        self._waiting = still

    async def reach(self, revision: int) -> None:
        """Until the folders have followed the image so far."""
        if self._done_revision >= revision:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((revision, future))
        await future

    def _is_mine(self, part: PartitionImage) -> bool:
        return part.leader == self._image.node_id

    def _policy(self, topic: TopicImage) -> TopicPolicy:
        return TopicPolicy(topic.settings, producer_expiry_ms=self._producer_expiry_ms)

    async def _make_some(self, wanted: list[tuple[TopicImage, PartitionImage]]) -> None:
        """Make the folders of partitions in a thread: names wait for the disk's journal. Then they are served."""
        some = [(topic, part) for topic, part in wanted if self._is_mine(part) and self._is_wanted(topic, part)]
        for topic, part in some:
            await self._name_is_free(_folder(topic, part))
        now_ms = self._world.now_ms()
        policies = {topic.id: self._policy(topic) for topic, _ in some}
        names = {_folder(topic, part): self._doomed_name(_folder(topic, part)) for topic, part in some}

        def make_all() -> list[_Made | OSError]:
            return [self._make(topic, part, policies[topic.id], names[_folder(topic, part)], now_ms) for topic, part in some]

        if not some:
            return
        for (topic, part), made in zip(some, await self._world.offload(make_all), strict=True):
            if isinstance(made, OSError):
                # The topic stands in the store: until its folder can be made, clients hear that there is no leader yet.
                self._log("a partition could not be made, trying again", topic=topic.name, partition=part.index, error=str(made))
                asyncio.get_running_loop().call_later(_MAKE_AGAIN_S, self._make_again, topic, part)
                continue
            if made.doomed is not None:
                self._remove_later(made.doomed)
            if not self._is_wanted(topic, part):
                continue  # deleted meanwhile: its folder goes with the delta that says so
            partition = self._add(topic, topic.partitions[part.index], made.log, self._policy(topic))
            partition.identity = made.identity
            self._flusher.must(partition)  # its folder's name and whose it is become durable

    def _make(self, topic: TopicImage, part: PartitionImage, policy: TopicPolicy, doomed: str, now_ms: int) -> _Made | OSError:
        """In a thread."""
        files, folder = self._files, _folder(topic, part)
        in_the_way = False
        try:
            if files.exists(folder):  # left behind by a crash, or of a topic of the same name
                files.rename(folder, doomed)
                in_the_way = True
            log = Log.create(files, folder, policy.log, now_ms=now_ms)
            metadata = files.open(f"{folder}/{_METADATA_FILE}", create=True)
            identity = (metadata, encode_metadata(topic.id))
            metadata.write(0, [identity[1]])
            metadata.close()
        except OSError as error:
            return error
        return _Made(log, identity, doomed if in_the_way else None)

    def _is_wanted(self, topic: TopicImage, part: PartitionImage) -> bool:
        return not self._closed and (topic.id, part.index) not in self._by_id and self._image.topic_by_id(topic.id) is topic

    def _make_again(self, topic: TopicImage, part: PartitionImage) -> None:
        if self._is_wanted(topic, part):
            self._again.append((topic, part))
            self._wake.set()

    async def _name_is_free(self, folder: str) -> None:
        """Until no thread writes by the name of a folder that is gone: it would write into the next one of that name."""
        gone = self._leaving.pop(folder, None)
        while gone is not None and gone.guests:
            await asyncio.sleep(0.001)

    async def _doom_some(self, gone: list[tuple[str, int]]) -> None:
        """The folders of deleted topics go, once the disk lets them."""
        # Whoever has made a topic of the same name has seen to the old one.
        some = [(name, index) for name, index in gone if not self._closed and (name, index) not in self._by_name]
        if not some:
            return
        ways = [(folder := f"{LOG_FOLDER}/{name}-{index}", self._doomed_name(folder)) for name, index in some]

        def rename_all() -> list[OSError | bool]:
            return [self._rename(folder, doomed) for folder, doomed in ways]

        for (name, index), (_, doomed), renamed in zip(some, ways, await self._world.offload(rename_all), strict=True):
            if renamed is True:
                self._remove_later(doomed)
            elif isinstance(renamed, OSError):
                self._log(
                    "the folder of a deleted topic stands in the way, trying again", topic=name, partition=index, error=str(renamed)
                )
                asyncio.get_running_loop().call_later(_MAKE_AGAIN_S, self._doom_once_more, name, index)

    def _rename(self, folder: str, doomed: str) -> OSError | bool:
        """In a thread: whether there was such a folder."""
        try:
            if not self._files.exists(folder):
                return False
            self._files.rename(folder, doomed)
        except OSError as error:
            return error
        return True

    def _doom_once_more(self, name: str, index: int) -> None:
        self._doom_again.append((name, index))
        self._wake.set()

    def _add(self, topic: TopicImage, part: PartitionImage, log: Log, policy: TopicPolicy) -> Partition:
        partition = Partition(
            topic.name,
            topic.id,
            part.index,
            log,
            policy,
            part.leader_epoch,
            self._metrics.topic(topic.name),
            self._flusher.want,
        )
        self._by_name[(topic.name, part.index)] = partition
        self._by_id[(topic.id, part.index)] = partition
        self.made(partition)
        return partition

    def _drop(self, partition: Partition, why: Refused) -> None:
        del self._by_name[(partition.topic, partition.index)]
        del self._by_id[(partition.topic_id, partition.index)]
        if partition.guests:
            self._leaving[f"{LOG_FOLDER}/{partition.topic}-{partition.index}"] = partition
        partition.close(why)

    def _doom(self, folder: str) -> None:
        """At the start, before anybody is served: out of the way at once; the bytes go off the loop."""
        if not self._files.exists(folder):
            return
        doomed = folder
        if not folder.endswith(_DELETED):
            doomed = self._doomed_name(folder)
            self._files.rename(folder, doomed)
        self._remove_later(doomed)

    def _doomed_name(self, folder: str) -> str:
        """Kafka's form: the name stays readable and can never be a topic's."""
        return f"{folder}.{self._world.random_bytes(8).hex()}{_DELETED}"

    def _remove_later(self, doomed: str) -> None:
        self._doomed.append(doomed)
        if len(self._doomed) == 1:
            self._remove_next()

    def _remove_next(self) -> None:
        if not self._doomed or self._closed:
            return
        folder = self._doomed[0]

        def remove() -> OSError | None:
            try:
                self._files.remove_folder(folder)
            except OSError as error:
                return error
            return None

        def removed(done: asyncio.Future[OSError | None]) -> None:
            self._doomed.popleft()
            if (error := done.result()) is not None:
                self._log("a deleted partition's folder could not be removed", folder=folder, error=str(error))
            self._remove_next()

        self._world.offload(remove).add_done_callback(removed)

    # ending

    async def close(self) -> None:
        """Close every log and leave a checkpoint. What cannot be closed cleanly is recovered at the next start."""
        self._closed = True
        partitions = list(self)
        if any(partition.log.in_flight for partition in partitions):
            self._log("something is still being written; all logs are recovered at the next start")
            return
        rows: list[CleanPartition] = []
        together = sum(partition.log.has_to_write for partition in partitions) > _CLOSED_ONE_BY_ONE_MAX

        def close_some(some: list[Partition]) -> list[CleanPartition] | OSError:
            closed = []
            try:
                for partition in some:
                    state = partition.log.close(is_synced=together)
                    closed.append(CleanPartition(partition.topic, partition.index, partition.topic_id, state))
            except OSError as error:
                return error
            return closed

        def sync_all() -> OSError | None:
            try:
                self._files.sync_all()
            except OSError as error:
                return error
            return None

        if together and (failed := await self._world.offload(sync_all)) is not None:
            self._log("the disk could not be synced; all logs are recovered at the next start", error=str(failed))
            return
        pieces = [partitions[start : start + 64] for start in range(0, len(partitions), 64)]
        for done in await asyncio.gather(
            *(self._world.offload(lambda piece=piece: close_some(piece)) for piece in pieces)  # type: ignore[misc]
        ):
            if isinstance(done, OSError):
                self._log("a log could not be closed; all are recovered at the next start", error=str(done))
                return
            rows += done
        if together and (failed := await self._world.offload(sync_all)) is not None:
            self._log("the disk could not be synced; all logs are recovered at the next start", error=str(failed))
            return
        data = msgspec.json.encode(Checkpoint(rows, list(self._doomed)))

        def write() -> None:
            file = self._files.open(CHECKPOINT + ".tmp", create=True)
            file.truncate(0)
            file.write(0, [data])
            file.sync()
            file.close()
            self._files.rename(CHECKPOINT + ".tmp", CHECKPOINT)
            self._files.sync_folder("")

        try:
            await self._world.offload(write)
        except OSError as error:
            self._log("the checkpoint could not be written; logs are recovered at the next start", error=str(error))


def _folder(topic: TopicImage, part: PartitionImage) -> str:
    return f"{LOG_FOLDER}/{topic.name}-{part.index}"


def encode_metadata(topic_id: UUID) -> bytes:
    """Kafka's `partition.metadata`: a version, and the id in URL-safe base64 without padding."""
    return b"version: 0\ntopic_id: " + base64.urlsafe_b64encode(topic_id.bytes).rstrip(b"=") + b"\n"


def decode_metadata(data: bytes) -> UUID | None:
    for line in data.decode("ascii", "replace").splitlines():
        key, _, value = line.partition(": ")
        if key == "topic_id" and len(value) == 22:
            try:
                return UUID(bytes=base64.urlsafe_b64decode(value + "=="))
            except ValueError:
                return None
    return None
