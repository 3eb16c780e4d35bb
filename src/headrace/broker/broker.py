"""The broker: what a node does, in Headrace's own words. Protocols translate into it; it knows none of them.

Owner: the node's loop. It ties together the rooms that have an owner each: the shelf (partitions), the flusher (group
commit), the group hosts, the image, and the transactions on the store behind it. The work that recurs is in `housekeeping.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from headrace.base.errors import Code, Refused
from headrace.base.ids import TopicId
from headrace.base.limits import MIB, SLOW_LOOKS_MAX
from headrace.base.metrics import Metrics
from headrace.base.settings import Settings
from headrace.base.world import World
from headrace.broker.flushing import Flusher
from headrace.broker.group_host import LOADING, GroupHost
from headrace.broker.partition import Partition
from headrace.broker.shelf import LOG_FOLDER, Shelf
from headrace.broker.tasks import Tasks
from headrace.cluster.image import Image, TopicImage
from headrace.cluster.metadata import Metadata, NewTopic, TopicCreated
from headrace.groups.coordinator import coordinator_partition
from headrace.groups.settings import GroupSettings

OFFSETS_TOPIC = "__consumer_offsets"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC})

PRODUCER_IDS_PER_BLOCK = 1_000
# Kafka's `offsets.topic.segment.bytes`: what was snapshot is dropped by segments.
SEGMENT_BYTES = 100 * MIB
# Where the disk does not let the partitions be made, clients hear so and ask again.
_OFFSETS_TOPIC_WAIT_MS_MAX = 5_000


class Broker:
    """One node's broker."""

    def __init__(
        self,
        world: World,
        settings: Settings,
        image: Image,
        metadata: Metadata,
        shelf: Shelf,
        flusher: Flusher,
        tasks: Tasks,
        metrics: Metrics,
        log: Callable[..., None],
        root: str,
    ) -> None:
        self.world = world
        self.settings = settings
        self.image = image
        self.metadata = metadata
        self.shelf = shelf
        self.flusher = flusher
        self.tasks = tasks
        self.metrics = metrics
        self.node_id = settings.node_id
        self.log_folder = f"{root}/{LOG_FOLDER}"
        self.internal_topics = INTERNAL_TOPICS
        self.slow_looks = asyncio.Semaphore(SLOW_LOOKS_MAX)  # batches being inflated and walked off the loop
        self._log = log
        self._hosts: dict[int, GroupHost] = {}
        self._making_offsets_topic: asyncio.Future[Refused | None] | None = None
        self._producer_ids: range = range(0)
        self._asking_ids: asyncio.Future[range | Refused] | None = None
        self.group_settings = GroupSettings(
            session_timeout_ms_min=settings.group_session_timeout_min,
            session_timeout_ms_max=settings.group_session_timeout_max,
            members_max=settings.group_members_max,
            initial_rebalance_delay_ms=settings.group_initial_delay,
            offsets_retention_ms=settings.offsets_retention,
            offsets_check_ms=settings.offsets_retention_check,
            commit_metadata_length_max=settings.commit_metadata_max,
        )
        shelf.made = self._partition_made
        shelf.gone = self._topic_gone
        flusher.lost = self._partition_lost

    # partitions

    def partition(self, topic: str, index: int) -> Partition | Refused:
        return self.shelf.find(topic, index)

    def partition_by_id(self, topic_id: TopicId, index: int) -> Partition | Refused:
        return self.shelf.find_by_id(topic_id, index)

    def all_partitions(self) -> Iterable[Partition]:
        return self.shelf

    def volume_bytes(self) -> tuple[int, int]:
        """Size of the disk, and what is left of it."""
        return self.world.files.total_bytes(), self.world.files.free_bytes()

    def advertised(self, local_host: str, local_port: int) -> tuple[str, int]:
        """Where clients should come: what the operator says, else the address this client came to."""
        advertise = self.settings.advertise
        if advertise is not None:
            return advertise.host, advertise.port
        if not local_host:
            return self.settings.kafka.host, self.settings.kafka.port
        return local_host, local_port

    async def delete_records(self, partition: Partition, offset: int) -> int | Refused:
        """Move a partition's start; the new start once it is durable."""
        log = partition.log
        wanted = partition.committed_end if offset == -1 else offset
        if not 0 <= wanted <= partition.committed_end:
            return Refused(
                Code.OFFSET_OUT_OF_RANGE, f"offset {offset} of {partition!r}; committed are offsets up to {partition.committed_end}"
            )
        refused = await self.flusher.flushed(partition, wanted)
        while refused is None and log.start_offset < wanted:
            # Asked for anew each time: when another one's plan fails, the log forgets what everybody wanted.
            refused = partition.closed or log.delete_records(wanted)
            if refused is not None:
                break
            plan = log.start_plan()
            if plan is None:
                await asyncio.sleep(0.001)  # another one's plan is under way
                continue
            try:
                await partition.offload(self.world, plan.run)
            except OSError as error:
                return log.start_failed(plan, error)
            log.start_moved(plan)
        return log.start_offset if refused is None else refused

    # topics: what was answered is served when the answer leaves

    async def create_topic(self, new: NewTopic, *, check_only: bool = False) -> TopicCreated | Refused:
        created = await self.metadata.create_topic(new, check_only=check_only)
        await self.shelf.reach(self.image.revision)
        return created

    async def auto_create(self, name: str) -> Refused | None:
        """Make a topic because somebody asked for it by name."""
        if not self.settings.auto_create_topics:
            return Refused(Code.UNKNOWN_TOPIC, f"there is no topic {name}")
        if name in INTERNAL_TOPICS:
            return await self.make_offsets_topic()
        created = await self.create_topic(NewTopic(name))
        if isinstance(created, Refused) and created.code is not Code.TOPIC_EXISTS:
            return created
        return None

    async def delete_topic(self, topic: TopicImage) -> Refused | None:
        if not self.settings.delete_topics:
            return Refused(Code.TOPIC_DELETION_OFF, "topics cannot be deleted: the setting delete-topics is off")
        return await self.metadata.delete_topic(topic)

    async def add_partitions(
        self, name: str, count: int, assignments: Sequence[Sequence[int]] | None, *, check_only: bool
    ) -> int | Refused:
        grown = await self.metadata.add_partitions(name, count, assignments, check_only=check_only)
        await self.shelf.reach(self.image.revision)
        return grown

    # groups

    def has_offsets_topic(self) -> bool:
        return bool(self._hosts)

    async def make_offsets_topic(self) -> Refused | None:
        """Make the topic that keeps the groups, once."""
        if self._making_offsets_topic is None:
            self._making_offsets_topic = self.tasks.spawn(self._make_offsets_topic())
        making = self._making_offsets_topic
        refused: Refused | None = await asyncio.shield(making)
        if refused is not None and self._making_offsets_topic is making:
            self._making_offsets_topic = None
        return refused

    async def _make_offsets_topic(self) -> Refused | None:
        configs = {"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": str(SEGMENT_BYTES)}
        made = await self.create_topic(NewTopic(OFFSETS_TOPIC, self.settings.offsets_partitions, configs=configs, internal=True))
        if isinstance(made, Refused) and made.code is not Code.TOPIC_EXISTS:
            return made
        began = self.world.monotonic_ms()
        while self._loading:
            if self.world.monotonic_ms() - began > _OFFSETS_TOPIC_WAIT_MS_MAX:
                return Refused(Code.COORDINATOR_UNAVAILABLE, f"{OFFSETS_TOPIC} was made, but its partitions are not there yet")
            await asyncio.sleep(0.001)
        return None

    @property
    def _loading(self) -> bool:
        return not self._hosts or any(host.machine is None for host in self._hosts.values())

    def group_host(self, group_id: str) -> GroupHost | Refused:
        topic = self.image.topic(OFFSETS_TOPIC)
        if topic is None:
            return Refused(Code.NOT_COORDINATOR, "nobody has asked for the group's coordinator yet")
        host = self._hosts.get(coordinator_partition(group_id, len(topic.partitions)))
        if host is None:
            return Refused(Code.NOT_COORDINATOR, "this node does not lead the group's partition")
        if host.machine is None:
            return LOADING
        return host

    def group_hosts(self) -> list[GroupHost]:
        return [self._hosts[index] for index in sorted(self._hosts)]

    def _partition_made(self, partition: Partition) -> None:
        if partition.topic == OFFSETS_TOPIC:
            host = GroupHost(self.world, self.tasks, partition, self.group_settings, self._log)
            self._hosts[partition.index] = host
            self.tasks.spawn(host.load())

    def _topic_gone(self, topic: TopicImage) -> None:
        if topic.name == OFFSETS_TOPIC:
            hosts, self._hosts = self._hosts, {}
            for host in hosts.values():
                host.close()
            self._making_offsets_topic = None
            return
        for host in self._hosts.values():
            host.decide(lambda machine: machine.forget_topics([topic.name]))

    def _partition_lost(self, partition: Partition, why: Refused) -> None:
        if partition.topic == OFFSETS_TOPIC and (host := self._hosts.get(partition.index)) is not None:
            host.lost()

    # producers

    async def new_producer_id(self) -> int | Refused:
        """A producer id that nobody ever had. Blocks come from the cluster store; several may wait for one block."""
        while not self._producer_ids:
            if self._asking_ids is None:
                self._asking_ids = self.tasks.spawn(self._allocate_ids())
            asking = self._asking_ids
            block = await asyncio.shield(asking)
            if self._asking_ids is asking:
                self._asking_ids = None
                if isinstance(block, range):
                    self._producer_ids = block
            if isinstance(block, Refused):
                return block
        producer_id = self._producer_ids[0]
        self._producer_ids = self._producer_ids[1:]
        return producer_id

    async def _allocate_ids(self) -> range | Refused:
        first = await self.metadata.allocate_producer_ids(PRODUCER_IDS_PER_BLOCK)
        return first if isinstance(first, Refused) else range(first, first + PRODUCER_IDS_PER_BLOCK)

    def close_groups(self) -> None:
        for host in self._hosts.values():
            host.close()
