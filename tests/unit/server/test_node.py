"""The node put together: what it checks at its start, and what a stop leaves behind."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from headrace.base.settings import Settings
from headrace.broker.shelf import CHECKPOINT
from headrace.cluster.stores.memory import MemoryStore
from headrace.server.node import FORMAT_VERSION, IDENTITY, Identity, Node, new_cluster_id, read_identity, write_identity
from headrace.server.start_errors import StartRefused
from sim.disk import SimDisk, SimFiles
from sim.loop import SimLoop
from sim.world import SimWorld


class Machine:
    """A disk and a store that outlive the nodes on them."""

    def __init__(self, loop: SimLoop) -> None:
        self.loop = loop
        self.disk = SimDisk(random.Random(1))
        self.files: SimFiles = self.disk.mount()
        self.store = self.fresh_store()

    def fresh_store(self) -> MemoryStore:
        return MemoryStore(lambda: self.loop.time() * 1000)

    def node(self, **settings: Any) -> Node:
        world = SimWorld(self.loop, self.files, random.Random(2))

        def broken(error: BaseException) -> None:
            raise error

        def no_outlet(transport: object, connection: object) -> Any:
            raise AssertionError("nobody connects here")

        return Node(
            world, Settings(data="/data", **settings), self.store, root="/data", log=lambda *a, **f: None, broken=broken,
            make_outlet=no_outlet,
        )  # fmt: skip

    async def refusal(self, **settings: Any) -> str:
        node = self.node(**settings)
        with pytest.raises(StartRefused) as refused:
            await node.start()
        await node.tasks.cancel()
        return refused.value.code


class _Listener:
    host, port = "127.0.0.1", 1

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def on_a_machine(main: Callable[[Machine], Awaitable[None]]) -> None:
    loop = SimLoop()  # type: ignore[abstract]
    try:
        loop.run_until_complete(main(Machine(loop)))
    finally:
        loop.close()


def test_start_and_stop():
    async def main(machine: Machine) -> None:
        node = machine.node()
        assert node.not_ready == "starting"
        await node.start()
        listener = _Listener()
        node.ready(listener)
        assert node.not_ready is None
        identity = read_identity(machine.files)
        assert identity is not None and (identity.node_id, identity.cluster_id) == (0, node.cluster_id)
        began = machine.loop.time()
        await node.stop()
        assert listener.closed and node.not_ready == "stopping" and machine.loop.time() - began < 1
        assert machine.files.exists(CHECKPOINT) and not len(node.tasks)

    on_a_machine(main)


def test_a_folder_is_one_nodes_of_one_cluster():
    async def main(machine: Machine) -> None:
        write_identity(machine.files, Identity(FORMAT_VERSION, "hcluster", 3))
        assert await machine.refusal() == "node-mismatch"
        assert await machine.refusal(node_id=3) == "store-missing"
        write_identity(machine.files, Identity(FORMAT_VERSION + 1, "hcluster", 0))
        assert await machine.refusal() == "format-newer"
        machine.files.open(IDENTITY).write(0, [b"?"])
        assert await machine.refusal() == "identity-unreadable"

    on_a_machine(main)


def test_a_log_folder_that_is_somebody_elses_is_not_touched():
    """`serve --data /var` took /var/log for its own and removed everything in it, because no topic was called so."""

    async def main(machine: Machine) -> None:
        machine.files.make_folder("log")
        machine.files.make_folder("log/journal-0")
        assert await machine.refusal() == "identity-missing"
        assert machine.files.list("log") == ["journal-0"] and not machine.files.exists(IDENTITY)

    on_a_machine(main)


def test_another_cluster_is_refused():
    async def main(machine: Machine) -> None:
        node = machine.node(cluster_id="mine")
        await node.start()
        assert node.cluster_id == "mine"
        await node.tasks.cancel()
        assert await machine.refusal(cluster_id="yours") == "cluster-mismatch"

    on_a_machine(main)


def test_recovered_logs_are_led_in_a_new_epoch():
    """They may end earlier than some client has seen: by the epoch it notices."""

    async def main(machine: Machine) -> None:
        node = machine.node()
        await node.start()
        assert await node.broker.auto_create("t") is None
        await asyncio.sleep(1)
        await node.tasks.cancel()  # killed
        node.keeper.close()
        again = machine.node()
        await again.start()
        partition = again.broker.partition("t", 0)
        assert partition.leader_epoch == 1  # type: ignore[union-attr]
        assert (again.progress.logs_done, again.progress.logs_total) == (1, 1)
        await again.tasks.cancel()

    on_a_machine(main)


def test_cluster_ids_begin_with_no_dash():
    assert new_cluster_id(b"\xf8" + bytes(15)).startswith("h")
    assert len(new_cluster_id(bytes(16))) == 22
