"""A frame out, a frame in; whatever goes wrong closes the line. A socket pair stands for the network."""

from __future__ import annotations

import socket

import pytest

from headrace.base.errors import ProtocolError
from headrace.server.dial import Line


def line() -> tuple[Line, socket.socket]:
    ours, theirs = socket.socketpair()
    made = Line.__new__(Line)
    made.peer, made.socket = "peer:1", ours
    return made, theirs


def test_a_frame_for_a_frame():
    made, peer = line()
    peer.sendall(b"\x00\x00\x00\x06answer" + b"\x00\x00\x00\x04more")
    assert made.exchange([b"re", memoryview(b"quest")], 1) == b"answer"
    assert made.exchange([b""], 1) == b"more"
    assert peer.recv(100) == b"request"


@pytest.mark.parametrize("size", [b"\xff\xff\xff\xff", b"\x00\x00\x00\x03", b"HTTP"])
def test_a_senseless_length_is_no_kafka(size):
    made, peer = line()
    peer.sendall(size)
    with pytest.raises(ProtocolError):
        made.exchange([b"x"], 1)
    assert made.socket is None


def test_a_peer_that_hangs_up_within_an_answer_is_told_with_the_count():
    made, peer = line()
    peer.sendall(b"\x00\x00\x00\x06ans")
    peer.shutdown(socket.SHUT_WR)
    with pytest.raises(ConnectionResetError, match="3 of 6 bytes"):
        made.exchange([b"x"], 1)
    with pytest.raises(ConnectionError, match="is closed"):
        made.exchange([b"x"], 1)


def test_a_silent_peer_is_a_time_out_that_closes():
    made, _peer = line()
    with pytest.raises(TimeoutError):
        made.exchange([b"x"], 0.001)
    assert made.socket is None
