"""The node's own log: few lines, each an event with its figures; never one per message.

`structlog` writes to standard error: coloured lines for people on a terminal, JSON lines for machines elsewhere, or what the
setting says. Libraries that log by the standard module are heard from `warning` on, in the same form.
Words: the event is a sentence start in lower case ("log recovered"), figures are keys (`partition=`, `took_ms=`).
"""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog
from structlog.typing import FilteringBoundLogger

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
FORMS = ("auto", "text", "json")


def set_up_logging(*, form: str = "auto", level: str = "info", to: TextIO | None = None) -> None:
    """Once, at the start of the process. `form` is one of FORMS: `auto` looks whether a person is there to read."""
    assert form in FORMS and level in LEVELS, (form, level)
    stream = to if to is not None else sys.stderr
    json = form == "json" or (form == "auto" and not stream.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    if json:
        last: list[structlog.typing.Processor] = [
            structlog.processors.format_exc_info,
            structlog.processors.EventRenamer("message"),
            structlog.processors.JSONRenderer(default=str),
        ]
    else:
        last = [structlog.dev.ConsoleRenderer(colors=stream.isatty())]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.WriteLoggerFactory(file=cast(TextIO, Forgiving(stream))),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    handler = LibraryHandler(max(LEVELS[level], logging.WARNING))
    root.addHandler(handler)
    root.setLevel(handler.level)


class Forgiving:
    """A line that cannot be written (the log's own disk is full, a pipe's reader has gone) is lost, and no error of the node's."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, line: str) -> None:
        with suppress(OSError):
            self._stream.write(line)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def logger(**context: object) -> FilteringBoundLogger:
    """A logger that adds `context` to each of its lines."""
    bound: FilteringBoundLogger = structlog.get_logger(**context)
    return bound


class LibraryHandler(logging.Handler):
    """Hands what libraries log over to structlog."""

    def emit(self, record: logging.LogRecord) -> None:
        event = {"library": record.name}
        if record.exc_info:
            event["exception"] = logging.Formatter().formatException(record.exc_info)
        structlog.get_logger().log(record.levelno, record.getMessage(), **event)
