"""From a request's bytes to its answer's: which handler, which version, what is counted.

A handler gives its answer at once (hot path), as a `Later` (it waits for a position or a time: what comes behind it
on the connection goes on), or is a coroutine (what comes behind it waits). Requests we cannot read end the connection,
as they do at Kafka; the one exception is ApiVersions, whose unknown versions are answered with version 0 (KIP-511).
"""

from __future__ import annotations

from collections.abc import Coroutine
from importlib import import_module
from typing import Any

from headrace.base.errors import ProtocolError
from headrace.base.files import Body
from headrace.base.metrics import ApiMetrics, Metrics
from headrace.broker.broker import Broker
from headrace.broker.waiting import Later
from headrace.protocols.kafka.codec import RequestHeader, decode_request, encode_response
from headrace.protocols.kafka.connection import Request
from headrace.protocols.kafka.handlers import HANDLERS, Handler
from headrace.protocols.kafka.handlers.api_versions import refuse_version
from headrace.protocols.kafka.handlers.context import Context, Peer
from headrace.protocols.kafka.handlers.fetch_sessions import FetchSessions
from headrace.protocols.kafka.messages import API, Message

Answer = list[Body] | Later[list[Body]] | Coroutine[Any, Any, Any] | ProtocolError

API_VERSIONS = 18
PRODUCE = 0
# Loaded before the first request, so that no client waits for an import.
WARM = (0, 1, 2, 3, 8, 9, 10, 11, 12, 14, 18, 22)


class Served:
    """One API as this node serves it."""

    __slots__ = ("handle", "max_version", "metrics", "min_version")

    def __init__(self, key: int, metrics: ApiMetrics) -> None:
        api = API[key]
        self.handle: Handler = import_module(f"headrace.protocols.kafka.handlers.{HANDLERS[key]}").handle
        self.min_version = api.min_version
        self.max_version = api.max_version
        self.metrics = metrics


class Dispatcher:
    """Serves requests of all connections of a node."""

    def __init__(self, broker: Broker, metrics: Metrics) -> None:
        self._broker = broker
        self.metrics = metrics
        self._served: dict[int, Served] = {}
        self._sessions = FetchSessions(
            broker.settings.fetch_sessions_max, lambda: int.from_bytes(broker.world.random_bytes(4), "big") & 0x7FFFFFFF
        )
        for key in WARM:
            self._api(key)

    def _api(self, key: int) -> Served | None:
        served = self._served.get(key)
        if served is None and key in HANDLERS:
            served = self._served[key] = Served(key, self.metrics.api(API[key].name))
        return served

    def serve(self, request: Request, peer: Peer) -> Answer:
        header = request.header
        served = self._served.get(header.api_key) or self._api(header.api_key)
        if served is None:
            return ProtocolError(f"api key {header.api_key} is not served")
        version = header.api_version
        if not served.min_version <= version <= served.max_version:
            if header.api_key == API_VERSIONS:
                return encode_response(API_VERSIONS, 0, header.correlation_id, refuse_version(self._broker))
            return ProtocolError(
                f"version {version} of {API[header.api_key].name}: served are {served.min_version} to {served.max_version}"
            )
        try:
            message = decode_request(header, request.frame, request.at)
        except ProtocolError as broken:
            return broken
        peer.client_id = header.client_id or ""
        metrics = served.metrics
        metrics.count(version)
        metrics.bytes_in += len(request.frame) + 4
        context = Context(header, peer, self._sessions)
        answer = served.handle(self._broker, message, context)
        if answer is None:
            self._count(metrics, request, 0)
            return []
        if isinstance(answer, ProtocolError):
            self._count(metrics, request, 0)
            return answer
        if isinstance(answer, Message):
            return self._encode(header, metrics, request, answer)
        if isinstance(answer, Later):
            if answer.done:
                return self._encode(header, metrics, request, answer.value)
            later: Later[list[Body]] = Later()
            answer.then(lambda message: later.complete(self._encode(header, metrics, request, message)))
            return later
        return self._finish(header, metrics, request, answer)

    async def _finish(
        self, header: RequestHeader, metrics: ApiMetrics, request: Request, work: Coroutine[Any, Any, Any]
    ) -> list[Body] | Later[list[Body]] | ProtocolError:
        answer = await work
        if isinstance(answer, ProtocolError):
            self._count(metrics, request, 0)
            return answer
        if isinstance(answer, Later):
            later: Later[list[Body]] = Later()
            answer.then(lambda message: later.complete(self._encode(header, metrics, request, message)))
            return later
        return self._encode(header, metrics, request, answer)

    def _encode(self, header: RequestHeader, metrics: ApiMetrics, request: Request, message: Message | None) -> list[Body]:
        if message is None:
            self._count(metrics, request, 0)
            return []
        buffers = encode_response(header.api_key, header.api_version, header.correlation_id, message)
        self._count(metrics, request, sum(map(len, buffers)))
        return buffers

    def _count(self, metrics: ApiMetrics, request: Request, size: int) -> None:
        metrics.bytes_out += size
        metrics.latency_ms.observe(self._broker.world.monotonic_ms() - request.began_ms)
