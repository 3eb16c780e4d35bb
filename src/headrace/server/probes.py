"""The three addresses of the status port: is it alive, may it be used, what has it counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from headrace.base.metrics import Metrics
from headrace.server.http import Request, Response, Route, text
from headrace.server.metrics import OPENMETRICS, TEXT, NodeFigures, look_at_process, render, wants_openmetrics


def probe_routes(metrics: Metrics, figures: Callable[[], NodeFigures], not_ready: Callable[[], str | None]) -> dict[str, Route]:
    """`figures` is asked at each scrape; `not_ready` gives the reason, or None when clients may come."""

    def alive(request: Request) -> Response:
        return text(200, "ok")

    def ready(request: Request) -> Response:
        reason = not_ready()
        return text(200, "ready") if reason is None else text(503, f"not ready: {reason}")

    async def scrape(request: Request) -> Response:
        openmetrics = wants_openmetrics(request.headers.get("accept", ""))
        pieces = []
        for piece in render(metrics, figures(), look_at_process(), openmetrics=openmetrics):
            pieces.append(piece)
            await asyncio.sleep(0)
        return Response(200, b"".join(pieces), OPENMETRICS if openmetrics else TEXT)

    return {"/healthz": alive, "/readyz": ready, "/metrics": scrape}
