"""The status port: requests in any cut are answered in order, and every bound closes the connection with its reason."""

from __future__ import annotations

import asyncio
import re

import pytest

from headrace.base import limits
from headrace.server.http import HttpConnection, HttpServer, Request, Response, encode_response, http_date, text


class Timer:
    def __init__(self, delay, callback) -> None:
        self.delay, self.callback, self.cancelled = delay, callback, False

    def cancel(self) -> None:
        self.cancelled = True


class Loop:
    """Keeps timers; none of them runs by itself."""

    def __init__(self) -> None:
        self.timers: list[Timer] = []
        self.problems: list[dict] = []

    def call_later(self, delay, callback):
        self.timers.append(Timer(delay, callback))
        return self.timers[-1]

    def fire(self) -> Timer:
        live = [t for t in self.timers if not t.cancelled]
        self.timers.clear()
        assert len(live) == 1, "one timer a connection"
        live[0].callback()
        return live[0]


class Transport(asyncio.Transport):
    def __init__(self) -> None:
        self.sent = b""
        self.closing = self.aborted = self.paused = False

    def write(self, data):
        assert not self.closing
        self.sent += bytes(data)

    def close(self):
        self.closing = True

    def abort(self):
        self.aborted = True

    def is_closing(self):
        return self.closing

    def pause_reading(self):
        self.paused = True

    def resume_reading(self):
        self.paused = False

    def statuses(self) -> list[int]:
        return [int(found) for found in re.findall(rb"HTTP/1.1 (\d{3}) [A-Z]", self.sent)]


def connect(routes=None) -> tuple[HttpConnection, Transport, Loop]:
    loop = Loop()
    server = HttpServer(routes or {"/healthz": lambda request: text(200, "ok")}, loop)  # type: ignore[arg-type]
    connection, transport = HttpConnection(server), Transport()
    connection.connection_made(transport)
    return connection, transport, loop


GET = b"GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"


def test_an_answer_carries_length_date_and_body():
    _, transport, _ = (parts := connect())
    parts[0].data_received(GET)
    head, _, body = transport.sent.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Length: 3\r\n" in head
    assert b"Connection: keep-alive" in head
    assert body == b"ok\n"
    assert not transport.closing


def test_a_request_cut_at_every_byte_is_one_request():
    connection, transport, _ = connect()
    for byte in GET:
        connection.data_received(bytes([byte]))
    assert transport.statuses() == [200]


def test_requests_sent_ahead_are_answered_in_order():
    connection, transport, _ = connect({"/a": lambda r: text(200, "a"), "/b": lambda r: text(200, "b")})
    connection.data_received(GET.replace(b"/healthz", b"/a") + GET.replace(b"/healthz", b"/b") + GET)
    assert transport.statuses() == [200, 200, 404]
    assert transport.sent.index(b"\r\n\r\na\n") < transport.sent.index(b"\r\n\r\nb\n")


def test_head_has_the_length_and_no_body():
    connection, transport, _ = connect()
    connection.data_received(GET.replace(b"GET", b"HEAD"))
    assert b"Content-Length: 3\r\n" in transport.sent
    assert transport.sent.endswith(b"\r\n\r\n")


def test_unknown_addresses_and_methods_are_named():
    connection, transport, _ = connect()
    connection.data_received(GET.replace(b"/healthz", b"/other") + GET.replace(b"GET", b"DELETE"))
    assert transport.statuses() == [404, 405]
    assert b"Allow: GET, HEAD\r\n" in transport.sent
    assert b"there is /healthz" in transport.sent


def test_the_query_and_an_absolute_address_do_not_hide_the_path():
    connection, transport, _ = connect()
    connection.data_received(GET.replace(b"/healthz", b"/healthz?a=1") + GET.replace(b"/healthz", b"http://h:1/healthz"))
    assert transport.statuses() == [200, 200]


@pytest.mark.parametrize(
    "line", [b"GET /healthz HTTP/1.0\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"]
)
def test_who_wants_one_answer_gets_one_and_a_close(line):
    connection, transport, _ = connect()
    connection.data_received(line)
    assert transport.statuses() == [200]
    assert b"Connection: close" in transport.sent
    assert transport.closing


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x00\x00\x00\x14\x00\x12\x00\x03rubbish", 400),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (b"GET /" + b"a" * limits.HTTP_REQUEST_SIZE_MAX + b" HTTP/1.1\r\n", 414),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"a" * limits.HTTP_REQUEST_SIZE_MAX + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * (limits.HTTP_HEADERS_MAX + 1) + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999\r\n\r\n" + b"a" * (limits.HTTP_REQUEST_SIZE_MAX + 1), 413),
        (b"GET /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ],
)
def test_what_is_too_much_or_no_http_is_answered_and_closed(sent, status):
    connection, transport, _ = connect()
    for at in range(0, len(sent), 65536):
        connection.data_received(sent[at : at + 65536])
    assert transport.statuses() == [status]
    assert transport.closing
    connection.data_received(GET)
    assert transport.statuses() == [status]


def test_an_upgrade_is_answered_in_http_and_closed():
    connection, transport, _ = connect()
    connection.data_received(GET[:-2] + b"Upgrade: h2c\r\nConnection: Upgrade\r\n\r\nPRI * HTTP/2.0")
    assert transport.statuses() == [200, 400]
    assert transport.closing


def test_a_request_that_does_not_arrive_is_given_up():
    connection, transport, loop = connect()
    connection.data_received(GET[:10])
    timer = loop.fire()
    assert timer.delay == limits.HTTP_REQUEST_WAIT_MS_MAX / 1000
    assert transport.statuses() == [408]
    assert transport.closing


def test_bytes_that_trickle_do_not_prolong_the_wait():
    connection, _, loop = connect()
    connection.data_received(GET[:10])
    first = [t for t in loop.timers if not t.cancelled]
    connection.data_received(GET[10:12])
    assert [t for t in loop.timers if not t.cancelled] == first


def test_a_connection_that_idles_is_closed_without_a_word():
    connection, transport, loop = connect()
    connection.data_received(GET)
    sent = transport.sent
    assert loop.fire().delay == limits.HTTP_IDLE_MS_MAX / 1000
    assert transport.closing and transport.sent == sent


def test_a_client_that_does_not_read_is_cut_off_and_answered_no_more():
    connection, transport, loop = connect()
    connection.data_received(GET)
    connection.pause_writing()
    connection.data_received(GET)
    assert transport.statuses() == [200]
    assert loop.fire().delay == limits.HTTP_ANSWER_WAIT_MS_MAX / 1000
    assert transport.aborted


def test_too_many_requests_sent_ahead_stop_the_reading_until_answered():
    connection, transport, _ = connect()
    connection.pause_writing()
    connection.data_received(GET * limits.HTTP_PIPELINE_MAX)
    assert transport.paused and transport.sent == b""
    connection.resume_writing()
    assert not transport.paused
    assert transport.statuses() == [200] * limits.HTTP_PIPELINE_MAX


def test_beyond_the_bound_of_connections_the_newest_is_sent_away(monkeypatch):
    monkeypatch.setattr(limits, "HTTP_CONNECTIONS_MAX", 1)
    connection, _, _ = connect()
    second, transport = HttpConnection(connection.server), Transport()
    second.connection_made(transport)
    assert transport.statuses() == [503]
    assert transport.closing
    second.connection_lost(None)
    assert connection.server.connections == {connection}


def run_with_route(route, *, problems=None):
    """One GET through a route that waits."""

    async def run() -> Transport:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: problems.append(context))
        server = HttpServer({"/healthz": route}, loop)
        connection, transport = HttpConnection(server), Transport()
        connection.connection_made(transport)
        connection.data_received(GET + GET.replace(b"/healthz", b"/other"))
        for _ in range(5):
            await asyncio.sleep(0)
        connection.connection_lost(None)
        return transport

    return asyncio.run(run())


def test_a_route_that_waits_holds_back_what_follows():
    async def slow(request: Request) -> Response:
        await asyncio.sleep(0)
        return text(200, "slow")

    assert run_with_route(slow, problems=[]).statuses() == [200, 404]


def test_a_route_that_fails_is_a_500_and_reaches_the_top_of_the_node():
    async def broken(request: Request) -> Response:
        raise AssertionError("a bug")

    problems: list[dict] = []
    transport = run_with_route(broken, problems=problems)
    assert transport.statuses() == [500]
    assert transport.closing
    assert str(problems[0]["exception"]) == "a bug"


def test_a_client_that_goes_away_takes_its_route_with_it():
    cancelled = []

    async def waits(request: Request) -> Response:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise
        raise AssertionError

    assert run_with_route(waits, problems=[]).sent == b""
    # `connection_lost` cancelled it; asyncio.run drives the cancellation.
    assert cancelled == [True]


def test_the_date_is_spelled_as_the_rfc_wants():
    assert http_date(784111777) == "Sun, 06 Nov 1994 08:49:37 GMT"


def test_a_response_of_no_body_says_so():
    assert b"Content-Length: 0\r\n" in encode_response(Response(200), head_only=False, keep_alive=True, now_s=0)
