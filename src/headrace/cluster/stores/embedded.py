"""The cluster store of one machine: SQLite, nothing to install.

SQLite is the journal, not the mind. What is true is decided on the loop by `State`, which holds everything in memory
(a cluster's metadata is small); each change is written down in SQLite by a thread, and only when SQLite has committed
(WAL, `synchronous=FULL`: one fdatasync a commit) is it answered, delivered to watchers and visible to reads that began
later. What is decided while a commit is under way goes out with the next one, so that a hundred transactions that come
together cost one or two flushes.

Owner: this process alone, and of it the event loop. SQLite locks the file for as long as it is open (a second opener is
refused), and one piece of work at a time goes to a thread, in order.

A commit that failed takes back what was decided since: the state is read again from the same connection, whoever waited
gets an OSError, watchers start again from a range. It is the same connection on purpose: the commit that failed never
became visible to it, and its next commit writes over those frames. Opening folds the WAL into the database file and
flushes that, so that nothing is answered from pages of which nobody knows whether they reached the disk.

The history for watchers is not kept on the disk: after a restart they take a fresh range.
"""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from collections.abc import Sequence
from functools import partial

from headrace.base.errors import Code, Refused
from headrace.base.world import World
from headrace.cluster.store import Change, Compare, Entry, Operation, Outcome, Range
from headrace.cluster.stores.lease_timer import LeaseTimer
from headrace.cluster.stores.state import State
from headrace.cluster.stores.watching import LocalWatch, Watchers

FORMAT_VERSION = 1
APPLICATION_ID = 0x48526373  # "HRcs": SQLite keeps it in the file's header

_TABLES = (
    """CREATE TABLE entries (
        key TEXT PRIMARY KEY, value BLOB NOT NULL, create_revision INTEGER NOT NULL,
        mod_revision INTEGER NOT NULL, version INTEGER NOT NULL, lease INTEGER NOT NULL
    ) WITHOUT ROWID""",
    "CREATE TABLE leases (lease INTEGER PRIMARY KEY, ttl_ms INTEGER NOT NULL)",
    "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    "INSERT INTO counters VALUES ('revision', 0), ('lease_last', 0)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FORMAT_VERSION}",
)

Statement = tuple[str, tuple[object, ...]]


async def open_embedded(path: str, world: World) -> EmbeddedStore | Refused:
    """The store in the file at `path`, which is made where it does not exist; its folder must be there."""
    opened = await world.offload(partial(_open, path, world.monotonic_ms()))
    if isinstance(opened, Refused):
        return opened
    database, state = opened
    return EmbeddedStore(database, state, world)


class EmbeddedStore:
    """`ClusterStore` on SQLite. Made by `open_embedded`."""

    def __init__(self, database: sqlite3.Connection, state: State, world: World) -> None:
        self._database = database
        self._world = world
        self._state = state  # All that was decided. Invariant: what SQLite holds + the commit under way + the next one.
        self._durable_revision = state.revision  # Of the last commit that is done.
        # The next commit: what was decided since the one under way began, in order.
        self._statements: list[Statement] = []
        self._changes: list[Change] = []
        self._next: asyncio.Future[None] | None = None  # Done with the next commit. None: nothing to commit.
        self._under_way: asyncio.Future[None] | None = None  # Done with the commit that a thread works on.
        self._committer: asyncio.Task[None] | None = None
        self._broken: OSError | None = None  # Set once, when not even reading again was possible.
        self._closed = False
        self._watchers = Watchers()
        self._timer = LeaseTimer(world.monotonic_ms, self.expire)
        self._timer.arm(state.deadline_ms())

    async def get(self, key: str) -> Entry | None:
        self._check_usable()
        entry = self._state.get(key)
        await self._durable()
        return entry

    async def range(self, prefix: str) -> Range:
        self._check_usable()
        found = self._state.range(prefix)
        await self._durable()
        return found

    async def txn(self, compares: Sequence[Compare], then: Sequence[Operation], otherwise: Sequence[Operation] = ()) -> Outcome:
        self._check_usable()
        outcome, change = self._state.txn(compares, then, otherwise)
        self._write_down(change)
        await self._durable()
        return outcome

    async def grant(self, ttl_ms: int) -> int:
        self._check_usable()
        lease = self._state.grant(ttl_ms, self._world.monotonic_ms())
        self._statements.append(("INSERT INTO leases VALUES (?, ?)", (lease, ttl_ms)))
        self._statements.append(("UPDATE counters SET value = ? WHERE name = 'lease_last'", (lease,)))
        self._timer.arm(self._state.deadline_ms())
        await self._durable()
        return lease

    async def keep_alive(self, lease: int) -> bool:
        self._check_usable()
        alive = self._state.keep_alive(lease, self._world.monotonic_ms())
        await self._durable()
        return alive

    async def revoke(self, lease: int) -> bool:
        self._check_usable()
        ended = self._revoke(lease)
        await self._durable()
        return ended

    def watch(self, prefix: str, from_revision: int) -> LocalWatch:
        self._check_usable()
        return self._watchers.open(prefix, from_revision, self._state, self._durable_revision)

    async def close(self) -> None:
        """What was decided is committed; then the file is given back."""
        if self._closed:
            return
        self._closed = True
        self._timer.cancel()
        if self._committer is not None:
            await asyncio.wait([self._committer])
        self._watchers.close()
        await self._world.offload(self._database.close)

    def expire(self) -> None:
        """End the leases that are due. The timer calls it; a test may."""
        if self._closed or self._broken is not None:
            return
        for lease in self._state.due_leases(self._world.monotonic_ms()):
            self._revoke(lease)
        self._begin_commit()
        self._timer.arm(self._state.deadline_ms())

    def compact(self, revision: int) -> None:
        """Forget the changes up to `revision`, as a store does that has run for long."""
        self._state.compact(min(revision, self._durable_revision))

    def _check_usable(self) -> None:
        if self._closed:
            raise ConnectionError("the cluster store is closed")
        if self._broken is not None:
            raise OSError(self._broken.errno, self._broken.strerror)

    # Writing down what was decided

    def _revoke(self, lease: int) -> bool:
        ended, change = self._state.revoke(lease)
        self._write_down(change)
        if ended:
            self._statements.append(("DELETE FROM leases WHERE lease = ?", (lease,)))
        return ended

    def _write_down(self, change: Change | None) -> None:
        if change is None:
            return
        for event in change.events:
            entry = event.entry
            if entry is None:
                self._statements.append(("DELETE FROM entries WHERE key = ?", (event.key,)))
            else:
                row = (entry.key, entry.value, entry.create_revision, entry.mod_revision, entry.version, entry.lease)
                self._statements.append(("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", row))
        self._statements.append(("UPDATE counters SET value = ? WHERE name = 'revision'", (change.revision,)))
        self._changes.append(change)

    # Committing

    async def _durable(self) -> None:
        """Wait until all that was decided up to now is committed. OSError when it was taken back."""
        self._begin_commit()
        wait_for = self._next or self._under_way
        if wait_for is not None:
            await asyncio.shield(wait_for)  # Others wait for it too: a cancelled one must not cancel it.

    def _begin_commit(self) -> None:
        if not self._statements:
            return
        if self._next is None:
            self._next = asyncio.get_running_loop().create_future()
            self._next.add_done_callback(_look_at_failure)
        if self._committer is None:
            self._committer = asyncio.create_task(self._commit_all())
            self._committer.add_done_callback(self._committer_ended)

    async def _commit_all(self) -> None:
        while self._next is not None:
            done, statements, changes = self._next, self._statements, self._changes
            self._under_way, self._next, self._statements, self._changes = done, None, [], []
            try:
                await self._world.offload(partial(_commit, self._database, statements))
            except sqlite3.Error as error:
                await self._take_back(error)
            else:
                if changes:
                    self._durable_revision = changes[-1].revision
                for change in changes:
                    self._watchers.deliver(change)
                self._under_way = None
                done.set_result(None)

    async def _take_back(self, error: sqlite3.Error) -> None:
        """The commit failed: what SQLite holds is the truth again, for all that was decided until it has been read."""
        full = _code(error) == sqlite3.SQLITE_FULL
        failure = OSError(errno.ENOSPC if full else errno.EIO, f"the cluster store could not keep a change: {error}")
        try:
            state = await self._world.offload(partial(_read_again, self._database, self._world.monotonic_ms()))
        except sqlite3.Error:
            self._broken = failure
        else:
            # A number that was given to somebody whose call fails now must not be given again.
            state.lease_last = max(state.lease_last, self._state.lease_last)
            self._state = state
        waiting = [future for future in (self._under_way, self._next) if future is not None]
        self._under_way, self._next, self._statements, self._changes = None, None, [], []
        self._watchers.give_up(self._durable_revision)
        self._timer.arm(self._state.deadline_ms())
        for future in waiting:
            future.set_exception(failure)

    def _committer_ended(self, committer: asyncio.Task[None]) -> None:
        self._committer = None
        bug = None if committer.cancelled() else committer.exception()
        if bug is not None or committer.cancelled():
            # Nobody may wait for ever: whoever waits hears of it.
            for future in (self._under_way, self._next):
                if future is not None and not future.done():
                    future.set_exception(bug or ConnectionError("the cluster store was stopped"))
            self._broken = OSError(errno.EIO, f"the cluster store stopped: {bug!r}")
        else:
            self._begin_commit()


def _look_at_failure(future: asyncio.Future[None]) -> None:
    """A lease that ended by itself has nobody who waits; without a look asyncio would complain of that."""
    if not future.cancelled():
        future.exception()


def _code(error: sqlite3.Error) -> int | None:
    """SQLite's own number; errors of Python's module have none."""
    return getattr(error, "sqlite_errorcode", None)


# In a thread, one at a time


def _open(path: str, now_ms: float) -> tuple[sqlite3.Connection, State] | Refused:
    try:
        database = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        return Refused(Code.STORAGE_FAILED, f"the cluster store {path} cannot be opened: {error}")
    try:
        refused = _prepare(database, path)
        if refused is not None:
            database.close()
            return refused
        return database, _load(database, now_ms)
    except sqlite3.Error as error:
        database.close()
        locked = _code(error) == sqlite3.SQLITE_BUSY
        why = "another process has it open" if locked else str(error)
        return Refused(Code.STORAGE_FAILED, f"the cluster store {path} cannot be used: {why}")


def _prepare(database: sqlite3.Connection, path: str) -> Refused | None:
    # EXCLUSIVE before WAL: the index of the WAL stays in this process's memory, and the lock stays with us.
    database.execute("PRAGMA locking_mode = EXCLUSIVE")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("BEGIN IMMEDIATE")
    application_id = _number(database, "PRAGMA application_id")
    if application_id == 0 and _number(database, "SELECT count(*) FROM sqlite_schema") == 0:
        for statement in _TABLES:
            database.execute(statement)
    elif application_id != APPLICATION_ID:
        return Refused(Code.STORAGE_FAILED, f"{path} is a database, but not a cluster store of Headrace")
    version = _number(database, "PRAGMA user_version")
    if version > FORMAT_VERSION:
        return Refused(
            Code.NOT_SUPPORTED,
            f"the cluster store {path} has format {version}, and this Headrace knows formats up to {FORMAT_VERSION}: "
            "a newer Headrace wrote it",
        )
    database.execute("COMMIT")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return None


def _number(database: sqlite3.Connection, query: str) -> int:
    (value,) = database.execute(query).fetchone()
    assert isinstance(value, int)
    return value


def _load(database: sqlite3.Connection, now_ms: float) -> State:
    counters = dict(database.execute("SELECT name, value FROM counters"))
    leases = dict(database.execute("SELECT lease, ttl_ms FROM leases"))
    columns = "key, value, create_revision, mod_revision, version, lease"
    entries = [Entry(*row) for row in database.execute(f"SELECT {columns} FROM entries ORDER BY key")]
    state = State()
    state.load(entries, counters["revision"], leases, counters["lease_last"], now_ms)
    return state


def _read_again(database: sqlite3.Connection, now_ms: float) -> State:
    if database.in_transaction:
        database.execute("ROLLBACK")
    return _load(database, now_ms)


def _commit(database: sqlite3.Connection, statements: list[Statement]) -> None:
    database.execute("BEGIN IMMEDIATE")
    for statement, values in statements:
        database.execute(statement, values)
    database.execute("COMMIT")
