"""`headrace consume`: records, one a line, as they come.

Without a group the command reads where it is told to and remembers nothing. With one it shares the partitions with the
group's other members and commits what it has printed, after it was printed: whoever stops it, nothing is skipped.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator

from headrace.base.errors import Code
from headrace.cli.client import EARLIEST, LATEST, Client, Where
from headrace.cli.errors import DONE, FAILED, CliError, bad_value
from headrace.cli.membership import Membership, committed
from headrace.cli.output import printable
from headrace.cli.record_json import show_record
from headrace.cli.refusals import refusal
from headrace.cli.topic import open_client
from headrace.cli.values import read_count, read_label, read_span_ms, show_time
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from headrace.records.header import has_right_checksum
from headrace.records.record import Record, RecordsError, read_batches, read_records
from headrace.server.terminal import Terminal

FETCH = 1
FETCH_WAIT_MS_MAX = 500
FETCH_BYTES_MAX = 16 * 1024 * 1024
PARTITION_BYTES_MAX = 1024 * 1024


def consume(args: Namespace, terminal: Terminal) -> int:
    wanted = Wanted(args, terminal)
    with open_client(args, terminal) as client:
        reader = Reader(client, args.topic, wanted)
        member = Membership(client, args.group, args.topic) if args.group else None
        try:
            if member is None:
                reader.assign(wanted.partitions_of(client), {})
            follow(reader, member, wanted)
        finally:
            if member is not None:
                with terminal.shielded():
                    member.commit(reader.take_unsaved())
                    member.leave()
    return FAILED if wanted.max is not None and reader.shown < wanted.max else DONE


class Wanted:
    """What the command line asks for, checked before anything is read."""

    def __init__(self, args: Namespace, terminal: Terminal) -> None:
        self.topic = args.topic
        place = getattr(args, "from")
        self.offset: int | None = None
        if args.since is not None:
            if place is not None:
                raise bad_value("--from and --since exclude each other", "leave one of them out")
            self.timestamp = terminal.now_ms() - read_span_ms(args.since, "--since")
        elif place in (None, "latest"):
            self.timestamp = LATEST
        elif place == "earliest":
            self.timestamp = EARLIEST
        else:
            if not place.isdigit():
                raise bad_value(f"--from: {place!r} is no place", "for example --from earliest, --from latest or --from 42")
            self.timestamp, self.offset = EARLIEST, int(place)
        self.partitions = [read_count(text, "--partition") for text in args.partition]
        if self.partitions and args.group:
            raise bad_value("--partition and --group exclude each other", "a group shares the partitions out by itself")
        self.labels = [read_label(text) for text in args.label]
        self.max = None if args.max is None else read_count(args.max, "--max", low=1)
        self.timeout_s = None if args.timeout is None else read_span_ms(args.timeout, "--timeout") / 1000
        self.json = args.json or args.output == "json"
        self.values = args.values

    def partitions_of(self, client: Client) -> list[Where]:
        there = sorted(p.partition_index for p in client.topics([self.topic])[0].partitions)
        missing = [partition for partition in self.partitions if partition not in there]
        if missing:
            raise bad_value(f"topic {self.topic} has no partition {missing[0]}", f"it has 0 to {there[-1]}")
        return [(self.topic, partition) for partition in sorted(set(self.partitions)) or there]

    def shows(self, record: Record) -> bool:
        return all(label in record.labels for label in self.labels)


def follow(reader: Reader, member: Membership | None, wanted: Wanted) -> None:
    """Until the bound, the time-out or Ctrl-C."""
    terminal = reader.client.terminal
    last_s = terminal.monotonic_s()
    if member is not None:
        join(reader, member)
    while not reader.is_full():
        seen = False
        for where, records, next_offset in reader.fetch():
            with terminal.shielded():
                seen |= reader.show(where, records, next_offset)
            if reader.is_full():
                break
        if terminal.reader_has_gone():
            raise BrokenPipeError
        now_s = terminal.monotonic_s()
        if seen:
            last_s = now_s
        elif wanted.timeout_s is not None and now_s - last_s >= wanted.timeout_s:
            return
        if member is not None:
            with terminal.shielded():
                stays = member.commit(reader.take_unsaved())
            if not member.beat() or not stays:
                join(reader, member)


def join(reader: Reader, member: Membership) -> None:
    share = member.join()
    reader.client.topics([reader.topic])
    topics: dict[str, list[int]] = {}
    for topic, partition in share:
        topics.setdefault(topic, []).append(partition)
    reader.assign(share, committed(reader.client, member.group, topics) if share else {})


class Reader:
    """Positions, fetches and lines."""

    def __init__(self, client: Client, topic: str, wanted: Wanted) -> None:
        self.client = client
        self.topic = topic
        self.wanted = wanted
        self.positions: dict[Where, int] = {}
        self.unsaved: dict[Where, int] = {}  # behind what was shown since the last commit
        self.shown = 0

    def assign(self, share: list[Where], known: dict[Where, int]) -> None:
        """Take over these partitions, each from where its group stands, or from the place that was asked for."""
        self.unsaved.clear()
        self.positions = {where: known[where] for where in share if known.get(where, -1) >= 0}
        fresh = [where for where in share if where not in self.positions]
        starts = self.client.list_offsets(dict.fromkeys(fresh, self.wanted.timestamp))
        ends = self.client.list_offsets(dict.fromkeys(fresh, LATEST))
        for where in fresh:
            start, end = starts[where].offset, ends[where].offset
            if self.wanted.offset is not None:
                if not start <= self.wanted.offset <= end:
                    raise CliError(
                        Code.OFFSET_OUT_OF_RANGE,
                        f"offset {self.wanted.offset} is not in {where[0]}-{where[1]}",
                        evidence=f"it holds the offsets from {start} up to {end}, which is the next to be written",
                        likely="retention has removed it, or it does not exist yet",
                        next=f"headrace topic describe {where[0]}; --partition N reads one partition only",
                    )
                start = self.wanted.offset
            # No record that young: wait for the next. A group keeps its beginning, too: what comes while it is away is not skipped.
            self.positions[where] = self.unsaved[where] = start if start >= 0 else end

    def fetch(self) -> Iterator[tuple[Where, list[Record], int]]:
        """One round over the brokers: the records that came, by partition, with the offset behind them."""
        places = self.client.by_leader(self.positions)
        if not places:
            self.client.terminal.sleep(FETCH_WAIT_MS_MAX / 1000)
        for address, topics in places.items():
            asked = [
                FetchTopic(
                    topic,
                    partitions=[
                        FetchPartition(p, fetch_offset=self.positions[topic, p], partition_max_bytes=PARTITION_BYTES_MAX)
                        for p in partitions
                    ],
                )
                for topic, partitions in topics.items()
            ]
            wait_ms = FETCH_WAIT_MS_MAX // len(places)
            request = FetchRequest(max_wait_ms=wait_ms, min_bytes=1, max_bytes=FETCH_BYTES_MAX, topics=asked)
            answer = self.client.call(FETCH, request, FetchResponse, at=address)
            if answer.error_code:
                raise refusal(answer.error_code, f"topic {self.topic!r} cannot be read", name=self.topic)
            for topic in answer.responses:
                for data in topic.partitions:
                    where = (topic.topic, data.partition_index)
                    if data.error_code:
                        self.judge(where, data.error_code)
                    elif data.records:
                        records, next_offset = self.unpack(where, data)
                        yield where, records, next_offset

    def judge(self, where: Where, code: int) -> None:
        if code == errors.OFFSET_OUT_OF_RANGE:
            start = self.client.list_offsets({where: EARLIEST})[where].offset
            self.client.terminal.err.write(
                f"{where[0]}-{where[1]}: offset {self.positions[where]} is gone (retention); going on from {start}\n"
            )
            self.positions[where] = start
        elif self.client.passing(code, self.client.deadline()):
            self.client.topics([self.topic])
        else:
            raise refusal(code, f"{where[0]}-{where[1]} cannot be read", name=where[0])

    def unpack(self, where: Where, data: PartitionData) -> tuple[list[Record], int]:
        """The records from our position on. A fetch begins with the whole batch that holds the position."""
        at = next_offset = self.positions[where]
        view = data.records
        assert isinstance(view, memoryview | bytes | bytearray)
        records: list[Record] = []
        try:
            for position, header in read_batches(view):
                if not has_right_checksum(view, header, position):
                    raise RecordsError("the checksum is wrong")
                if not header.is_control:
                    batch = memoryview(view)[position : position + header.size]
                    records += [record for record in read_records(batch, header) if record.offset >= at]
                next_offset = max(next_offset, header.last_offset + 1)
        except RecordsError as error:
            raise CliError(
                Code.CORRUPT_BATCH,
                f"a batch of {where[0]}-{where[1]} cannot be read",
                evidence=f"in what follows offset {next_offset}: {error}",
                likely="the broker's disk or the network has changed bytes",
                next="headrace log verify on the broker's machine",
            ) from None
        return records, next_offset

    def is_full(self) -> bool:
        return self.wanted.max is not None and self.shown >= self.wanted.max

    def show(self, where: Where, records: Iterable[Record], next_offset: int) -> bool:
        """Print them and move on; whether anything was shown."""
        before = self.shown
        lines = []
        for record in records:
            if self.is_full():
                next_offset = record.offset
                break
            if self.wanted.shows(record):
                lines.append(self.line(where, record))
                self.shown += 1
        out = self.client.terminal.out
        out.write("".join(lines))
        out.flush()
        self.positions[where] = self.unsaved[where] = next_offset
        return self.shown > before

    def take_unsaved(self) -> dict[Where, int]:
        unsaved, self.unsaved = self.unsaved, {}
        return unsaved

    def line(self, where: Where, record: Record) -> str:
        if self.wanted.json:
            return show_record(where[0], where[1], record) + "\n"
        if self.wanted.values:
            return words(record.value) + "\n"
        labels = ",".join(f"{words(name)}={words(value)}" for name, value in record.labels)
        parts = [f"{where[1]}/{record.offset}", show_time(record.timestamp), words(record.key), words(record.value), labels]
        return "\t".join(parts).rstrip("\t") + "\n"


def words(data: bytes | None) -> str:
    """Bytes for a line: what cannot be shown is escaped; a null is shown as a dash."""
    return "-" if data is None else printable(data.decode("utf-8", "backslashreplace")).replace("\n", "\\n")
