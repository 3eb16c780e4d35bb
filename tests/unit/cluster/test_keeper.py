"""The keeper: fills the image, follows the store, begins again after a gap, and wakes who waits."""

import asyncio
from uuid import UUID

import pytest

from headrace.base import limits
from headrace.base.ids import NodeId
from headrace.cluster import keys
from headrace.cluster.image import Image
from headrace.cluster.keeper import ImageKeeper
from headrace.cluster.keys import NodeValue, encode
from headrace.cluster.store import Put
from headrace.cluster.stores.memory import MemoryStore


def node(node_id, port=1):
    return Put(keys.node_key(node_id), encode(NodeValue("h", port, UUID(int=1))))


def kept(test):
    """Runs `test(store, keeper, deltas)` with a keeper that has begun and runs."""

    async def body():
        store = MemoryStore(lambda: 0.0)
        await store.txn([], [node(1)])
        deltas = []
        keeper = ImageKeeper(store, Image(NodeId(0)), deltas.append)
        await keeper.begin()
        running = asyncio.create_task(keeper.run())
        try:
            await asyncio.wait_for(test(store, keeper, deltas), 10)
        finally:
            keeper.close()
            await running
            await store.close()

    asyncio.run(body())


def test_it_begins_with_all_there_is():
    async def test(store, keeper, deltas):
        assert [n.id for n in keeper.image.nodes()] == [1]
        assert [d.revision for d in deltas] == [1]

    kept(test)


def test_after_reaching_a_revision_the_listener_has_heard_of_it():
    async def test(store, keeper, deltas):
        outcome = await store.txn([], [node(2)])
        await keeper.reach(outcome.revision)
        assert keeper.image.revision == outcome.revision and keeper.image.node(2) is not None
        assert deltas[-1].revision == outcome.revision
        await keeper.reach(1)  # What has passed does not wait.

    kept(test)


def test_many_wait_for_different_revisions():
    async def test(store, keeper, deltas):
        order = []

        async def wait(revision):
            await keeper.reach(revision)
            order.append(revision)

        waiting = [asyncio.create_task(wait(revision)) for revision in (4, 2, 3)]
        waiting.append(asyncio.create_task(wait(3)))
        await asyncio.sleep(0)
        waiting[3].cancel()
        for port in (2, 3, 4):
            await store.txn([], [node(1, port)])
        await asyncio.gather(*waiting, return_exceptions=True)
        assert order == [2, 3, 4]

    kept(test)


def test_after_a_cut_history_it_begins_again_and_loses_nothing(monkeypatch):
    monkeypatch.setattr(limits, "STORE_WATCH_BACKLOG_MAX", 2)

    async def test(store, keeper, deltas):
        # The keeper's task does not get the loop while these are decided: its queue overflows.
        store_txn = store._state.txn
        for i in range(2, 9):
            _, change = store_txn([], [node(i)], ())
            store._watchers.deliver(change)
        await keeper.reach(8)
        assert [n.id for n in keeper.image.nodes()] == list(range(1, 9))
        assert len(deltas) == 2

    kept(test)


def test_closing_wakes_who_waits():
    async def test(store, keeper, deltas):
        waiting = asyncio.create_task(keeper.reach(99))
        await asyncio.sleep(0)
        keeper.close()
        with pytest.raises(ConnectionError):
            await waiting
        with pytest.raises(ConnectionError):
            await keeper.reach(99)

    kept(test)
