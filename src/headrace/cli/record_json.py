"""One record as one line of JSON, the same form written by `consume --json` and read by `produce --json`.

    {"topic": "t", "partition": 0, "offset": 5, "timestamp": 1795125900000, "key": "k", "value": "v", "labels": {"a": "b"}}

Bytes that are UTF-8 are strings, other bytes are {"base64": "…"}, null is null. A label that is there more than once has an array.
Reading takes any part of it; a key or value of another type (a number, an object) is written as its own JSON text.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable

from headrace.records.record import Record


class NotARecord(ValueError):
    """The line cannot be read; the text says why."""


def show_bytes(data: bytes | None) -> object:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def show_labels(labels: Iterable[tuple[bytes, bytes | None]]) -> dict[str, object]:
    shown: dict[str, object] = {}
    for name, value in labels:
        key, text = name.decode("utf-8", "replace"), show_bytes(value)
        if key not in shown:
            shown[key] = text
        elif isinstance(before := shown[key], list):
            before.append(text)
        else:
            shown[key] = [before, text]
    return shown


def show_record(topic: str, partition: int, record: Record) -> str:
    return json.dumps(
        {
            "topic": topic,
            "partition": partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": show_bytes(record.key),
            "value": show_bytes(record.value),
            "labels": show_labels(record.labels),
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )


def read_bytes(value: object, name: str) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dict) and value.keys() == {"base64"} and isinstance(value["base64"], str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except binascii.Error:
            raise NotARecord(f"{name}: not base64") from None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def read_labels(value: object) -> list[tuple[bytes, bytes | None]]:
    if value is None:
        return []
    if not isinstance(value, dict):
        raise NotARecord("labels: not an object")
    labels = []
    for name, one_or_more in value.items():
        for text in one_or_more if isinstance(one_or_more, list) else [one_or_more]:
            labels.append((name.encode("utf-8", "surrogatepass"), read_bytes(text, f"label {name}")))
    return labels


KNOWN = {"topic", "partition", "offset", "timestamp", "key", "value", "labels"}


def read_record(line: bytes, now_ms: int) -> tuple[Record, int | None]:
    """A record (its offset is of no use) and the partition it asks for."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise NotARecord(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise NotARecord("not an object")
    unknown = found.keys() - KNOWN
    if unknown:
        raise NotARecord(f"unknown field {min(unknown)!r}; there are key, value, labels, timestamp, partition")
    timestamp, partition = found.get("timestamp", now_ms), found.get("partition")
    if not is_whole(timestamp) or timestamp < 0:
        raise NotARecord("timestamp: not a number of milliseconds since 1970")
    if partition is not None and (not is_whole(partition) or partition < 0):
        raise NotARecord("partition: not a whole number")
    key, value = read_bytes(found.get("key"), "key"), read_bytes(found.get("value"), "value")
    return Record(0, timestamp, key, value, read_labels(found.get("labels"))), partition


def is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value < 2**63
