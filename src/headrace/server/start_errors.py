"""Why a node did not start, in words its operator can act on."""

from __future__ import annotations


class StartRefused(Exception):
    """The node will not start. The command line prints the five parts as they are; nothing of them is optional."""

    def __init__(self, code: str, what: str, evidence: str, likely: str, next: str) -> None:
        super().__init__(f"{code}: {what} ({evidence})")
        self.code = code  # stable, a section in docs/errors.md
        self.what = what
        self.evidence = evidence
        self.likely = likely
        self.next = next
