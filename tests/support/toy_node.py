"""A toy broker for the simulator's own tests: honest by default, and able to lie in known ways.

It shows that the checkers find what they are for, and that an honest broker passes, without asking the real node. One
file a partition, batches appended as they come, a sync for each append, everything read again at the start. It keeps
no groups. (It is not a model of the real node, which shares nothing with it but the codec and the batch.)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from headrace.protocols.kafka import errors
from headrace.protocols.kafka.codec import decode_header, decode_request, encode_response
from headrace.protocols.kafka.messages import (
    create_topics,
    delete_records,
    delete_topics,
    fetch,
    find_coordinator,
    init_producer_id,
    list_offsets,
    metadata,
    offset_fetch,
    produce,
)
from headrace.records.header import has_right_checksum, read_header
from headrace.records.record import RecordsError, read_batches
from headrace.records.stamp import stamp
from sim.machine import ADDRESS

LIES = (
    "ack before the sync",
    "never sync the folder",
    "no sequence check",
    "forget sequences at a restart",
    "high watermark past the flush",
    "hand out beyond the high watermark",
    "skip a batch",
    "offset given twice",
    "swap two answers",
    "no answer now and then",
    "deleted topics come back",
    "forget the log start",
    "cut a torn tail too far",
)


def id_of(name: str) -> UUID:
    return UUID(bytes=name.encode().ljust(16, b"\0"))


def name_of(topic_id: UUID) -> str:
    return topic_id.bytes.rstrip(b"\0").decode()


def whole_batches(data: bytes) -> Iterator[tuple[int, Any]]:
    """Up to the first bytes that are no batch."""
    with contextlib.suppress(RecordsError):
        yield from read_batches(data)


class ToyPartition:
    def __init__(self, file: Any) -> None:
        self.file = file
        self.size = 0
        self.batches: list[tuple[int, int, int, int]] = []  # base offset, end offset, position, size
        self.end = 0
        self.start = 0
        self.flushed = 0
        self.sequences: dict[int, list[tuple[int, int, int]]] = {}  # producer -> (first, last sequence, base offset)
        self.bad = False


class ToyNode:
    def __init__(self, world: Any, network: Any, address: tuple[str, int], lie: str | None) -> None:
        assert lie is None or lie in LIES
        self.world = world
        self.lie = lie
        self.partitions: dict[tuple[str, int], ToyPartition] = {}
        self.answers = 0
        for name in world.files.list(""):
            topic, _, index = name.rpartition("-")
            if index.isdigit() and world.files.exists(f"{name}/made"):
                self.partitions[topic, int(index)] = self.recover(name)
        self.listener = network.listen(lambda: ToyConnection(self), *address)

    async def stop(self) -> None:
        self.listener.close()

    def recover(self, name: str) -> ToyPartition:
        files = self.world.files
        partition = ToyPartition(files.open(f"{name}/log", create=True))
        data = partition.file.read(0, partition.file.size())
        if files.exists(f"{name}/start") and self.lie != "forget the log start":
            partition.start = int(files.open(f"{name}/start").read(0, 20) or b"0")
        for at, header in whole_batches(data):
            if not has_right_checksum(data, header, at):
                break
            if header.base_offset != partition.end:
                break
            self.keep(partition, header, at)
        if self.lie == "cut a torn tail too far" and partition.size < len(data) and partition.batches:
            base, _, position, _ = partition.batches.pop()
            partition.end, partition.size = base, position
        # Written anew, so that the sync has something to do: a sync that failed before a kill -9 left pages that look clean.
        partition.file.truncate(partition.size)
        partition.file.write(0, [data[: partition.size]])
        partition.file.sync()
        files.sync_folder(name)
        files.sync_folder("")
        partition.flushed = partition.end
        if self.lie == "forget sequences at a restart":
            partition.sequences.clear()
        return partition

    def keep(self, partition: ToyPartition, header: Any, position: int) -> None:
        end = header.base_offset + header.count
        partition.batches.append((header.base_offset, end, position, header.size))
        partition.end = end
        partition.size = position + header.size
        if header.producer_id >= 0:
            last = header.base_sequence + header.count - 1
            partition.sequences.setdefault(header.producer_id, []).append((header.base_sequence, last, header.base_offset))

    def topics(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for topic, _ in self.partitions:
            found[topic] = found.get(topic, 0) + 1
        return found

    # -- requests

    async def serve(self, header: Any, message: Any) -> Any:
        match header.api_key:
            case 0:
                return await self.produce(message)
            case 1:
                return await self.fetch(message)
            case 2:
                return self.list_offsets(message)
            case 3:
                return self.metadata(message)
            case 10:
                if header.api_version >= 4:
                    error = find_coordinator.Coordinator(error_code=errors.COORDINATOR_NOT_AVAILABLE)
                    return find_coordinator.FindCoordinatorResponse(coordinators=[error])
                return find_coordinator.FindCoordinatorResponse(error_code=errors.COORDINATOR_NOT_AVAILABLE)
            case 9 if header.api_version >= 8:
                group = message.groups[0]
                asked = group.topics[0]
                entries = [offset_fetch.OffsetFetchResponsePartitions(index, -1) for index in asked.partition_indexes]
                topics = [offset_fetch.OffsetFetchResponseTopics(name=asked.name, partitions=entries)]
                return offset_fetch.OffsetFetchResponse(groups=[offset_fetch.OffsetFetchResponseGroup(group.group_id, topics)])
            case 9:
                asked = message.topics[0]
                old = [offset_fetch.OffsetFetchResponsePartition(index, -1) for index in asked.partition_indexes]
                return offset_fetch.OffsetFetchResponse(topics=[offset_fetch.OffsetFetchResponseTopic(asked.name, old)])
            case 19:
                return await self.create(message)
            case 20:
                return await self.delete(message)
            case 21:
                return await self.delete_records(message)
            case 22:
                producer_id = int.from_bytes(self.world.random_bytes(7))
                return init_producer_id.InitProducerIdResponse(producer_id=producer_id, producer_epoch=0)
        raise AssertionError(header)

    async def produce(self, request: Any) -> Any:
        name = request.topic_data[0].name or name_of(request.topic_data[0].topic_id)
        part = request.topic_data[0].partition_data[0]
        code, base = await self.append(name, part.index, bytearray(part.records))
        if request.acks == 0:
            return None
        answer = produce.PartitionProduceResponse(index=part.index, error_code=code, base_offset=base)
        return produce.ProduceResponse(responses=[produce.TopicProduceResponse(name=name, partition_responses=[answer])])

    async def append(self, topic: str, index: int, data: bytearray) -> tuple[int, int]:
        partition = self.partitions.get((topic, index))
        if partition is None:
            return errors.UNKNOWN_TOPIC_OR_PARTITION, -1
        header = read_header(data)
        if header.producer_id >= 0 and self.lie != "no sequence check":
            known = partition.sequences.get(header.producer_id, [])
            for first, last, base in known:
                if (first, last) == (header.base_sequence, header.base_sequence + header.count - 1):
                    return await self.flush(topic, partition, base)
            if known and header.base_sequence != known[-1][1] + 1:
                return errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
            if not known and header.base_sequence and self.lie != "forget sequences at a restart":
                return errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
        base = partition.end
        if self.lie == "offset given twice" and base and self.world.random_bytes(1)[0] < 3:
            base -= 1
        header.base_offset = base
        stamp(memoryview(data), base, 0)
        try:
            partition.file.write(partition.size, [data])
        except OSError:
            return errors.KAFKA_STORAGE_ERROR, -1
        self.keep(partition, header, partition.size)
        if self.lie == "high watermark past the flush":
            partition.flushed = partition.end
        return await self.flush(topic, partition, base)

    async def flush(self, topic: str, partition: ToyPartition, base: int) -> tuple[int, int]:
        end = partition.end
        if self.lie == "ack before the sync":
            partition.flushed = end
            self.world.offload(partition.file.sync).add_done_callback(lambda done: done.exception())
            return 0, base
        try:
            await self.world.offload(partition.file.sync)
        except OSError:
            # What the disk has of the last batches is unknown: they go, and those who still wait for them hear so too.
            key = next((key for key, value in self.partitions.items() if value is partition), None)
            if key is not None:
                again = self.partitions[key] = ToyPartition(partition.file)
                again.batches = [batch for batch in partition.batches if batch[1] <= partition.flushed]
                again.end = again.flushed = partition.flushed
                again.size = sum(batch[3] for batch in again.batches)
                again.start = partition.start
                for producer, known in partition.sequences.items():
                    again.sequences[producer] = [entry for entry in known if entry[2] < again.end]
                again.file.truncate(again.size)
            return errors.KAFKA_STORAGE_ERROR, -1
        if partition not in self.partitions.values():
            return errors.KAFKA_STORAGE_ERROR, -1
        partition.flushed = max(partition.flushed, end)
        return 0, base

    async def fetch(self, request: Any) -> Any:
        await asyncio.sleep(request.max_wait_ms / 1000 / 4)
        name = request.topics[0].topic or name_of(request.topics[0].topic_id)
        parts = []
        for asked in request.topics[0].partitions:
            partition = self.partitions.get((name, asked.partition))
            if partition is None:
                parts.append(fetch.PartitionData(asked.partition, error_code=errors.UNKNOWN_TOPIC_OR_PARTITION))
                continue
            data = fetch.PartitionData(
                asked.partition, high_watermark=partition.flushed, last_stable_offset=-1, log_start_offset=partition.start
            )
            if not partition.start <= asked.fetch_offset <= partition.flushed:
                data.error_code = errors.OFFSET_OUT_OF_RANGE
            else:
                data.records = memoryview(self.bytes_from(partition, asked.fetch_offset, asked.partition_max_bytes))
            parts.append(data)
        return fetch.FetchResponse(responses=[fetch.FetchableTopicResponse(name, id_of(name), parts)])

    def bytes_from(self, partition: ToyPartition, offset: int, size_max: int) -> bytes:
        data = b""
        for _, end, position, size in partition.batches:
            if end <= offset:
                continue
            if end > partition.flushed and self.lie != "hand out beyond the high watermark":
                break
            if data and len(data) + size > size_max:
                break
            if self.lie == "skip a batch" and data and self.world.random_bytes(1)[0] < 10:
                continue
            data += partition.file.read(position, size)
        return data

    def list_offsets(self, request: Any) -> Any:
        name = request.topics[0].name
        asked = request.topics[0].partitions[0]
        partition = self.partitions.get((name, asked.partition_index))
        answer = list_offsets.ListOffsetsPartitionResponse(partition_index=asked.partition_index)
        if partition is None:
            answer.error_code = errors.UNKNOWN_TOPIC_OR_PARTITION
        else:
            answer.offset = partition.start if asked.timestamp == -2 else partition.flushed
        return list_offsets.ListOffsetsResponse(topics=[list_offsets.ListOffsetsTopicResponse(name=name, partitions=[answer])])

    def metadata(self, request: Any) -> Any:
        topics = [
            metadata.MetadataResponseTopic(name=name, topic_id=id_of(name))
            for name in sorted(self.topics())
            if request.topics is None or name in [topic.name for topic in request.topics]
        ]
        return metadata.MetadataResponse(topics=topics)

    async def create(self, request: Any) -> Any:
        asked = request.topics[0]
        files = self.world.files
        code = 0
        if self.topics().get(asked.name) == asked.num_partitions:
            code = errors.TOPIC_ALREADY_EXISTS
        else:
            made = {}
            try:
                for index in range(asked.num_partitions):
                    if (asked.name, index) in self.partitions:
                        continue  # a crash came when half of them were made
                    folder = f"{asked.name}-{index}"
                    files.make_folder(folder)
                    partition = made[asked.name, index] = ToyPartition(files.open(f"{folder}/log", create=True))
                    partition.file.truncate(0)
                    partition.file.sync()
                    files.open(f"{folder}/made", create=True)
                    if self.lie != "never sync the folder":
                        files.sync_folder(folder)
                        files.sync_folder("")
                self.partitions.update(made)
            except OSError:
                code = errors.KAFKA_STORAGE_ERROR
                for name, index in made:
                    files.remove_folder(f"{name}-{index}")
        return create_topics.CreateTopicsResponse(topics=[create_topics.CreatableTopicResult(asked.name, error_code=code)])

    async def delete(self, request: Any) -> Any:
        name = request.topics[0].name if request.topics else request.topic_names[0]
        code = errors.UNKNOWN_TOPIC_OR_PARTITION
        for key in [key for key in self.partitions if key[0] == name]:
            code = 0
            del self.partitions[key]
            if self.lie != "deleted topics come back":
                self.world.files.remove_folder(f"{name}-{key[1]}")
                self.world.files.sync_folder("")
        return delete_topics.DeleteTopicsResponse(responses=[delete_topics.DeletableTopicResult(name, error_code=code)])

    async def delete_records(self, request: Any) -> Any:
        name = request.topics[0].name
        asked = request.topics[0].partitions[0]
        partition = self.partitions.get((name, asked.partition_index))
        answer = delete_records.DeleteRecordsPartitionResult(asked.partition_index)
        if partition is None:
            answer.error_code = errors.UNKNOWN_TOPIC_OR_PARTITION
        elif asked.offset > partition.flushed:
            answer.error_code = errors.OFFSET_OUT_OF_RANGE
        else:
            start = max(partition.start, asked.offset)
            files, folder = self.world.files, f"{name}-{asked.partition_index}"
            try:
                file = files.open(f"{folder}/start.new", create=True)
                file.truncate(0)
                file.write(0, [str(start).encode()])
                file.sync()
                files.rename(f"{folder}/start.new", f"{folder}/start")
                files.sync_folder(folder)
                partition.start = start
                answer.low_watermark = start
            except OSError:
                answer.error_code = errors.KAFKA_STORAGE_ERROR
        return delete_records.DeleteRecordsResponse(topics=[delete_records.DeleteRecordsTopicResult(name, partitions=[answer])])


class ToyConnection(asyncio.Protocol):
    """Requests one after another."""

    def __init__(self, node: ToyNode) -> None:
        self.node = node
        self.arrived = bytearray()
        self.queue: asyncio.Queue[bytes] = asyncio.Queue()
        self.held: bytes | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.task = asyncio.get_running_loop().create_task(self.work())

    def connection_lost(self, exc: Exception | None) -> None:
        self.task.cancel()

    def data_received(self, data: bytes) -> None:
        self.arrived += data
        while len(self.arrived) >= 4 and len(self.arrived) >= (size := int.from_bytes(self.arrived[:4])) + 4:
            self.queue.put_nowait(bytes(self.arrived[4 : 4 + size]))
            del self.arrived[: 4 + size]

    async def work(self) -> None:
        node = self.node
        while True:
            frame = memoryview(await self.queue.get())
            header, at = decode_header(frame)
            try:
                message = await node.serve(header, decode_request(header, frame, at))
            except OSError:
                self.transport.abort()
                return
            node.answers += 1
            if message is None:
                continue
            answer = b"".join(encode_response(header.api_key, header.api_version, header.correlation_id, message))  # type: ignore[arg-type]
            if node.lie == "no answer now and then" and node.answers % 100 == 0:
                continue
            if node.lie == "swap two answers" and node.answers % 20 == 0 and not self.queue.empty():
                self.held = answer
                continue
            self.transport.write(answer)
            if self.held is not None:
                self.transport.write(self.held)
                self.held = None


async def boot(world: Any, store: Any, network: Any, trace: Any, lie: str | None = None) -> ToyNode:
    await asyncio.sleep(0.01)
    return ToyNode(world, network, ADDRESS, lie)
