"""What clients do to the node in a run, and what they write into the book.

Four kinds of actors, each with a client of its own and chance of its own: producers (idempotent and not), members of
a consumer group, readers that look anywhere, and an administrator who makes and deletes topics and cuts logs. An actor
goes on until the run says stop; then it finishes what it began. No actor looks at the node.

A value is sent in one place and with one name: `topic/partition/producer/number`, and some padding.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable
from typing import Any

from headrace.base.limits import MIB
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.codec import decode_message, encode_message
from headrace.protocols.kafka.messages.consumer_protocol_assignment import ConsumerProtocolAssignment, TopicPartition
from headrace.protocols.kafka.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from headrace.records.build import build_batch
from headrace.records.header import has_right_checksum
from headrace.records.record import Record, RecordsError, read_batches, read_records
from sim.client import PRODUCE, Client, Lost
from sim.ledger import Ledger

EARLIEST, LATEST = -2, -1
IN_FLIGHT_MAX = 3
ZSTD = 4

# Answers that tell a client to try again; any other error is a mistake of the node or of this workload.
AGAIN = frozenset(
    (
        errors.UNKNOWN_TOPIC_OR_PARTITION,
        errors.LEADER_NOT_AVAILABLE,
        errors.NOT_LEADER_OR_FOLLOWER,
        errors.REQUEST_TIMED_OUT,
        errors.KAFKA_STORAGE_ERROR,
        errors.UNKNOWN_TOPIC_ID,
        errors.INCONSISTENT_TOPIC_ID,
        errors.COORDINATOR_LOAD_IN_PROGRESS,
        errors.COORDINATOR_NOT_AVAILABLE,
        errors.NOT_COORDINATOR,
    )
)
OF_GROUPS = frozenset((errors.ILLEGAL_GENERATION, errors.UNKNOWN_MEMBER_ID, errors.REBALANCE_IN_PROGRESS))


class Topic:
    def __init__(self, name: str, partitions: int, settings: dict[str, str]) -> None:
        self.name = name
        self.partitions = partitions
        self.settings = settings


class Scene:
    """What the actors of a run share."""

    def __init__(self, chance: random.Random, ledger: Ledger, now_ms: Callable[[], int], *, pagecache: bool) -> None:
        self.chance = chance
        self.ledger = ledger
        self.now_ms = now_ms
        self.pagecache = pagecache
        self.topics: dict[str, Topic] = {}  # made, and nobody has asked for their deletion
        self.deleted: set[str] = set()  # deletion was acknowledged
        self.stopping = False
        self.made = 0

    def draw_first(self) -> Topic:
        """The group's topic, which stays for the whole run."""
        topic = self.draw_topic()
        topic.settings.pop("durability", None)
        self.ledger.pagecache.discard(topic.name)
        return topic

    def draw_topic(self) -> Topic:
        chance = self.chance
        self.made += 1
        settings: dict[str, str] = {}
        if chance.random() < 0.5:
            # An index of few entries, one for each batch: segments of some batches, and so some of them.
            settings["index.interval.bytes"] = "0"
            settings["segment.index.bytes"] = str(chance.choice((64, 256, 1024)))
        if chance.random() < 0.3:
            settings["segment.ms"] = str(chance.choice((500, 5_000)))
        if chance.random() < 0.2:
            settings["compression.type"] = chance.choice(("gzip", "zstd", "lz4", "snappy"))
        if chance.random() < 0.2:
            settings["message.timestamp.type"] = "LogAppendTime"
        topic = Topic(f"t{self.made}", chance.choice((1, 1, 2, 4)), settings)
        if self.pagecache and chance.random() < 0.4:
            settings["durability"] = "pagecache"
            self.ledger.pagecache.add(topic.name)
        return topic

    def some_partition(self, chance: random.Random) -> tuple[str, int] | None:
        if not self.topics:
            return None
        topic = self.topics[chance.choice(sorted(self.topics))]
        return topic.name, chance.randrange(topic.partitions)


class Actor:
    def __init__(self, name: str, scene: Scene, client: Client, chance: random.Random) -> None:
        self.name = name
        self.scene = scene
        self.ledger = scene.ledger
        self.client = client
        self.chance = chance

    async def run(self) -> None:
        while not self.scene.stopping:
            await self.pause(0.05)
            try:
                await self.act()
            except Lost:
                continue

    async def act(self) -> None:
        raise NotImplementedError

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(self.chance.expovariate(1 / seconds))

    def patience_s(self) -> float:
        """Most clients wait; some hang up."""
        return self.chance.uniform(0.5, 20.0) if self.chance.random() < 0.1 else 0.0

    def may_be(self, code: int, *also: int, what: str) -> bool:
        """Whether all is well; an error that is none of these has no place here."""
        if code == 0:
            return True
        self.ledger.count(f"error {code}")
        self.ledger.check(code in AGAIN or code in also, f"{self.name}: {what} was answered with error {code}")
        return False


class Producer(Actor):
    """Sends to one partition for a while, then to another."""

    def __init__(self, name: str, scene: Scene, client: Client, chance: random.Random, *, idempotent: bool) -> None:
        super().__init__(name, scene, client, chance)
        self.idempotent = idempotent
        self.number = 0
        self.producer_id = -1
        self.producer_epoch = -1
        self.sequence = 0
        self.size = chance.choice((10, 300, 3_000))
        codec = chance.choice((0, 0, 1, 2, 3, 4))
        # zstd came with version 7 of Produce (KIP-110); older clients do not know it.
        self.codec = codec if codec != ZSTD or client.version(PRODUCE) >= 7 else 0

    async def act(self) -> None:
        place = self.scene.some_partition(self.chance)
        if place is None:
            await self.pause(1)
            return
        if self.chance.random() < 0.5:
            await self.client.metadata([place[0]])
        if self.idempotent:
            await self.send_in_order(*place)
        else:
            await self.send(*place)

    def values(self, topic: str, partition: int) -> list[bytes]:
        values = []
        for _ in range(self.chance.randint(1, 5)):
            self.number += 1
            padding = self.chance.randrange(self.size)
            value = f"{topic}/{partition}/{self.name}/{self.number}/".encode() + b"." * padding
            self.ledger.will_send(value, topic, partition, idempotent=self.idempotent)
            values.append(value)
        return values

    def batch(self, values: list[bytes]) -> bytes:
        now_ms = self.scene.now_ms()
        records = [Record(0, now_ms, None, value) for value in values]
        if not self.idempotent:
            return bytes(build_batch(records, codec=self.codec))
        batch = build_batch(
            records,
            codec=self.codec,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=self.sequence,
        )
        self.sequence += len(values)
        return bytes(batch)

    async def send(self, topic: str, partition: int) -> None:
        """Batches of which each is tried until it is acknowledged, or given up."""
        acks = self.chance.choice((1, -1, -1, 0))
        for _ in range(self.chance.randint(1, 10)):
            batches = [self.values(topic, partition) for _ in range(self.chance.randint(1, IN_FLIGHT_MAX))]
            tries = self.chance.randint(1, 5)
            while batches and tries and not self.scene.stopping:
                tries -= 1
                await self.client.connect()
                losses = self.ledger.cache_losses
                sent = [self.client.produce(topic, partition, self.batch(values), acks) for values in batches]
                answers = await asyncio.gather(*sent, return_exceptions=True)
                if acks == 0:
                    break
                batches = [
                    values
                    for values, answer in zip(batches, answers, strict=True)
                    if not self.took(values, topic, partition, answer, losses)
                ]
                if batches:
                    await self.pause(0.5)
            await self.pause(0.05)

    def took(self, values: list[bytes], topic: str, partition: int, answer: Any, cache_losses: int) -> bool:
        if isinstance(answer, Lost):
            return False
        if isinstance(answer, BaseException):
            raise answer
        part = answer.responses[0].partition_responses[0]
        if not self.may_be(part.error_code, what=f"a batch for {topic}-{partition}"):
            return False
        self.ledger.acknowledged(values, topic, partition, part.base_offset, cache_losses)
        return True

    async def send_in_order(self, topic: str, partition: int) -> None:
        """A new producer id, then batches in sequence; after any trouble again from the first that is not acknowledged."""
        made = await self.client.init_producer_id()
        if not self.may_be(made.error_code, what="InitProducerId"):
            return
        self.producer_id, self.producer_epoch, self.sequence = made.producer_id, made.producer_epoch, 0
        waiting: deque[tuple[list[bytes], bytes]] = deque()
        left = self.chance.randint(1, 30)
        refused = 0
        # Of a producer that it does not know, a broker takes any sequence, as Kafka does: were the first batch lost and
        # the second kept, the first could never be sent again. So the first goes alone.
        in_flight_max = 1
        while (left or waiting) and topic not in self.ledger.gone:
            while left and len(waiting) < in_flight_max:
                left -= 1
                values = self.values(topic, partition)
                waiting.append((values, self.batch(values)))
            if self.scene.stopping:
                left = 0
            await self.client.connect()
            losses = self.ledger.cache_losses
            sent = [self.client.produce(topic, partition, batch, -1) for _, batch in waiting]
            answers = await asyncio.gather(*sent, return_exceptions=True)
            for number, answer in enumerate(answers):
                values = waiting[0][0]
                if isinstance(answer, Lost):
                    break
                if isinstance(answer, BaseException):
                    raise answer
                part = answer.responses[0].partition_responses[0]
                code = part.error_code
                if code == errors.DUPLICATE_SEQUENCE_NUMBER:
                    self.ledger.acknowledged_somewhere(values, topic, partition)
                elif code == errors.OUT_OF_ORDER_SEQUENCE_NUMBER or code == errors.UNKNOWN_PRODUCER_ID:
                    # Behind one that failed this is as it must be; the first in line is never out of order.
                    if number == 0 and topic not in self.ledger.gone:
                        refused += 1
                        if topic in self.ledger.pagecache:
                            return  # what it stood upon may have gone with the page cache
                        self.ledger.check(
                            refused < 3,
                            f"{self.name}: {topic}-{partition} finds the first unacknowledged batch out of order ({code})",
                        )
                    break
                elif not self.may_be(code, what=f"a batch for {topic}-{partition}"):
                    break
                else:
                    self.ledger.acknowledged(values, topic, partition, part.base_offset, losses)
                waiting.popleft()
                refused = 0
                in_flight_max = IN_FLIGHT_MAX
            else:
                await self.pause(0.05)
                continue
            await self.pause(0.5)


class Fetching(Actor):
    """What readers and group members share: a fetch whose every byte is looked at."""

    seen: dict[int, bytes] | None = None  # whoever wants to know what was read lays a dict here

    async def fetch(self, topic: str, positions: dict[int, int], **options: Any) -> dict[int, int] | None:
        """New positions; None when something is to be tried again. Positions out of range are set to the log's start."""
        known = {partition: self.ledger.known(topic, partition) for partition in positions}
        options.setdefault("size_max", self.chance.choice((1, 1_000, 100_000, MIB)))
        options.setdefault("wait_ms_max", self.chance.choice((0, 100, 500, 2_000)))
        options.setdefault("size_min", self.chance.choice((0, 1, 1, 10_000)))
        parts = await self.client.fetch(topic, positions, patience_s=self.patience_s(), **options)
        moved = dict(positions)
        fine = True
        for partition, offset in positions.items():
            data = parts.get(partition)
            if data is None:
                fine = False
                continue
            if data.error_code == errors.OFFSET_OUT_OF_RANGE:
                start = await self.start_of(topic, partition)
                if start is None:
                    fine = False
                    continue
                if topic not in self.ledger.gone and topic not in self.ledger.pagecache:
                    self.ledger.check(
                        start > offset, f"{self.name}: {topic}-{partition} begins at {start}, and {offset} is out of its range"
                    )
                moved[partition] = start
                continue
            if not self.may_be(data.error_code, what=f"a fetch of {topic}-{partition}"):
                fine = False
                continue
            self.ledger.ends_are(topic, partition, known[partition], data.log_start_offset, data.high_watermark)
            moved[partition] = self.look_at(topic, partition, offset, data)
        return moved if fine or moved != positions else None

    def look_at(self, topic: str, partition: int, offset: int, data: Any) -> int:
        ledger = self.ledger
        records = bytes(data.records or b"")
        try:
            batches = list(read_batches(records))
        except RecordsError as error:
            ledger.broken(f"{topic}-{partition}: what was handed out from offset {offset} on is no batches: {error}")
        for at, header in batches:
            batch = memoryview(records)[at : at + header.size]
            ledger.check(
                has_right_checksum(batch, header), f"{topic}-{partition}: a broken batch was handed out at {header.base_offset}"
            )
            ledger.check(
                header.last_offset < data.high_watermark,
                f"{topic}-{partition}: offset {header.last_offset} was handed out, the high watermark is {data.high_watermark}",
            )
            for record in read_records(batch):
                if record.offset < offset:
                    continue
                ledger.check(
                    record.offset == offset, f"{topic}-{partition}: after {offset - 1} comes {record.offset}: something is missing"
                )
                assert record.value is not None
                ledger.read(topic, partition, record.offset, record.value)
                if self.seen is not None:
                    self.seen[record.offset] = record.value
                offset += 1
        return offset

    async def start_of(self, topic: str, partition: int) -> int | None:
        known = self.ledger.known(topic, partition)
        code, start = await self.client.list_offset(topic, partition, EARLIEST)
        if not self.may_be(code, what=f"ListOffsets of {topic}-{partition}"):
            return None
        self.ledger.ends_are(topic, partition, known, start, -1)
        return start


class Reader(Fetching):
    """Looks at some partition, from somewhere on."""

    async def act(self) -> None:
        place = self.scene.some_partition(self.chance)
        if place is None:
            await self.pause(1)
            return
        topic, partition = place
        await self.client.metadata([topic])
        start, end = self.ledger.known(topic, partition)
        positions = {partition: self.chance.randint(start, max(start, end)) if self.chance.random() < 0.7 else start}
        for _ in range(self.chance.randint(1, 20)):
            moved = await self.fetch(topic, positions)
            if moved is None:
                return
            positions = moved
            await self.pause(0.05)


class Member(Fetching):
    """A member of a consumer group on one topic."""

    SESSION_MS = 6_000
    REBALANCE_MS = 10_000

    def __init__(self, name: str, scene: Scene, client: Client, chance: random.Random, group: str, topic: Topic) -> None:
        super().__init__(name, scene, client, chance)
        self.group = group
        self.topic = topic
        self.member = ""

    async def act(self) -> None:
        if not self.may_be(await self.client.find_coordinator(self.group), what="FindCoordinator"):
            return
        subscription = encode_message(ConsumerProtocolSubscription(topics=[self.topic.name]), 0)
        joined = await self.client.join_group(
            self.group,
            self.member,
            b"\0\0" + subscription,
            session_ms=self.SESSION_MS,
            rebalance_ms=self.REBALANCE_MS,
            patience_s=self.patience_s(),
        )
        if joined.error_code == errors.MEMBER_ID_REQUIRED:
            self.member = joined.member_id
            return
        if joined.error_code == errors.UNKNOWN_MEMBER_ID:
            self.member = ""
            return
        if not self.may_be(joined.error_code, *OF_GROUPS, what="JoinGroup"):
            return
        self.member = joined.member_id
        generation = joined.generation_id
        plan: dict[str, bytes] = {}
        if joined.leader == self.member:
            names = sorted(entry.member_id for entry in joined.members)
            for number, name in enumerate(names):
                share = [p for p in range(self.topic.partitions) if p % len(names) == number]
                assigned = ConsumerProtocolAssignment([TopicPartition(self.topic.name, share)] if share else [])
                plan[name] = b"\0\0" + encode_message(assigned, 0)
        synced = await self.client.sync_group(self.group, generation, self.member, plan, patience_s=self.patience_s())
        if synced.error_code == errors.UNKNOWN_MEMBER_ID:
            self.member = ""
        if not self.may_be(synced.error_code, *OF_GROUPS, what="SyncGroup"):
            return
        assignment = decode_message(ConsumerProtocolAssignment, 0, bytes(synced.assignment)[2:])
        mine = [partition for part in assignment.assigned_partitions for partition in part.partitions]
        self.ledger.generation_seen(self.group, generation)
        for partition in mine:
            self.ledger.owns(self.group, generation, joined.leader, partition, self.member)
        self.ledger.count("joined")
        await self.consume(generation, mine)

    async def consume(self, generation: int, mine: list[int]) -> None:
        positions = await self.begin(mine)
        if positions is None:
            return
        left = self.chance.randint(5, 60)
        while not self.scene.stopping:
            code = await self.client.heartbeat(self.group, generation, self.member, patience_s=self.patience_s())
            if code == errors.UNKNOWN_MEMBER_ID:
                self.member = ""
            if not self.may_be(code, *OF_GROUPS, what="Heartbeat"):
                return
            if positions:
                moved = await self.fetch(self.topic.name, positions, wait_ms_max=self.chance.choice((0, 500)), size_min=1)
                if moved is not None and moved != positions:
                    positions = moved
                    if self.chance.random() < 0.5 and not await self.commit(generation, positions):
                        return
            await self.pause(0.3)
            left -= 1
            if left == 0:
                match self.chance.choice(("leave", "silence", "vanish")):
                    case "leave":
                        await self.client.leave_group(self.group, self.member)
                        self.member = ""
                    case "silence":
                        await self.pause(2 * self.SESSION_MS / 1000)
                        continue  # and see what became of us
                    case "vanish":
                        self.client.drop()
                        self.member = ""
                return

    async def begin(self, mine: list[int]) -> dict[int, int] | None:
        if not mine:
            return {}
        topic = self.topic.name
        known = {partition: self.ledger.commit_known(self.group, topic, partition) for partition in mine}
        committed = await self.client.committed(self.group, topic, mine)
        if isinstance(committed, int):
            self.may_be(committed, *OF_GROUPS, what="OffsetFetch")
            return None
        positions = {}
        for partition in mine:
            offset = committed.get(partition, -1)
            self.ledger.commit_is(self.group, topic, partition, known[partition], offset)
            if offset < 0:
                start = await self.start_of(topic, partition)
                if start is None:
                    return None
                offset = start
            positions[partition] = offset
        return positions

    async def commit(self, generation: int, positions: dict[int, int]) -> bool:
        topic = self.topic.name
        for partition, offset in positions.items():
            self.ledger.will_commit(self.group, topic, partition, offset)
        known = {partition: self.ledger.commit_known(self.group, topic, partition) for partition in positions}
        newest = self.ledger.generations.get(self.group, 0)
        codes = await self.client.commit(self.group, generation, self.member, topic, positions, patience_s=self.patience_s())
        fine = True
        for partition, code in codes.items():
            if code == errors.UNKNOWN_MEMBER_ID:
                self.member = ""
            if self.may_be(code, *OF_GROUPS, what="OffsetCommit"):
                self.ledger.commit_acknowledged(
                    self.group, topic, partition, positions[partition], generation, newest, known[partition]
                )
            else:
                fine = False
        return fine


class Administrator(Actor):
    TOPICS_MAX = 6

    async def act(self) -> None:
        await self.pause(0.5)
        match self.chance.choice(("create", "create", "delete", "cut", "look", "look")):
            case "create" if len(self.scene.topics) < self.TOPICS_MAX:
                await self.create(self.scene.draw_topic())
            case "delete" if len(self.scene.topics) > 2 and self.chance.random() < 0.5:
                # The first topic belongs to the group and stays.
                await self.delete(self.chance.choice([name for name in sorted(self.scene.topics) if name != "t1"]))
            case "cut":
                await self.cut()
            case _:
                await self.look()

    async def create(self, topic: Topic) -> None:
        """Until it is there: only then does anybody else hear of it."""
        for number in range(1_000):
            try:
                code = await self.client.create_topic(topic.name, topic.partitions, topic.settings)
            except Lost:
                code = errors.REQUEST_TIMED_OUT
            if code == 0 or (code == errors.TOPIC_ALREADY_EXISTS and number):
                self.scene.topics[topic.name] = topic
                self.ledger.count("topics created")
                return
            self.may_be(code, what=f"CreateTopics {topic.name}")
            await self.pause(0.5)

    async def delete(self, name: str) -> None:
        self.ledger.topic_goes(name)
        self.scene.topics.pop(name)
        for number in range(1_000):
            try:
                code = await self.client.delete_topic(name)
            except Lost:
                code = errors.REQUEST_TIMED_OUT
            if code == 0 or (code == errors.UNKNOWN_TOPIC_OR_PARTITION and number):
                self.scene.deleted.add(name)
                self.ledger.count("topics deleted")
                return
            self.may_be(code, what=f"DeleteTopics {name}")
            await self.pause(0.5)

    async def cut(self) -> None:
        place = self.scene.some_partition(self.chance)
        if place is None:
            return
        start, end = self.ledger.known(*place)
        if end <= start or self.chance.random() < 0.5:
            return
        offset = self.chance.randint(start, end)
        self.ledger.will_delete(*place, offset)
        code, start = await self.client.delete_records(*place, offset)
        if self.may_be(code, errors.OFFSET_OUT_OF_RANGE, what="DeleteRecords"):
            self.ledger.count("cuts")
            self.ledger.deleted(*place, start)

    async def look(self) -> None:
        place = self.scene.some_partition(self.chance)
        if place is None:
            return
        known = self.ledger.known(*place)
        which = self.chance.choice((EARLIEST, LATEST))
        code, offset = await self.client.list_offset(*place, which)
        if self.may_be(code, what="ListOffsets"):
            self.ledger.ends_are(*place, known, offset if which == EARLIEST else -1, offset if which == LATEST else -1)
