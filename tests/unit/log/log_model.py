"""What a log must do, in about a hundred lines: a list of batches, and how much of it is durable."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, repr=False)
class Batch:
    base: int
    last: int
    epoch: int
    records: list[tuple[int, bytes]]  # timestamp, value
    producer: tuple[int, int, int] | None  # id, epoch, first sequence

    def __repr__(self) -> str:
        return f"{self.base}..{self.last}(epoch {self.epoch}, {self.records[0]}, {self.producer})"

    @property
    def last_sequence(self) -> int:
        assert self.producer is not None
        return self.producer[2] + self.last - self.base


@dataclass(slots=True)
class Model:
    batches: list[Batch] = field(default_factory=list)  # from offset 0 on, also those that were deleted
    start: int = 0
    flushed: int = 0
    # Unflushed tails that a failed flush took away: they may come back until other
    # batches were flushed at their offsets.
    ghosts: list[list[Batch]] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.batches[-1].last + 1 if self.batches else 0

    def before(self, offset: int) -> list[Batch]:
        return [b for b in self.batches if b.last < offset]

    def readable(self) -> list[Batch]:
        return [b for b in self.batches if b.last >= self.start]

    def flush(self, upto: int) -> None:
        if upto > self.flushed:
            self.ghosts.clear()
        self.flushed = upto

    def cut_back(self) -> None:
        self.ghosts.append(self.batches[:])
        self.batches = self.before(self.flushed)

    def crashed(self, recovered: list[Batch], start: int) -> None:
        """The log came back with these batches from `start` on: any prefix of a history, but all that was flushed."""
        end = recovered[-1].last + 1 if recovered else start
        assert end >= self.flushed, f"{self.flushed} was flushed, {end} came back"
        for history in [self.batches, *self.ghosts]:
            kept = [b for b in history if b.last < end]
            if (kept[-1].last + 1 if kept else 0) == end and [b for b in kept if b.last >= start] == recovered:
                self.batches = kept
                self.flush(end)  # recovery synced it
                return
        raise AssertionError(f"{recovered} is no prefix of {self.batches} nor of {self.ghosts}")

    def producers(self) -> dict[int, tuple[int, list[tuple[int, int]]]]:
        """Of each producer its epoch, and (last sequence, last offset) of its last five batches."""
        found: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        for b in self.batches:
            if b.producer is None:
                continue
            producer_id, epoch, _ = b.producer
            old_epoch, marks = found.get(producer_id, (epoch, []))
            marks = marks if old_epoch == epoch else []
            found[producer_id] = (epoch, [*marks, (b.last_sequence, b.last)][-5:])
        return found

    def find_by_timestamp(self, timestamp: int, upto: int) -> tuple[int, int, int] | None:
        for b in self.readable():
            for i, (found, _) in enumerate(b.records):
                if found >= timestamp and self.start <= b.base + i < upto:
                    return b.base + i, found, b.epoch
        return None

    def max_timestamp(self, upto: int) -> tuple[int, int, int] | None:
        best: tuple[int, int, int] | None = None
        for b in self.readable():
            for i, (found, _) in enumerate(b.records):
                if self.start <= b.base + i < upto and (best is None or found > best[1]):
                    best = (b.base + i, found, b.epoch)
        return best

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """By the batches alone: where the first one of a later epoch begins."""
        later = [b.base for b in self.batches if b.epoch > epoch]
        known = [b.epoch for b in self.batches if b.epoch <= epoch]
        return (max(known), later[0] if later else self.end) if known else (-1, -1)
