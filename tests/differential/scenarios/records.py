"""Produce, Fetch, ListOffsets, DeleteRecords, OffsetForLeaderEpoch, InitProducerId, DescribeProducers, DescribeLogDirs."""

import struct
import time
from typing import Any

from headrace.protocols.kafka.messages import (
    delete_records,
    describe_log_dirs,
    describe_producers,
    fetch,
    init_producer_id,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)
from headrace.protocols.kafka.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from headrace.protocols.kafka.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from headrace.protocols.kafka.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from headrace.protocols.kafka.messages.describe_producers import DescribeProducersRequest, TopicRequest
from headrace.protocols.kafka.messages.fetch import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from headrace.protocols.kafka.messages.init_producer_id import InitProducerIdRequest
from headrace.protocols.kafka.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from headrace.protocols.kafka.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from headrace.protocols.kafka.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from headrace.records.build import build_batch
from headrace.records.record import Record
from headrace.records.stamp import seal
from tests.differential.session import EPOCH_MS, Session, batch, scenario

CRC_AT, MAGIC_AT, ATTRIBUTES_AT, LAST_DELTA_AT, COUNT_AT = 17, 16, 21, 23, 57


def put(
    s: Session, label: str, topic: str, *records: bytes | None, acks: int = -1, partition: int = 0, transaction: str | None = None
) -> Any:
    parts = [PartitionProduceData(partition + i, None if r is None else memoryview(r)) for i, r in enumerate(records)]
    return s.ask(ProduceRequest(transaction, acks, 10_000, [TopicProduceData(topic, s.id_of(topic), parts)]), label)


def broken(records: bytes, at: int, form: str, value: int, sealed: bool = True) -> bytes:
    out = bytearray(records)
    struct.pack_into(form, out, at, value)
    if sealed:
        seal(out)
    return bytes(out)


@scenario(produce)
def stored(s: Session) -> None:
    name = s.topic(partitions=2)
    put(s, "one record", name, batch(1))
    put(s, "acks 1", name, batch(3), acks=1)
    put(s, "two partitions", name, batch(2), batch(2))
    for codec in (1, 2, 3, 4):
        if codec == 4 and s.version < 7:
            put(s, "zstd, too early", name, batch(5, codec=codec))
        else:
            put(s, f"codec {codec}", name, batch(5, codec=codec))
    put(s, "labels", name, batch(3, label=True))
    s.ask(ProduceRequest(None, -1, 1000, []), "nothing")


@scenario(produce)
def refused(s: Session) -> None:
    name = s.topic()
    good = batch(3)
    put(s, "unknown topic", s.name + "-never", good)
    put(s, "unknown partition", name, good, partition=5)
    put(s, "partition -1", name, good, partition=-1)
    put(s, "acks 2", name, good, acks=2)
    put(s, "acks -2", name, good, acks=-2)
    put(s, "empty records", name, b"")
    put(s, "cut short", name, good[:-1])
    put(s, "shorter than a header", name, good[:40])
    put(s, "two batches", name, good + good)
    put(s, "bad checksum", name, broken(good, CRC_AT, ">I", 1, sealed=False))
    put(s, "magic 1", name, broken(good, MAGIC_AT, ">b", 1, sealed=False))
    put(s, "magic 3", name, broken(good, MAGIC_AT, ">b", 3, sealed=False))
    put(s, "magic 0", name, broken(good, MAGIC_AT, ">b", 0, sealed=False))
    put(s, "codec 5", name, broken(good, ATTRIBUTES_AT, ">h", 5))
    put(s, "control batch", name, broken(good, ATTRIBUTES_AT, ">h", 32))
    put(s, "transactional without an id", name, broken(good, ATTRIBUTES_AT, ">h", 16))
    put(s, "append time set by the client", name, broken(good, ATTRIBUTES_AT, ">h", 8))
    put(s, "count 4 of 3", name, broken(good, COUNT_AT, ">i", 4))
    put(s, "count 2 of 3", name, broken(good, COUNT_AT, ">i", 2))
    put(s, "count 0", name, broken(good, COUNT_AT, ">i", 0))
    put(s, "count -1", name, broken(good, COUNT_AT, ">i", -1))
    put(s, "last offset delta 7", name, broken(good, LAST_DELTA_AT, ">i", 7))
    put(s, "records that do not chain", name, broken(good, 61, ">b", 4))
    put(s, "gzip that is none", name, broken(good, ATTRIBUTES_AT, ">h", 1))
    put(s, "sequence without a producer", name, batch(1, base_sequence=3))
    put(s, "producer without a sequence", name, batch(1, producer_id=4, producer_epoch=0))
    put(s, "one good, one bad", s.topic("two", 2), good, broken(good, CRC_AT, ">I", 1, sealed=False))
    put(s, "still good", name, good)


@scenario(produce)
def append_time_claimed(s: Session) -> None:
    """A client that sets the bit which only the topic may set; what is stored is read back."""
    name = s.topic()
    put(s, "claimed", name, broken(batch(3), ATTRIBUTES_AT, ">h", 8))
    put(s, "claimed, compressed", name, broken(batch(3, codec=1), ATTRIBUTES_AT, ">h", 9))
    put(s, "bits that nobody uses", name, broken(batch(2), ATTRIBUTES_AT, ">h", 0x400))
    read_back(s, name)


def read_back(s: Session, name: str) -> None:
    asked = [FetchTopic(name, s.id_of(name), [FetchPartition(0, -1, 0, partition_max_bytes=1 << 20)])]
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, max_bytes=1 << 20, topics=asked), "read back")


@scenario(produce)
def keyless_in_a_compacted_topic(s: Session) -> None:
    name = s.topic(cleanup__policy="compact")
    mixed = [Record(0, EPOCH_MS, b"k", b"v"), Record(1, EPOCH_MS, None, b"v"), Record(2, EPOCH_MS, None, b"w")]
    put(s, "two without a key", name, bytes(build_batch(mixed)))
    put(s, "all with keys", name, batch(2))
    read_back(s, name)


@scenario(produce)
def not_for_clients(s: Session) -> None:
    s.group()
    put(s, "to the topic of the groups' offsets", "__consumer_offsets", batch(1))
    name = s.topic(min__insync__replicas="2")
    put(s, "too few replicas, acks 1", name, batch(1), acks=1)
    put(s, "too few replicas", name, batch(1))


@scenario(produce)
def without_answer(s: Session) -> None:
    name = s.topic()

    def silent(label: str, topic: str, records: bytes) -> None:
        data = [TopicProduceData(topic, s.id_of(topic), [PartitionProduceData(0, memoryview(records))])]
        s.main.wire.send(produce.API_KEY, s.version, ProduceRequest(None, 0, 1000, data))
        put(s, f"after: {label}", name, batch(1))

    silent("good", name, batch(2))
    silent("bad checksum", name, broken(batch(2), CRC_AT, ">I", 1, sealed=False))
    silent("unknown topic", s.name + "-never", batch(2))


@scenario(produce)
def too_large(s: Session) -> None:
    name = s.topic(max__message__bytes="200")
    put(s, "fits", name, batch(1))
    put(s, "does not fit", name, batch(20))


@scenario(produce)
def time_stamps(s: Session) -> None:
    name = s.topic("append", message__timestamp__type="LogAppendTime")
    put(s, "append time", name, batch(2))
    late = s.topic("late", message__timestamp__before__max__ms="1000")
    put(s, "too old", late, batch(2))
    early = s.topic("early")
    put(s, "far in the future", early, batch(1, first=10**12))
    put(s, "far in the future, compressed", early, batch(2, first=10**12, codec=2))
    mixed = [Record(0, int(time.time() * 1000), b"k", b"v"), Record(1, EPOCH_MS, b"k", b"v")]
    put(s, "one of two too old", late, bytes(build_batch(mixed)))


@scenario(produce)
def idempotent(s: Session) -> None:
    name = s.topic()
    producer = s.producer()

    def seq(label: str, first: int, count: int, epoch: int = 0) -> None:
        put(s, label, name, batch(count, producer_id=producer, producer_epoch=epoch, base_sequence=first))

    seq("first", 0, 3)
    seq("the same again", 0, 3)
    seq("next", 3, 2)
    seq("the first again", 0, 3)
    seq("gap", 9, 1)
    seq("overlap", 4, 2)
    seq("new epoch must begin at 0", 5, 1, epoch=1)
    seq("new epoch", 0, 1, epoch=1)
    seq("old epoch", 5, 1, epoch=0)
    for i in range(6):
        seq(f"more {i}", 1 + i, 1, epoch=1)
    seq("older than the last five", 1, 1, epoch=1)


@scenario(produce)
def unknown_producer(s: Session) -> None:
    name = s.topic()
    put(s, "begins at 0", name, batch(2, producer_id=998, producer_epoch=0, base_sequence=0))
    put(s, "begins at 7", name, batch(2, producer_id=999, producer_epoch=0, base_sequence=7))
    put(s, "in two partitions", name, batch(2, producer_id=998, producer_epoch=3, base_sequence=0))


@scenario(init_producer_id)
def producer_ids(s: Session) -> None:
    s.producer()
    first = s.ask(InitProducerIdRequest(None, 60_000), "new")
    s.ask(InitProducerIdRequest(None, 60_000), "another")
    s.ask(InitProducerIdRequest("", 60_000), "empty transactional id")
    s.ask(InitProducerIdRequest(None, -1), "negative timeout")
    if s.version >= 3 and first is not None:
        s.ask(InitProducerIdRequest(None, 60_000, first.producer_id, 0), "known id")
        s.ask(InitProducerIdRequest(None, 60_000, first.producer_id, -1), "id without epoch")
        s.ask(InitProducerIdRequest(None, 60_000, -1, 0), "epoch without id")


def get(s: Session, label: str, topic: str, *offsets: int, size: int = 1 << 20, **how: Any) -> Any:
    epoch = how.pop("leader_epoch", -1)
    parts = [FetchPartition(i, epoch if s.version >= 9 else -1, o, partition_max_bytes=size) for i, o in enumerate(offsets)]
    how.setdefault("max_wait_ms", 10)
    how.setdefault("max_bytes", 1 << 20)
    return s.ask(FetchRequest(min_bytes=how.pop("min_bytes", 0), topics=[FetchTopic(topic, s.id_of(topic), parts)], **how), label)


@scenario(fetch)
def read(s: Session) -> None:
    name = s.topic(partitions=2)
    s.fill(name, 1, 5, 3)
    get(s, "from 0", name, 0)
    get(s, "in the middle of a batch", name, 3)
    get(s, "at the end", name, 9)
    get(s, "past the end", name, 10)
    get(s, "before the start", name, -1)
    get(s, "both partitions", name, 6, 0)
    get(s, "unknown partition", name, 0, 0, 0)
    get(s, "unknown topic", s.name + "-never", 0)
    get(s, "one byte", name, 0, size=1)
    get(s, "answer of one byte", name, 0, max_bytes=1)
    get(s, "enough for one batch", name, 0, size=120)
    get(s, "no bytes", name, 0, size=0)
    get(s, "nothing came", name, 9, min_bytes=1)
    get(s, "read committed", name, 0, isolation_level=1)
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0), "nothing asked")
    if s.version >= 9:
        get(s, "right epoch", name, 0, leader_epoch=0)
        get(s, "epoch of the future", name, 0, leader_epoch=9)
    if s.version >= 12:
        part = FetchPartition(0, 0, 5, 7, partition_max_bytes=1000)
        s.ask(
            FetchRequest(max_wait_ms=10, min_bytes=0, topics=[FetchTopic(name, s.id_of(name), [part])]),
            "last fetched epoch of the future",
        )


@scenario(fetch)
def compressed(s: Session) -> None:
    name = s.topic()
    for codec in (1, 2, 3, 4):
        s.fill(name, 4, codec=codec)
    get(s, "all codecs", name, 0)


@scenario(fetch)
def cut_by_deletion(s: Session) -> None:
    name = s.topic()
    s.fill(name, 4, 4)
    s.quiet(DeleteRecordsRequest([DeleteRecordsTopic(name, [DeleteRecordsPartition(0, 5)])], 1000))
    get(s, "below the start", name, 2)
    get(s, "at the start", name, 5)


@scenario(fetch, range(7, 99))
def sessions(s: Session) -> None:
    name = s.topic(partitions=2)
    s.fill(name, 2)
    a = get(s, "open", name, 0, 0, session_epoch=0)
    if a is None:
        return
    session = a.session_id
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=session, session_epoch=1), "nothing new")
    s.fill(name, 1)
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=session, session_epoch=2), "one came")
    forgotten = [ForgottenTopic(name, s.id_of(name), [0])]
    s.ask(
        FetchRequest(max_wait_ms=10, min_bytes=0, session_id=session, session_epoch=3, forgotten_topics_data=forgotten),
        "one forgotten",
    )
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=session, session_epoch=9), "epoch out of order")
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=12345, session_epoch=1), "unknown session")
    get(s, "add to it", name, 2, session_id=session, session_epoch=4)
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=session, session_epoch=-1), "close")
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=session, session_epoch=5), "after closing")


@scenario(fetch, range(7, 99))
def sessions_that_change(s: Session) -> None:
    name, other = s.topic(partitions=3), s.topic("other")
    s.fill(name, 2)
    s.fill(name, 3, partition=2)
    a = get(s, "open at the ends", name, 2, 0, 3, session_epoch=0)
    if a is None:
        return
    session, epoch = a.session_id, 0

    def go_on(label: str, *topics: FetchTopic, forget: tuple[ForgottenTopic, ...] = ()) -> None:
        nonlocal epoch
        epoch += 1
        s.ask(
            FetchRequest(
                max_wait_ms=10, min_bytes=0, session_id=session, session_epoch=epoch, topics=topics, forgotten_topics_data=forget
            ),
            label,
        )

    go_on("nothing new")
    s.fill(name, 1)
    s.fill(name, 2, partition=1)
    go_on("two have news")
    go_on("they still have: the client did not move on")
    moved = FetchTopic(name, s.id_of(name), [FetchPartition(0, -1, 3, partition_max_bytes=1000)])
    go_on("moved on in one", moved)
    s.quiet(DeleteRecordsRequest([DeleteRecordsTopic(name, [DeleteRecordsPartition(2, 2)])], 1000))
    go_on("the start of one moved")
    s.quiet(DeleteRecordsRequest([DeleteRecordsTopic(name, [DeleteRecordsPartition(2, 3)])], 1000))
    go_on("and once more")
    go_on("out of range", FetchTopic(name, s.id_of(name), [FetchPartition(2, -1, 99, partition_max_bytes=1000)]))
    go_on("still out of range")
    go_on("back in range", FetchTopic(name, s.id_of(name), [FetchPartition(2, -1, 3, partition_max_bytes=1000)]))
    go_on("another topic", FetchTopic(other, s.id_of(other), [FetchPartition(0, -1, 0, partition_max_bytes=1000)]))
    never = s.name + "-never"
    go_on("an unknown topic", FetchTopic(never, s.id_of(never), [FetchPartition(0, -1, 0, partition_max_bytes=1000)]))
    go_on("still unknown")
    go_on("an unknown partition", FetchTopic(other, s.id_of(other), [FetchPartition(8, -1, 0, partition_max_bytes=1000)]))
    go_on("forget what is not there", forget=(ForgottenTopic(never, s.id_of(never), [0, 5]),))
    go_on("forget the unknown partition", forget=(ForgottenTopic(other, s.id_of(other), [8]),))
    go_on("forget and add again", moved, forget=(ForgottenTopic(name, s.id_of(name), [0]),))
    go_on("forget all", forget=(ForgottenTopic(name, s.id_of(name), [0, 1, 2]), ForgottenTopic(other, s.id_of(other), [0])))
    go_on("after forgetting all")


@scenario(fetch, range(7, 99))
def sessions_refused(s: Session) -> None:
    name = s.topic()
    s.fill(name, 2)
    get(s, "no session wanted", name, 0, session_epoch=-1)
    get(s, "a session that is not there, to be closed", name, 0, session_id=777, session_epoch=-1)
    get(s, "a session that is not there, to be opened anew", name, 2, session_id=777, session_epoch=0)
    get(s, "epoch without a session", name, 0, session_epoch=4)
    get(s, "negative epoch", name, 0, session_epoch=-5)
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_epoch=0), "a session of nothing")
    a = get(s, "open", name, 2, session_epoch=0)
    if a is None or not a.session_id:
        return
    b = get(s, "open anew in its place", name, 2, session_id=a.session_id, session_epoch=0)
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=a.session_id, session_epoch=1), "the old one")
    s.ask(
        FetchRequest(max_wait_ms=10, min_bytes=0, session_id=b.session_id, session_epoch=0), "the new one, begun again with nothing"
    )
    c = get(s, "a third", name, 2, session_epoch=0)
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=c.session_id, session_epoch=1), "goes on")
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=c.session_id, session_epoch=1), "the same epoch again")
    get(s, "closed, and read without", name, 0, session_id=c.session_id, session_epoch=-1)


@scenario(fetch)
def topic_that_went(s: Session) -> None:
    name = s.topic()
    s.fill(name, 2)
    get(s, "there", name, 2, **({"session_epoch": -1} if s.version >= 7 else {}))
    a = get(s, "in a session", name, 2, session_epoch=0) if s.version >= 7 else None
    s.quiet(DeleteTopicsRequest([DeleteTopicState(name)], timeout_ms=10_000))
    s.gone(name)
    get(s, "gone", name, 0)
    if a is not None:
        s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, session_id=a.session_id, session_epoch=1), "gone, in a session")


@scenario(fetch)
def stored_as_zstd(s: Session) -> None:
    name = s.topic(compression__type="zstd")
    s.fill(name, 3, codec=4)
    get(s, "read", name, 0)


@scenario(fetch)
def oddities(s: Session) -> None:
    name = s.topic(partitions=2)
    s.fill(name, 3)
    part = FetchPartition(0, -1, 0, partition_max_bytes=1000)
    other = FetchPartition(0, -1, 1, partition_max_bytes=1000)
    ident = s.id_of(name)
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, topics=[FetchTopic(name, ident, [part, other])]), "twice in one")
    s.ask(
        FetchRequest(
            max_wait_ms=10, min_bytes=0, topics=[FetchTopic(name, ident, [part]), FetchTopic(name, ident, [FetchPartition(1)])]
        ),
        "a topic in two parts",
    )
    s.ask(FetchRequest(max_wait_ms=10, min_bytes=0, topics=[FetchTopic(name, ident, [])]), "no partitions")
    get(s, "negative sizes", name, 0, size=-1, max_bytes=-1)
    get(s, "negative wait", name, 3, max_wait_ms=-1, min_bytes=1)


def when(
    s: Session, label: str, topic: str, *times: int, partition: int = 0, epoch: int = -1, isolation: int = 0, replica: int = -1
) -> None:
    parts = [ListOffsetsPartition(partition, epoch if s.version >= 4 else -1, at) for at in times]
    s.ask(ListOffsetsRequest(replica, isolation if s.version >= 2 else 0, [ListOffsetsTopic(topic, parts)]), label)


@scenario(list_offsets)
def by_time(s: Session) -> None:
    name, empty = s.topic(), s.topic("empty")
    s.fill(name, 4, 4)
    when(s, "latest", name, -1)
    when(s, "earliest", name, -2)
    when(s, "first of all", name, 0)
    when(s, "within a batch", name, EPOCH_MS + 25)
    when(s, "exactly", name, EPOCH_MS + 30)
    when(s, "second batch", name, EPOCH_MS + 41)
    when(s, "after all", name, EPOCH_MS + 1000)
    when(s, "latest, committed", name, -1, isolation=1)
    when(s, "empty, latest", empty, -1)
    when(s, "empty, earliest", empty, -2)
    when(s, "empty, by time", empty, 0)
    if s.version >= 7:
        when(s, "largest time stamp", name, -3)
        when(s, "empty, largest time stamp", empty, -3)
    else:
        when(s, "largest time stamp, too early", name, -3)
    for special, since in ((-4, 8), (-5, 9), (-6, 11)):
        if s.version >= since:
            when(s, f"special {special}", name, special)
    when(s, "no such special", name, -9)
    when(s, "unknown topic", s.name + "-never", -1)
    when(s, "unknown partition", name, -1, partition=9)
    when(s, "twice the same", name, -1, -2)
    when(s, "right epoch", name, -1, epoch=0)
    when(s, "epoch of the future", name, -1, epoch=7)


@scenario(list_offsets)
def after_deletion(s: Session) -> None:
    name = s.topic()
    s.fill(name, 4, 4)
    s.quiet(DeleteRecordsRequest([DeleteRecordsTopic(name, [DeleteRecordsPartition(0, 6)])], 1000))
    when(s, "earliest", name, -2)
    when(s, "by a time that is gone", name, EPOCH_MS)
    s.quiet(DeleteRecordsRequest([DeleteRecordsTopic(name, [DeleteRecordsPartition(0, 8)])], 1000))
    when(s, "earliest, all gone", name, -2)
    when(s, "by time, all gone", name, EPOCH_MS)
    if s.version >= 7:
        when(s, "largest time stamp", name, -3)


@scenario(delete_records)
def records_deleted(s: Session) -> None:
    def ask(label: str, topic: str, offset: int, partition: int = 0) -> None:
        s.ask(DeleteRecordsRequest([DeleteRecordsTopic(topic, [DeleteRecordsPartition(partition, offset)])], 5000), label)

    name = s.topic()
    s.fill(name, 4, 4)
    ask("three", name, 3)
    ask("the same again", name, 3)
    ask("backwards", name, 1)
    ask("past the end", name, 9)
    ask("-2", name, -2)
    ask("all", name, -1)
    ask("unknown partition", name, 0, 4)
    ask("unknown topic", s.name + "-never", 0)
    s.ask(DeleteRecordsRequest([], 1000), "none")
    two = s.topic("two", 2)
    s.fill(two, 3)
    ask("nothing there to delete", two, -1, 1)
    ask("offset 0 of an empty one", two, 0, 1)
    both = [DeleteRecordsTopic(two, [DeleteRecordsPartition(0, 1), DeleteRecordsPartition(1, 5)])]
    s.ask(DeleteRecordsRequest(both, 1000), "one good, one past the end")
    twice = [DeleteRecordsTopic(two, [DeleteRecordsPartition(0, 2), DeleteRecordsPartition(0, 3)])]
    s.ask(DeleteRecordsRequest(twice, 1000), "twice in one")
    compacted = s.topic("compacted", cleanup__policy="compact")
    s.fill(compacted, 3)
    ask("of a compacted topic", compacted, 1)
    s.group()
    ask("of the topic of the groups' offsets", "__consumer_offsets", 0)


@scenario(offset_for_leader_epoch)
def epochs(s: Session) -> None:
    name = s.topic()
    s.fill(name, 4)

    def ask(label: str, topic: str, epoch: int, current: int = -1, partition: int = 0) -> None:
        parts = [OffsetForLeaderPartition(partition, current, epoch)]
        s.ask(OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic(topic, parts)]), label)

    ask("first", name, 0)
    ask("of the future", name, 5)
    ask("undefined", name, -1)
    ask("current is right", name, 0, 0)
    ask("current is of the future", name, 0, 4)
    ask("unknown partition", name, 0, partition=3)
    ask("unknown topic", s.name + "-never", 0)
    s.ask(OffsetForLeaderEpochRequest(), "none")


@scenario(describe_producers)
def active_producers(s: Session) -> None:
    name = s.topic()
    producer = s.producer()
    s.ask(DescribeProducersRequest([TopicRequest(name, [0])]), "none yet")
    s.produced(name, batch(3, producer_id=producer, producer_epoch=0, base_sequence=0))
    s.ask(DescribeProducersRequest([TopicRequest(name, [0])]), "one")
    s.ask(DescribeProducersRequest([TopicRequest(name, [4])]), "unknown partition")
    s.ask(DescribeProducersRequest([TopicRequest(s.name + "-never", [0])]), "unknown topic")


@scenario(describe_log_dirs)
def sizes(s: Session) -> None:
    name = s.topic(partitions=2)
    s.fill(name, 4, 4)
    s.ask(DescribeLogDirsRequest([DescribableLogDirTopic(name, [0, 1])]), "two partitions")
    s.ask(DescribeLogDirsRequest([DescribableLogDirTopic(name, [7])]), "unknown partition")
    s.ask(DescribeLogDirsRequest([DescribableLogDirTopic(s.name + "-never", [0])]), "unknown topic")
    s.ask(DescribeLogDirsRequest([DescribableLogDirTopic(name, [1]), DescribableLogDirTopic(name, [0])]), "in two parts")
    s.ask(DescribeLogDirsRequest([]), "none")
    s.ask(DescribeLogDirsRequest(None), "all")
