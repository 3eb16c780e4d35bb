"""Fetch sessions: told once, then only what changes; and never more of them than there is room for."""

from __future__ import annotations

from uuid import UUID

from headrace.base.errors import Code, Refused
from headrace.base.ids import NO_TOPIC_ID
from headrace.base.limits import FETCH_SESSION_PARTITIONS_MAX
from headrace.protocols.kafka.handlers.fetch_sessions import FetchSession, FetchSessions, Tracked, key_of


def sessions(most: int = 3) -> FetchSessions:
    ids = iter(range(1, 1_000))
    return FetchSessions(most, lambda: next(ids))


def rows(*indexes: int, offset: int = 0) -> list[Tracked]:
    made = [Tracked("t", NO_TOPIC_ID, index) for index in indexes]
    for row in made:
        row.offset = offset
    return made


def opened(cache: FetchSessions, now_ms: float = 0.0, *indexes: int) -> FetchSession:
    session = cache.open(False, now_ms, len(indexes))
    assert session is not None
    cache.track(session, rows(*indexes))
    return session


def test_a_session_goes_on_epoch_by_epoch():
    cache = sessions()
    session = opened(cache)
    assert cache.go_on(session.id, 1, False, 5.0) is session
    assert session.epoch == 2 and session.used_ms == 5.0
    for number, epoch, by_id, code in (
        (session.id, 1, False, Code.FETCH_SESSION_EPOCH),
        (session.id, 2, True, Code.FETCH_SESSION_TOPIC_ID),
        (999, 2, False, Code.FETCH_SESSION_UNKNOWN),
    ):
        refused = cache.go_on(number, epoch, by_id, 5.0)
        assert isinstance(refused, Refused) and refused.code is code


def test_the_epoch_wraps_to_1():
    cache = sessions()
    session = opened(cache)
    session.epoch = 2**31 - 1
    cache.go_on(session.id, 2**31 - 1, False, 0.0)
    assert session.epoch == 1


def test_the_least_recently_used_gives_its_place_when_it_is_old():
    cache = sessions(2)
    first, second = opened(cache, 0.0, 1, 2), opened(cache, 0.0, 3)
    cache.go_on(first.id, 1, False, 100_000.0)
    assert cache.open(False, 110_000.0, 1) is None
    assert cache.open(False, 130_000.0, 1) is not None
    assert isinstance(cache.go_on(second.id, 1, False, 130_000.0), Refused)
    assert cache.tracked == 2


def test_partitions_are_counted_over_all_sessions():
    cache = sessions(1_000)
    one, two = opened(cache, 0.0, 1, 2, 3), opened(cache, 0.0, 1)
    assert cache.tracked == 4
    cache.track(one, rows(3, 4, offset=9))
    assert cache.tracked == 5
    assert one.partitions[key_of("t", NO_TOPIC_ID, 3)].offset == 9
    cache.forget(one, [key_of("t", NO_TOPIC_ID, index) for index in (1, 1, 77)])
    assert cache.tracked == 4
    cache.close(one.id)
    cache.close(one.id)
    cache.close(two.id)
    assert cache.tracked == 0 and len(cache) == 0


def test_no_session_beyond_the_bound_of_partitions():
    # 1,000 sessions, each of a million partitions that need not exist, would have been 250 GB.
    cache = sessions(1_000)
    assert cache.open(False, 0.0, FETCH_SESSION_PARTITIONS_MAX + 1) is None
    opened(cache, 0.0, 1)
    assert cache.open(False, 0.0, FETCH_SESSION_PARTITIONS_MAX) is None
    assert cache.open(False, 0.0, FETCH_SESSION_PARTITIONS_MAX - 1) is not None


def test_ids_are_never_0_nor_taken():
    ids = iter((0, 5, 5, 0, 6))
    cache = FetchSessions(3, lambda: next(ids))
    assert [opened(cache).id, opened(cache).id] == [5, 6]


def test_keys_of_topics_by_name_and_by_id():
    assert key_of("t", NO_TOPIC_ID, 1) == ("t", 1)
    assert key_of("", UUID(int=5), 1) == (UUID(int=5), 1)
