"""Alive, ready, counted."""

from __future__ import annotations

import asyncio

from headrace.base.metrics import Metrics
from headrace.server.http import Request
from headrace.server.metrics import OPENMETRICS, TEXT, GroupLag, NodeFigures
from headrace.server.probes import probe_routes


def routes(reason=None, lags=()):
    return probe_routes(Metrics(), lambda: NodeFigures("1", "c", 0, group_lags=lags), lambda: reason)


def request(accept=""):
    return Request("GET", "/", "", {"accept": accept}, True)


def test_alive_is_alive_even_when_not_ready():
    assert routes("recovering")["/healthz"](request()).status == 200


def test_ready_tells_the_reason_when_it_is_not():
    assert routes()["/readyz"](request()).status == 200
    answer = routes("12 of 40 logs recovered")["/readyz"](request())
    assert (answer.status, answer.body) == (503, b"not ready: 12 of 40 logs recovered\n")


def test_a_scrape_gets_the_form_it_asked_for():
    text = asyncio.run(routes()["/metrics"](request()))
    assert text.content_type == TEXT and b"headrace_connections 0\n" in text.body
    om = asyncio.run(routes()["/metrics"](request("application/openmetrics-text")))
    assert om.content_type == OPENMETRICS and om.body.endswith(b"# EOF\n")


def test_the_loop_goes_on_during_a_long_scrape():
    async def run() -> int:
        turns = 0

        async def other():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.ensure_future(other())
        await routes(lags=[GroupLag("g", "t", n, 1, None) for n in range(5000)])["/metrics"](request())
        task.cancel()
        return turns

    assert asyncio.run(run()) >= 20
