"""The idempotent producers of one partition: who wrote last, and whether a batch is new, repeated or out of order.

Owner: the log of the partition. No IO, no clock. The rules are Kafka's (KIP-98, KIP-360 and the broker's own
`ProducerStateManager`):

- a producer counts its records per partition; a batch must begin with the number after the last one (2^31-1 is followed by 0);
- the last five batches are remembered, because a client has up to five on their way: sent again, they get the old answer;
- a higher epoch begins anew with 0, a lower one is a producer that was replaced;
- who is not known may begin with any number: what was known of it has expired or was deleted with its records.

We differ in two points, both to the client's good. A producer's life is counted from the wall time of its last append, not
from its records' timestamps, so that whoever loads old data is not forgotten at once. And a snapshot carries all five
batches (see `snapshot.py`), so that an answer that was lost in a restart can still be given.

Entries are never changed, only replaced: a copy of the dict is a snapshot that a thread can write out, and the old entry
of each producer since the last flush is enough to take an append back. The dict's order is that of the last append.
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.base.ids import NO_EPOCH, NO_SEQUENCE
from headrace.base.limits import PRODUCERS_PER_PARTITION_MAX
from headrace.records.header import SEQUENCE_MAX, BatchHeader

BATCHES_KEPT = 5

# last sequence, last offset, last offset - first offset, max timestamp
BatchMark = tuple[int, int, int, int]


class ProducerEntry:
    """What is known of one producer. Immutable by agreement."""

    __slots__ = ("batches", "coordinator_epoch", "epoch", "seen_ms", "transaction_first_offset")

    def __init__(
        self,
        epoch: int,
        batches: tuple[BatchMark, ...],
        seen_ms: int,
        coordinator_epoch: int = -1,
        transaction_first_offset: int = -1,
    ) -> None:
        self.epoch = epoch
        self.batches = batches  # oldest first, at most BATCHES_KEPT
        self.seen_ms = seen_ms
        self.coordinator_epoch = coordinator_epoch
        self.transaction_first_offset = transaction_first_offset

    @property
    def last_sequence(self) -> int:
        return self.batches[-1][0] if self.batches else NO_SEQUENCE

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProducerEntry):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ProducerEntry(epoch {self.epoch}, {self.batches}, seen {self.seen_ms})"


class ProducerView:
    """One producer as the admin API shows it."""

    __slots__ = ("coordinator_epoch", "epoch", "last_sequence", "last_timestamp", "producer_id", "transaction_first_offset")

    def __init__(self, producer_id: int, entry: ProducerEntry) -> None:
        self.producer_id = producer_id
        self.epoch = entry.epoch
        self.last_sequence = entry.last_sequence
        self.last_timestamp = entry.batches[-1][3] if entry.batches else -1
        self.coordinator_epoch = entry.coordinator_epoch
        self.transaction_first_offset = entry.transaction_first_offset


Entries = dict[int, ProducerEntry]


class Producers:
    __slots__ = ("_before_flight", "_before_now", "_count_max", "entries")

    def __init__(self, entries: Entries | None = None, count_max: int = PRODUCERS_PER_PARTITION_MAX) -> None:
        self.entries: Entries = entries if entries is not None else {}
        self._count_max = count_max
        # The entries as they were before the appends that are not flushed: since the last flush began, and before that.
        self._before_now: dict[int, ProducerEntry | None] = {}
        self._before_flight: dict[int, ProducerEntry | None] = {}

    def check(self, header: BatchHeader) -> BatchMark | Refused | None:
        """None: the batch comes next. A mark: it is a repetition of that batch."""
        entry = self.entries.get(header.producer_id)
        if entry is None:
            return None
        first = header.base_sequence
        epoch = header.producer_epoch
        if epoch == entry.epoch:
            batches = entry.batches
            last = batches[-1][0] if batches else NO_SEQUENCE
            if (last + 1) & SEQUENCE_MAX == first:
                return None
            last_sequence = header.last_sequence
            for mark in batches:
                if mark[0] == last_sequence and (last_sequence - mark[2]) & SEQUENCE_MAX == first:
                    return mark
            return Refused(
                Code.OUT_OF_ORDER_SEQUENCE,
                f"producer {header.producer_id} (epoch {epoch}) sent sequence {first} where {(last + 1) & SEQUENCE_MAX} comes next",
            )
        if epoch < entry.epoch:
            return Refused(
                Code.PRODUCER_FENCED,
                f"producer {header.producer_id} has epoch {entry.epoch} here, the batch comes from epoch {epoch}",
            )
        if first != 0 and entry.epoch != NO_EPOCH:
            return Refused(
                Code.OUT_OF_ORDER_SEQUENCE,
                f"producer {header.producer_id} begins epoch {epoch} with sequence {first}, it must be 0",
            )
        return None

    def record(self, header: BatchHeader, last_offset: int, now_ms: int) -> None:
        """The batch was appended and ends with `last_offset`."""
        producer_id = header.producer_id
        entries = self.entries
        old = entries.pop(producer_id, None)
        if producer_id not in self._before_now:
            self._before_now[producer_id] = old
        delta = header.last_offset_delta
        if header.base_sequence < 0:  # a control batch has no sequence
            batches = old.batches if old is not None and old.epoch == header.producer_epoch else ()
        else:
            mark = ((header.base_sequence + delta) & SEQUENCE_MAX, last_offset, delta, header.max_timestamp)
            if old is not None and old.epoch == header.producer_epoch:
                batches = (*old.batches[1 - BATCHES_KEPT :], mark)
            else:
                batches = (mark,)
        entries[producer_id] = ProducerEntry(header.producer_epoch, batches, now_ms)
        if old is None and len(entries) > self._count_max:
            self._forget(next(iter(entries)))

    def expire(self, now_ms: int, expiry_ms: int) -> int:
        """Forget who has not written for that long; how many."""
        limit = now_ms - expiry_ms
        gone = []
        for producer_id, entry in self.entries.items():
            if entry.seen_ms > limit:
                break
            gone.append(producer_id)
        for producer_id in gone:
            self._forget(producer_id)
        return len(gone)

    def _forget(self, producer_id: int) -> None:
        old = self.entries.pop(producer_id)
        self._before_now.setdefault(producer_id, old)

    def copy(self) -> Entries:
        return self.entries.copy()

    def flush_begins(self) -> None:
        self._before_flight = self._before_now
        self._before_now = {}

    def flush_ended(self) -> None:
        self._before_flight = {}

    def undo_unflushed(self) -> None:
        """Take back all that came after the last flush that ended."""
        for before in (self._before_now, self._before_flight):  # the younger first: the older knows better
            for producer_id, entry in before.items():
                self.entries.pop(producer_id, None)
                if entry is not None:
                    self.entries[producer_id] = entry
        self._before_now, self._before_flight = {}, {}

    def views(self) -> list[ProducerView]:
        return [ProducerView(producer_id, self.entries[producer_id]) for producer_id in sorted(self.entries)]
