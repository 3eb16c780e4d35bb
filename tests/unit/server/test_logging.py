"""One event, one line: JSON for machines, plain words for people."""

from __future__ import annotations

import io
import json
import logging

import pytest
import structlog

from headrace.server.logging import logger, set_up_logging


@pytest.fixture(autouse=True)
def put_back():
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_machine_gets_one_json_object_a_line():
    out = io.StringIO()
    set_up_logging(form="auto", to=out)
    logger(node=0).info("log recovered", partition="a-0", took_ms=12)
    line = json.loads(out.getvalue())
    assert line["message"] == "log recovered"
    assert (line["node"], line["partition"], line["took_ms"], line["level"]) == (0, "a-0", 12, "info")
    assert line["timestamp"].endswith("Z")


def test_people_get_words():
    out = io.StringIO()
    set_up_logging(form="text", to=out)
    logger().warning("disk nearly full", free_mb=3)
    assert "disk nearly full" in out.getvalue() and "free_mb=3" in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_the_level_is_held():
    out = io.StringIO()
    set_up_logging(level="warning", to=out)
    logger().info("not heard")
    assert out.getvalue() == ""


def test_exceptions_stay_within_their_line():
    out = io.StringIO()
    set_up_logging(form="json", to=out)
    try:
        raise ValueError("odd")
    except ValueError:
        logger().exception("failed")
    assert out.getvalue().count("\n") == 1
    assert "ValueError: odd" in json.loads(out.getvalue())["exception"]


def test_libraries_are_heard_from_warning_on():
    out = io.StringIO()
    set_up_logging(form="json", to=out)
    logging.getLogger("asyncio").info("hidden")
    logging.getLogger("asyncio").warning("slow %s", "thing")
    line = json.loads(out.getvalue())
    assert (line["message"], line["library"], line["level"]) == ("slow thing", "asyncio", "warning")


def test_a_line_that_cannot_be_written_is_no_error():
    """The log lay on the disk that had become full, and a note about a closed connection ended another one."""

    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    for form in ("json", "text"):
        set_up_logging(form=form, to=Full())
        logger().info("log recovered")
