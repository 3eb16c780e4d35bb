"""How far groups lie behind: sampled in the background, so that a scrape or a question costs nothing.

In records a lag is a subtraction. In seconds it is the age of the oldest record that the group has not committed yet, which
means a look at one batch header; the sampler does these in a thread and keeps the answers until the next round.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.log.log import Log

SAMPLE_S = 10.0
_PIECE = 500

Place = tuple[str, int, int]  # topic, partition, offset


@dataclass(slots=True)
class Lag:
    """One group in one partition."""

    group: str
    topic: str
    partition: int
    records: int
    seconds: float | None  # None where the record's time cannot be told


class LagSampler:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._oldest_ms: dict[Place, int | None] = {}  # the time of the record there

    async def run(self) -> None:
        while True:
            await asyncio.sleep(SAMPLE_S)
            await self.sample()

    async def sample(self) -> None:
        """Look up the times of the offsets that groups stand at."""
        wanted: dict[Place, Log] = {}
        for count, (_, topic, index, offset) in enumerate(self._committed()):
            if count % _PIECE == 0:
                await asyncio.sleep(0)
            partition = self._broker.partition(topic, index)
            if not isinstance(partition, Refused) and offset < partition.committed_end:
                wanted[(topic, index, offset)] = partition.log
        known = self._oldest_ms
        new = [key for key in wanted if key not in known]
        found: dict[Place, int | None] = {key: known[key] for key in wanted if key in known}
        for start in range(0, len(new), _PIECE):
            piece = new[start : start + _PIECE]
            found |= await self._broker.world.offload(lambda piece=piece: _times({key: wanted[key] for key in piece}))  # type: ignore[misc]
        self._oldest_ms = found

    def _committed(self) -> Iterator[tuple[str, str, int, int]]:
        for host in self._broker.group_hosts():
            if host.machine is None:
                continue
            for group in list(host.machine.groups.values()):
                for offset in list(group.offsets):
                    yield group.group_id, offset.topic, offset.partition, offset.offset

    def lags(self) -> Iterator[Lag]:
        """All groups, as of now in records and as of the last sample in seconds."""
        now_ms = self._broker.world.now_ms()
        for group, topic, index, offset in self._committed():
            partition = self._broker.partition(topic, index)
            if isinstance(partition, Refused):
                continue
            records = max(partition.committed_end - max(offset, partition.log.start_offset), 0)
            seconds: float | None = 0.0
            if records:
                oldest = self._oldest_ms.get((topic, index, offset))
                seconds = max(now_ms - oldest, 0) / 1000 if oldest is not None else None
            yield Lag(group, topic, index, records, seconds)

    def groups_by_state(self) -> dict[str, int]:
        states: dict[str, int] = {}
        for host in self._broker.group_hosts():
            if host.machine is not None:
                for group in host.machine.groups.values():
                    states[group.state.value] = states.get(group.state.value, 0) + 1
        return states


def _times(wanted: dict[Place, Log]) -> dict[Place, int | None]:
    """In a thread. What the disk does not tell is left out, and looked up again with the next sample."""
    times: dict[Place, int | None] = {}
    for place, log in wanted.items():
        with contextlib.suppress(OSError):
            times[place] = log.time_at(place[2])
    return times
