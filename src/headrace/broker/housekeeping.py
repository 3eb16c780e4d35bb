"""What recurs: retention, rolling by age, forgetting producers, snapshots of groups, coming back from a full disk.

One task, a few partitions a turn, so that 2,000 of them do not hold the loop. Files that retention takes out of a log are
unlinked in a thread, after the delay that readers on their way are given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from headrace.base.errors import Refused
from headrace.broker.broker import Broker
from headrace.broker.flushing import FLUSHING, IDLE
from headrace.broker.partition import Partition
from headrace.log.log import Removal

_PARTITIONS_A_TURN = 20
_SHORT_ROUND_S = 5.0
# Dirty pages of `pagecache` topics reach the disk at the latest after this time, as Linux does it by itself.
_SETTLE_MS = 30_000


class Housekeeping:
    def __init__(self, broker: Broker, retention_check_ms: int, log: Callable[..., None]) -> None:
        self._broker = broker
        self._world = broker.world
        self._retention_check_ms = retention_check_ms
        self._log = log
        self._removals: dict[int, tuple[Partition, Removal, asyncio.TimerHandle]] = {}
        self._retained_ms = 0.0
        self._settled_ms = 0.0

    async def run(self) -> None:
        self._retained_ms = self._settled_ms = self._world.monotonic_ms()
        while True:
            await asyncio.sleep(min(_SHORT_ROUND_S, self._retention_check_ms / 1000))
            now = self._world.monotonic_ms()
            await self._revive()
            for host in self._broker.group_hosts():
                if host.wants_snapshot():
                    await host.snapshot()
            if now - self._settled_ms >= _SETTLE_MS:
                self._settled_ms = now
                await self._settle()
            if now - self._retained_ms >= self._retention_check_ms:
                self._retained_ms = now
                await self.retain()

    async def retain(self) -> None:
        """One round over all partitions."""
        for count, partition in enumerate(self._broker.all_partitions()):
            if count % _PARTITIONS_A_TURN == 0:
                await asyncio.sleep(0)
            if partition.closed is None:
                self._retain_one(partition)

    def _retain_one(self, partition: Partition) -> None:
        log = partition.log
        now_ms = self._world.now_ms()
        try:
            if log.roll_if_due(now_ms):
                self._broker.flusher.must(partition)
            expired = log.expired(now_ms, upto_offset=partition.committed_end)
            if expired:
                first = log.start_offset
                self._remove_later(partition, log.detach(expired), log.settings.file_delete_delay_ms)
                self._log(
                    "retention removed segments",
                    topic=partition.topic, partition=partition.index, segments=len(expired), offsets=f"{first}..{log.start_offset}",
                )  # fmt: skip
        except OSError as error:
            self._log("retention failed", topic=partition.topic, partition=partition.index, error=str(error))
        log.expire_producers(now_ms)
        if not partition.readers and not log.dirty:
            log.forget()

    def _remove_later(self, partition: Partition, removal: Removal, delay_ms: int) -> None:
        def due() -> None:
            self._removals.pop(id(removal), None)
            # The folder of a deleted topic goes as a whole, and its name may be another topic's by now.
            if partition.closed is None:
                partition.offload(self._world, lambda: self._remove(removal))

        timer = asyncio.get_running_loop().call_later(delay_ms / 1000, due)
        self._removals[id(removal)] = (partition, removal, timer)

    def _remove(self, removal: Removal) -> None:
        try:
            removal.run()
        except OSError as error:
            self._log("old segments could not be removed", folder=removal.folder, error=str(error))

    async def _settle(self) -> None:
        for count, partition in enumerate(self._broker.all_partitions()):
            if count % _PARTITIONS_A_TURN == 0:
                await asyncio.sleep(0)
            if partition.log.dirty and not partition.policy.fsynced:
                self._broker.flusher.must(partition)

    async def _revive(self) -> None:
        """A disk that was full or failing may be well again."""
        for partition in self._broker.all_partitions():
            log = partition.log
            if log.readonly is None or partition.closed is not None or partition.flush_state:
                continue
            partition.flush_state = FLUSHING  # no flush comes between: the thread changes the log
            try:
                why = await partition.offload(self._world, log.resume)
            finally:
                partition.flush_state = IDLE
            if partition.flush_again or partition.must_flush:
                self._broker.flusher.want(partition)
            if not isinstance(why, Refused):
                self._log("writing resumed", topic=partition.topic, partition=partition.index)

    async def finish(self) -> None:
        """Before a clean shutdown: what is to be removed goes now, because the next start looks at no folder."""
        removals, self._removals = self._removals, {}
        for partition, removal, timer in removals.values():
            timer.cancel()
            if partition.closed is None:
                await self._world.offload(lambda removal=removal: self._remove(removal))  # type: ignore[misc]
