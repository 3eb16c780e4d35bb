"""One partition that this node leads: its log, its committed end, and who waits for it.

The **committed end** (Kafka's high watermark) is what the world may know of: acks, readers, recognised duplicates and
group commits all wait for the same offset. With `durability=fsynced` it is the flushed end of the log, with
`pagecache` the end of what was appended. It only rises, but for one case: when a flush fails, the log is cut
back to its flushed end, which with `fsynced` is the committed end already; whoever waited above it hears why.

A batch is judged in steps: the header and checksum, the time stamps, then every record (`record.validation=records`).
The walk of a large or compressed batch would hold the loop, so `prepare` says `Slow` and the caller runs
`prepare_slowly` instead, on a copy, off the loop. What passed is appended in one turn: no other append comes between
the producer's sequence check and the write.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from headrace.base.errors import Code, Refused
from headrace.base.files import File
from headrace.base.ids import TopicId
from headrace.base.limits import KIB, MIB
from headrace.base.metrics import TopicMetrics
from headrace.base.world import World
from headrace.broker.policy import PRODUCER_CODEC, TopicPolicy
from headrace.broker.waiting import PositionWaiters
from headrace.log.log import Appended, Cold, Duplicate, Log, Read
from headrace.log.producers import ProducerView
from headrace.records.header import APPEND_TIME, CODEC_MASK, BatchHeader, check_batch, read_header
from headrace.records.recompress import recompress
from headrace.records.stamp import stamp_append_time, stamp_create_time, stamp_max_timestamp
from headrace.records.validation import RecordsSeen, check_timestamps, walk_records

# A walk of this many records takes 0.3 ms interpreted when they are alike and 7 ms when all differ: more of them go to a
# thread. A batch of 1 MiB with records of 100 bytes stays below; handing it over would cost two copies and more than the walk.
_WALK_COUNT_MAX = 10_000
# A batch of this size inflates in well under a millisecond unless it lies, and the bound below catches a lie.
_INFLATE_INLINE_SIZE_MAX = 16 * KIB
_INFLATE_INLINE_BOUND = 512 * KIB
# With `pagecache`: dirty pages are handed to the disk in stretches of this size, so that the kernel never has to make a
# writer wait for a backlog of its own choosing.
WRITE_BACK_SIZE = 8 * MIB


T = TypeVar("T")


class Slow:
    """The batch is fine so far, but the rest of the look would hold the loop."""

    __slots__ = ("header",)

    def __init__(self, header: BatchHeader) -> None:
        self.header = header


class Partition:
    """A led partition."""

    __slots__ = (
        "_wants_flush",
        "acks",
        "bytes_appended",
        "bytes_committed",
        "bytes_handed_on",
        "closed",
        "committed_end",
        "flush_again",
        "flush_state",
        "flushes",
        "guests",
        "identity",
        "index",
        "leader_epoch",
        "log",
        "metrics",
        "must_flush",
        "policy",
        "readers",
        "topic",
        "topic_id",
    )

    def __init__(
        self,
        topic: str,
        topic_id: TopicId,
        index: int,
        log: Log,
        policy: TopicPolicy,
        leader_epoch: int,
        metrics: TopicMetrics,
        wants_flush: Callable[[Partition], None],
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.policy = policy
        self.leader_epoch = leader_epoch
        self.metrics = metrics
        # What recovery kept is on disk or came back from it: all of it counts as committed.
        self.committed_end = log.end_offset
        self.bytes_appended = 0  # rises with every append
        self.bytes_committed = 0  # of them, what lies below the committed end: a reader that waits for a size compares it
        self.bytes_handed_on = 0  # of them, what was flushed or given to the disk to write, when that began
        self.acks = PositionWaiters()
        self.flushes = PositionWaiters()  # who waits for the flushed end, whatever the durability
        self.readers: dict[Callable[[], None], None] = {}  # called, once each time, when the committed end rises
        self.closed: Refused | None = None  # deleted or moved: nothing more is served
        # Pieces of work off the loop that know the folder by its name: until they are done, no other topic gets that name.
        self.guests = 0
        self.flush_state = 0
        self.flush_again = False
        # File and content that say which topic the folder belongs to, until a flush has made them durable.
        self.identity: tuple[File, bytes] | None = None
        self.must_flush = False  # the next round flushes, also with `pagecache`
        self._wants_flush = wants_flush

    def __repr__(self) -> str:
        return f"Partition({self.topic}-{self.index})"

    # producing

    def prepare(self, data: memoryview, now_ms: int) -> BatchHeader | Slow | Refused:
        """Judge a produced batch without holding the loop."""
        policy = self.policy
        header = check_batch(data, size_max=policy.batch_size_max)
        if isinstance(header, Refused):
            return header
        if header.is_transactional:
            return Refused(Code.TRANSACTIONS_NOT_SUPPORTED, "transactional batches are not accepted by this node")
        codec = header.attributes & CODEC_MASK
        if policy.codec not in (PRODUCER_CODEC, codec):
            return Slow(header)
        if policy.walk:
            bound = policy.inflated_size_max
            if codec:
                if header.size > _INFLATE_INLINE_SIZE_MAX:
                    return Slow(header)
                bound = _INFLATE_INLINE_BOUND
            if header.count > _WALK_COUNT_MAX:
                return Slow(header)
            seen = walk_records(data, header, inflated_size_max=bound)
            if isinstance(seen, Refused):
                # Too large perhaps only for this turn's small bound: the slow look has the real one.
                return Slow(header) if codec and seen.code is Code.BATCH_TOO_LARGE else seen
            refused = self._check_seen(data, header, seen, now_ms)
        else:
            refused = self._check_times(header.base_timestamp, header.max_timestamp, now_ms)
        if refused is not None:
            return refused
        if policy.append_time:
            _stamp_append_time(data, header, now_ms)
        elif header.attributes & APPEND_TIME:
            _stamp_create_time(data, header)
        return header

    def prepare_slowly(self, data: bytearray, header: BatchHeader, now_ms: int) -> tuple[bytearray, BatchHeader] | Refused:
        """The rest of the look, off the loop: inflate, walk, compress anew. `data` is the caller's own copy."""
        policy = self.policy
        if policy.walk:
            seen = walk_records(data, header, inflated_size_max=policy.inflated_size_max)
            refused = seen if isinstance(seen, Refused) else self._check_seen(memoryview(data), header, seen, now_ms)
        else:
            refused = self._check_times(header.base_timestamp, header.max_timestamp, now_ms)
        if refused is not None:
            return refused
        if policy.codec not in (PRODUCER_CODEC, header.codec):
            again = recompress(data, header, policy.codec, policy.codec_level, inflated_size_max=policy.inflated_size_max)
            if isinstance(again, Refused):
                return again
            data, header = again, read_header(again)
        if policy.append_time:
            _stamp_append_time(memoryview(data), header, now_ms)
        elif header.attributes & APPEND_TIME:
            _stamp_create_time(memoryview(data), header)
        return data, header

    def _check_seen(self, data: memoryview, header: BatchHeader, seen: RecordsSeen, now_ms: int) -> Refused | None:
        if self.policy.compact and seen.keyless_index >= 0:
            return Refused(Code.INVALID_RECORD, f"record {seen.keyless_index} has no key, and {self.topic} is compacted")
        if seen.max_timestamp != header.max_timestamp:
            # Some clients write a wrong one; the time index and retention go by it.
            stamp_max_timestamp(data, seen.max_timestamp)
            header.max_timestamp = seen.max_timestamp
        return self._check_times(seen.min_timestamp, seen.max_timestamp, now_ms)

    def _check_times(self, earliest: int, latest: int, now_ms: int) -> Refused | None:
        policy = self.policy
        if policy.append_time:
            return None
        return check_timestamps(
            earliest, latest, now_ms=now_ms, before_ms_max=policy.before_ms_max, after_ms_max=policy.after_ms_max
        )

    def append(self, data: memoryview, header: BatchHeader, now_ms: int) -> Appended | Duplicate | Refused:
        """Append a batch that was judged. Wait for `last_offset + 1` before anybody hears of it."""
        if self.closed is not None:
            return self.closed
        try:
            result = self.log.append(data, header, leader_epoch=self.leader_epoch, now_ms=now_ms)
        except OSError as error:  # the producers of an idle log are read when they are needed
            return self._unreadable(self.log.end_offset, error)
        if type(result) is Appended:
            metrics = self.metrics
            size = header.size
            metrics.bytes_in += size
            metrics.records_in += header.count
            metrics.batches_in += 1
            self.bytes_appended += size
            if self.policy.fsynced:
                self._wants_flush(self)
            else:
                self.advance(self.log.end_offset)
                if self.bytes_appended - self.bytes_handed_on >= WRITE_BACK_SIZE:
                    self._wants_flush(self)
        return result

    def when_committed(self, end_offset: int, listener: Callable[[Refused | None], None]) -> None:
        """Call when everything below `end_offset` is committed, or with the reason why it never will be."""
        if end_offset <= self.committed_end:
            listener(None)
        elif self.closed is not None:
            listener(self.closed)
        else:
            self.acks.add(end_offset, listener)

    def advance(self, end_offset: int) -> None:
        """The committed end rises to `end_offset`."""
        if end_offset <= self.committed_end:
            return
        self.committed_end = end_offset
        # A flush that ends brings what there was when it began, and no other has begun since.
        self.bytes_committed = self.bytes_appended if end_offset == self.log.end_offset else self.bytes_handed_on
        if self.acks:
            self.acks.reached(end_offset)
        if self.readers:
            for reader in list(self.readers):
                reader()

    def cut_back(self, why: Refused) -> None:
        """The log lost what was not flushed: who waited for it hears why."""
        end = self.log.end_offset
        self.committed_end = min(self.committed_end, end)
        self.flushes.fail(-1, why)
        self.acks.fail(end, why)

    def close(self, why: Refused) -> None:
        """The partition is gone from this node."""
        self.closed = why
        self.flushes.fail(-1, why)
        self.acks.fail(-1, why)
        for reader in list(self.readers):
            reader()

    def offload(self, world: World, work: Callable[[], T]) -> asyncio.Future[T]:
        """Work off the loop that knows the folder by its name."""
        self.guests += 1
        done = world.offload(work)
        done.add_done_callback(self._guest_left)
        return done

    def _guest_left(self, done: asyncio.Future[T]) -> None:
        self.guests -= 1

    # reading

    def read(self, offset: int, size_max: int, *, whole_first_batch: bool, warmed: bool = False) -> Read | Cold | Refused:
        """Committed batches from the one that holds `offset` on, as a slice of a file. `warmed`: a `Cold` was fetched just now."""
        if self.closed is not None:
            return self.closed
        end = self.committed_end
        if offset > end:
            return Refused(
                Code.OFFSET_OUT_OF_RANGE,
                f"offset {offset} of {self.topic}-{self.index}; there are {self.log.start_offset} to {end}",
            )
        try:
            return self.log.read(offset, size_max, end, whole_first_batch=whole_first_batch, may_block=warmed)
        except OSError as error:
            return self._unreadable(offset, error)

    def describe_producers(self) -> list[ProducerView] | Refused:
        """Those of an idle log are read first."""
        try:
            return self.log.describe_producers()
        except OSError as error:
            return self._unreadable(self.log.end_offset, error)

    async def read_slowly(self, world: World, offset: int, size_max: int, *, whole_first_batch: bool) -> Read | Refused:
        """As `read`, fetching what is cold in a thread first."""
        result = self.read(offset, size_max, whole_first_batch=whole_first_batch)
        while isinstance(result, Cold):
            try:
                await world.offload(result.warm)
            except OSError as error:
                return self._unreadable(offset, error)
            result = self.read(offset, size_max, whole_first_batch=whole_first_batch, warmed=True)
        return result

    def _unreadable(self, offset: int, error: OSError) -> Refused:
        return Refused(Code.STORAGE_FAILED, f"reading {self.topic}-{self.index} at offset {offset} failed: {error}")

    def check_leader_epoch(self, epoch: int) -> Refused | None:
        """A client that saw another epoch of this partition hears which is newer (KIP-320)."""
        if epoch in (-1, self.leader_epoch):
            return None
        if epoch < self.leader_epoch:
            return Refused(Code.FENCED_LEADER_EPOCH, f"leader epoch {epoch} is over; it is {self.leader_epoch}")
        return Refused(Code.UNKNOWN_LEADER_EPOCH, f"leader epoch {epoch} is not known yet; it is {self.leader_epoch}")


def _stamp_create_time(data: memoryview, header: BatchHeader) -> None:
    stamp_create_time(data)
    header.attributes &= ~APPEND_TIME


def _stamp_append_time(data: memoryview, header: BatchHeader, now_ms: int) -> None:
    stamp_append_time(data, now_ms)
    header.attributes |= APPEND_TIME
    header.max_timestamp = now_ms
