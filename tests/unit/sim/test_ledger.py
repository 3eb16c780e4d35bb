"""Each law of the book is broken once here: a checker that cannot fail is worth nothing."""

from __future__ import annotations

import pytest

from sim.ledger import ANSWER_S_MAX, Broken, Ledger


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def ledger():
    ledger = Ledger(Clock())
    for value in (b"a", b"b", b"c"):
        ledger.will_send(value, "t", 0, idempotent=False)
    ledger.will_send(b"once", "t", 0, idempotent=True)
    return ledger


def test_an_honest_story(ledger):
    ledger.acknowledged([b"a", b"b"], "t", 0, 0)
    ledger.read("t", 0, 1, b"b")
    ledger.ends_are("t", 0, ledger.known("t", 0), 0, 3)
    ledger.read("t", 0, 2, b"once")
    ledger.will_delete("t", 0, 1)
    ledger.ends_are("t", 0, ledger.known("t", 0), 1, 3)
    ledger.whole("t", 0, 1, 3, {1: b"b", 2: b"once"})
    ledger.will_commit("g", "t", 0, 2)
    ledger.commit_acknowledged("g", "t", 0, 2, generation=1, generation_known=1, known=-1)
    ledger.commit_is("g", "t", 0, 2, 2)


def test_acknowledged_and_lost(ledger):
    ledger.acknowledged([b"a"], "t", 0, 0)
    with pytest.raises(Broken, match="acknowledged at 0"):
        ledger.whole("t", 0, 0, 0, {})


def test_acknowledged_as_a_duplicate_and_lost(ledger):
    ledger.acknowledged_somewhere([b"once"], "t", 0)
    with pytest.raises(Broken, match="acknowledged as duplicates"):
        ledger.whole("t", 0, 0, 1, {0: b"a"})


def test_a_hole(ledger):
    with pytest.raises(Broken, match="cannot be read"):
        ledger.whole("t", 0, 0, 2, {1: b"a"})


def test_seen_and_lost(ledger):
    ledger.read("t", 0, 0, b"a")
    with pytest.raises(Broken, match="visible at 0"):
        ledger.whole("t", 0, 0, 0, {})


def test_never_sent(ledger):
    with pytest.raises(Broken, match="nobody sent"):
        ledger.read("t", 0, 0, b"x")
    with pytest.raises(Broken, match="was sent to"):
        ledger.read("t", 1, 0, b"a")


def test_two_values_at_one_offset(ledger):
    ledger.acknowledged([b"a"], "t", 0, 0)
    with pytest.raises(Broken, match="offset 0 held"):
        ledger.read("t", 0, 0, b"b")


def test_a_value_may_lie_twice_unless_it_is_idempotent(ledger):
    ledger.read("t", 0, 0, b"a")
    ledger.read("t", 0, 1, b"a")
    ledger.read("t", 0, 2, b"once")
    with pytest.raises(Broken, match="and again at"):
        ledger.read("t", 0, 3, b"once")


def test_ends_that_go_back(ledger):
    ledger.acknowledged([b"a", b"b"], "t", 0, 0)
    with pytest.raises(Broken, match="the high watermark was 2"):
        ledger.ends_are("t", 0, ledger.known("t", 0), 0, 1)
    with pytest.raises(Broken, match="nobody asked"):
        ledger.ends_are("t", 0, ledger.known("t", 0), 1, 2)
    ledger.will_delete("t", 0, 2)
    ledger.deleted("t", 0, 2)
    with pytest.raises(Broken, match="the log began at 2"):
        ledger.ends_are("t", 0, ledger.known("t", 0), 1, 2)


def test_what_was_not_known_when_asked_does_not_bind(ledger):
    known = ledger.known("t", 0)
    ledger.acknowledged([b"a"], "t", 0, 0)
    ledger.ends_are("t", 0, known, 0, 0)


def test_groups(ledger):
    ledger.owns("g", 1, "leader", 0, "one")
    with pytest.raises(Broken, match="belongs to"):
        ledger.owns("g", 1, "leader", 0, "two")
    ledger.owns("g", 2, "leader", 0, "two")
    ledger.owns("g", 1, "leader of a later life", 0, "two")
    with pytest.raises(Broken, match="had begun"):
        ledger.commit_acknowledged("g", "t", 0, 5, generation=1, generation_known=2, known=-1)
    with pytest.raises(Broken, match="and then at"):
        ledger.commit_acknowledged("g", "t", 0, 5, generation=2, generation_known=2, known=6)
    with pytest.raises(Broken, match="later the answer is"):
        ledger.commit_is("g", "t", 0, 5, -1)
    with pytest.raises(Broken, match="nobody committed"):
        ledger.commit_is("g", "t", 0, 5, 7)


def test_an_unanswered_request(ledger):
    class Call:
        correlation_id, api_key, sent_s = 1, 0, 0.0

    ledger.asked(Call())
    ledger.check_answers()
    ledger._clock.now = ANSWER_S_MAX + 1
    with pytest.raises(Broken, match="has no answer"):
        ledger.check_answers()


def test_deleted_topics_promise_nothing(ledger):
    ledger.acknowledged([b"a"], "t", 0, 0)
    ledger.topic_goes("t")
    ledger.read("t", 0, 0, b"b")
    with pytest.raises(Broken):
        ledger.read("t", 0, 0, b"x")  # but rubbish is rubbish


def test_a_lost_page_cache_frees_only_those_who_trusted_it(ledger):
    ledger.will_send(b"p", "p", 0, idempotent=True)
    ledger.pagecache.add("p")
    ledger.acknowledged([b"p"], "p", 0, 0)
    ledger.acknowledged([b"a"], "t", 0, 0)
    ledger.cache_lost()
    ledger.whole("p", 0, 0, 0, {})
    ledger.read("p", 0, 1, b"p")
    with pytest.raises(Broken):
        ledger.whole("t", 0, 0, 0, {})
