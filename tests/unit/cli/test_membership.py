"""The range assignor, and the bytes by which members of a group understand each other."""

from __future__ import annotations

from headrace.cli.membership import (
    read_assignment,
    read_subscription,
    share_out,
    write_assignment,
    write_subscription,
)


def test_partitions_are_cut_into_even_pieces_in_the_order_of_the_members():
    shares = share_out({"b": ["t"], "a": ["t"], "c": ["t"]}, {"t": 5})
    assert shares == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}, "c": {"t": [4]}}


def test_each_topic_goes_to_those_who_want_it():
    shares = share_out({"a": ["x"], "b": ["x", "y"], "c": []}, {"x": 2, "y": 3, "z": 4})
    assert shares == {"a": {"x": [0]}, "b": {"x": [1], "y": [0, 1, 2]}, "c": {}}


def test_more_members_than_partitions_leave_some_without():
    assert share_out({"a": ["t"], "b": ["t"]}, {"t": 1}) == {"a": {"t": [0]}, "b": {}}


def test_subscription_and_assignment_survive_the_wire():
    assert list(read_subscription(write_subscription(["a", "b"]))) == ["a", "b"]
    assert read_assignment(write_assignment({"a": [0, 2], "b": [1]})) == [("a", 0), ("a", 2), ("b", 1)]
    assert read_assignment(b"") == []


def test_a_newer_subscription_is_read_as_far_as_we_know_it():
    assert list(read_subscription(b"\x00\x00" + write_subscription(["a"])[2:] + b"more")) == ["a"]


def test_a_member_nobody_can_read_subscribes_to_nothing():
    assert list(read_subscription(b"\x00\x00\xff")) == []
