"""The cluster store: the small, strongly consistent store of metadata.

What it is for: everything that all nodes of a cluster must agree on (topics, partitions and their leaders, settings,
nodes), and nothing that grows with the data. Records, offsets and group states live in logs, not here.

The laws, which every implementation keeps and `tests/unit/cluster/test_store_contract.py` checks:

- One order. Each transaction that changes something gets the next *revision*; there is one sequence of revisions for
  the whole store, and each change is whole: nobody sees half a transaction.
- Linearizable. A read sees every transaction that was answered before the read began. Nothing is answered, and no
  watcher is told, before it is as durable as the store promises.
- Compare, then act. A transaction's compares are looked at and its operations carried out in one step. A transaction
  with no effect (deleting what is not there, a branch without operations) takes no revision.
- Leases. A key that hangs on a lease is deleted when the lease ends: by `revoke`, or when nobody kept it alive for its
  time to live. All keys of one lease go in one revision. A lease may live longer than asked (after a restart of the
  store it begins anew), never shorter.
- Watches. A watch delivers every change from a given revision on, in order, one `Change` a revision, nothing twice and
  nothing missing. Where that is no longer possible (the history was cut, or the watcher was too slow) it says
  `Compacted` once and ends: the watcher takes a fresh range and watches from there.

The shape is that of etcd v3 (versions, revisions, compares, leases, watches), taken down to what is used, so that an
etcd or a unix socket can stand behind it. Keys are text and ordered by their UTF-8 bytes, values are bytes.

A call may raise OSError: the store could not be reached or could not keep the change. What became of a transaction
whose call raised is unknown; who must know reads again.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

NO_LEASE = 0


@dataclass(slots=True)
class Entry:
    """A key as it stands. Never altered in place."""

    key: str
    value: bytes
    create_revision: int  # Where the key came to be (again).
    mod_revision: int  # Where it got this value. Invariant: create_revision <= mod_revision.
    version: int  # 1 at creation, one more with each put.
    lease: int = NO_LEASE


@dataclass(slots=True)
class Range:
    """What stood under a prefix, sorted by key, as of `revision`."""

    entries: list[Entry]
    revision: int


class Field(enum.Enum):
    """What a compare looks at. Of a key that does not exist the numbers are 0 and the value is empty."""

    VERSION = "version"
    CREATE_REVISION = "create_revision"
    MOD_REVISION = "mod_revision"
    VALUE = "value"


class Is(enum.Enum):
    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    GREATER = ">"


@dataclass(slots=True)
class Compare:
    key: str
    field: Field
    operator: Is
    operand: int | bytes


def is_absent(key: str) -> Compare:
    return Compare(key, Field.VERSION, Is.EQUAL, 0)


def is_present(key: str) -> Compare:
    return Compare(key, Field.VERSION, Is.GREATER, 0)


def is_unchanged(key: str, mod_revision: int) -> Compare:
    """Nobody touched the key since it was read; with revision 0: it still does not exist."""
    return Compare(key, Field.MOD_REVISION, Is.EQUAL, mod_revision)


def has_value(key: str, value: bytes) -> Compare:
    return Compare(key, Field.VALUE, Is.EQUAL, value)


@dataclass(slots=True)
class Put:
    key: str
    value: bytes
    lease: int = NO_LEASE


@dataclass(slots=True)
class Delete:
    key: str


@dataclass(slots=True)
class DeletePrefix:
    """Every key that begins with `prefix`: one operation, however many they are."""

    prefix: str


Operation = Put | Delete | DeletePrefix


@dataclass(slots=True)
class Outcome:
    """What became of a transaction."""

    succeeded: bool  # The compares held, and `then` was carried out; else `otherwise` was.
    revision: int  # Of the store after it.
    # A put named a lease that has ended: nothing at all was carried out.
    lease_lost: bool = False


@dataclass(slots=True)
class Event:
    """One key of a change: its new entry, or None where it was deleted."""

    key: str
    entry: Entry | None


@dataclass(slots=True)
class Change:
    """All that one revision changed under the watched prefix."""

    revision: int
    events: list[Event]


@dataclass(slots=True)
class Compacted:
    """The changes asked for are no longer all there. A fresh range is at `revision` or later."""

    revision: int


class Watch(Protocol):
    """A stream of changes. It is consumed by one task."""

    async def next(self) -> Change | Compacted | None:
        """The next change. After `Compacted`, and after the watch was closed: None."""
        ...

    def close(self) -> None: ...


class ClusterStore(Protocol):
    async def get(self, key: str) -> Entry | None: ...

    async def range(self, prefix: str) -> Range: ...

    async def txn(self, compares: Sequence[Compare], then: Sequence[Operation], otherwise: Sequence[Operation] = ()) -> Outcome:
        """Carry out `then` if all compares hold, else `otherwise`. A branch names each key once."""
        ...

    async def grant(self, ttl_ms: int) -> int:
        """A new lease; its number is never 0 and never given twice."""
        ...

    async def keep_alive(self, lease: int) -> bool:
        """Let the lease live its full time again from now; False when it has ended."""
        ...

    async def revoke(self, lease: int) -> bool:
        """End the lease and delete what hangs on it; False when it had ended already."""
        ...

    def watch(self, prefix: str, from_revision: int) -> Watch:
        """Changes under `prefix` with `from_revision` or a later one. Usual: the revision of a range, plus 1."""
        ...

    async def close(self) -> None:
        """Watches end; nothing is taken any more."""
        ...
