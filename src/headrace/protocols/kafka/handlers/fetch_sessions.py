"""Fetch sessions (KIP-227): what a consumer reads is told once, and then only what changes.

Owner: the node's Fetch handler. A session remembers its partitions in the order they were added and what the client
was last told of each; an answer to an incremental fetch names only partitions that have something new. Partitions that gave
data move to the end of the order, so that a full answer does not starve those behind them.

No IO, no clock: `now_ms` comes in, ids too. The cache is bounded: a new session takes the place of the one that was used
least recently, if that is older than two minutes; else the client gets none and goes on without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from headrace.base.errors import Code, Refused
from headrace.base.ids import NO_TOPIC_ID
from headrace.base.limits import FETCH_SESSION_PARTITIONS_MAX

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_EPOCH_MAX = 2**31 - 1
_EVICTION_MS = 120_000


class Tracked:
    """One partition of a session."""

    __slots__ = (
        "current_leader_epoch",
        "error_code",
        "high_watermark",
        "index",
        "last_fetched_epoch",
        "log_start_offset",
        "offset",
        "size_max",
        "topic",
        "topic_id",
    )

    def __init__(self, topic: str, topic_id: UUID, index: int) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.offset = 0
        self.size_max = 0
        self.current_leader_epoch = -1
        self.last_fetched_epoch = -1
        # what the client was last told
        self.high_watermark = -1
        self.log_start_offset = -1
        self.error_code = 0

    def changed(self, high_watermark: int, log_start_offset: int, error_code: int, has_records: bool, *, update: bool) -> bool:
        """Whether an incremental answer must name this partition."""
        news = (
            has_records
            or error_code != 0
            or self.error_code != 0
            or high_watermark != self.high_watermark
            or log_start_offset != self.log_start_offset
        )
        if update:
            self.high_watermark = high_watermark
            self.log_start_offset = log_start_offset
            self.error_code = error_code
        return news


PartitionKey = tuple[object, int]  # topic id or name, index


class FetchSession:
    __slots__ = ("by_id", "epoch", "id", "partitions", "used_ms")

    def __init__(self, session_id: int, by_id: bool, now_ms: float) -> None:
        self.id = session_id
        self.by_id = by_id  # whether the session names topics by id (v13 and later)
        self.epoch = 1
        self.used_ms = now_ms
        self.partitions: dict[PartitionKey, Tracked] = {}

    def to_end(self, key: PartitionKey) -> None:
        self.partitions[key] = self.partitions.pop(key)


class FetchSessions:
    """The sessions of a node."""

    def __init__(self, sessions_max: int, new_id: Callable[[], int]) -> None:
        self._sessions: dict[int, FetchSession] = {}  # the least recently used first
        self._sessions_max = sessions_max
        self._new_id = new_id
        self.tracked = 0  # Invariant: the partitions of all sessions together.

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, by_id: bool, now_ms: float, partitions: int) -> FetchSession | None:
        """A new session, or None when the cache is full of younger ones."""
        if self.tracked + partitions > FETCH_SESSION_PARTITIONS_MAX:
            return None
        if len(self._sessions) >= self._sessions_max:
            oldest = next(iter(self._sessions.values()))
            if now_ms - oldest.used_ms < _EVICTION_MS:
                return None
            self.close(oldest.id)
        session_id = self._new_id()
        while session_id in self._sessions or session_id == 0:
            session_id = self._new_id()
        session = self._sessions[session_id] = FetchSession(session_id, by_id, now_ms)
        return session

    def go_on(self, session_id: int, epoch: int, by_id: bool, now_ms: float) -> FetchSession | Refused:
        """The session of an incremental fetch, if its epoch is the next one."""
        session = self._sessions.get(session_id)
        if session is None:
            return Refused(Code.FETCH_SESSION_UNKNOWN, f"fetch session {session_id} is not known here")
        if session.epoch != epoch:
            return Refused(Code.FETCH_SESSION_EPOCH, f"fetch session {session_id} is at epoch {session.epoch}, not {epoch}")
        if session.by_id != by_id:
            return Refused(
                Code.FETCH_SESSION_TOPIC_ID, f"fetch session {session_id} began with topic {'ids' if session.by_id else 'names'}"
            )
        session.epoch = epoch + 1 if epoch < _EPOCH_MAX else 1
        session.used_ms = now_ms
        self._sessions.pop(session_id)
        self._sessions[session_id] = session
        return session

    def close(self, session_id: int) -> None:
        gone = self._sessions.pop(session_id, None)
        if gone is not None:
            self.tracked -= len(gone.partitions)
            gone.partitions = {}

    def track(self, session: FetchSession, wanted: Sequence[Tracked]) -> None:
        """Add what the request names, or take over its new offsets."""
        before = len(session.partitions)
        track(session, wanted)
        self.tracked += len(session.partitions) - before

    def forget(self, session: FetchSession, keys: Iterable[PartitionKey]) -> None:
        for key in keys:
            if session.partitions.pop(key, None) is not None:
                self.tracked -= 1


def key_of(topic: str, topic_id: UUID, index: int) -> PartitionKey:
    return (topic if topic_id == NO_TOPIC_ID else topic_id, index)


def track(session: FetchSession, wanted: Sequence[Tracked]) -> None:
    """Add what the request names, or take over its new offsets."""
    for one in wanted:
        key = key_of(one.topic, one.topic_id, one.index)
        known = session.partitions.get(key)
        if known is None:
            session.partitions[key] = one
        else:
            known.offset = one.offset
            known.size_max = one.size_max
            known.current_leader_epoch = one.current_leader_epoch
            known.last_fetched_epoch = one.last_fetched_epoch
            if one.topic:
                known.topic = one.topic
