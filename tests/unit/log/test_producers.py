"""The rules of idempotent producers, as Kafka's broker has them."""

import pytest

from headrace.base.errors import Code, Refused
from headrace.log.producers import BATCHES_KEPT, Producers
from headrace.records.header import SEQUENCE_MAX, BatchHeader
from tests.unit.log.batches import header


def sent(sequence: int, count: int = 1, *, epoch: int = 0, producer: int = 7) -> BatchHeader:
    return header(count, producer_id=producer, producer_epoch=epoch, base_sequence=sequence)


def record(producers: Producers, batch: BatchHeader, last_offset: int, now_ms: int = 0) -> None:
    assert producers.check(batch) is None
    producers.record(batch, last_offset, now_ms)


def code(producers: Producers, batch: BatchHeader) -> Code:
    refused = producers.check(batch)
    assert isinstance(refused, Refused), refused
    return refused.code


def test_batches_follow_one_another() -> None:
    producers = Producers()
    record(producers, sent(0, 3), 2)
    record(producers, sent(3), 9)
    assert code(producers, sent(5)) is Code.OUT_OF_ORDER_SEQUENCE
    assert code(producers, sent(2)) is Code.OUT_OF_ORDER_SEQUENCE


def test_an_unknown_producer_begins_with_any_number() -> None:
    """What was known of it has expired (KIP-360)."""
    producers = Producers()
    record(producers, sent(100), 0)
    assert code(producers, sent(100, 2)) is Code.OUT_OF_ORDER_SEQUENCE


def test_the_last_five_batches_are_recognised() -> None:
    producers = Producers()
    for i in range(BATCHES_KEPT + 1):
        record(producers, sent(2 * i, 2), 10 * i + 1)
    for i in range(1, BATCHES_KEPT + 1):
        mark = producers.check(sent(2 * i, 2))
        assert isinstance(mark, tuple) and mark[1:3] == (10 * i + 1, 1)
    assert code(producers, sent(0, 2)) is Code.OUT_OF_ORDER_SEQUENCE, "the sixth is forgotten"
    assert code(producers, sent(2, 1)) is Code.OUT_OF_ORDER_SEQUENCE, "a part of a batch is no repetition"
    assert code(producers, sent(3, 2)) is Code.OUT_OF_ORDER_SEQUENCE


@pytest.mark.parametrize(("first", "count"), [(SEQUENCE_MAX, 1), (SEQUENCE_MAX - 1, 2), (SEQUENCE_MAX - 1, 3)])
def test_sequences_wrap(first: int, count: int) -> None:
    producers = Producers()
    record(producers, sent(first, count), 5)
    follower = (first + count) & SEQUENCE_MAX
    assert follower == first + count - SEQUENCE_MAX - 1
    assert producers.check(sent(first, count)) == producers.entries[7].batches[0]
    record(producers, sent(follower), 6)


def test_a_new_epoch_begins_with_zero_and_fences_the_old_one() -> None:
    producers = Producers()
    record(producers, sent(0, 3), 2)
    assert code(producers, sent(3, epoch=1)) is Code.OUT_OF_ORDER_SEQUENCE
    record(producers, sent(0, epoch=1), 3)
    assert code(producers, sent(3)) is Code.PRODUCER_FENCED
    assert code(producers, sent(0, 3)) is Code.PRODUCER_FENCED, "not even a repetition"
    assert len(producers.entries[7].batches) == 1


def test_a_control_batch_brings_an_epoch_and_no_sequence() -> None:
    producers = Producers()
    record(producers, sent(0), 0)
    producers.record(sent(-1, epoch=1), 1, 0)
    assert producers.entries[7].last_sequence == -1
    assert code(producers, sent(1, epoch=1)) is Code.OUT_OF_ORDER_SEQUENCE
    record(producers, sent(0, epoch=1), 2)


def test_expiry_goes_by_the_last_append() -> None:
    producers = Producers()
    record(producers, sent(0, producer=1), 0, now_ms=100)
    record(producers, sent(0, producer=2), 1, now_ms=200)
    record(producers, sent(1, producer=1), 2, now_ms=300)
    assert producers.expire(249, 50) == 0
    assert producers.expire(250, 50) == 1 and list(producers.entries) == [1]
    assert producers.expire(350, 50) == 1 and not producers.entries


def test_their_number_is_bounded_and_the_longest_silent_goes() -> None:
    producers = Producers(count_max=2)
    for producer in (1, 2):
        record(producers, sent(0, producer=producer), producer)
    record(producers, sent(1, producer=1), 3)
    record(producers, sent(0, producer=3), 4)
    assert list(producers.entries) == [1, 3]


def test_what_was_not_flushed_is_taken_back() -> None:
    producers = Producers(count_max=3)
    record(producers, sent(0, producer=1), 0)
    record(producers, sent(0, producer=2), 1, now_ms=5)
    producers.flush_begins()
    producers.flush_ended()
    flushed = producers.copy()
    record(producers, sent(1, producer=1), 2, now_ms=6)
    record(producers, sent(0, producer=3), 3, now_ms=7)
    producers.flush_begins()
    record(producers, sent(2, producer=1), 4, now_ms=8)
    record(producers, sent(0, producer=4), 5, now_ms=9)  # one too many: 2 is forgotten
    assert 2 not in producers.entries
    producers.undo_unflushed()
    assert producers.entries == flushed
    record(producers, sent(1, producer=1), 2)


def test_only_what_the_last_flush_did_not_cover_is_taken_back() -> None:
    producers = Producers()
    record(producers, sent(0), 0)
    producers.flush_begins()
    record(producers, sent(1), 1)
    producers.flush_ended()
    producers.undo_unflushed()
    assert producers.entries[7].last_sequence == 0


def test_the_admin_view_is_sorted() -> None:
    producers = Producers()
    for producer in (9, 3):
        record(producers, sent(4, 2, producer=producer), 1)
    assert [(v.producer_id, v.epoch, v.last_sequence, v.last_timestamp) for v in producers.views()] == [
        (3, 0, 5, 1_001),
        (9, 0, 5, 1_001),
    ]
