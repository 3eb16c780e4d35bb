"""The host of a group machine: what it does when the log fails it, and how it keeps the log short."""

from __future__ import annotations

import asyncio

from headrace.base.errors import Code, Refused
from headrace.base.limits import MIB
from headrace.broker import group_host
from headrace.broker.broker import OFFSETS_TOPIC
from headrace.broker.group_host import GroupHost
from headrace.groups.decision import Committed, FetchedOffsets
from headrace.groups.facts import OffsetCommitted
from headrace.groups.requests import CommitRequest, JoinRequest, TopicCommit, TopicPartitions
from tests.support.broker_harness import Harness, play, when


async def host_of(node: Harness) -> GroupHost:
    assert await node.broker.make_offsets_topic() is None
    host = node.broker.group_host("g")
    assert isinstance(host, GroupHost)
    return host


def commit(host: GroupHost, offset: int, *, group: str = "g", metadata: str = ""):
    request = CommitRequest(group, "", None, -1, [TopicCommit("t", [(0, offset, -1, metadata)])])
    return host.ask(lambda machine, now_ms, waiter: machine.commit(request, now_ms, waiter))


async def committed_offset(host: GroupHost, group: str = "g") -> int | None:
    asked = [TopicPartitions("t", [0])]
    found = await when(host.ask(lambda machine, now_ms, waiter: machine.fetch_offsets(group, asked, waiter)))
    assert isinstance(found, FetchedOffsets), found
    (_, [(_, fact)]) = found.topics[0]
    return None if fact is None else fact.offset


def test_a_commit_is_answered_when_it_is_on_the_disk():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        later = commit(host, 5)
        assert not later.done
        looked = host.ask(lambda machine, now_ms, waiter: machine.fetch_offsets("g", None, waiter))
        assert not looked.done  # what might be taken back is shown to nobody
        assert isinstance(await when(later), Committed)
        assert host.partition.log.flushed_offset == host.partition.log.end_offset == 1
        assert await committed_offset(host) == 5

    play(main)


def test_a_failed_flush_is_told_and_the_log_says_what_is_true():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        await when(commit(host, 1))
        node.faults.sync_error_chance = 1.0
        told = await when(commit(host, 2))
        assert isinstance(told, Refused) and told.code is Code.NOT_COORDINATOR
        assert refusal(node.broker.group_host("g")) is Code.COORDINATOR_LOADING
        assert refusal(await when(commit(host, 3))) is Code.COORDINATOR_LOADING
        node.faults.sync_error_chance = 0.0
        await asyncio.sleep(3)
        assert await committed_offset(host) == 1
        assert isinstance(await when(commit(host, 4)), Committed)
        assert await committed_offset(host) == 4

    play(main)


def refusal(found: object) -> Code:
    assert isinstance(found, Refused), found
    return found.code


def test_an_append_that_fails_is_told():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        await when(commit(host, 1))
        node.faults.write_error_chance = 1.0
        assert refusal(await when(commit(host, 2))) is Code.NOT_COORDINATOR
        node.faults.write_error_chance = 0.0
        housekeeping = asyncio.get_running_loop().create_task(node.housekeeping.run())
        await asyncio.sleep(10)
        assert isinstance(await when(commit(host, 3)), Committed)
        assert await committed_offset(host) == 3
        housekeeping.cancel()

    play(main)


def test_groups_survive_a_crash():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        for offset in range(50):
            await when(commit(host, offset, group=f"g{offset % 7}"))
        await node.kill()
        node.disk.crash()
        await node.start()
        await asyncio.sleep(1)
        host = node.broker.group_host("g1")
        assert isinstance(host, GroupHost)
        assert [await committed_offset(host, f"g{i}") for i in range(8)] == [49, 43, 44, 45, 46, 47, 48, None]

    play(main)


def test_a_log_of_groups_that_has_rotted_is_reported_and_does_not_end_the_node():
    """Found by reading. Facts are asserted, because a checksum has vouched for them; after a clean stop nobody had looked at the
    checksum. One flipped bit ended the node at every start, and a size that lied ended the loading early, in silence.
    """

    async def main(node: Harness) -> None:
        host = await host_of(node)
        for offset in range(3):
            await when(commit(host, offset))
        await node.stop()
        path = f"log/{OFFSETS_TOPIC}-0/{0:020}.log"
        for position in (80, 100, 9):  # in a record, and in the batch's size
            file = node.world.files.open(path)
            before = file.read(position, 1)
            file.write(position, [bytes([before[0] ^ 0x40])])
            await node.start()
            await asyncio.sleep(3)
            assert refusal(node.broker.group_host("g")) is Code.COORDINATOR_LOADING
            assert any("could not be loaded" in event for event, _ in node.said)
            node.world.files.open(path).write(position, [before])
            await asyncio.sleep(3)
            host = node.broker.group_host("g")
            assert isinstance(host, GroupHost) and await committed_offset(host) == 2
            node.said.clear()
            await node.stop()
        await node.start()

    play(main)


def test_the_log_is_cut_back_while_groups_are_loaded():
    """Found by reading. With `pagecache` a failing flush takes facts away that were replayed; nobody told the host that loaded."""

    async def main(node: Harness) -> None:
        host = await host_of(node)
        await when(commit(host, 1))
        await node.flusher.flushed(host.partition, 1)
        await when(commit(host, 2))
        again = GroupHost(node.world, node.tasks, host.partition, node.broker.group_settings, node._log)
        offload = node.world.offload

        async def slowly(work):
            found = await offload(work)
            await asyncio.sleep(1)
            return found

        node.world.offload = lambda work: node.loop.create_task(slowly(work))
        loading = asyncio.get_running_loop().create_task(again.load())
        await asyncio.sleep(0.5)  # the records have been read
        node.world.offload = offload
        node.faults.sync_error_chance = 1.0
        node.flusher.lost = lambda partition, why: again.lost()
        assert isinstance(await node.flusher.flushed(host.partition, 2), Refused)
        node.faults.sync_error_chance = 0.0
        assert host.partition.log.end_offset == 1
        await loading
        assert await committed_offset(again) == 1

    play(main, durability="pagecache")


def test_the_log_does_not_grow_for_ever():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        log = host.partition.log
        for offset in range(300):
            await when(commit(host, offset, group=f"g{offset % 3}", metadata="m" * 3_000))
        assert not host.wants_snapshot()
        before = log.size_bytes
        group_host._GROWTH_MIN, kept = 500_000, group_host._GROWTH_MIN
        try:
            assert host.wants_snapshot()
            under_way = asyncio.get_running_loop().create_task(host.snapshot())
            await asyncio.sleep(0)
            while not under_way.done():  # decisions go on meanwhile
                await when(commit(host, 1_000, group="g0"))
            assert not host.wants_snapshot()
        finally:
            group_host._GROWTH_MIN = kept
        assert log.size_bytes < before / 20 and log.start_offset >= 300
        assert await committed_offset(host, "g2") == 299
        await node.kill()
        await node.start()
        await asyncio.sleep(1)
        again = node.broker.group_host("g")
        assert isinstance(again, GroupHost)
        assert [await committed_offset(again, f"g{i}") for i in range(3)] == [1_000, 298, 299]

    play(main)


def test_a_snapshot_that_the_disk_refuses():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        for offset in range(20):
            await when(commit(host, offset))
        node.faults.write_error_chance = 1.0
        await host.snapshot()
        node.faults.write_error_chance = 0.0
        assert host.machine is None  # the log refused: it is loaded again
        await node.housekeeping._revive()
        await asyncio.sleep(2)
        assert await committed_offset(host) == 19
        await host.snapshot()
        assert await committed_offset(host) == 19

    play(main)


def test_batches_of_facts_have_a_bound():
    """1,000 groups of 2,000 members each would have been one batch of gigabytes."""
    facts = [OffsetCommitted(f"g{i}", "t", 0, 1, -1, "m" * 4_000, 1, -1) for i in range(600)]
    batches = list(group_host._batches(facts, 5))
    assert sum(map(len, batches)) == 600
    assert all(sum(len(r.key or b"") + len(r.value or b"") for r in batch) <= MIB for batch in batches)
    assert len(batches) == 3
    small = [OffsetCommitted("g", "t", i, 1, -1, "", 1, -1) for i in range(2_500)]
    assert [len(batch) for batch in group_host._batches(small, 5)] == [1_000, 1_000, 500]
    huge = [OffsetCommitted("g", "t", i, 1, -1, "m" * 2 * MIB, 1, -1) for i in range(2)]
    assert [len(batch) for batch in group_host._batches(huge, 5)] == [1, 1]


def test_the_clock_of_sessions_does_not_jump():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        before = host.now_ms()
        node.world.clock.step(3_600_000)
        await asyncio.sleep(1)
        assert host.now_ms() - before == 1_000

    play(main)


def test_close_lets_everybody_go():
    async def main(node: Harness) -> None:
        host = await host_of(node)
        request = JoinRequest("g", "", None, "c", "/h", "consumer", (("range", b""),), 10_000, 10_000, id_required=False)
        joined = host.ask(lambda machine, now_ms, waiter: machine.join(request, now_ms, waiter, "m"))
        later = commit(host, 1, group="other")
        node.broker.close_groups()
        assert isinstance(await when(later), Committed)  # it is in the log: that is told
        assert refusal(await when(joined)) is Code.NOT_COORDINATOR
        assert refusal(await when(commit(host, 2))) is Code.COORDINATOR_LOADING
        await asyncio.sleep(3)
        assert host.machine is None

    play(main, group_initial_delay=3_000)
