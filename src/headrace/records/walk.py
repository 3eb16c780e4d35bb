"""The walk: every record of a batch is looked at once before the batch is stored.

A header and a checksum say that the bytes arrived as they were sent, not that they are records. A client that writes a
wrong length, count or offset would store a batch at which every consumer of the partition stops, for ever. So each record must
chain to the next and the last one to the end, hold what its own length says, and be numbered 0, 1, 2 … (Kafka numbers
compressed batches that are not, and stores uncompressed ones as they are; its consumers then report the wrong offsets).

This is the one place where the broker spends time per record. It is plain typed Python which mypyc compiles as it stands (to about
a seventieth of the time); `i64` exists only for that compiler. Interpreted, one trick makes up for most of it: producers send
records of one shape again and again, and then the bytes that make the shape stand in columns, one record's size apart.
A strided slice takes out a whole column and `lstrip` tells how far it stays the same, both at the speed of C. Records that
vary in size are walked one by one.

`bench/micro/walk.py` measures both forms.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64

# Max timestamp delta, index of the first record that has it, min timestamp delta, index of the first record without a key (or -1).
Walked = tuple[int, int, int, int]

# A run of equal records is tried for when two neighbours had equal sizes and at least this many are left: a try costs as much
# as walking about twenty records one by one.
RUN_COUNT_MIN: Final = 16
# After a try that did not pay, this many records go by before the next.
RUN_PAUSE: Final = 64

_HIGH = re.compile(rb"[\x80-\xff]*")
_LOW = re.compile(rb"[\x00-\x7f]*")
_EVEN, _ODD = bytes(range(0, 256, 2)), bytes(range(1, 256, 2))
# The columns of offset deltas, as zig-zag varints: of one byte up to 63, of two up to 8,191, of three above (where the first two
# repeat).
_OFFSETS_ALONE = bytes(range(0, 128, 2))
_OFFSETS_LOW = bytes([(index << 1 & 0x7F) | 0x80 for index in range(8192)])
_OFFSETS_HIGH = bytes([index >> 6 for index in range(8192)])
_OFFSETS_MIDDLE = bytes([index >> 6 | 0x80 for index in range(8192)])


def walk(
    data: bytes, at: i64, end: i64, count: i64, last_offset_delta: i64, dense: bool, labels_max: i64, runs: bool
) -> Walked | str:
    """Walk `data[at:end]`, which must be `count` uncompressed records; a text says what is wrong and with which record.

    `dense`: offsets must be 0, 1, 2 …, as a producer writes them; else they may have gaps, as the cleaner leaves them.
    `runs`: look for runs of equal records (interpreted only: the compiled loop is faster without).
    """
    index: i64 = 0
    before: i64 = -1  # the last record's offset delta
    size_before: i64 = -1
    run_from: i64 = 0  # no run is tried before this index
    keyless: i64 = -1
    max_delta = -(1 << 70)
    min_delta = 1 << 70
    max_index: i64 = 0
    try:
        while index < count:
            start: i64 = at
            byte: i64 = data[at]
            at += 1
            if byte < 0x80:
                number: i64 = byte
            else:
                byte2: i64 = data[at]
                at += 1
                if byte2 < 0x80:
                    number = byte + (byte2 << 7) - 0x80
                else:
                    number, at = _read_int(data, at - 2)
            if number & 1:
                return f"record {index}: its length is negative"
            stop: i64 = at + (number >> 1)
            if stop > end:
                return f"record {index}: its length is {number >> 1}, {end - at} bytes are left"
            if data[at] >= 0x80:  # none are defined; aiokafka reads them as a varint and would stumble
                return f"record {index}: its attributes are {data[at]:#x}"
            at += 1

            timestamp_at: i64 = at
            byte = data[at]
            at += 1
            if byte < 0x80:
                delta: int = (byte >> 1) ^ -(byte & 1)
            else:
                delta, at = _read_long(data, at - 1)
            if delta > max_delta:
                max_delta = delta
                max_index = index
            if delta < min_delta:
                min_delta = delta

            offset_at: i64 = at
            byte = data[at]
            at += 1
            if byte < 0x80:
                number = byte
            else:
                number, at = _read_int(data, at - 1)
            if number != index << 1 or not dense:
                refused = _refuse_offset(number, index, before, last_offset_delta, dense)
                if refused:
                    return refused
                before = number >> 1

            key_at: i64 = at
            byte = data[at]
            at += 1
            if byte < 0x80:
                number = byte
            else:
                number, at = _read_int(data, at - 1)
            if number & 1:
                if number != 1:
                    return f"record {index}: its key's length is {-(number >> 1) - 1}"
                if keyless < 0:
                    keyless = index
            else:
                at += number >> 1
                if at > stop:
                    return f"record {index}: its key of {number >> 1} bytes does not fit into it"

            byte = data[at]
            at += 1
            if byte < 0x80:
                number = byte
            else:
                byte2 = data[at]
                at += 1
                if byte2 < 0x80:
                    number = byte + (byte2 << 7) - 0x80
                else:
                    number, at = _read_int(data, at - 2)
            if number & 1:
                if number != 1:
                    return f"record {index}: its value's length is {-(number >> 1) - 1}"
            else:
                at += number >> 1
                if at > stop:
                    return f"record {index}: its value of {number >> 1} bytes does not fit into it"

            byte = data[at]
            at += 1
            if byte:
                at = _walk_labels(data, at - 1, stop, index, labels_max)
            if at != stop:
                return f"record {index}: its fields end {stop - at} bytes before its length says"
            index += 1

            if runs and at - start == size_before and index >= run_from and count - index >= RUN_COUNT_MIN:
                run, top, top_at, low = _walk_run(data, at, end, index, count, (start, timestamp_at, offset_at, key_at))
                if run < RUN_COUNT_MIN:
                    run_from = index + RUN_PAUSE
                if run > 0:
                    if top > max_delta:
                        max_delta = top
                        max_index = index + top_at
                    if low < min_delta:
                        min_delta = low
                    at += run * size_before
                    index += run
            size_before = stop - start
    except IndexError:
        return f"record {index}: the records end in the middle of it"
    except ValueError as error:
        return f"record {index}: {error}"
    if at != end:
        return f"{end - at} bytes follow the last of {count} records"
    return max_delta, max_index, min_delta, keyless


def _refuse_offset(number: i64, index: i64, before: i64, last_offset_delta: i64, dense: bool) -> str:
    """Why this offset delta (still zig-zag) is wrong; an empty text when it is right."""
    delta: i64 = (number >> 1) ^ -(number & 1)
    if dense:
        return f"record {index}: its offset delta is {delta}: records are numbered one after another from 0"
    if delta <= before:
        return f"record {index}: its offset delta is {delta}, the one before has {before}"
    if delta > last_offset_delta:
        return f"record {index}: its offset delta is {delta}, the batch's last is {last_offset_delta}"
    return ""


def _walk_labels(data: bytes, at: i64, stop: i64, index: i64, labels_max: i64) -> i64:
    """The labels of one record, from their count on; where they end."""
    number: i64
    number, at = _read_int(data, at)
    if number & 1:
        raise ValueError("its count of labels is negative")
    left: i64 = number >> 1
    if left > labels_max:
        raise ValueError(f"it has {left} labels, {labels_max} are allowed")
    while left > 0:
        number, at = _read_int(data, at)
        if number & 1:
            raise ValueError("a label's key is null")
        at += number >> 1
        if at > stop:
            raise ValueError(f"a label's key of {number >> 1} bytes does not fit into it")
        number, at = _read_int(data, at)
        if number & 1:
            if number != 1:
                raise ValueError(f"a label's value has the length {-(number >> 1) - 1}")
        else:
            at += number >> 1
            if at > stop:
                raise ValueError(f"a label's value of {number >> 1} bytes does not fit into it")
        left -= 1
    return at


def _read_int(data: bytes, at: i64) -> tuple[i64, i64]:
    """An unsigned varint of at most 5 bytes (the zig-zag is still in it), and where the next thing begins."""
    number: i64 = 0
    shift: i64 = 0
    while shift < 35:
        byte: i64 = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
    raise ValueError("a number of more than 5 bytes")


def _read_long(data: bytes, at: i64) -> tuple[int, i64]:
    """A zig-zag varint of at most 10 bytes and 64 bits, and where the next thing begins."""
    number: int = 0
    shift: int = 0
    while shift < 70:
        byte: int = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if number >> 64:
                break
            return (number >> 1) ^ -(number & 1), at
        shift += 7
    raise ValueError("a number of more than 10 bytes or 64 bits")


def _walk_run(
    data: bytes, at: i64, end: i64, index: i64, count: i64, shape: tuple[i64, i64, i64, i64]
) -> tuple[i64, int, int, int]:
    """How many records from `at` on have the shape of the one before; the max of their timestamp deltas, where it is, and the min.

    Only columns are looked at: the bytes that make the shape must be the same in each record, the offset deltas must count on,
    the timestamp deltas must be equally wide. 0 means: go on one by one, which also finds the words for what is wrong.
    """
    start, timestamp_at, offset_at, key_at = shape
    size: i64 = at - start
    run: i64 = min(count - index, (end - at) // size)
    for place in _shape_places(data, start, key_at, at):
        column = data[place + size : at + run * size : size]
        run = len(column) - len(column.lstrip(data[place : place + 1]))
        if run < RUN_COUNT_MIN:
            return 0, 0, 0, 0
    run = _offsets_run(data, at, size, index, run, offset_at, key_at)
    for place in range(timestamp_at, offset_at):
        found = (_LOW if place == offset_at - 1 else _HIGH).match(data[place + size : at + run * size : size])
        assert found is not None
        run = found.end()
    if run < RUN_COUNT_MIN:
        return 0, 0, 0, 0
    columns = [data[place + size : at + run * size : size] for place in range(timestamp_at, offset_at)]
    top, top_at, low = _timestamps_range(columns)
    return run, top, top_at, low


def _shape_places(data: bytes, start: i64, key_at: i64, end: i64) -> list[int]:
    """Where the bytes stand that make a record's shape: all its lengths, its attributes and its count of labels."""
    places: list[int] = []
    place: i64 = _number_places(data, start, places)[1]
    places.append(place)  # the attributes
    number: i64
    number, place = _number_places(data, key_at, places)
    place += 0 if number & 1 else number >> 1
    number, place = _number_places(data, place, places)
    place += 0 if number & 1 else number >> 1
    number, place = _number_places(data, place, places)
    while place < end:
        number, place = _number_places(data, place, places)
        place += 0 if number & 1 else number >> 1
    return places


def _number_places(data: bytes, at: i64, places: list[int]) -> tuple[i64, i64]:
    number: i64
    stop: i64
    number, stop = _read_int(data, at)
    places.extend(range(at, stop))
    return number, stop


def _offsets_run(data: bytes, at: i64, size: i64, index: i64, run: i64, offset_at: i64, key_at: i64) -> i64:
    """How many of the next `run` records certainly count on from `index`: all that are written in as many bytes, or none."""
    width: i64 = key_at - offset_at
    if width == 1:
        run = min(run, 64 - index)
    else:
        run = min(run, 8192 - index % 8192)
    if run < RUN_COUNT_MIN or width > 3:
        return 0
    first: i64 = index % 8192
    columns = [data[place + size : at + run * size : size] for place in range(offset_at, key_at)]
    if width == 1:
        right = columns[0] == _OFFSETS_ALONE[first : first + run]
    else:
        right = columns[0] == _OFFSETS_LOW[first : first + run]
        if width == 2:
            right = right and index < 8192 and columns[1] == _OFFSETS_HIGH[first : first + run]
        else:
            right = right and columns[1] == _OFFSETS_MIDDLE[first : first + run] and not columns[2].strip(bytes([index >> 13]))
    return run if right else 0


def _timestamps_range(columns: list[bytes]) -> tuple[int, int, int]:
    """The max of the timestamp deltas in these columns, where it stands first, and the min."""
    if len(columns) == 1:
        column = columns[0]
        later, earlier = column.translate(None, _ODD), column.translate(None, _EVEN)
        top = max(later) if later else min(earlier)
        low = max(earlier) if earlier else min(later)
        return (top >> 1) ^ -(top & 1), column.index(top), (low >> 1) ^ -(low & 1)
    numbers = [0] * len(columns[0])
    shift = 0
    for column in columns:
        numbers = [number | (byte & 0x7F) << shift for number, byte in zip(numbers, column, strict=True)]
        shift += 7
    deltas = [(number >> 1) ^ -(number & 1) for number in numbers]
    latest = max(deltas)
    return latest, deltas.index(latest), min(deltas)
