"""The embedded store and its file: what the contract cannot say. The file layer is tested, so there are real files."""

import asyncio
import sqlite3

import pytest

from headrace.base.errors import Code, Refused
from headrace.cluster.store import Compacted, Put, is_absent
from headrace.cluster.stores.embedded import FORMAT_VERSION, EmbeddedStore, open_embedded


class DiskWorld:
    """Counts work in threads, holds it back, and lets it fail."""

    def __init__(self) -> None:
        self.time_ms = 1_000.0
        self.commits = 0
        self.failures: list[BaseException] = []

    def monotonic_ms(self) -> float:
        return self.time_ms

    def offload(self, work):
        def counted():
            if work.func.__name__ == "_commit":
                self.commits += 1
                if self.failures:
                    raise self.failures.pop(0)
            return work()

        if not hasattr(work, "func"):
            return asyncio.get_running_loop().run_in_executor(None, work)
        return asyncio.get_running_loop().run_in_executor(None, counted)


def run(body):
    return asyncio.run(asyncio.wait_for(body, 20))


async def opened(path, world=None) -> EmbeddedStore:
    store = await open_embedded(str(path), world or DiskWorld())
    assert isinstance(store, EmbeddedStore), store
    return store


def test_what_was_answered_is_there_after_a_restart(tmp_path):
    async def body():
        store = await opened(tmp_path / "c.db")
        lease = await store.grant(5_000)
        await store.txn([], [Put("/a", b"1"), Put("/b", b"\x00\xff")])
        await store.txn([], [Put("/a", b"2"), Put("/n", b"", lease)])
        before = await store.range("")
        await store.close()

        world = DiskWorld()
        store = await opened(tmp_path / "c.db", world)
        assert await store.range("") == before
        assert await store.grant(1_000) == lease + 1
        # The history is gone: from here on yes, from before no.
        assert isinstance(await store.watch("/", 2).next(), Compacted)
        # The lease lives its full time again, then it ends.
        world.time_ms += 4_999
        store.expire()
        assert await store.get("/n") is not None
        world.time_ms += 1
        store.expire()
        assert await store.get("/n") is None
        await store.close()

        store = await opened(tmp_path / "c.db")
        assert await store.get("/n") is None and not await store.revoke(lease)
        await store.close()

    run(body())


def test_every_commit_is_flushed(tmp_path):
    """SQLite's own words for it: 2 is FULL. A kill of the process cannot show this, only a power cut could."""

    async def body():
        store = await opened(tmp_path / "c.db")
        pragmas = [store._database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "journal_mode")]
        assert pragmas == [2, "wal"]
        await store.close()

    run(body())


def test_transactions_that_come_together_share_a_commit(tmp_path):
    async def body():
        world = DiskWorld()
        store = await opened(tmp_path / "c.db", world)
        await asyncio.gather(*(store.txn([], [Put(f"/{i}", b"")]) for i in range(100)))
        assert world.commits <= 2
        await store.close()

    run(body())


def test_nothing_is_seen_before_it_is_durable(tmp_path):
    async def body():
        world = DiskWorld()
        store = await opened(tmp_path / "c.db", world)
        held = asyncio.get_running_loop().create_future()
        world.offload = lambda work: asyncio.ensure_future(hold(work))

        async def hold(work):
            await held
            return work()

        watch = store.watch("/", 1)
        waiting = [asyncio.create_task(c) for c in (store.txn([], [Put("/a", b"1")]), store.get("/a"), watch.next())]
        for _ in range(10):
            await asyncio.sleep(0)
        # These come while the commit is with the thread, and nothing else is to be committed.
        late = store.watch("/", 1)
        waiting.append(asyncio.create_task(late.next()))
        waiting.append(asyncio.create_task(store.get("/a")))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
        held.set_result(None)
        outcome, entry, change, late_change, late_entry = await asyncio.gather(*waiting)
        assert outcome.revision == entry.mod_revision == change.revision == late_change.revision == 1
        assert late_entry == entry
        await store.close()

    run(body())


def test_a_commit_that_failed_takes_back_what_was_decided_since(tmp_path):
    async def body():
        world = DiskWorld()
        store = await opened(tmp_path / "c.db", world)
        await store.txn([], [Put("/kept", b"")])
        watch = store.watch("/", 2)
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorcode = sqlite3.SQLITE_FULL
        world.failures = [full]
        results = await asyncio.gather(store.txn([], [Put("/a", b"")]), store.get("/a"), store.grant(1_000), return_exceptions=True)
        assert all(isinstance(result, OSError) for result in results)
        assert isinstance(await watch.next(), Compacted)
        # It goes on from what is on the disk.
        found = await store.range("")
        assert ([e.key for e in found.entries], found.revision) == (["/kept"], 1)
        assert (await store.txn([is_absent("/a")], [Put("/a", b"again")])).revision == 2
        await store.close()
        store = await opened(tmp_path / "c.db")
        assert [e.key for e in (await store.range("")).entries] == ["/a", "/kept"]
        await store.close()

    run(body())


def test_a_task_that_gives_up_waiting_takes_nothing_from_the_others(tmp_path):
    async def body():
        store = await opened(tmp_path / "c.db")
        impatient = asyncio.create_task(store.txn([], [Put("/a", b"")]))
        patient = asyncio.create_task(store.txn([], [Put("/b", b"")]))
        await asyncio.sleep(0)
        impatient.cancel()
        assert (await patient).revision == 2
        assert await store.get("/a") is not None
        await store.close()

    run(body())


def test_closing_commits_what_was_decided(tmp_path):
    async def body():
        store = await opened(tmp_path / "c.db")
        write = asyncio.create_task(store.txn([], [Put("/a", b"")]))
        await asyncio.sleep(0)
        await store.close()
        assert (await write).succeeded
        store = await opened(tmp_path / "c.db")
        assert await store.get("/a") is not None
        await store.close()

    run(body())


def test_a_second_opener_is_refused_in_words(tmp_path):
    async def body():
        store = await opened(tmp_path / "c.db")
        refused = await open_embedded(str(tmp_path / "c.db"), DiskWorld())
        assert isinstance(refused, Refused) and refused.code is Code.STORAGE_FAILED
        assert "another process has it open" in refused.why
        await store.close()
        await (await opened(tmp_path / "c.db")).close()

    run(body())


def test_a_newer_format_is_refused_in_words(tmp_path):
    async def body():
        await (await opened(tmp_path / "c.db")).close()
        database = sqlite3.connect(tmp_path / "c.db")
        database.execute(f"PRAGMA user_version = {FORMAT_VERSION + 1}")
        database.close()
        refused = await open_embedded(str(tmp_path / "c.db"), DiskWorld())
        assert isinstance(refused, Refused) and refused.code is Code.NOT_SUPPORTED
        assert f"format {FORMAT_VERSION + 1}" in refused.why

    run(body())


@pytest.mark.parametrize("damage", ["other", "noise", "folder"])
def test_what_is_no_cluster_store_is_refused(tmp_path, damage):
    path = tmp_path / "c.db"
    if damage == "other":
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE mine (x)")
        database.close()
    elif damage == "noise":
        path.write_bytes(b"this is no database at all" * 500)
    else:
        path.mkdir()
    refused = run(open_embedded(str(path), DiskWorld()))
    assert isinstance(refused, Refused) and refused.code is Code.STORAGE_FAILED and str(path) in refused.why


def test_a_damaged_page_is_noticed_at_the_start(tmp_path):
    async def fill():
        store = await opened(tmp_path / "c.db")
        for i in range(40):
            await store.txn([], [Put(f"/{i:03}/{j:03}", bytes(100)) for j in range(100)])
        await store.close()

    run(fill())
    path = tmp_path / "c.db"
    data = bytearray(path.read_bytes())
    data[4096 * 30 : 4096 * 31] = b"\xa5" * 4096
    path.write_bytes(data)
    refused = run(open_embedded(str(path), DiskWorld()))
    assert isinstance(refused, Refused) and refused.code is Code.STORAGE_FAILED
