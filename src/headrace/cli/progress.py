"""Progress of long work: one moving line with an estimate on a terminal, one line a step elsewhere, on standard error.

Elsewhere steps are told at most every two seconds, the last one always, so that a log of a long run stays readable.
"""

from __future__ import annotations

from headrace.server.terminal import Terminal

TERMINAL_PAUSE_S = 0.1
LINE_PAUSE_S = 2.0
ESTIMATE_AFTER_S = 1.0


class Progress:
    """`with Progress(terminal, "verify", total, "bytes") as p: p.step(n, "segment …")`."""

    def __init__(self, terminal: Terminal, what: str, total: int, unit: str, *, quiet: bool = False) -> None:
        self.terminal = terminal
        self.what = what
        self.total = max(total, 1)
        self.unit = unit
        self.quiet = quiet
        self.done = 0
        self.lively = terminal.is_terminal(terminal.err)
        self.began_s = terminal.monotonic_s()
        self.shown_s = self.began_s
        self.shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self.lively and self.shown:
            self.terminal.err.write("\r\x1b[K")
        elif self.shown and kind is None and not self.quiet:
            self._line("done")

    def step(self, amount: int, doing: str = "") -> None:
        self.done += amount
        now_s = self.terminal.monotonic_s()
        if self.quiet or now_s - self.shown_s < (TERMINAL_PAUSE_S if self.lively else LINE_PAUSE_S):
            return
        self.shown_s, self.shown = now_s, True
        if self.lively:
            text = self.text(doing)[: max(20, self.terminal.width() - 1)]
            self.terminal.err.write(f"\r{text}\x1b[K")
            self.terminal.err.flush()
        else:
            self._line(doing)

    def _line(self, doing: str) -> None:
        self.terminal.err.write(self.text(doing) + "\n")
        self.terminal.err.flush()

    def text(self, doing: str) -> str:
        passed_s = self.terminal.monotonic_s() - self.began_s
        share = min(1.0, self.done / self.total)
        words = f"{self.what}: {share:4.0%} ({self.done} of {self.total} {self.unit})"
        if passed_s >= ESTIMATE_AFTER_S and 0 < share < 1:
            words += f", {spell_seconds(passed_s / share - passed_s)} left"
        return f"{words} {doing}".rstrip()


def spell_seconds(seconds: float) -> str:
    whole = max(1, round(seconds))
    if whole < 90:
        return f"{whole} s"
    if whole < 5400:
        return f"{round(whole / 60)} min"
    return f"{whole / 3600:.1f} h"
