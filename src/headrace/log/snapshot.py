"""The producers of a partition on disk: Kafka's `.snapshot` file, with one addition behind its end.

    at  size  field
     0     2  version, 1
     2     4  CRC-32C of all that follows
     6     4  count of producers
    10    46  each: producer id 8 · epoch 2 · last sequence 4 · last offset 8 · offset delta 4 · timestamp 8
              · coordinator epoch 4 · first offset of the open transaction 8

Kafka stops reading here. A file of Kafka's ends here; ours goes on:

     1  1 when a segment ended at this offset and its indexes were durable before, else 0
     4  count of older batches: the up to four that each producer wrote before its last one
    32  each: producer id 8 · last sequence 4 · last offset 8 · offset delta 4 · timestamp 8, oldest first

The file's name says up to which offset the log had been read. A log writes its snapshot only after all that lies before
that offset is durable, indexes of closed segments included: a whole snapshot is the proof of that, and recovery builds on it.
"""

from __future__ import annotations

import struct

from headrace.base.files import Files
from headrace.log.producers import BatchMark, Entries, ProducerEntry
from headrace.records.header import checksum

VERSION = 1
_FRONT = struct.Struct(">hII")
_PRODUCER = struct.Struct(">qhiqiqiq")
_MORE = struct.Struct(">bI")
_OLDER = struct.Struct(">qiqiq")
_CHECKED_FROM = 6


class Snapshot:
    """What was read from a file."""

    __slots__ = ("entries", "is_at_roll")

    def __init__(self, entries: Entries, is_at_roll: bool) -> None:
        self.entries = entries
        self.is_at_roll = is_at_roll


def encode_snapshot(entries: Entries, *, is_at_roll: bool) -> bytes:
    out = bytearray(_FRONT.size)
    older: list[bytes] = []
    for producer_id, entry in entries.items():
        sequence, offset, delta, _ = entry.batches[-1] if entry.batches else (-1, -1, 0, -1)
        # Kafka writes the last batch's timestamp here and counts expiry from it; ours is the time it was appended.
        out += _PRODUCER.pack(
            producer_id,
            entry.epoch,
            sequence,
            offset,
            delta,
            entry.seen_ms,
            entry.coordinator_epoch,
            entry.transaction_first_offset,
        )
        older += [_OLDER.pack(producer_id, *mark) for mark in entry.batches[:-1]]
    out += _MORE.pack(is_at_roll, len(older))
    for item in older:
        out += item
    _FRONT.pack_into(out, 0, VERSION, 0, len(entries))
    _FRONT.pack_into(out, 0, VERSION, checksum(memoryview(out)[_CHECKED_FROM:]), len(entries))
    return bytes(out)


def load_snapshot(files: Files, path: str) -> Snapshot | str:
    """Read and decode a snapshot; what is wrong where that fails. May block."""
    try:
        file = files.open(path)
        data = file.read(0, file.size())
        file.close()
    except FileNotFoundError:
        return "the snapshot is missing"
    return decode_snapshot(data)


def decode_snapshot(data: bytes) -> Snapshot | str:
    """The snapshot, or what is wrong with the file."""
    if len(data) < _FRONT.size:
        return f"a snapshot of {len(data)} bytes"
    version, crc, count = _FRONT.unpack_from(data)
    if version != VERSION:
        return f"snapshot version {version}"
    found = checksum(memoryview(data)[_CHECKED_FROM:])
    if found != crc:
        return f"the snapshot's bytes give CRC-32C {found:#010x}, it says {crc:#010x}"
    end = _FRONT.size + count * _PRODUCER.size
    if end > len(data):
        return f"{count} producers in {len(data)} bytes"
    older: dict[int, list[BatchMark]] = {}
    is_at_roll = 0
    if len(data) >= end + _MORE.size:
        is_at_roll, older_count = _MORE.unpack_from(data, end)
        older_end = end + _MORE.size + older_count * _OLDER.size
        if older_end != len(data):
            return f"{older_count} older batches in {len(data) - end} bytes"
        for producer_id, *mark in _OLDER.iter_unpack(memoryview(data)[end + _MORE.size :]):
            older.setdefault(producer_id, []).append((mark[0], mark[1], mark[2], mark[3]))
    entries: Entries = {}
    for fields in _PRODUCER.iter_unpack(memoryview(data)[_FRONT.size : end]):
        producer_id, epoch, sequence, offset, delta, timestamp, coordinator_epoch, transaction = fields
        batches = tuple(older.get(producer_id, ()))
        if offset >= 0:
            batches = (*batches, (sequence, offset, delta, timestamp))
        entries[producer_id] = ProducerEntry(epoch, batches, timestamp, coordinator_epoch, transaction)
    return Snapshot(entries, is_at_roll == 1)
