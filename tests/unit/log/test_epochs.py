import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.log.epochs import LeaderEpochs, decode_epochs, encode_epochs


def history() -> LeaderEpochs:
    return LeaderEpochs([(1, 0), (3, 10), (4, 25)])


def test_where_an_epoch_ended() -> None:
    epochs = history()
    assert epochs.end_of(4, 40) == (4, 40)
    assert epochs.end_of(3, 40) == (3, 25)
    assert epochs.end_of(2, 40) == (1, 10), "the largest known one before it"
    assert epochs.end_of(1, 40) == (1, 10)
    assert epochs.end_of(0, 40) == (0, 0), "before all that is known: where that begins"
    assert epochs.end_of(5, 40) == (-1, -1) and epochs.end_of(-1, 40) == (-1, -1)
    assert LeaderEpochs().end_of(0, 0) == (-1, -1)


def test_which_epoch_wrote_an_offset() -> None:
    epochs = LeaderEpochs([(1, 5), (3, 10)])
    assert [epochs.at(offset) for offset in (4, 5, 9, 10, 99)] == [-1, 1, 1, 3, 3]


def test_epochs_only_rise_and_one_without_records_gives_its_place_away() -> None:
    epochs = LeaderEpochs()
    assert epochs.begin(2, 7) and not epochs.begin(2, 9) and not epochs.begin(1, 9)
    assert epochs.begin(5, 7)
    assert epochs.entries() == [(5, 7)] and epochs.latest == 5


def test_cut_at_the_end() -> None:
    epochs = history()
    assert not epochs.cut(26) and epochs.latest == 4
    assert epochs.cut(25) and epochs.entries() == [(1, 0), (3, 10)] and epochs.latest == 3
    assert epochs.cut(0) and epochs.latest == -1


@pytest.mark.parametrize(
    ("start", "left"),
    [
        (0, [(1, 0), (3, 10), (4, 25)]),
        (5, [(1, 5), (3, 10), (4, 25)]),
        (10, [(3, 10), (4, 25)]),
        (30, [(4, 30)]),
    ],
)
def test_dropped_at_the_beginning(start: int, left: list[tuple[int, int]]) -> None:
    epochs = history()
    assert epochs.drop_before(start) == (left != history().entries())
    assert epochs.entries() == left
    assert not epochs.drop_before(start)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50))))
def test_the_file_gives_back_what_was_written(steps: list[tuple[int, int]]) -> None:
    epochs = LeaderEpochs()
    epoch = offset = 0
    for up, on in steps:
        epoch, offset = epoch + up, offset + on
        epochs.begin(epoch, offset)
    assert decode_epochs(encode_epochs(epochs.entries())) == epochs.entries()


def test_the_file_is_kafkas_and_rubbish_is_seen() -> None:
    assert encode_epochs([(0, 0), (2, 17)]) == b"0\n2\n0 0\n2 17\n"
    for rubbish in (
        b"",
        b"0\n",
        b"1\n0\n",
        b"0\n2\n0 0\n",
        b"0\n1\n0 x\n",
        b"0\n2\n3 0\n2 5\n",
        b"0\n1\n0 0",
        b"\xff\n0\n",
        b"\0" * 20,
    ):
        assert decode_epochs(rubbish) is None, rubbish
