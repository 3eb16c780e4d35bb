"""The shelf: folders against the image, through deletions, crashes and wrong disks."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable
from uuid import UUID

from headrace.base.errors import Code, Refused
from headrace.base.ids import NO_TOPIC_ID
from headrace.broker.partition import Partition
from headrace.broker.shelf import CHECKPOINT, decode_metadata, encode_metadata
from headrace.cluster.metadata import NewTopic
from headrace.log.log import Appended
from tests.support.broker_harness import Harness, committed, play


def names(node: Harness) -> list[str]:
    return node.world.files.list("log")


def whose(node: Harness, folder: str) -> UUID | None:
    file = node.world.files.open(f"log/{folder}/partition.metadata")
    return decode_metadata(file.read(0, 200))


def test_a_created_topic_can_be_written_to_when_the_answer_leaves():
    async def main(node: Harness) -> None:
        await node.create("t", partitions=20)
        assert {repr(p) for p in node.shelf} == {f"Partition(t-{i})" for i in range(20)}
        assert await node.put(node.partition("t", 19)) == 0
        assert len(node.shelf) == 20

    play(main)


def test_what_is_not_there_is_told_apart():
    async def main(node: Harness) -> None:
        await node.create("t")
        topic_id = node.partition().topic_id
        find, by_id = node.shelf.find, node.shelf.find_by_id
        assert [refusal(find("u", 0)), refusal(find("t", 1)), refusal(find("t", -1))] == [Code.UNKNOWN_TOPIC] * 3
        assert refusal(by_id(UUID(int=5), 0)) is Code.UNKNOWN_TOPIC_ID
        assert refusal(by_id(NO_TOPIC_ID, 0)) is Code.UNKNOWN_TOPIC_ID
        assert refusal(by_id(topic_id, 1)) is Code.UNKNOWN_TOPIC
        assert find("t", 0) is by_id(topic_id, 0)

    play(main)


def refusal(found: Partition | Refused) -> Code:
    assert isinstance(found, Refused), found
    return found.code


def test_a_deleted_topic_is_refused_at_once_and_its_folder_goes():
    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition)
        seen = []
        node.append(partition)
        partition.when_committed(2, seen.append)
        await node.delete("t")
        assert [why.code for why in seen] == [Code.UNKNOWN_TOPIC]
        assert refusal(node.shelf.find("t", 0)) is Code.UNKNOWN_TOPIC
        assert refusal(node.append(partition)) is Code.UNKNOWN_TOPIC
        assert refusal(partition.read(0, 100, whole_first_batch=True)) is Code.UNKNOWN_TOPIC
        await asyncio.sleep(1)
        assert names(node) == []
        assert "t" not in node.metrics.topics

    play(main)


def test_a_flush_that_is_late_does_not_write_into_the_folder_of_the_next_topic_of_its_name():
    """Found by reading. A flush knows its folder by name. When the topic was deleted and made again before its thread had begun, it
    put the dead topic's id, epochs and producers into the new topic's folder; should the node have been killed then, recovery
    would have taken the folder for a stranger's and removed it, with all that had been acknowledged.
    """

    async def main(node: Harness) -> None:
        old = await node.create("t")
        await asyncio.sleep(1)
        late_once(node)
        node.world.files.remove_folder = lambda path: None  # type: ignore[method-assign]  # it takes longer than all of this
        old.leader_epoch = 9
        node.append(old)  # its flush writes the epochs' file
        await asyncio.sleep(0)
        await node.delete("t")
        again = await node.broker.create_topic(NewTopic("t"))
        assert not isinstance(again, Refused)
        partition = node.partition("t")
        assert partition.topic_id == again.id
        await node.put(partition)
        await asyncio.sleep(5)
        assert whose(node, "t-0") == again.id
        epochs = node.world.files.open("log/t-0/leader-epoch-checkpoint")
        assert epochs.read(0, 100) == b"0\n1\n0 0\n"
        await node.kill()
        node.disk.crash()
        await node.start()
        assert node.partition("t").committed_end == 1

    play(main)


def late_once(node: Harness) -> None:
    """The next piece of work begins two seconds late."""
    offload = node.world.offload

    def late(work: Callable[[], object]) -> asyncio.Future[object]:
        node.world.offload = offload  # type: ignore[method-assign]
        before = node.world._faults.thread_ms
        node.world._faults.thread_ms = (2_000.0, 2_000.0)
        done = offload(work)
        node.world._faults.thread_ms = before
        return done

    node.world.offload = late  # type: ignore[method-assign, assignment]


def test_what_retention_took_out_of_a_deleted_topic_is_not_taken_out_of_the_next_one():
    """Found by reading. Segments that retention takes out lie around for `file.delete.delay.ms`. When the topic was deleted and
    made again meanwhile, the indexes and snapshots of the new one were removed under the old names.
    """

    async def main(node: Harness) -> None:
        partition = await node.create("t", retention_ms="1000", file_delete_delay_ms="10000")
        await node.put(partition)
        await asyncio.sleep(2)
        await node.housekeeping.retain()  # begins the next segment
        await asyncio.sleep(1)
        await node.housekeeping.retain()
        assert partition.log.start_offset == 1
        await node.delete("t")
        await node.create("t")
        path = f"log/t-0/{0:020}.index"
        node.world.files.open(path, create=True)
        await asyncio.sleep(20)
        assert node.world.files.exists(path)

    play(main)


def test_durability_is_lowered_while_somebody_waits_for_a_flush():
    """Found by reading. Who waited for a flush waited for ever: it ended with `pagecache` in force, under which flushes do not
    move the committed end.
    """

    async def main(node: Harness) -> None:
        partition = await node.create("t")
        done = node.append(partition)
        assert isinstance(done, Appended)
        told = asyncio.get_running_loop().create_task(committed(partition, 1))
        changed = await node.metadata.replace_topic_configs("t", {"durability": "pagecache"}, check_only=False)
        assert not isinstance(changed, Refused)
        assert await asyncio.wait_for(told, 5) is None
        assert partition.committed_end == 1

    play(main)


def test_durability_is_raised_over_what_was_not_flushed():
    async def main(node: Harness) -> None:
        partition = await node.create("t", durability="pagecache")
        await asyncio.sleep(1)
        await node.put(partition)
        await asyncio.sleep(1)
        assert partition.log.flushed_offset == 0
        await node.metadata.replace_topic_configs("t", {}, check_only=False)
        await asyncio.sleep(1)
        assert (partition.log.flushed_offset, partition.policy.fsynced) == (1, True)

    play(main)


def test_a_folder_that_cannot_be_renamed_does_not_end_the_node():
    """Found by reading. Deleting a topic on a disk that had become read-only raised in the shelf's task, which ends the node."""

    async def main(node: Harness) -> None:
        partition = await node.create("t")
        await node.put(partition)
        await asyncio.sleep(1)
        files = node.world.files
        rename = files.rename

        def read_only(old: str, new: str) -> None:
            raise OSError(errno.EROFS, "read-only file system", old)

        files.rename = read_only  # type: ignore[method-assign]
        await node.delete("t")
        await asyncio.sleep(0.5)
        assert names(node) == ["t-0"]
        created = await node.broker.create_topic(NewTopic("t"))  # the old folder stands in its way
        assert not isinstance(created, Refused)
        assert refusal(node.shelf.find("t", 0)) is Code.NOT_LEADER
        files.rename = rename  # type: ignore[method-assign]
        await asyncio.sleep(3)
        assert whose(node, "t-0") == created.id == node.partition().topic_id
        assert node.partition().committed_end == 0

    play(main)


def test_a_partition_that_cannot_be_made_is_made_later():
    async def main(node: Harness) -> None:
        node.faults.capacity_bytes = 0
        created = await node.broker.create_topic(NewTopic("t"))
        assert not isinstance(created, Refused)
        assert refusal(node.shelf.find("t", 0)) is Code.NOT_LEADER
        node.faults.capacity_bytes = 1 << 40
        await asyncio.sleep(1.1)
        assert await node.put(node.partition()) == 0

    play(main)


def test_a_clean_stop_leaves_a_checkpoint_that_counts_once():
    async def main(node: Harness) -> None:
        for name in ("t", "u"):
            await node.put(await node.create(name), b"a", b"b")
        await node.stop()
        assert node.world.files.exists(CHECKPOINT)
        await node.start()
        assert node.recovered == []
        assert node.partition("u").committed_end == 2
        assert not node.world.files.exists(CHECKPOINT)
        await node.kill()
        await node.start()
        assert {repr(p) for p in node.recovered} == {"Partition(t-0)", "Partition(u-0)"}
        assert node.partition("u").committed_end == 2

    play(main)


def test_a_checkpoint_that_cannot_be_read_means_recovery():
    async def main(node: Harness) -> None:
        await node.put(await node.create("t"))
        await node.stop()
        file = node.world.files.open(CHECKPOINT)
        file.truncate(file.size() - 5)
        await node.start()
        assert len(node.recovered) == 1
        assert node.partition().committed_end == 1
        assert any("checkpoint" in event for event, _ in node.said)

    play(main)


def test_a_deletion_and_a_creation_that_the_folders_missed():
    """The store had committed, the node died before it touched a folder."""

    async def main(node: Harness) -> None:
        for name in ("gone", "again", "kept"):
            await node.put(await node.create(name))
        await node.kill()
        old = node.image.topic("again")
        node.opened = False
        node.keeper = type(node.keeper)(node.store, node.image, lambda delta: None)
        await node.keeper.begin()
        node.metadata._keeper = node.keeper
        running = asyncio.get_running_loop().create_task(node.keeper.run())
        for name in ("gone", "again"):
            assert await node.metadata.delete_topic(node.image.topic(name)) is None
        for name in ("again", "new"):
            assert not isinstance(await node.metadata.create_topic(NewTopic(name)), Refused)
        running.cancel()
        await node.start()
        assert [repr(p) for p in node.recovered] == ["Partition(kept-0)"]
        assert node.partition("kept").committed_end == 1
        assert node.partition("again").committed_end == node.partition("new").committed_end == 0
        assert node.partition("again").topic_id != old.id
        await asyncio.sleep(1)
        assert names(node) == ["again-0", "kept-0", "new-0"]

    play(main)


def test_the_file_with_the_topics_id():
    topic_id = UUID("6f1b2c3d-0000-4000-8000-00000000ffff")
    data = encode_metadata(topic_id)
    assert data == b"version: 0\ntopic_id: bxssPQAAQACAAAAAAAD__w\n"
    assert decode_metadata(data) == topic_id
    for rubbish in (b"", b"version: 0\n", b"topic_id: short\n", b"\xff" * 40, data[:-3], b"topic_id: " + b"\xc3\xa9" * 11):
        assert decode_metadata(rubbish) is None
