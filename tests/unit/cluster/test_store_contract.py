"""The contract of `ClusterStore`, kept by every implementation: each test runs against each store."""

import asyncio
import contextlib

import pytest

from headrace.base import limits
from headrace.cluster.store import (
    Change,
    Compacted,
    Compare,
    Delete,
    DeletePrefix,
    Field,
    Is,
    Put,
    has_value,
    is_absent,
    is_present,
    is_unchanged,
)
from headrace.cluster.stores.embedded import EmbeddedStore, open_embedded
from headrace.cluster.stores.memory import MemoryStore


class StoreWorld:
    """What a store needs of the world, with a clock that a test moves."""

    def __init__(self) -> None:
        self.time_ms = 1_000.0

    def monotonic_ms(self) -> float:
        return self.time_ms

    def offload(self, work):
        return asyncio.get_running_loop().run_in_executor(None, work)


@pytest.fixture(params=["memory", "embedded"])
def store_test(request, tmp_path):
    """Runs `test(store, world)` on a fresh store."""

    def run(test):
        async def body():
            world = StoreWorld()
            if request.param == "memory":
                store = MemoryStore(world.monotonic_ms)
            else:
                store = await open_embedded(str(tmp_path / "cluster.db"), world)
                assert isinstance(store, EmbeddedStore)
            try:
                await asyncio.wait_for(test(store, world), 20)
            finally:
                await store.close()

        asyncio.run(body())

    return run


def described(item):
    """A change as plain values."""
    assert isinstance(item, Change)
    return item.revision, [(e.key, None if e.entry is None else e.entry.value) for e in item.events]


def test_an_empty_store(store_test):
    async def test(store, world):
        assert await store.get("/a") is None
        found = await store.range("")
        assert (found.entries, found.revision) == ([], 0)

    store_test(test)


def test_versions_and_revisions_of_a_key(store_test):
    async def test(store, world):
        assert (await store.txn([], [Put("/a", b"1")])).revision == 1
        assert (await store.txn([], [Put("/b", b"x")])).revision == 2
        assert (await store.txn([], [Put("/a", b"2")])).revision == 3
        entry = await store.get("/a")
        assert (entry.value, entry.create_revision, entry.mod_revision, entry.version) == (b"2", 1, 3, 2)
        await store.txn([], [Delete("/a")])
        assert await store.get("/a") is None
        await store.txn([], [Put("/a", b"3")])
        entry = await store.get("/a")
        assert (entry.create_revision, entry.version) == (5, 1)

    store_test(test)


def test_a_range_is_sorted_by_the_bytes_of_its_keys(store_test):
    async def test(store, world):
        keys = ["/t/b", "/t/a", "/t/a/1", "/t", "/u", "/t/ä", "/t/\U0001f600", "/t/￿"]
        await store.txn([], [Put(key, key.encode()) for key in keys])
        found = await store.range("/t/")
        assert [e.key for e in found.entries] == sorted((k for k in keys if k.startswith("/t/")), key=str.encode)
        assert found.revision == 1

    store_test(test)


@pytest.mark.parametrize(
    ("compare", "holds"),
    [
        (is_absent("/none"), True),
        (is_absent("/a"), False),
        (is_present("/a"), True),
        (is_present("/none"), False),
        (is_unchanged("/a", 2), True),
        (is_unchanged("/a", 1), False),
        (is_unchanged("/none", 0), True),
        (has_value("/a", b"2"), True),
        (has_value("/a", b"1"), False),
        (Compare("/a", Field.VALUE, Is.GREATER, b"1"), True),
        (Compare("/a", Field.VALUE, Is.LESS, b"1"), False),
        (Compare("/a", Field.VERSION, Is.NOT_EQUAL, 2), False),
        (Compare("/a", Field.CREATE_REVISION, Is.EQUAL, 1), True),
        (Compare("/a", Field.CREATE_REVISION, Is.LESS, 1), False),
        (Compare("/a", Field.MOD_REVISION, Is.GREATER, 1), True),
    ],
)
def test_compares(store_test, compare, holds):
    async def test(store, world):
        await store.txn([], [Put("/a", b"1")])
        await store.txn([], [Put("/a", b"2")])
        outcome = await store.txn([compare], [Put("/then", b"")], [Put("/otherwise", b"")])
        assert outcome.succeeded is holds
        assert (await store.get("/then") is not None) is holds
        assert (await store.get("/otherwise") is not None) is not holds

    store_test(test)


def test_all_compares_must_hold_and_nothing_is_done_by_halves(store_test):
    async def test(store, world):
        await store.txn([], [Put("/a", b"1")])
        outcome = await store.txn([is_present("/a"), is_present("/b")], [Put("/x", b""), Delete("/a")])
        assert not outcome.succeeded and outcome.revision == 1
        assert await store.get("/x") is None and await store.get("/a") is not None

    store_test(test)


def test_what_changes_nothing_takes_no_revision(store_test):
    async def test(store, world):
        await store.txn([], [Put("/a", b"1")])
        assert (await store.txn([], [Delete("/none"), DeletePrefix("/no/")])).revision == 1
        assert (await store.txn([], [])).revision == 1
        assert (await store.range("/")).revision == 1

    store_test(test)


def test_a_prefix_is_deleted_in_one_revision(store_test):
    async def test(store, world):
        await store.txn([], [Put(f"/p/{i}", b"") for i in range(5)] + [Put("/q", b"")])
        watch = store.watch("/", 2)
        await store.txn([], [DeletePrefix("/p/"), Put("/r", b"r")])
        assert described(await watch.next()) == (2, [(f"/p/{i}", None) for i in range(5)] + [("/r", b"r")])
        assert [e.key for e in (await store.range("/")).entries] == ["/q", "/r"]

    store_test(test)


def test_of_many_at_once_exactly_one_wins_each_round(store_test):
    """Compare-and-set by many tasks: every increment counts once, none is lost."""

    async def test(store, world):
        async def count_up(times):
            for _ in range(times):
                while True:
                    entry = await store.get("/n")
                    value, at = (0, 0) if entry is None else (int(entry.value), entry.mod_revision)
                    if (await store.txn([is_unchanged("/n", at)], [Put("/n", b"%d" % (value + 1))])).succeeded:
                        break

        await asyncio.gather(*(count_up(5) for _ in range(8)))
        entry = await store.get("/n")
        assert (entry.value, entry.version) == (b"40", 40)

    store_test(test)


def test_a_read_sees_what_was_answered_before_it(store_test):
    async def test(store, world):
        for i in range(20):
            outcome = await store.txn([], [Put("/k", b"%d" % i)])
            entry, found = await asyncio.gather(store.get("/k"), store.range("/k"))
            assert entry.mod_revision == outcome.revision == found.revision
            assert found.entries[0].value == b"%d" % i

    store_test(test)


def test_transactions_take_effect_in_the_order_they_were_asked(store_test):
    async def test(store, world):
        outcomes = await asyncio.gather(*(store.txn([], [Put("/k", b"%d" % i)]) for i in range(30)))
        assert [o.revision for o in outcomes] == list(range(1, 31))
        assert (await store.get("/k")).value == b"29"

    store_test(test)


def test_more_operations_than_allowed_are_our_bug(store_test):
    async def test(store, world):
        await store.txn([], [Put(f"/{i}", b"") for i in range(limits.STORE_OPERATIONS_MAX)])
        with pytest.raises(AssertionError):
            await store.txn([], [Put(f"/{i}", b"") for i in range(limits.STORE_OPERATIONS_MAX + 1)])

    store_test(test)


# Watches


def test_a_watch_tells_of_every_change_once_in_order(store_test):
    async def test(store, world):
        watch = store.watch("/w/", 1)
        await asyncio.gather(*(store.txn([], [Put(f"/w/{i % 3}", b"%d" % i)]) for i in range(10)))
        seen = [described(await watch.next()) for _ in range(10)]
        assert seen == [(i + 1, [(f"/w/{i % 3}", b"%d" % i)]) for i in range(10)]

    store_test(test)


def test_a_watch_sees_its_prefix_only_and_a_change_whole(store_test):
    async def test(store, world):
        watch = store.watch("/a/", 1)
        await store.txn([], [Put("/b/1", b"")])
        await store.txn([], [Put("/a/2", b"2"), Put("/b/2", b""), Put("/a/1", b"1")])
        assert described(await watch.next()) == (2, [("/a/1", b"1"), ("/a/2", b"2")])

    store_test(test)


def test_a_watch_begins_in_the_past_without_a_gap(store_test):
    async def test(store, world):
        for i in range(6):
            await store.txn([], [Put("/k", b"%d" % i)])
        found = await store.range("/")
        behind = store.watch("/", 3)
        level = store.watch("/", found.revision + 1)
        ahead = store.watch("/", 8)
        await store.txn([], [Put("/k", b"six")])
        await store.txn([], [Delete("/k")])
        assert [described(await behind.next())[0] for _ in range(6)] == [3, 4, 5, 6, 7, 8]
        assert [described(await level.next()) for _ in range(2)] == [(7, [("/k", b"six")]), (8, [("/k", None)])]
        assert described(await ahead.next()) == (8, [("/k", None)])

    store_test(test)


def test_a_watch_begun_among_writes_misses_nothing(store_test):
    """Opened while transactions are decided but not yet answered: each comes exactly once, replayed or live."""

    async def test(store, world):
        writes = [asyncio.create_task(store.txn([], [Put("/k", b"%d" % i)])) for i in range(30)]
        watches = []
        for _ in range(10):
            await asyncio.sleep(0)
            watches.append(store.watch("/", 1))
        await asyncio.gather(*writes)
        for watch in watches:
            assert [described(await watch.next())[0] for _ in range(30)] == list(range(1, 31))

    store_test(test)


def test_a_watch_of_what_was_compacted_says_so_and_ends(store_test):
    async def test(store, world):
        for i in range(5):
            await store.txn([], [Put("/k", b"%d" % i)])
        store.compact(3)
        lost, kept = store.watch("/", 3), store.watch("/", 4)
        item = await lost.next()
        assert isinstance(item, Compacted)
        assert (await store.range("/")).revision >= item.revision
        assert await lost.next() is None
        assert [described(await kept.next())[0] for _ in range(2)] == [4, 5]

    store_test(test)


def test_the_history_is_bounded(store_test, monkeypatch):
    monkeypatch.setattr(limits, "STORE_HISTORY_MAX", 4)

    async def test(store, world):
        for i in range(10):
            await store.txn([], [Put("/k", b"%d" % i)])
        assert isinstance(await store.watch("/", 6).next(), Compacted)
        assert described(await store.watch("/", 7).next())[0] == 7

    store_test(test)


def test_a_watcher_too_slow_starts_again_from_a_range(store_test, monkeypatch):
    monkeypatch.setattr(limits, "STORE_WATCH_BACKLOG_MAX", 3)

    async def test(store, world):
        slow, quick = store.watch("/", 1), store.watch("/", 1)
        for i in range(5):
            await store.txn([], [Put("/k", b"%d" % i)])
            assert described(await quick.next())[0] == i + 1
        assert isinstance(await slow.next(), Compacted)
        assert await slow.next() is None

    store_test(test)


def test_a_closed_watch_ends_whoever_waits(store_test):
    async def test(store, world):
        watch = store.watch("/", 1)
        waiting = asyncio.create_task(watch.next())
        await asyncio.sleep(0)
        watch.close()
        assert await waiting is None
        await store.txn([], [Put("/k", b"")])
        assert await watch.next() is None

    store_test(test)


def test_a_waiter_that_was_cancelled_can_wait_again(store_test):
    async def test(store, world):
        watch = store.watch("/", 1)
        waiting = asyncio.create_task(watch.next())
        await asyncio.sleep(0)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        await store.txn([], [Put("/k", b"1")])
        assert described(await watch.next()) == (1, [("/k", b"1")])

    store_test(test)


# Leases


def test_keys_of_a_lease_go_with_it_in_one_revision(store_test):
    async def test(store, world):
        lease = await store.grant(5_000)
        assert lease != 0
        await store.txn([], [Put("/n/1", b"", lease), Put("/n/2", b"", lease), Put("/n/3", b"")])
        watch = store.watch("/", 2)
        assert await store.revoke(lease)
        assert described(await watch.next()) == (2, [("/n/1", None), ("/n/2", None)])
        assert [e.key for e in (await store.range("/")).entries] == ["/n/3"]
        assert not await store.revoke(lease)

    store_test(test)


def test_a_lease_nobody_keeps_alive_ends_by_time(store_test):
    async def test(store, world):
        kept, lost = await store.grant(5_000), await store.grant(5_000)
        await store.txn([], [Put("/kept", b"", kept), Put("/lost", b"", lost)])
        world.time_ms += 4_000
        assert await store.keep_alive(kept)
        store.expire()
        assert await store.get("/lost") is not None
        world.time_ms += 1_000
        store.expire()
        assert await store.get("/lost") is None
        assert await store.get("/kept") is not None
        assert not await store.keep_alive(lost)
        world.time_ms += 4_000
        store.expire()
        assert await store.get("/kept") is None

    store_test(test)


def test_a_lease_that_is_due_cannot_be_kept_alive_even_before_it_is_swept(store_test):
    async def test(store, world):
        lease = await store.grant(1_000)
        world.time_ms += 1_000
        assert not await store.keep_alive(lease)

    store_test(test)


def test_a_lease_ends_by_the_stores_own_timer(store_test):
    async def test(store, world):
        lease = await store.grant(1_000)
        await store.txn([], [Put("/n", b"", lease)])
        watch = store.watch("/", 2)
        world.time_ms += 1_000
        await store.grant(60_000)  # The timer looks at the clock again, and finds the first lease due.
        assert described(await watch.next()) == (2, [("/n", None)])

    store_test(test)


def test_a_key_leaves_its_lease_when_it_is_put_without_it_or_deleted(store_test):
    async def test(store, world):
        lease = await store.grant(5_000)
        await store.txn([], [Put("/a", b"1", lease), Put("/b", b"1", lease)])
        await store.txn([], [Put("/a", b"2"), Delete("/b")])
        await store.txn([], [Put("/b", b"2")])
        assert await store.revoke(lease)
        assert [(e.key, e.value) for e in (await store.range("/")).entries] == [("/a", b"2"), ("/b", b"2")]

    store_test(test)


def test_a_put_on_a_lease_that_ended_does_nothing_at_all(store_test):
    async def test(store, world):
        lease = await store.grant(5_000)
        await store.revoke(lease)
        outcome = await store.txn([], [Put("/a", b""), Put("/b", b"", lease)])
        assert outcome.lease_lost and not outcome.succeeded
        assert (await store.range("/")).entries == []

    store_test(test)


def test_no_lease_number_is_given_twice(store_test):
    async def test(store, world):
        first = await store.grant(1_000)
        await store.revoke(first)
        assert await store.grant(1_000) > first

    store_test(test)


def test_a_closed_store_says_so(store_test):
    async def test(store, world):
        watch = store.watch("/", 1)
        await store.close()
        assert await watch.next() is None
        with pytest.raises(OSError, match="closed"):
            await store.get("/a")
        with pytest.raises(OSError, match="closed"):
            await store.txn([], [Put("/a", b"")])

    store_test(test)
