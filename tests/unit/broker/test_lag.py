"""How far groups lie behind, in records and in seconds."""

from __future__ import annotations

import asyncio

from headrace.broker.group_host import GroupHost
from headrace.groups.requests import CommitRequest, TopicCommit
from tests.support.broker_harness import Harness, play, when


async def commit(node: Harness, offset: int, topic: str = "t") -> None:
    assert await node.broker.make_offsets_topic() is None
    host = node.broker.group_host("g")
    assert isinstance(host, GroupHost)
    asked = CommitRequest("g", "", None, -1, [TopicCommit(topic, [(0, offset, -1, "")])])
    await when(host.ask(lambda machine, now_ms, waiter: machine.commit(asked, now_ms, waiter)))


def test_a_group_that_has_all_and_one_that_falls_behind():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition, b"a", b"b")
        await commit(node, 2)
        await node.lag.sample()
        (lag,) = node.lag.lags()
        assert (lag.group, lag.topic, lag.partition, lag.records, lag.seconds) == ("g", "t", 0, 0, 0.0)
        await node.put(partition, b"c")
        (lag,) = node.lag.lags()
        assert (lag.records, lag.seconds) == (1, None)  # not looked at yet
        await asyncio.sleep(100)
        await node.lag.sample()
        (lag,) = node.lag.lags()
        assert lag.records == 1 and lag.seconds is not None and 99 < lag.seconds < 101
        assert node.lag.groups_by_state() == {"Empty": 1}

    play(main)


def test_only_what_is_committed_counts_and_what_was_deleted_does_not():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition, b"a", b"b", b"c")
        await commit(node, 0)
        node.append(partition)
        assert [lag.records for lag in node.lag.lags()] == [3]
        assert await node.broker.delete_records(partition, 2) == 2
        assert [lag.records for lag in node.lag.lags()] == [2]  # the append has been flushed meanwhile
        await node.delete("t")
        assert list(node.lag.lags()) == []
        await node.lag.sample()

    play(main)


def test_a_disk_that_does_not_answer_costs_only_its_own():
    """Found by reading. One log that could not be read left all others of the same piece without their seconds, for good."""

    async def main(node: Harness) -> None:
        for name in ("bad", "good"):
            await node.put(await node.create(name))
            await commit(node, 0, name)
        log = node.partition("bad").log

        def fail(offset: int) -> int:
            raise OSError(5, "input/output error")

        original = type(log).time_at
        type(log).time_at = lambda self, offset: fail(offset) if self is log else original(self, offset)  # type: ignore[method-assign]
        try:
            await node.lag.sample()
        finally:
            type(log).time_at = original  # type: ignore[method-assign]
        assert {lag.topic: lag.seconds is not None for lag in node.lag.lags()} == {"bad": False, "good": True}
        await node.lag.sample()
        assert all(lag.seconds is not None for lag in node.lag.lags())

    play(main)
