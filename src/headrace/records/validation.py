"""Whether a batch's records are records: what `record.validation=records` means.

`check_batch` has judged header and checksum; here the records themselves are walked, inflated first where they are compressed.
Inflating a large batch takes milliseconds and lets other threads run: who works for a loop may hand such a batch to a thread.
Nothing here changes the batch.

What the walk learns on its way is what the broker needs next: the max timestamp (some clients write a wrong one into the header;
Kafka puts the real one there, see `stamp_max_timestamp`), the earliest (for `message.timestamp.before.max.ms`), and whether
a key is missing (which compacted topics refuse).
"""

from __future__ import annotations

import types

from headrace.base.errors import Code, Refused
from headrace.base.files import Buffer
from headrace.base.ids import NO_TIMESTAMP
from headrace.base.limits import INFLATED_SIZE_MAX, KIB, RECORD_LABELS_MAX
from headrace.records.compression import inflate
from headrace.records.header import HEADER_SIZE, BatchHeader, read_header
from headrace.records.record import RecordsError, read_records
from headrace.records.walk import walk

IS_WALK_COMPILED = isinstance(walk, types.BuiltinFunctionType)
_TAKE_RUNS = not IS_WALK_COMPILED

# Records are read once more to say which of them were refused; the loop waits for it.
_LISTED_COUNT_MAX = 500
_LISTED_SIZE_MAX = 512 * KIB

_LONG_MIN, _LONG_MAX = -(2**63), 2**63 - 1


class RecordsSeen:
    """What a walk has learnt."""

    __slots__ = ("keyless_index", "max_timestamp", "max_timestamp_index", "min_timestamp")

    def __init__(self, max_timestamp: int, max_timestamp_index: int, min_timestamp: int, keyless_index: int) -> None:
        self.max_timestamp = max_timestamp  # -1 where no record has one (a time before 1970 counts as none, as in Kafka)
        self.max_timestamp_index = max_timestamp_index  # of the first record that has it; its offset delta in a produced batch
        self.min_timestamp = min_timestamp
        self.keyless_index = keyless_index  # of the first record without a key; -1: all have one


def walk_records(
    data: Buffer, header: BatchHeader, *, inflated_size_max: int = INFLATED_SIZE_MAX, dense: bool = True
) -> RecordsSeen | Refused:
    """Walk every record of the batch that `data` is. `dense=False` is for batches from a log: the cleaner leaves gaps."""
    if header.codec:
        inflated = inflate(header.codec, memoryview(data)[HEADER_SIZE : header.size], inflated_size_max)
        if isinstance(inflated, Refused):
            return inflated
        at, records = 0, inflated
    else:
        # The compiled walk reads bytes alone. The copy costs a hundredth of the interpreted walk, and half of the compiled one.
        at, records = HEADER_SIZE, bytes(data)
    end = len(records) if header.codec else header.size
    seen = walk(records, at, end, header.count, header.last_offset_delta, dense, RECORD_LABELS_MAX, _TAKE_RUNS)
    if isinstance(seen, str):
        return Refused(Code.INVALID_RECORD, seen)
    max_delta, max_index, min_delta, keyless = seen
    if header.count == 0:
        return RecordsSeen(NO_TIMESTAMP, 0, NO_TIMESTAMP, -1)
    latest, earliest = header.base_timestamp + max_delta, header.base_timestamp + min_delta
    if latest > _LONG_MAX or earliest < _LONG_MIN:
        return Refused(Code.INVALID_RECORD, f"a timestamp does not fit into 64 bits: {earliest} to {latest}")
    return RecordsSeen(max(latest, NO_TIMESTAMP), max_index, earliest, keyless)


def check_records(data: Buffer, header: BatchHeader, *, inflated_size_max: int = INFLATED_SIZE_MAX) -> Refused | None:
    """`walk_records` for those who only want to know whether the batch may be stored."""
    seen = walk_records(data, header, inflated_size_max=inflated_size_max)
    return seen if isinstance(seen, Refused) else None


def wrong_records(
    data: Buffer, *, needs_key: bool, now_ms: int | None, before_ms_max: int, after_ms_max: int
) -> list[tuple[int, str]]:
    """Which records a refusal means, by their index, and why; of small batches only. `now_ms` None: any time is right."""
    header = read_header(data)
    if header.count > _LISTED_COUNT_MAX:
        return []
    wrong = []
    try:
        for index, record in enumerate(read_records(data, header, inflated_size_max=_LISTED_SIZE_MAX)):
            if needs_key and record.key is None:
                wrong.append((index, "a record of a compacted topic needs a key"))
            elif now_ms is not None:
                time = record.timestamp
                refused = check_timestamps(time, time, now_ms=now_ms, before_ms_max=before_ms_max, after_ms_max=after_ms_max)
                if refused is not None:
                    wrong.append((index, refused.why))
    except RecordsError:  # then the refusal was about something else
        return []
    return wrong


def check_timestamps(earliest: int, latest: int, *, now_ms: int, before_ms_max: int, after_ms_max: int) -> Refused | None:
    """Whether a batch's timestamps are near enough to now (`message.timestamp.before.max.ms` and `.after.max.ms`).

    From `RecordsSeen`; or, where records are not walked, from the header: its base and max timestamp.
    """
    if latest != NO_TIMESTAMP and latest - now_ms > after_ms_max:
        return Refused(
            Code.TIMESTAMP_OUT_OF_RANGE,
            f"timestamp {latest} lies {latest - now_ms} ms after now, up to {after_ms_max} are allowed "
            "(message.timestamp.after.max.ms)",
        )
    if earliest != NO_TIMESTAMP and now_ms - earliest > before_ms_max:
        return Refused(
            Code.TIMESTAMP_OUT_OF_RANGE,
            f"timestamp {earliest} lies {now_ms - earliest} ms before now, up to {before_ms_max} are allowed "
            "(message.timestamp.before.max.ms)",
        )
    return None
