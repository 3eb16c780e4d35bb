"""`headrace log dump` and `headrace log verify`: what lies in the files of a log, without a broker and without changing anything.

Verify reads every byte: batches chain without holes, checksums fit, every record of every batch can be walked (compressed ones are
inflated, with a bound), offsets go on from segment to segment, and every entry of both indexes points at what it says. A running
broker may append meanwhile: what is checked is the log as long as it was at the start.
"""

from __future__ import annotations

import os
import struct
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field

from headrace.base.errors import Refused
from headrace.cli.errors import DAMAGED, DONE, CliError, Trouble
from headrace.cli.output import Output
from headrace.cli.progress import Progress
from headrace.cli.record_json import show_bytes, show_labels
from headrace.cli.values import read_count, show_time
from headrace.log.names import INDEX, LOG, TIME_INDEX, offset_of
from headrace.log.scan import Broken, Scanner
from headrace.records.compression import Codec
from headrace.records.header import BatchHeader
from headrace.records.record import RecordsError, read_records
from headrace.records.validation import walk_records
from headrace.server.read_only import ReadOnlyFile, find_files
from headrace.server.terminal import Terminal

ROWS_AT_ONCE_MAX = 1_000
# A folder may be rotten all over; people read the first few.
TOLD_PER_SEGMENT_MAX = 20
_index_entries = struct.Struct(">ii").iter_unpack
_time_entries = struct.Struct(">qi").iter_unpack

BATCH_COLUMNS = ["position", "first", "last", "records", "bytes", "codec", "time", "epoch", "producer", "flags"]
RECORD_COLUMNS = ["offset", "time", "key", "value", "labels"]


def find(paths: list[str]) -> list[str]:
    logs: list[str] = []
    for path in paths:
        try:
            found = find_files(path, lambda name: offset_of(name, LOG) is not None)
        except OSError as error:
            raise not_a_log(path, str(error)) from None
        if not found:
            raise not_a_log(path, "there is no segment (20 digits and .log) in it or below it")
        for log in found:
            if offset_of(os.path.basename(log), LOG) is None:
                raise not_a_log(log, "its name is not an offset of 20 digits and .log")
        logs += found
    return logs


def not_a_log(path: str, evidence: str) -> CliError:
    return CliError(
        Trouble.NOT_A_LOG,
        f"{path} is no log",
        evidence=evidence,
        likely="the path is not a partition's folder or a segment",
        next="headrace config show tells the data folder; each partition has a folder in it",
    )


def base_offset(log: str) -> int:
    offset = offset_of(os.path.basename(log), LOG)
    assert offset is not None
    return offset


def dump(args: Namespace, terminal: Terminal) -> int:
    output = Output(terminal, args.output)
    most = None if args.max is None else read_count(args.max, "--max", low=1)
    damaged = False
    shown = 0
    for log in find([args.path]):
        rows: list[dict[str, object]] = []
        with ReadOnlyFile(log) as file:
            for found in Scanner(file, file.size(), base_offset(log), gaps_allowed=True):
                if isinstance(found, Broken):
                    damaged = True
                    terminal.err.write(f"{log}: position {found.position} to {found.end_position}: {found.what}\n")
                    continue
                shown += 1
                rows.append(batch_row(*found))
                if args.records:
                    show_batches(output, rows, log)
                    show_records(output, file, *found)
                    rows = []
                elif len(rows) >= ROWS_AT_ONCE_MAX:
                    show_batches(output, rows, log)
                    rows = []
                if shown == most:
                    break
        if rows:
            show_batches(output, rows, log)
        if shown == most:
            break
    return DAMAGED if damaged else DONE


def batch_row(position: int, header: BatchHeader) -> dict[str, object]:
    flags = {
        "append-time": header.is_append_time,
        "transactional": header.is_transactional,
        "control": header.is_control,
        "delete-horizon": header.has_delete_horizon,
    }
    producer = f"{header.producer_id}/{header.producer_epoch} from {header.base_sequence}" if header.producer_id >= 0 else None
    return {
        "position": position,
        "first": header.base_offset,
        "last": header.last_offset,
        "records": header.count,
        "bytes": header.size,
        "codec": Codec(header.codec).name.lower() if header.codec in list(Codec) else f"codec {header.codec}",
        "time": show_time(header.max_timestamp),
        "epoch": header.leader_epoch,
        "producer": producer,
        "flags": [name for name, is_set in flags.items() if is_set] or None,
    }


def show_batches(output: Output, rows: list[dict[str, object]], log: str) -> None:
    """As JSON one object a line: a dump can be long."""
    if output.json:
        for row in rows:
            output.value({"file": log, **row})
    else:
        output.rows(rows, columns=BATCH_COLUMNS, title=log)


def show_records(output: Output, file: ReadOnlyFile, position: int, header: BatchHeader) -> None:
    rows: list[dict[str, object]] = []
    try:
        for record in read_records(file.read(position, header.size), header):
            rows.append(
                {
                    "offset": record.offset,
                    "time": show_time(record.timestamp),
                    "key": show_bytes(record.key),
                    "value": show_bytes(record.value),
                    "labels": show_labels(record.labels) or None,
                }
            )
    except RecordsError as error:
        output.terminal.err.write(f"{file.path}: position {position}: {error}\n")
    if output.json:
        for row in rows:
            output.value(row)
    elif rows:
        output.rows(rows, columns=RECORD_COLUMNS)


# --- verify ----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Finding:
    file: str
    position: int
    offset: int | None
    what: str


@dataclass(slots=True)
class Checked:
    """One segment."""

    batches: int = 0
    records: int = 0
    end_offset: int = 0
    findings: list[Finding] = field(default_factory=list)
    more: int = 0  # findings beyond the bound

    def tell(self, finding: Finding) -> None:
        if len(self.findings) < TOLD_PER_SEGMENT_MAX:
            self.findings.append(finding)
        else:
            self.more += 1


def size_of(path: str) -> int:
    with ReadOnlyFile(path) as file:
        return file.size()


def verify(args: Namespace, terminal: Terminal) -> int:
    output = Output(terminal, args.output)
    logs = find(args.path)
    sizes = {log: size_of(log) for log in logs}
    checked: dict[str, Checked] = {}
    try:
        with Progress(terminal, "verify", sum(sizes.values()), "bytes", quiet=output.json) as progress:
            for log in logs:
                checked[log] = check_segment(log, sizes[log], expected_offset(checked, log), progress)
    except KeyboardInterrupt:
        terminal.err.write(f"interrupted: {len(checked)} of {len(logs)} segments were checked, nothing was changed\n")
        raise
    findings = [finding for one in checked.values() for finding in one.findings]
    more = sum(one.more for one in checked.values())
    rows = [{"file": f.file, "position": f.position, "offset": f.offset, "what": f.what} for f in findings]
    batches, records = sum(one.batches for one in checked.values()), sum(one.records for one in checked.values())
    size = sum(sizes.values())
    if output.json:
        output.value({"segments": len(logs), "bytes": size, "batches": batches, "records": records, "findings": rows, "more": more})
    else:
        output.say(f"{len(logs)} segment{'s' * (len(logs) != 1)}, {size} bytes, {batches} batches, {records} records checked")
        if rows:
            output.rows(rows, columns=["file", "position", "offset", "what"])
    if not findings:
        return DONE
    raise CliError(
        Trouble.LOG_DAMAGED,
        f"{len(findings) + more} things are wrong in {len({f.file for f in findings})} files",
        evidence=f"first: {findings[0].file} at position {findings[0].position}: {findings[0].what}",
        likely="the disk lost or changed bytes; only at the end of the last segment also a crash, which the next start mends",
        next="keep a copy of the folder before anything else; docs/errors.md says what the broker does with such a log",
        status=DAMAGED,
    )


def expected_offset(checked: dict[str, Checked], log: str) -> int | None:
    """Where the segment before in the same folder ended; None for a folder's first."""
    if not checked:
        return None
    before = next(reversed(checked))
    return checked[before].end_offset if os.path.dirname(before) == os.path.dirname(log) else None


def check_segment(log: str, size: int, expected: int | None, progress: Progress) -> Checked:
    checked = Checked(end_offset=base_offset(log))
    base = base_offset(log)
    if expected is not None and expected != base:
        checked.tell(Finding(log, 0, expected, f"the segment begins at offset {base}, the one before it ends at {expected}"))
    ends: dict[int, int] = {}  # position of a batch -> its last offset
    highest: dict[int, int] = {}  # last offset of a batch -> highest timestamp in it
    with ReadOnlyFile(log) as file:
        for found in Scanner(file, size, base):
            if isinstance(found, Broken):
                checked.tell(Finding(log, found.position, found.offset, found.what))
                progress.step(found.end_position - found.position)
                continue
            position, header = found
            checked.batches += 1
            checked.records += header.count
            checked.end_offset = header.last_offset + 1
            ends[position] = header.last_offset
            highest[header.last_offset] = header.max_timestamp
            refused = walk_records(file.read(position, header.size), header, dense=False)
            if isinstance(refused, Refused):
                checked.tell(Finding(log, position, header.base_offset, refused.why))
            progress.step(header.size, os.path.basename(os.path.dirname(log)))
    for finding in check_indexes(log.removesuffix(LOG), base, size, ends, highest):
        checked.tell(finding)
    return checked


def read_whole(path: str) -> bytes | None:
    try:
        with ReadOnlyFile(path) as file:
            return file.read(0, file.size())
    except FileNotFoundError:
        return None  # built again at the next start; nothing is lost


def check_indexes(stem: str, base: int, size: int, ends: dict[int, int], highest: dict[int, int]) -> Iterator[Finding]:
    """Entries beyond `size` belong to what was appended since we began. Kafka fills its active indexes up with zeros."""
    data = read_whole(stem + INDEX)
    if data is not None:
        if len(data) % 8:
            yield Finding(stem + INDEX, len(data), None, f"{len(data)} bytes are no whole number of entries")
            data = data[: len(data) // 8 * 8]
        for number, (relative, position) in enumerate(_index_entries(data)):
            if (not relative and not position and (number or ends.get(0) != base)) or position >= size:
                break
            if ends.get(position) != base + relative:
                what = f"the entry says that a batch at {position} ends with offset {base + relative}; " + (
                    f"it ends with {ends[position]}" if position in ends else "no batch begins there"
                )
                yield Finding(stem + INDEX, number * 8, base + relative, what)
    data = read_whole(stem + TIME_INDEX)
    if data is not None:
        if len(data) % 12:
            yield Finding(stem + TIME_INDEX, len(data), None, f"{len(data)} bytes are no whole number of entries")
            data = data[: len(data) // 12 * 12]
        last_offset = max(highest, default=-1)
        for number, (timestamp, relative) in enumerate(_time_entries(data)):
            if (not timestamp and not relative) or base + relative > last_offset:
                break
            if highest.get(base + relative) != timestamp:
                what = f"the entry says that timestamp {timestamp} is the highest of the batch up to offset {base + relative}; " + (
                    f"there it is {highest[base + relative]}" if base + relative in highest else "no batch ends there"
                )
                yield Finding(stem + TIME_INDEX, number * 12, base + relative, what)
