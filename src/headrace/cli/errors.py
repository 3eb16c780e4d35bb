"""What a command says when it cannot do what it was asked: what happened, the evidence, the likely cause, the next command.

Every failure has a code that does not change between releases and a section of that name in `docs/errors.md` (a test
checks it). A broker's refusals carry the names of `base.errors.Code`; what only a command can run into stands in `Trouble`.
Exit statuses are few, so that scripts can rely on them (`docs/cli.md`).
"""

from __future__ import annotations

import enum

from headrace.base.errors import Code

DONE = 0
FAILED = 1  # refused by the broker, or found wanting
WRONG_USAGE = 2
NO_BROKER = 3
DAMAGED = 4  # `log verify` found what should not be
INTERRUPTED = 130  # Ctrl-C, as shells count: 128 + SIGINT


class Trouble(enum.Enum):
    """What a command can run into besides a broker's refusal."""

    NO_BROKER = "no-broker"
    BROKER_SILENT = "broker-silent"
    BROKER_HUNG_UP = "broker-hung-up"
    NOT_KAFKA = "not-kafka"
    NO_COMMON_VERSION = "no-common-version"
    BROKER_REFUSED = "broker-refused"
    NO_LEADER = "no-leader"
    BAD_VALUE = "bad-value"
    BAD_INPUT = "bad-input"
    NO_OFFSETS = "no-offsets"
    NOT_A_LOG = "not-a-log"
    LOG_DAMAGED = "log-damaged"
    BAD_SETTINGS = "bad-settings"
    OPEN_TO_THE_NETWORK = "open-to-the-network"
    NOTHING_DONE = "nothing-done"


class CliError(Exception):
    def __init__(
        self, code: Trouble | Code | str, what: str, *, evidence: str = "", likely: str = "", next: str = "", status: int = FAILED
    ) -> None:
        super().__init__(what)
        self.code = code if isinstance(code, str) else code.value
        self.what = what
        self.evidence = evidence
        self.likely = likely
        self.next = next
        self.status = status


def bad_value(what: str, next: str) -> CliError:
    """A word on the command line that cannot be understood."""
    return CliError(Trouble.BAD_VALUE, what, next=next, status=WRONG_USAGE)


def error_text(code: str, what: str, evidence: str, likely: str, next: str) -> str:
    """The block that is printed to standard error."""
    lines = [f"error {code}: {what}"]
    for name, words in (("evidence", evidence), ("likely", likely), ("next", next)):
        if words:
            lines.append(f"  {name + ':':<10}{words}")
    lines.append(f"  {'more:':<10}docs/errors.md#{code}")
    return "\n".join(lines) + "\n"
