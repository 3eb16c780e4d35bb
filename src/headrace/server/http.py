"""A small HTTP/1.1 server for probes and scrapers, on the node's own loop.

`httptools` cuts the requests, `HttpConnection` answers them one after another; a route is a function from request to
response, or a coroutine where it must give way. GET and HEAD only: nothing here changes the node.

Every way a stranger can hold something is bounded (base/limits.py): size of a request, number of header lines, number of
requests sent ahead, connections, the time a request may take to arrive, an answer to be taken, a connection to idle.
Beyond a bound: the HTTP status that names it, then the connection closes. A route that fails is our bug: the client hears
500, and the loop's exception handler, which is the top of the node, hears the exception.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import cast

import httptools

from headrace.base import limits

PLAIN = "text/plain; charset=utf-8"
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(slots=True)
class Request:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]  # names in lower case; of a name sent twice the values are joined by a comma
    keep_alive: bool


@dataclass(slots=True)
class Response:
    status: int = 200
    body: bytes = b""
    content_type: str = PLAIN
    headers: dict[str, str] = field(default_factory=dict)


Route = Callable[[Request], Response | Awaitable[Response]]


def http_date(unix_s: float) -> str:
    """As RFC 9110 section 5.6.7 spells a date, whatever the locale."""
    t = time.gmtime(unix_s)
    return f"{DAYS[t.tm_wday]}, {t.tm_mday:02} {MONTHS[t.tm_mon - 1]} {t.tm_year} {t.tm_hour:02}:{t.tm_min:02}:{t.tm_sec:02} GMT"


def text(status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    return Response(status, (words + "\n").encode(), PLAIN, headers or {})


def encode_response(response: Response, *, head_only: bool, keep_alive: bool, now_s: float) -> bytes:
    phrase = HTTPStatus(response.status).phrase
    lines = [
        f"HTTP/1.1 {response.status} {phrase}",
        f"Date: {http_date(now_s)}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        "Cache-Control: no-store",
        *(f"{name}: {value}" for name, value in response.headers.items()),
        f"Connection: {'keep-alive' if keep_alive else 'close'}",
    ]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
    return head if head_only else head + response.body


class Overrun(Exception):
    """The request passed a bound. Raised in parser callbacks only, caught where the parser is fed."""

    def __init__(self, refusal: Response) -> None:
        self.refusal = refusal


class HttpConnection(asyncio.Protocol):
    """One connection: requests come in, are queued, and are answered in order."""

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.loop = server.loop
        self.transport: asyncio.Transport | None = None
        self.parser = httptools.HttpRequestParser(self)
        self.waiting: deque[Request] = deque()  # whole requests, not yet answered; at most HTTP_PIPELINE_MAX and one read
        self.answering: asyncio.Future[Response] | None = None
        self.refusal: Response | None = None  # said after the requests before it, then the connection closes
        self.reading_paused = False
        self.writing_paused = False
        self.timer: asyncio.TimerHandle | None = None
        self.waits_for = ""
        self.served = False
        self.fresh()

    def fresh(self) -> None:
        """Forget the request that was being read."""
        self.started = False
        self.whole = False
        self.size = 0
        self.url = b""
        self.names: list[str] = []
        self.values: list[str] = []

    # --- from the transport ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's do not say that they are one
        self.server.connections.add(self)
        if len(self.server.connections) > limits.HTTP_CONNECTIONS_MAX:
            self.refuse(text(503, f"too many connections: {limits.HTTP_CONNECTIONS_MAX} are open"))
        else:
            self.arm()

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.connections.discard(self)
        self.stop_timer()
        self.transport = None
        self.waiting.clear()
        if self.answering is not None:
            self.answering.cancel()

    def data_received(self, data: bytes) -> None:
        if self.refusal is not None or self.transport is None:
            return  # it was told to go; what it still sends is not read
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # It asked for another protocol. We stay with this one; what follows in its bytes cannot be told apart.
            self.refusal = text(400, "no other protocol is spoken here")
        except httptools.HttpParserCallbackError as error:
            overrun = error.__context__
            assert isinstance(overrun, Overrun), overrun
            self.refusal = overrun.refusal
        except httptools.HttpParserError as error:
            self.refusal = text(400, f"not an HTTP request: {error}")
        if len(self.waiting) >= limits.HTTP_PIPELINE_MAX and not self.reading_paused and self.transport is not None:
            self.reading_paused = True
            self.transport.pause_reading()
        self.answer_next()
        self.arm()

    def eof_received(self) -> bool:
        # Half closed: the peer may still read what it asked for.
        if not self.waiting and self.answering is None:
            return False
        self.refusal = self.refusal or Response(0)
        return True

    def pause_writing(self) -> None:
        self.writing_paused = True
        self.arm()

    def resume_writing(self) -> None:
        self.writing_paused = False
        self.answer_next()
        self.arm()

    # --- from the parser ---------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        self.fresh()
        self.started = True

    def grow(self, size: int, status: int, what: str) -> None:
        self.size += size
        if self.size > limits.HTTP_REQUEST_SIZE_MAX:
            raise Overrun(text(status, f"the {what} passes {limits.HTTP_REQUEST_SIZE_MAX} bytes"))

    def on_url(self, url: bytes) -> None:
        self.grow(len(url), 414, "address")
        self.url += url

    def on_header(self, name: bytes, value: bytes | None) -> None:
        value = value or b""
        self.grow(len(name) + len(value), 431, "head")
        if len(self.names) >= limits.HTTP_HEADERS_MAX:
            raise Overrun(text(431, f"more than {limits.HTTP_HEADERS_MAX} header lines"))
        self.names.append(name.decode("latin-1").lower())
        self.values.append(value.decode("latin-1").strip())

    def on_headers_complete(self) -> None:
        self.size = 0

    def on_body(self, body: bytes) -> None:
        self.grow(len(body), 413, "body")

    def on_message_complete(self) -> None:
        self.whole = True
        self.waits_for = ""  # the next request has a wait of its own
        headers: dict[str, str] = {}
        for name, value in zip(self.names, self.values, strict=True):
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        if "host" not in headers and self.parser.get_http_version() == "1.1":
            raise Overrun(text(400, "an HTTP/1.1 request names its host"))
        path, _, query = self.url.decode("latin-1").partition("?")
        if path.startswith("http://"):  # the absolute form, as proxies send it
            path = "/" + path[len("http://") :].partition("/")[2]
        method = self.parser.get_method().decode("latin-1")
        self.waiting.append(Request(method, path, query, headers, self.parser.should_keep_alive()))

    # --- answering ---------------------------------------------------------------------------------------------------

    def answer_next(self) -> None:
        """Answer what waits, in order, as far as it goes without waiting."""
        while self.waiting and self.answering is None and not self.writing_paused and self.transport is not None:
            request = self.waiting.popleft()
            answer = self.server.answer(request)
            if isinstance(answer, Response):
                self.write(request, answer)
                continue
            self.answering = asyncio.ensure_future(answer, loop=self.loop)
            self.answering.add_done_callback(lambda done, request=request: self.answered(request, done))  # type: ignore[misc]
        if self.transport is None or self.waiting or self.answering is not None:
            return
        if self.refusal is not None:
            self.refuse(self.refusal)
        elif self.reading_paused:
            self.reading_paused = False
            self.transport.resume_reading()

    def answered(self, request: Request, done: asyncio.Future[Response]) -> None:
        self.answering = None
        if done.cancelled():
            return
        failure = done.exception()
        if failure is not None:
            self.write(Request(request.method, request.path, "", {}, False), text(500, "the broker failed to answer; see its log"))
            self.loop.call_exception_handler({"message": f"route {request.path} failed", "exception": failure})
        else:
            self.write(request, done.result())
        self.answer_next()
        self.arm()

    def write(self, request: Request, response: Response) -> None:
        if self.transport is None:
            return
        last = self.refusal is not None and self.refusal.status == 0 and not self.waiting
        keep = request.keep_alive and not self.server.stopping and not last
        self.transport.write(encode_response(response, head_only=request.method == "HEAD", keep_alive=keep, now_s=time.time()))
        self.served = True
        if not keep:
            self.close()

    def refuse(self, refusal: Response) -> None:
        self.refusal = refusal
        if self.transport is None or self.transport.is_closing():
            return
        if refusal.status:
            self.transport.write(encode_response(refusal, head_only=False, keep_alive=False, now_s=time.time()))
        self.close()

    def close(self) -> None:
        """Close once the peer has taken what was written; cut it off when it does not."""
        assert self.transport is not None
        self.waiting.clear()
        self.transport.close()
        self.arm()

    # --- time --------------------------------------------------------------------------------------------------------

    def arm(self) -> None:
        """One timer, for what the connection waits for now; bytes that trickle in do not prolong it."""
        if self.transport is None:
            return
        if self.transport.is_closing() or self.writing_paused:
            kind, ms = "answer", limits.HTTP_ANSWER_WAIT_MS_MAX
        elif self.answering is not None:
            kind, ms = "route", 0
        elif (self.started and not self.whole) or not self.served:
            kind, ms = "request", limits.HTTP_REQUEST_WAIT_MS_MAX
        else:
            kind, ms = "idle", limits.HTTP_IDLE_MS_MAX
        if kind == self.waits_for:
            return
        self.stop_timer()
        self.waits_for = kind
        if ms:
            self.timer = self.loop.call_later(ms / 1000, self.waited_too_long)

    def stop_timer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def waited_too_long(self) -> None:
        self.timer = None
        if self.transport is None:
            return
        if self.waits_for == "answer":
            self.transport.abort()
        elif self.waits_for == "request" and self.started:
            self.refuse(text(408, f"the request did not arrive within {limits.HTTP_REQUEST_WAIT_MS_MAX} ms"))
        else:
            self.close()


class HttpServer:
    """The listener, its routes and its open connections."""

    def __init__(self, routes: Mapping[str, Route], loop: asyncio.AbstractEventLoop) -> None:
        self.routes = dict(routes)
        self.loop = loop
        self.connections: set[HttpConnection] = set()
        self.stopping = False
        self.listener: asyncio.AbstractServer | None = None
        self.host = ""
        self.port = 0

    def answer(self, request: Request) -> Response | Awaitable[Response]:
        route = self.routes.get(request.path)
        if route is None:
            known = " ".join(sorted(self.routes))
            return text(404, f"nothing lies at {request.path[:200]!r}; there is {known}")
        if request.method not in ("GET", "HEAD"):
            return text(405, "only GET and HEAD are answered here", {"Allow": "GET, HEAD"})
        answer = route(request)
        assert isinstance(answer, Response) or inspect.isawaitable(answer)
        return answer

    async def stop(self) -> None:
        """No new connections; idle ones are closed, those with a request in work are closed behind the answer."""
        self.stopping = True
        if self.listener is not None:
            self.listener.close()
        for connection in list(self.connections):
            if not connection.waiting and connection.answering is None and connection.transport is not None:
                connection.close()
        await asyncio.sleep(0)


async def start_http(host: str, port: int, routes: Mapping[str, Route]) -> HttpServer:
    """Listen; OSError where that address is taken or not ours. Port 0 takes a free one, told by `.port`."""
    server = HttpServer(routes, asyncio.get_running_loop())
    listener = await server.loop.create_server(lambda: HttpConnection(server), host, port, backlog=128, reuse_address=True)
    server.listener = listener
    server.host, server.port = listener.sockets[0].getsockname()[:2]
    return server
