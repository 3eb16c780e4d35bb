"""The checkers: what clients were told, kept in one book, and whether it all fits together.

The book is written by the clients of a run, all of whom it believes. Nothing of the node is looked at: only what a
client could have seen counts. A contradiction raises `Broken` where it is found, so that the trace ends there.

Laws, always on:
 1. Acknowledged is never lost: at the end every acknowledged record lies at its offset (above the log's start).
 2. Nothing is read that was not sent, to that topic and partition.
 3. One value per (partition, offset) for ever; what was visible stays.
 4. An idempotent value lies at one offset.
 5. High watermark, log start and committed offsets never go back, seen from one request's answer to a later request.
 6. Nothing above the high watermark is handed out.
 7. A partition has one owner per generation of a group, and only the newest known generation may commit.
 8. Committed offsets are ones that somebody committed.
 9. Every request is answered within `ANSWER_S_MAX`, or its connection ends.

A topic with `durability=pagecache` promises laws 1, 3, 4 and 5 only while the page cache lives: `cache_lost` tears those
pages out of the book.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

# A request that waits longest on purpose is JoinGroup: the rebalance time-out of the workload's groups (10 s), after
# which come clogs (5 s), slow syncs (2 s each) and the node's own time-outs.
ANSWER_S_MAX = 120.0


class Broken(Exception):
    """A law does not hold."""


def name_of(value: bytes | None) -> str:
    """A value without its padding."""
    return "nothing" if value is None else value.rstrip(b".").decode("utf-8", "replace")[:80]


class Sent:
    """A record that a producer sent."""

    __slots__ = ("idempotent", "offset", "partition", "topic")

    def __init__(self, topic: str, partition: int, idempotent: bool) -> None:
        self.topic = topic
        self.partition = partition
        self.idempotent = idempotent
        self.offset: int | None = None  # of an idempotent one: where it was seen


class PartitionBook:
    """What is known of one partition."""

    __slots__ = ("acked", "acked_somewhere", "end", "start", "start_asked", "values")

    def __init__(self) -> None:
        self.values: dict[int, bytes] = {}  # offset -> value, acknowledged or read
        self.acked: dict[int, bytes] = {}
        self.acked_somewhere: list[bytes] = []  # "I have that already", without an offset
        self.end = 0  # highest exclusive end that somebody saw
        self.start = 0  # highest log start that somebody saw
        self.start_asked = 0  # highest that somebody asked for with DeleteRecords


class Ledger:
    def __init__(self, clock: Callable[[], float]) -> None:
        self.sent: dict[bytes, Sent] = {}
        self.partitions: dict[tuple[str, int], PartitionBook] = {}
        self.pagecache: set[str] = set()  # topics
        self.gone: set[str] = set()  # topics whose deletion was asked for: nothing is promised any more
        self.committed: dict[tuple[str, str, int], int] = {}  # acknowledged
        self.tried: dict[tuple[str, str, int], set[int]] = {}  # asked for, acknowledged or not
        self.generations: dict[str, int] = {}
        self.owners: dict[tuple[str, int, str, int], str] = {}
        self.counts: dict[str, int] = {}
        self.cache_losses = 0
        self._clock = clock
        self._calls: dict[Any, None] = {}  # in the order they were asked

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def check(self, holds: bool, why: str) -> None:
        if not holds:
            self.broken(why)

    def broken(self, why: str) -> NoReturn:
        raise Broken(why)

    def book(self, topic: str, partition: int) -> PartitionBook:
        return self.partitions.setdefault((topic, partition), PartitionBook())

    # -- records

    def will_send(self, value: bytes, topic: str, partition: int, *, idempotent: bool) -> None:
        assert value not in self.sent, "the workload sends each value once"
        self.sent[value] = Sent(topic, partition, idempotent)

    def acknowledged(
        self, values: list[bytes], topic: str, partition: int, base_offset: int, cache_losses: int | None = None
    ) -> None:
        """`cache_losses`: how many there had been when the batch was sent, for those who look at the answer late."""
        self.count("acknowledged", len(values))
        if topic in self.gone or (topic in self.pagecache and cache_losses not in (None, self.cache_losses)):
            return
        book = self.book(topic, partition)
        for offset, value in enumerate(values, base_offset):
            self._lies_at(value, topic, partition, offset, "acknowledged")
            book.acked[offset] = value
        book.end = max(book.end, base_offset + len(values))

    def acknowledged_somewhere(self, values: list[bytes], topic: str, partition: int) -> None:
        self.count("acknowledged", len(values))
        self.book(topic, partition).acked_somewhere.extend(values)

    def read(self, topic: str, partition: int, offset: int, value: bytes) -> None:
        self.count("read")
        sent = self.sent.get(value)
        if sent is None:
            self.broken(f"{topic}-{partition}: at offset {offset} lies a value that nobody sent: {name_of(value)}")
        if (sent.topic, sent.partition) != (topic, partition):
            self.broken(f"{topic}-{partition}: {name_of(value)} at offset {offset} was sent to {sent.topic}-{sent.partition}")
        if topic in self.gone:
            return
        self._lies_at(value, topic, partition, offset, "read")

    def _lies_at(self, value: bytes, topic: str, partition: int, offset: int, how: str) -> None:
        book = self.book(topic, partition)
        there = book.values.setdefault(offset, value)
        if there != value:
            self.broken(f"{topic}-{partition}: offset {offset} held {name_of(there)}, now {name_of(value)} is {how} there")
        sent = self.sent[value]
        if sent.idempotent:
            if sent.offset is None:
                sent.offset = offset
            elif sent.offset != offset:
                self.broken(f"{topic}-{partition}: {name_of(value)} lies at offset {sent.offset}, and again at {offset}")

    # -- ends of logs. `known` is taken before the request leaves, so that only what was seen before it binds it.

    def known(self, topic: str, partition: int) -> tuple[int, int]:
        """(start, end) as somebody saw them."""
        book = self.book(topic, partition)
        return book.start, book.end

    def ends_are(self, topic: str, partition: int, known: tuple[int, int], start: int, end: int) -> None:
        """-1: not told."""
        if topic in self.gone:
            return
        if end >= 0 and end < known[1]:
            self.broken(f"{topic}-{partition}: the high watermark was {known[1]}, later it is {end}")
        if start >= 0 and start < known[0]:
            self.broken(f"{topic}-{partition}: the log began at {known[0]}, later it begins at {start}")
        book = self.book(topic, partition)
        if start > book.start_asked:
            self.broken(f"{topic}-{partition}: the log begins at {start}, nobody asked for more than {book.start_asked}")
        book.start = max(book.start, start)
        book.end = max(book.end, end)

    def will_delete(self, topic: str, partition: int, offset: int) -> None:
        book = self.book(topic, partition)
        book.start_asked = max(book.start_asked, offset)

    def deleted(self, topic: str, partition: int, start: int) -> None:
        if topic not in self.gone:
            book = self.book(topic, partition)
            book.start = max(book.start, start)

    def whole(self, topic: str, partition: int, start: int, end: int, read: dict[int, bytes]) -> None:
        """At the end of a run: all of a partition was read, from `start` to `end`."""
        book = self.book(topic, partition)
        missing = [offset for offset in range(start, end) if offset not in read]
        self.check(not missing, f"{topic}-{partition}: offsets {missing[:10]} of {start} to {end} cannot be read")
        for offset, value in sorted(book.acked.items()):
            if offset >= start and read.get(offset) != value:
                self.broken(
                    f"{topic}-{partition}: {name_of(value)} was acknowledged at {offset}, there lies {name_of(read.get(offset))}"
                )
        if start == 0:
            lost = [name_of(value) for value in sorted(set(book.acked_somewhere).difference(read.values()))]
            self.check(not lost, f"{topic}-{partition}: acknowledged as duplicates and not there: {lost[:5]}")
        for offset, value in sorted(book.values.items()):
            if offset >= start and read.get(offset) != value:
                self.broken(
                    f"{topic}-{partition}: {name_of(value)} was visible at {offset}, now there lies {name_of(read.get(offset))}"
                )

    # -- groups

    # A group that is empty and has no offsets is forgotten, and one of the same name begins again with generation 1. Its
    # leader then has another name: generation and leader together are never used twice.

    def generation_seen(self, group: str, generation: int) -> None:
        self.generations[group] = generation

    def owns(self, group: str, generation: int, leader: str, partition: int, member: str) -> None:
        owner = self.owners.setdefault((group, generation, leader, partition), member)
        self.check(owner == member, f"{group}: partition {partition} belongs to {owner} and to {member} in generation {generation}")

    def will_commit(self, group: str, topic: str, partition: int, offset: int) -> None:
        self.tried.setdefault((group, topic, partition), set()).add(offset)

    def commit_known(self, group: str, topic: str, partition: int) -> int:
        return self.committed.get((group, topic, partition), -1)

    def commit_acknowledged(
        self, group: str, topic: str, partition: int, offset: int, generation: int, generation_known: int, known: int
    ) -> None:
        """`known`, `generation_known`: what had been seen when the commit was sent."""
        self.count("commits")
        self.check(
            generation >= generation_known,
            f"{group}: generation {generation} committed {topic}-{partition} when generation {generation_known} had begun",
        )
        self.check(
            offset >= known,
            f"{group}: {topic}-{partition} was committed at {known}, and then at {offset}, by generation {generation}",
        )
        key = (group, topic, partition)
        self.committed[key] = max(self.committed.get(key, -1), offset)

    def commit_is(self, group: str, topic: str, partition: int, known: int, offset: int) -> None:
        if topic in self.gone:
            return
        self.check(offset >= known, f"{group}: {topic}-{partition} was committed at {known}, later the answer is {offset}")
        if offset >= 0:
            self.check(
                offset in self.tried.get((group, topic, partition), ()),
                f"{group}: the committed offset of {topic}-{partition} is {offset}, which nobody committed",
            )

    # -- requests

    def asked(self, call: Any) -> None:
        self.count("requests")
        self._calls[call] = None

    def answered(self, call: Any) -> None:
        self._calls.pop(call, None)

    @property
    def unanswered(self) -> int:
        return len(self._calls)

    def check_answers(self) -> None:
        """To be called now and then: is there one that waits for too long?"""
        call = next(iter(self._calls), None)
        if call is not None and self._clock() - call.sent_s > ANSWER_S_MAX:
            self.broken(
                f"request {call.correlation_id} (api {call.api_key}), sent at {call.sent_s:.3f} s, has no answer "
                f"after {ANSWER_S_MAX:.0f} s"
            )

    # -- what may be forgotten

    def topic_goes(self, topic: str) -> None:
        self.gone.add(topic)

    def cache_lost(self) -> None:
        """The page cache is gone, or a sync failed: topics that trusted it promise nothing of before."""
        self.cache_losses += 1
        for topic, partition in list(self.partitions):
            if topic in self.pagecache:
                old = self.partitions[topic, partition]
                new = self.partitions[topic, partition] = PartitionBook()
                new.start_asked = old.start_asked
                for sent in self.sent.values():
                    if (sent.topic, sent.partition) == (topic, partition):
                        sent.offset = None
