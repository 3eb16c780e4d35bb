"""What a cluster store holds, as a pure machine: keys, revisions, leases and the history for watchers.

Both stores of one process (memory and embedded) are a shell around it: the memory store answers at once, the embedded
one when SQLite has committed. So they cannot differ in what a compare, a lease or a revision means.

Owner: the store. No IO, no clock: `now_ms` comes in and must never go back.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from headrace.base import limits
from headrace.cluster.store import (
    NO_LEASE,
    Change,
    Compacted,
    Compare,
    Delete,
    DeletePrefix,
    Entry,
    Event,
    Field,
    Is,
    Operation,
    Outcome,
    Put,
    Range,
)

_COMPARE = {Is.EQUAL: operator.eq, Is.NOT_EQUAL: operator.ne, Is.LESS: operator.lt, Is.GREATER: operator.gt}


@dataclass(slots=True)
class Lease:
    ttl_ms: int
    deadline_ms: float
    keys: set[str] = field(default_factory=set)  # Invariant: exactly the keys whose entry names this lease.


@dataclass(slots=True)
class State:
    revision: int = 0  # Of the last change.
    entries: dict[str, Entry] = field(default_factory=dict)
    sorted_keys: list[str] = field(default_factory=list)  # Invariant: the keys of `entries`, in order.
    leases: dict[int, Lease] = field(default_factory=dict)
    lease_last: int = NO_LEASE  # The highest number ever given.
    history: deque[Change] = field(default_factory=deque)
    # Changes with this revision and earlier ones are gone. Invariant: history holds all from here to `revision`.
    compacted_revision: int = 0

    def load(self, entries: Iterable[Entry], revision: int, leases: dict[int, int], lease_last: int, now_ms: float) -> None:
        """Begin from what a disk kept. Leases live their full time again: nobody could keep them alive meanwhile."""
        assert self.revision == 0 and not self.entries and not self.leases
        self.leases = {lease: Lease(ttl_ms, now_ms + ttl_ms) for lease, ttl_ms in leases.items()}
        self.entries = {entry.key: entry for entry in entries}
        self.sorted_keys = sorted(self.entries)
        for entry in self.entries.values():
            assert entry.mod_revision <= revision, f"{entry.key} is from revision {entry.mod_revision}, the store at {revision}"
            if entry.lease != NO_LEASE:
                self.leases[entry.lease].keys.add(entry.key)
        self.revision = self.compacted_revision = revision
        self.lease_last = lease_last

    # Reading

    def get(self, key: str) -> Entry | None:
        return self.entries.get(key)

    def range(self, prefix: str) -> Range:
        return Range([self.entries[key] for key in self._keys_under(prefix)], self.revision)

    def changes_between(self, prefix: str, from_revision: int, to_revision: int) -> list[Change] | Compacted:
        """What a watch that begins at `from_revision` has missed up to and including `to_revision`."""
        if from_revision <= self.compacted_revision:
            return Compacted(self.revision)
        # Each revision stands once in the history, without gaps: the place can be computed.
        first = from_revision - self.compacted_revision - 1
        end = to_revision - self.compacted_revision
        missed = (self.history[i] for i in range(first, end))
        return [part for change in missed if (part := part_under(change, prefix)) is not None]

    # Changing

    def txn(
        self, compares: Sequence[Compare], then: Sequence[Operation], otherwise: Sequence[Operation]
    ) -> tuple[Outcome, Change | None]:
        assert len(compares) <= limits.STORE_OPERATIONS_MAX, f"{len(compares)} compares in one transaction"
        succeeded = all(self._holds(compare) for compare in compares)
        operations = then if succeeded else otherwise
        assert len(operations) <= limits.STORE_OPERATIONS_MAX, f"{len(operations)} operations in one transaction"
        for operation in operations:
            if isinstance(operation, Put) and operation.lease != NO_LEASE and operation.lease not in self.leases:
                return Outcome(False, self.revision, lease_lost=True), None
        change = self._carry_out(operations)
        return Outcome(succeeded, self.revision), change

    def grant(self, ttl_ms: int, now_ms: float) -> int:
        assert ttl_ms > 0
        self.lease_last += 1
        self.leases[self.lease_last] = Lease(ttl_ms, now_ms + ttl_ms)
        return self.lease_last

    def keep_alive(self, lease: int, now_ms: float) -> bool:
        held = self.leases.get(lease)
        if held is None or held.deadline_ms <= now_ms:  # Due, though nobody swept it yet: it has ended.
            return False
        held.deadline_ms = now_ms + held.ttl_ms
        return True

    def revoke(self, lease: int) -> tuple[bool, Change | None]:
        held = self.leases.get(lease)
        if held is None:
            return False, None
        change = self._carry_out([Delete(key) for key in sorted(held.keys)])
        assert not held.keys
        del self.leases[lease]
        return True, change

    def due_leases(self, now_ms: float) -> list[int]:
        return sorted(lease for lease, held in self.leases.items() if held.deadline_ms <= now_ms)

    def deadline_ms(self) -> float | None:
        """When the next lease ends, if nobody keeps it alive."""
        return min((held.deadline_ms for held in self.leases.values()), default=None)

    def compact(self, revision: int) -> None:
        """Forget the changes up to and including `revision`."""
        revision = min(revision, self.revision)
        while self.history and self.history[0].revision <= revision:
            self.history.popleft()
        self.compacted_revision = max(self.compacted_revision, revision)

    def _holds(self, compare: Compare) -> bool:
        entry = self.entries.get(compare.key)
        if compare.field is Field.VALUE:
            assert isinstance(compare.operand, bytes)
            return bool(_COMPARE[compare.operator](b"" if entry is None else entry.value, compare.operand))
        assert isinstance(compare.operand, int)
        return bool(_COMPARE[compare.operator](0 if entry is None else getattr(entry, compare.field.value), compare.operand))

    def _carry_out(self, operations: Sequence[Operation]) -> Change | None:
        revision = self.revision + 1
        events: dict[str, Event] = {}
        for op in operations:
            if isinstance(op, DeletePrefix):
                keys = self._keys_under(op.prefix)
            else:
                assert op.key and op.key not in events, f"{op.key!r} is named twice in one transaction"
                keys = [op.key]
            for key in keys:
                if isinstance(op, Put):
                    events[key] = Event(key, self._put(op, revision))
                elif key in self.entries:
                    self._delete(key)
                    events[key] = Event(key, None)
        if not events:
            return None
        self.revision = revision
        change = Change(revision, [events[key] for key in sorted(events)])
        self.history.append(change)
        if len(self.history) > limits.STORE_HISTORY_MAX:
            self.compact(self.history[0].revision)
        return change

    def _put(self, put: Put, revision: int) -> Entry:
        assert len(put.value) <= limits.STORE_VALUE_SIZE_MAX, f"{put.key}: {len(put.value)} bytes"
        before = self.entries.get(put.key)
        if before is None:
            insort(self.sorted_keys, put.key)
            entry = Entry(put.key, put.value, revision, revision, 1, put.lease)
        else:
            if before.lease != NO_LEASE:
                self.leases[before.lease].keys.discard(put.key)
            entry = Entry(put.key, put.value, before.create_revision, revision, before.version + 1, put.lease)
        if put.lease != NO_LEASE:
            self.leases[put.lease].keys.add(put.key)
        self.entries[put.key] = entry
        return entry

    def _delete(self, key: str) -> None:
        entry = self.entries.pop(key)
        del self.sorted_keys[bisect_left(self.sorted_keys, key)]
        if entry.lease != NO_LEASE:
            self.leases[entry.lease].keys.discard(key)

    def _keys_under(self, prefix: str) -> list[str]:
        start = bisect_left(self.sorted_keys, prefix)
        end = start
        while end < len(self.sorted_keys) and self.sorted_keys[end].startswith(prefix):
            end += 1
        return self.sorted_keys[start:end]


def part_under(change: Change, prefix: str) -> Change | None:
    """The part of a change that a watch of `prefix` sees."""
    events = [event for event in change.events if event.key.startswith(prefix)]
    return Change(change.revision, events) if events else None
