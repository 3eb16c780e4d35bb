"""`headrace produce`: lines in, records out.

What standard input has at a moment becomes one round: its records are grouped by partition into batches, and each round is
acknowledged before the next is read. So a slow typist's line is stored at once, and a file goes in large batches. The
producer is idempotent where the broker lets it: a round whose answer was lost is sent again without fear of doubles.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator

from headrace.cli.client import Client, Where
from headrace.cli.errors import DONE, CliError, Trouble, bad_value
from headrace.cli.output import Output
from headrace.cli.partitioner import partition_of
from headrace.cli.record_json import NotARecord, read_record
from headrace.cli.refusals import PASSING, refusal
from headrace.cli.topic import open_client
from headrace.cli.values import encode, read_count, read_label
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from headrace.protocols.kafka.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from headrace.records.build import build_batch
from headrace.records.compression import Codec
from headrace.records.record import Record
from headrace.server.terminal import Terminal

PRODUCE, INIT_PRODUCER_ID = 0, 22
PRODUCE_WAIT_MS_MAX = 25_000
# Below every broker's usual limit of 1 MiB; a larger record goes alone, and the broker judges it.
BATCH_BYTES_MAX = 900_000
BATCH_RECORDS_MAX = 20_000
# What happened to the request is not known; an idempotent producer may just send it again.
ANSWER_LOST = (Trouble.BROKER_HUNG_UP.value, Trouble.BROKER_SILENT.value, Trouble.NO_BROKER.value)
LINE_BYTES_MAX = 64 * 1024 * 1024


def produce(args: Namespace, terminal: Terminal) -> int:
    form = Form(args, terminal)
    with open_client(args, terminal) as client:
        writer = Writer(client, args.topic, args.compression or "none")
        if form.partition is not None:
            writer.check_partition(form.partition)
        if terminal.input_is_terminal():
            terminal.err.write("one record a line; Ctrl-D ends\n")
        try:
            for lines in rounds(terminal):
                with terminal.shielded():
                    write_round(writer, form, lines)
        except (CliError, KeyboardInterrupt) as stop:
            if isinstance(stop, KeyboardInterrupt) or writer.stored:
                terminal.err.write(f"{'interrupted' if isinstance(stop, KeyboardInterrupt) else 'stopped'}: {writer.told()}\n")
            raise
    ranges = [
        {"partition": partition, "first": first, "last": last, "records": count}
        for partition, (first, last, count) in sorted(writer.ranges.items())
    ]
    Output(terminal, args.output).say(writer.told(), topic=args.topic, records=writer.stored, partitions=ranges)
    return DONE


class Form:
    """How a line becomes a record."""

    def __init__(self, args: Namespace, terminal: Terminal) -> None:
        self.terminal = terminal
        self.json = args.json
        self.key = None if args.key is None else encode(args.key)
        self.labels = [read_label(text) for text in args.label]
        self.partition = None if args.partition is None else read_count(args.partition, "--partition")

    def record(self, line: bytes) -> tuple[Record, int | None]:
        if not self.json:
            return Record(0, self.terminal.now_ms(), self.key, line, self.labels), self.partition
        record, partition = read_record(line, self.terminal.now_ms())
        if record.key is None:
            record.key = self.key
        record.labels = (*record.labels, *self.labels)
        return record, self.partition if partition is None else partition


def rounds(terminal: Terminal) -> Iterator[list[bytes]]:
    """Whole lines, as many as are there; the last line needs no end."""
    rest = b""
    while piece := terminal.read_input():
        head, newline, tail = piece.rpartition(b"\n")
        if not newline:
            rest += piece
            if len(rest) > LINE_BYTES_MAX:
                raise CliError(
                    Trouble.BAD_INPUT, f"a line is longer than {LINE_BYTES_MAX} bytes", likely="the input is not made of lines"
                )
            continue
        yield (rest + head).split(b"\n")
        rest = tail
    if rest:
        yield [rest]


def write_round(writer: Writer, form: Form, lines: list[bytes]) -> None:
    """All lines up to the first that is wrong are stored; then it is told."""
    wrong: CliError | None = None
    for raw in lines:
        writer.line += 1
        line = raw.removesuffix(b"\r")
        if form.json and not line.strip():
            continue
        try:
            record, partition = form.record(line)
        except NotARecord as error:
            wrong = CliError(
                Trouble.BAD_INPUT,
                f"line {writer.line} is no record",
                evidence=str(error),
                likely="with --json each line is one object",
                next='for example {"key": "k", "value": "v", "labels": {"a": "b"}}',
            )
            break
        if partition is not None:
            writer.check_partition(partition)
        writer.add(record, partition)
    writer.flush()
    if wrong is not None:
        raise wrong


class Writer:
    """Batches on their way to one topic."""

    def __init__(self, client: Client, topic: str, compression: str) -> None:
        self.client = client
        self.topic = topic
        self.codec = int(Codec[compression.upper()])
        self.partitions = len(client.topics([topic], create=True)[0].partitions)
        self.waiting: dict[int, list[list[Record]]] = {}
        self.sizes: dict[int, int] = {}
        self.turn = client.terminal.chance(self.partitions)
        self.sequences: dict[int, int] = {}
        self.producer_id, self.producer_epoch = self.ask_producer_id()
        self.ranges: dict[int, tuple[int, int, int]] = {}
        self.stored = 0
        self.line = 0

    def ask_producer_id(self) -> tuple[int, int]:
        deadline_s = self.client.deadline()
        while True:
            answer = self.client.call(INIT_PRODUCER_ID, InitProducerIdRequest(None, 0), InitProducerIdResponse)
            if not answer.error_code:
                return answer.producer_id, answer.producer_epoch
            if not self.client.passing(answer.error_code, deadline_s):
                return -1, -1  # not let: the records go without

    def check_partition(self, partition: int) -> None:
        if partition >= self.partitions:
            raise bad_value(
                f"topic {self.topic} has no partition {partition}",
                f"it has 0 to {self.partitions - 1}",
            )

    def add(self, record: Record, partition: int | None) -> None:
        if partition is None:
            partition = self.turn if record.key is None else partition_of(record.key, self.partitions)
        size = len(record.key or b"") + len(record.value or b"") + sum(len(k) + len(v or b"") + 10 for k, v in record.labels) + 30
        batches = self.waiting.setdefault(partition, [[]])
        held = self.sizes.get(partition, 0)
        if batches[-1] and (held + size > BATCH_BYTES_MAX or len(batches[-1]) >= BATCH_RECORDS_MAX):
            batches.append([])
            held = 0
        batches[-1].append(record)
        self.sizes[partition] = held + size

    def flush(self) -> None:
        """Send all that waits; at most one batch a partition is on its way."""
        while self.waiting:
            self.send({partition: batches.pop(0) for partition, batches in self.waiting.items()})
            self.waiting = {partition: batches for partition, batches in self.waiting.items() if batches}
        self.sizes.clear()
        self.turn = (self.turn + 1) % self.partitions

    def send(self, batches: dict[int, list[Record]]) -> None:
        deadline_s = self.client.deadline()
        pending = {partition: self.build(partition, records) for partition, records in batches.items()}
        while pending:
            failed: dict[int, tuple[int, str | None]] = {}
            places: list[Where] = [(self.topic, partition) for partition in pending]
            for address, topics in self.client.by_leader(places).items():
                asked = [PartitionProduceData(partition, memoryview(pending[partition])) for partition in topics[self.topic]]
                request = ProduceRequest(None, -1, PRODUCE_WAIT_MS_MAX, [TopicProduceData(self.topic, partition_data=asked)])
                try:
                    answer = self.client.call(PRODUCE, request, ProduceResponse, at=address)
                except CliError as error:
                    retry = self.producer_id >= 0 and self.client.terminal.monotonic_s() <= deadline_s
                    if (
                        error.code not in (Trouble.BROKER_HUNG_UP.value, Trouble.BROKER_SILENT.value, Trouble.NO_BROKER.value)
                        or not retry
                    ):
                        raise
                    failed |= dict.fromkeys(topics[self.topic], (errors.NOT_LEADER_OR_FOLLOWER, None))
                    continue
                for p in answer.responses[0].partition_responses:
                    if p.error_code in (errors.NONE, errors.DUPLICATE_SEQUENCE_NUMBER):
                        self.count(p.index, p.base_offset, len(batches[p.index]))
                        del pending[p.index]
                    else:
                        failed[p.index] = (p.error_code, p.error_message)
            for partition, (code, message) in failed.items():
                if code not in PASSING or not self.client.passing(code, deadline_s):
                    raise refusal(
                        code, f"partition {partition} of {self.topic} did not take a batch", message=message, name=self.topic
                    )
            if failed:
                self.client.metadata([self.topic])

    def build(self, partition: int, records: list[Record]) -> bytearray:
        sequence = self.sequences.get(partition, 0) if self.producer_id >= 0 else -1
        if self.producer_id >= 0:
            self.sequences[partition] = (sequence + len(records)) & 0x7FFFFFFF
        return build_batch(
            records,
            codec=self.codec,
            producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
            base_sequence=sequence,
        )

    def count(self, partition: int, base_offset: int, count: int) -> None:
        self.stored += count
        first, _, before = self.ranges.get(partition, (base_offset, 0, 0))
        self.ranges[partition] = (first, base_offset + count - 1, before + count)

    def told(self) -> str:
        where = ""
        if len(self.ranges) == 1:
            ((partition, (first, last, _)),) = self.ranges.items()
            where = f", partition {partition}, offset{'s' * (last > first)} {first}" + (f" to {last}" if last > first else "")
        elif self.ranges:
            where = f", {len(self.ranges)} partitions"
        return f"{self.stored} record{'s' * (self.stored != 1)} stored in {self.topic}{where}"
