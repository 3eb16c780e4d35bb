"""Group commit: appends gather while the disk is busy, and one flush makes all of them durable.

A partition that wants a flush is queued at the end of the current turn of the loop, so that everything that arrived
together is flushed together. At most one flush per partition is under way; what is appended meanwhile goes into the
next one. Partitions that are dirty at the same time are spread over a few threads. Where they are many (a topic of 1,000
partitions was just made), a thread syncs the whole disk once instead of every file and folder by itself: 100 dirty files
take 3 ms instead of 11 to 90, 1,000 take 25 ms instead of 650.

A flush that failed is never retried into trust: the kernel may have marked the pages clean. The log is cut back to
its last flushed end, waiters get an error, and a new segment begins.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from headrace.base.errors import Code, Refused
from headrace.base.files import File, Files
from headrace.base.metrics import Metrics
from headrace.base.world import World
from headrace.broker.partition import Partition
from headrace.log.flush import FlushPlan

IDLE, QUEUED, FLUSHING = 0, 1, 2
WIDE_COUNT = 64  # partitions of one job from which on the whole disk is synced instead
_JOB_COUNT_MAX = 128  # partitions of one job: planning one takes about 20 us, on the loop


class Flusher:
    """Brings appended batches to the disk."""

    def __init__(self, world: World, metrics: Metrics, log: Callable[..., None], *, jobs_max: int = 4) -> None:
        self._world = world
        self._metrics = metrics
        self._log = log
        self._jobs_max = jobs_max
        self._jobs = 0
        self._queue: deque[Partition] = deque()
        self._due = False
        self._idle: list[asyncio.Future[None]] = []
        self.lost: Callable[[Partition, Refused], None] = lambda partition, why: None  # after a cut

    def must(self, partition: Partition) -> None:
        """Flush what is there now, whatever the topic's durability."""
        partition.must_flush = True
        self.want(partition)

    def want(self, partition: Partition) -> None:
        """There is something to flush. Cheap: called for every append."""
        if partition.flush_state == IDLE:
            partition.flush_state = QUEUED
            self._queue.append(partition)
            if not self._due:
                self._due = True
                asyncio.get_running_loop().call_soon(self._start)
        elif partition.flush_state == FLUSHING:
            partition.flush_again = True

    def _start(self) -> None:
        self._due = False
        while self._queue and self._jobs < self._jobs_max and not self._due:
            # A fair share for each thread that is still free, so that 100 dirty partitions make 4 jobs, not 100. Many of them
            # are better synced together.
            count = len(self._queue)
            share = count if count >= WIDE_COUNT else -(-count // (self._jobs_max - self._jobs))
            share = min(share, _JOB_COUNT_MAX)
            jobs: list[Job] = []
            while self._queue and len(jobs) < share:
                partition = self._queue.popleft()
                job = _job(partition)
                if job is None:
                    partition.flush_state = IDLE
                    continue
                partition.flush_state = FLUSHING
                partition.guests += 1
                partition.flush_again = False
                jobs.append(job)
            if jobs:
                self._jobs += 1
                began = self._world.monotonic_ms()
                done = self._world.offload(lambda jobs=jobs: _run(self._world.files, jobs))  # type: ignore[misc]
                done.add_done_callback(lambda done, jobs=jobs, began=began: self._finish(jobs, done.result(), began))  # type: ignore[misc]
            if self._queue and len(jobs) >= WIDE_COUNT:
                self._due = True  # the rest is planned in another turn of the loop
                asyncio.get_running_loop().call_soon(self._start)

    def _finish(self, jobs: list[Job], errors: list[OSError | None], began: float) -> None:
        self._jobs -= 1
        self._metrics.flush_ms.observe(self._world.monotonic_ms() - began)
        for job, error in zip(jobs, errors, strict=True):
            partition, plan = job.partition, job.plan
            partition.flush_state = IDLE
            partition.guests -= 1
            if partition.closed is not None:
                continue
            if plan is None:
                if partition.flush_again:
                    self.want(partition)
            elif error is None:
                if job.identity is not None:
                    partition.identity = None
                partition.log.flushed(plan)
                if partition.flushes:
                    partition.flushes.reached(partition.log.flushed_offset)
                if partition.flush_again:
                    self.want(partition)
                if partition.policy.fsynced:
                    partition.advance(partition.log.flushed_offset)
            else:
                self._failed(partition, plan, error)
        if self._queue:
            self._start()
        if not self._jobs and not self._queue:
            idle, self._idle = self._idle, []
            for future in idle:
                if not future.done():
                    future.set_result(None)

    def _failed(self, partition: Partition, plan: FlushPlan, error: OSError) -> None:
        self._metrics.flush_failures += 1
        why = Refused(Code.STORAGE_FAILED, f"flushing {partition.topic}-{partition.index} failed: {error}")
        self._log("flush failed", topic=partition.topic, partition=partition.index, error=str(error))
        _, paths = partition.log.flush_failed(plan, error)
        if paths:
            files = self._world.files
            partition.offload(self._world, lambda: self._remove(files, paths))
        # First who keeps a state that the log has lost: whoever hears of it next may ask at once.
        self.lost(partition, why)
        partition.cut_back(why)

    def _remove(self, files: Files, paths: list[str]) -> None:
        try:
            for path in paths:
                files.remove(path)
        except OSError as error:
            self._log("what a failed flush left could not be removed", paths=paths, error=str(error))

    async def flushed(self, partition: Partition, end_offset: int) -> Refused | None:
        """Until all before an offset is on the disk, whatever the topic's durability; or why it never will be."""
        if end_offset <= partition.log.flushed_offset:
            return None
        if partition.closed is not None:
            return partition.closed
        future: asyncio.Future[Refused | None] = asyncio.get_running_loop().create_future()

        def tell(why: Refused | None) -> None:
            if not future.done():
                future.set_result(why)

        partition.flushes.add(end_offset, tell)
        self.must(partition)
        return await future

    async def drain(self) -> None:
        """Until nothing is queued or under way. For the end: where others go on writing, that may never be."""
        while self._jobs or self._queue or self._due:
            future = asyncio.get_running_loop().create_future()
            if not self._jobs:
                self._start()
                if not self._jobs:
                    return
            self._idle.append(future)
            await future


class Job:
    """One partition's part of a round: a flush, or (with `pagecache`) only a hint to write."""

    __slots__ = ("_hint", "identity", "partition", "plan")

    def __init__(self, partition: Partition, plan: FlushPlan | None, hint: tuple[File, int, int] | None) -> None:
        self.partition = partition
        self.plan = plan
        self.identity = partition.identity if plan is not None else None
        self._hint = hint

    def prepare(self) -> File | None:
        """In a thread. The file that has to be synced before the plan runs."""
        if self.plan is None or self.identity is None:
            return None
        # Written anew: bytes whose sync has failed once are not made durable by a second sync. The plan syncs the folder,
        # because what has no durable identity has no durable segment either.
        file, data = self.identity
        file.write(0, (data,))
        return file

    def run(self, *, is_synced: bool = False) -> OSError | None:
        """In a thread."""
        try:
            if self.plan is not None:
                if not is_synced and (identity := self.prepare()) is not None:
                    identity.sync()
                self.plan.run(is_synced=is_synced)
            elif self._hint is not None:
                file, position, size = self._hint
                file.write_back(position, size)
        except OSError as error:
            return error
        return None


def _run(files: Files, jobs: list[Job]) -> list[OSError | None]:
    """In a thread: what became of each job."""
    if len(jobs) < WIDE_COUNT:
        return [job.run() for job in jobs]
    errors: list[OSError | None] = [None] * len(jobs)
    for i, job in enumerate(jobs):
        try:
            job.prepare()
        except OSError as error:
            errors[i] = error
    try:
        files.sync_all()
    except OSError as error:
        # Any of their files may be the one that was not written.
        return [errors[i] or error for i in range(len(jobs))]
    return [errors[i] or job.run(is_synced=True) for i, job in enumerate(jobs)]


def _job(partition: Partition) -> Job | None:
    log = partition.log
    partition.bytes_handed_on = partition.bytes_appended
    if partition.policy.fsynced or log.segments[-1].name_is_durable is False or partition.must_flush:
        partition.must_flush = False
        plan = log.flush_plan()
        if plan is not None:
            return Job(partition, plan, None)
        if partition.policy.fsynced:
            partition.advance(log.flushed_offset)
        return None
    hint = log.write_back_range()
    return Job(partition, None, hint) if hint is not None else None
