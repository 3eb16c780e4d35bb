"""Where each leader epoch began in this partition: what a replica or client asks to find where two histories part (KIP-101).

The file is Kafka's `leader-epoch-checkpoint`: a line with the version 0, one with the count, then `<epoch> <first offset>`
a line. Entries rise in both numbers. The same can be read from the batches, so what recovery scans it does not take from here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise

from headrace.base.ids import NO_EPOCH


class LeaderEpochs:
    __slots__ = ("epochs", "latest", "starts")

    def __init__(self, entries: list[tuple[int, int]] | None = None) -> None:
        self.epochs = [epoch for epoch, _ in entries or ()]
        self.starts = [start for _, start in entries or ()]
        self.latest = self.epochs[-1] if self.epochs else NO_EPOCH

    def entries(self) -> list[tuple[int, int]]:
        return list(zip(self.epochs, self.starts, strict=True))

    def begin(self, epoch: int, offset: int) -> bool:
        """From this offset on, this epoch. Whether that was news."""
        if epoch <= self.latest:
            return False
        # An epoch that wrote nothing before the next one began gives its place away.
        while self.starts and self.starts[-1] >= offset:
            self.starts.pop()
            self.epochs.pop()
        self.epochs.append(epoch)
        self.starts.append(offset)
        self.latest = epoch
        return True

    def end_of(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The largest epoch known that is not beyond `epoch`, and where it ended; (-1, -1) when that cannot be told."""
        if epoch < 0 or epoch > self.latest:
            return NO_EPOCH, -1
        if epoch == self.latest:
            return epoch, log_end
        i = bisect_right(self.epochs, epoch)
        return (self.epochs[i - 1] if i else epoch), self.starts[i]

    def at(self, offset: int) -> int:
        """The epoch that wrote this offset."""
        i = bisect_right(self.starts, offset)
        return self.epochs[i - 1] if i else NO_EPOCH

    def cut(self, end_offset: int) -> bool:
        """The log ends here now; epochs that began at or beyond it are forgotten."""
        keep = bisect_left(self.starts, end_offset)
        changed = keep < len(self.starts)
        del self.starts[keep:], self.epochs[keep:]
        self.latest = self.epochs[-1] if self.epochs else NO_EPOCH
        return changed

    def drop_before(self, start_offset: int) -> bool:
        """The log begins here now; of the epochs before, only the last one still holds, from here on."""
        drop = bisect_right(self.starts, start_offset) - 1
        if drop < 0 or (drop == 0 and self.starts[0] == start_offset):
            return False
        del self.starts[:drop], self.epochs[:drop]
        changed = drop > 0 or self.starts[0] != start_offset
        self.starts[0] = start_offset
        return changed


def encode_epochs(entries: list[tuple[int, int]]) -> bytes:
    return "".join(["0\n", f"{len(entries)}\n", *(f"{epoch} {start}\n" for epoch, start in entries)]).encode()


def decode_epochs(data: bytes) -> list[tuple[int, int]] | None:
    """The entries, None when the file makes no sense."""
    try:
        version, count, *lines = data.decode("ascii").split("\n")
        if int(version) != 0 or lines[-1:] != [""] or len(lines) - 1 != int(count):
            return None
        entries = [(int(epoch), int(start)) for epoch, start in (line.split(" ") for line in lines[:-1])]
    except ValueError:
        return None
    rising = all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(entries))
    return entries if rising else None
