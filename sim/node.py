"""The real node in a simulated world: what `server/main.py` does for a process, done for the simulator.

Nothing of the node is replaced or left out. What is different lies outside of it: the world (clock, chance, disk,
threads), the cluster store's place, the listener, and the way out of a connection.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from headrace.base.settings import Address, Settings
from headrace.cluster.store import ClusterStore
from headrace.server.kafka_socket import KafkaSocket
from headrace.server.node import Node
from headrace.server.outlet import Outlet
from sim.machine import ADDRESS
from sim.network import Listener, SimNetwork, SimTransport
from sim.outlet import SimOutlet
from sim.store import NodeStore
from sim.trace import Trace
from sim.world import SimWorld

# Few partitions of the groups' topic: a run has few groups and many starts.
OFFSETS_PARTITIONS = 3


class _Listener:
    def __init__(self, listener: Listener) -> None:
        self.host, self.port = listener.address
        self._listener = listener

    def close(self) -> None:
        self._listener.close()


async def boot(world: SimWorld, store: NodeStore, network: SimNetwork, trace: Trace) -> Node:
    settings = Settings(
        kafka=Address(*ADDRESS),
        data="/data",
        offsets_partitions=OFFSETS_PARTITIONS,
        auto_create_topics=False,
        group_initial_delay=100,
    )

    def make_outlet(transport: asyncio.Transport, connection: KafkaSocket) -> Outlet:
        return SimOutlet(world, cast(SimTransport, transport), connection.moved, connection.broken)

    def note(event: str, **facts: object) -> None:
        trace("node", f"{event} {facts}")

    def broken(error: BaseException) -> None:
        raise error

    # The protocol of stores is wider than what a node's way to it has to declare.
    node = Node(
        world, settings, cast(ClusterStore, cast(Any, store)), root="/data", log=note, broken=broken, make_outlet=make_outlet
    )
    await node.start()
    assert node.edge is not None
    node.ready(_Listener(network.listen(node.edge.make, *ADDRESS)))
    return node
