"""The names of a partition's files, as Kafka gives them, and a few of our own.

00000000000000000000.log          batches, from the offset in the name on
00000000000000000000.index        sparse: last offset of a batch -> its position
00000000000000000000.timeindex    sparse: highest timestamp so far -> last offset of the batch that has it
00000000000000000000.snapshot     the idempotent producers, as they stood at that offset
leader-epoch-checkpoint           where each leader epoch began
log-start-offset                  ours: where the log begins, when that is not a segment's first offset
*.deleted                         on its way out
*.tmp                             being written; counts only once it is renamed
"""

from __future__ import annotations

LOG, INDEX, TIME_INDEX, SNAPSHOT = ".log", ".index", ".timeindex", ".snapshot"
SEGMENT_SUFFIXES = (LOG, INDEX, TIME_INDEX)
DELETED, TMP = ".deleted", ".tmp"
LEFTOVERS = (DELETED, TMP, ".swap", ".cleaned")
EPOCHS_FILE = "leader-epoch-checkpoint"
START_FILE = "log-start-offset"


def file_name(offset: int, suffix: str) -> str:
    return f"{offset:020d}{suffix}"


def offset_of(name: str, suffix: str) -> int | None:
    """The offset in a name, None where the name is not of this kind."""
    stem = name.removesuffix(suffix)
    return int(stem) if len(stem) == 20 and len(name) == 20 + len(suffix) and stem.isdecimal() else None
