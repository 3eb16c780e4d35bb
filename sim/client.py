"""A small Kafka client for the simulator: real frames from the real codec over a simulated connection.

It is not a good client: it does what a workload must be able to decide by itself (when to retry, where to reconnect,
in which order), and it checks what every client relies on: answers come in the order of the requests. Each client
draws a version of every API once, so that many runs speak all of them.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from typing import Any, cast
from uuid import UUID

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.codec import decode_response, encode_request
from headrace.protocols.kafka.messages import API, Message
from headrace.protocols.kafka.messages import create_topics as create_topics_messages
from headrace.protocols.kafka.messages import delete_records as delete_records_messages
from headrace.protocols.kafka.messages import delete_topics as delete_topics_messages
from headrace.protocols.kafka.messages import fetch as fetch_messages
from headrace.protocols.kafka.messages import find_coordinator as find_coordinator_messages
from headrace.protocols.kafka.messages import heartbeat as heartbeat_messages
from headrace.protocols.kafka.messages import init_producer_id as init_producer_id_messages
from headrace.protocols.kafka.messages import join_group as join_group_messages
from headrace.protocols.kafka.messages import leave_group as leave_group_messages
from headrace.protocols.kafka.messages import list_offsets as list_offsets_messages
from headrace.protocols.kafka.messages import metadata as metadata_messages
from headrace.protocols.kafka.messages import offset_commit as offset_commit_messages
from headrace.protocols.kafka.messages import offset_fetch as offset_fetch_messages
from headrace.protocols.kafka.messages import produce as produce_messages
from headrace.protocols.kafka.messages import sync_group as sync_group_messages
from sim.ledger import Ledger
from sim.network import SimNetwork
from sim.trace import Trace

PRODUCE, FETCH, LIST_OFFSETS, METADATA = 0, 1, 2, 3
OFFSET_COMMIT, OFFSET_FETCH, FIND_COORDINATOR = 8, 9, 10
JOIN_GROUP, HEARTBEAT, LEAVE_GROUP, SYNC_GROUP = 11, 12, 13, 14
CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS, INIT_PRODUCER_ID = 19, 20, 21, 22

# The versions the calls below can fill in.
VERSIONS = {
    PRODUCE: (3, 13),
    FETCH: (4, 16),
    LIST_OFFSETS: (1, 8),
    METADATA: (4, 12),
    OFFSET_COMMIT: (2, 9),
    OFFSET_FETCH: (2, 9),
    FIND_COORDINATOR: (0, 4),
    JOIN_GROUP: (0, 9),
    HEARTBEAT: (0, 4),
    LEAVE_GROUP: (0, 5),
    SYNC_GROUP: (0, 5),
    CREATE_TOPICS: (2, 7),
    DELETE_TOPICS: (1, 6),
    DELETE_RECORDS: (0, 2),
    INIT_PRODUCER_ID: (0, 4),
}

FIND_TOPIC_IDS_FROM = {PRODUCE: 13, FETCH: 13}


class Lost(Exception):
    """The connection ended before the answer came: whether the request took effect is unknown."""


class Call:
    """A request that is under way."""

    __slots__ = ("answer", "api_key", "correlation_id", "sent_s", "version")

    def __init__(self, api_key: int, version: int, correlation_id: int, sent_s: float, answer: asyncio.Future[Any]) -> None:
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id
        self.sent_s = sent_s
        self.answer = answer


class Wire(asyncio.Protocol):
    """The client's side of one connection."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._arrived = bytearray()
        self.calls: deque[Call] = deque()
        self.transport: asyncio.Transport | None = None
        self.lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._arrived += data
        while len(self._arrived) >= 4:
            size = int.from_bytes(self._arrived[:4])
            if len(self._arrived) < 4 + size:
                return
            frame = bytes(self._arrived[4 : 4 + size])
            del self._arrived[: 4 + size]
            self._client.answered(self, frame)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._client.wire_lost(self)


class Client:
    def __init__(
        self, name: str, network: SimNetwork, address: tuple[str, int], chance: random.Random, ledger: Ledger, trace: Trace
    ) -> None:
        self.name = name
        self.chance = chance
        self.ledger = ledger
        self.topic_ids: dict[str, UUID] = {}
        self._network = network
        self._address = address
        self._trace = trace
        self._wire: Wire | None = None
        self._correlation_id = 0
        self._versions = {key: chance.randint(*span) for key, span in VERSIONS.items()}

    # -- the connection

    @property
    def connected(self) -> bool:
        return self._wire is not None

    async def connect(self) -> None:
        """Until it succeeds."""
        while self._wire is None:
            try:
                self._wire = cast(Wire, await self._network.connect(lambda: Wire(self), *self._address))
                if self._wire.lost:
                    self._wire = None
            except ConnectionRefusedError:
                await asyncio.sleep(self.chance.uniform(0.05, 0.5))

    def drop(self) -> None:
        """Hang up. Requests under way are lost."""
        wire = self._wire
        if wire is not None:
            assert wire.transport is not None
            wire.transport.abort()
            self.wire_lost(wire)

    def send(self, api_key: int, version: int, message: Message, *, answered: bool = True) -> asyncio.Future[Any]:
        """Write a request at once, so that requests leave in the order of the calls. The answer comes later."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        wire = self._wire
        if wire is None:
            future.set_exception(Lost())
            return future
        assert wire.transport is not None
        self._correlation_id += 1
        frame = b"".join(cast(Any, encode_request(api_key, version, self._correlation_id, self.name, message)))
        self._trace(self.name, f"> {API[api_key].name} v{version} #{self._correlation_id} {len(frame)}")
        wire.transport.write(frame)
        if answered:
            call = Call(api_key, version, self._correlation_id, asyncio.get_running_loop().time(), future)
            wire.calls.append(call)
            self.ledger.asked(call)
        else:
            future.set_result(None)
        return future

    async def call(self, api_key: int, version: int, message: Message, *, patience_s: float = 0.0) -> Any:
        """Connect if need be, ask, wait. With patience, hang up when no answer came in that time."""
        await self.connect()
        answer = self.send(api_key, version, message)
        if not patience_s:
            return await answer
        try:
            return await asyncio.wait_for(answer, patience_s)
        except TimeoutError:
            self._trace(self.name, "loses patience")
            self.drop()
            raise Lost from None

    def version(self, api_key: int) -> int:
        return self._versions[api_key]

    def answered(self, wire: Wire, frame: bytes) -> None:
        self.ledger.check(bool(wire.calls), f"{self.name}: an answer that nobody asked for")
        call = wire.calls.popleft()
        correlation_id, message = decode_response(call.api_key, call.version, memoryview(frame))
        self.ledger.check(
            correlation_id == call.correlation_id,
            f"{self.name}: answer {correlation_id} came where {call.correlation_id} was due",
        )
        self._trace(self.name, f"< {API[call.api_key].name} #{correlation_id} {message!r}")
        self.ledger.answered(call)
        if not call.answer.done():
            call.answer.set_result(message)

    def wire_lost(self, wire: Wire) -> None:
        if wire is self._wire:
            self._wire = None
        for call in wire.calls:
            self.ledger.answered(call)
            if not call.answer.done():
                call.answer.set_exception(Lost())
                call.answer.exception()  # seen: not every request has somebody who waits
        wire.calls.clear()

    # -- the calls

    async def metadata(self, topics: list[str] | None, **options: Any) -> metadata_messages.MetadataResponse:
        version = self.version(METADATA)
        names = None if topics is None else [metadata_messages.MetadataRequestTopic(name=name) for name in topics]
        request = metadata_messages.MetadataRequest(topics=names, allow_auto_topic_creation=False)
        answer: metadata_messages.MetadataResponse = await self.call(METADATA, version, request, **options)
        for topic in answer.topics:
            if topic.name is not None and topic.error_code == 0 and version >= 10:
                self.topic_ids[topic.name] = topic.topic_id
        return answer

    def produce(self, topic: str, partition: int, batch: bytes, acks: int) -> asyncio.Future[Any]:
        version = self.version(PRODUCE)
        if version >= 13 and topic not in self.topic_ids:
            version = 12
        data = produce_messages.TopicProduceData(
            name=topic if version < 13 else "",
            topic_id=self.topic_ids[topic] if version >= 13 else NO_TOPIC_ID,
            partition_data=[produce_messages.PartitionProduceData(index=partition, records=memoryview(batch))],
        )
        request = produce_messages.ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=[data])
        return self.send(PRODUCE, version, request, answered=acks != 0)

    async def fetch(
        self,
        topic: str,
        positions: dict[int, int],
        *,
        wait_ms_max: int = 500,
        size_min: int = 1,
        size_max: int = 1 << 20,
        **options: Any,
    ) -> dict[int, fetch_messages.PartitionData]:
        """Of one topic, several partitions. What was not answered for is not in the result."""
        version = self.version(FETCH)
        if version >= 13 and topic not in self.topic_ids:
            version = 12
        request = fetch_messages.FetchRequest(
            max_wait_ms=wait_ms_max,
            min_bytes=size_min,
            max_bytes=size_max,
            topics=[
                fetch_messages.FetchTopic(
                    topic=topic if version < 13 else "",
                    topic_id=self.topic_ids[topic] if version >= 13 else NO_TOPIC_ID,
                    partitions=[
                        fetch_messages.FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=size_max)
                        for partition, offset in sorted(positions.items())
                    ],
                )
            ],
        )
        answer: fetch_messages.FetchResponse = await self.call(FETCH, version, request, **options)
        return {data.partition_index: data for part in answer.responses for data in part.partitions}

    async def list_offset(self, topic: str, partition: int, timestamp: int, **options: Any) -> tuple[int, int]:
        """(error code, offset)"""
        request = list_offsets_messages.ListOffsetsRequest(
            replica_id=-1,
            topics=[
                list_offsets_messages.ListOffsetsTopic(
                    name=topic,
                    partitions=[list_offsets_messages.ListOffsetsPartition(partition_index=partition, timestamp=timestamp)],
                )
            ],
        )
        answer: list_offsets_messages.ListOffsetsResponse = await self.call(
            LIST_OFFSETS, self.version(LIST_OFFSETS), request, **options
        )
        part = answer.topics[0].partitions[0]
        return part.error_code, part.offset

    async def create_topic(self, name: str, partitions: int, settings: dict[str, str], **options: Any) -> int:
        request = create_topics_messages.CreateTopicsRequest(
            topics=[
                create_topics_messages.CreatableTopic(
                    name=name,
                    num_partitions=partitions,
                    replication_factor=1,
                    configs=[
                        create_topics_messages.CreatableTopicConfig(name=key, value=value)
                        for key, value in sorted(settings.items())
                    ],
                )
            ],
            timeout_ms=30_000,
        )
        answer: create_topics_messages.CreateTopicsResponse = await self.call(
            CREATE_TOPICS, self.version(CREATE_TOPICS), request, **options
        )
        return answer.topics[0].error_code

    async def delete_topic(self, name: str, **options: Any) -> int:
        version = self.version(DELETE_TOPICS)
        request = delete_topics_messages.DeleteTopicsRequest(timeout_ms=30_000)
        if version >= 6:
            request.topics = [delete_topics_messages.DeleteTopicState(name=name)]
        else:
            request.topic_names = [name]
        answer: delete_topics_messages.DeleteTopicsResponse = await self.call(DELETE_TOPICS, version, request, **options)
        return answer.responses[0].error_code

    async def delete_records(self, topic: str, partition: int, offset: int, **options: Any) -> tuple[int, int]:
        """(error code, new start of the log)"""
        request = delete_records_messages.DeleteRecordsRequest(
            topics=[
                delete_records_messages.DeleteRecordsTopic(
                    name=topic,
                    partitions=[delete_records_messages.DeleteRecordsPartition(partition_index=partition, offset=offset)],
                )
            ],
            timeout_ms=30_000,
        )
        answer: delete_records_messages.DeleteRecordsResponse = await self.call(
            DELETE_RECORDS, self.version(DELETE_RECORDS), request, **options
        )
        part = answer.topics[0].partitions[0]
        return part.error_code, part.low_watermark

    async def init_producer_id(self, **options: Any) -> init_producer_id_messages.InitProducerIdResponse:
        request = init_producer_id_messages.InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        answer: init_producer_id_messages.InitProducerIdResponse = await self.call(
            INIT_PRODUCER_ID, self.version(INIT_PRODUCER_ID), request, **options
        )
        return answer

    async def find_coordinator(self, group: str, **options: Any) -> int:
        """The error code: there is one node only, where we are already."""
        version = self.version(FIND_COORDINATOR)
        request = find_coordinator_messages.FindCoordinatorRequest()
        if version >= 4:
            request.coordinator_keys = [group]
        else:
            request.key = group
        answer: find_coordinator_messages.FindCoordinatorResponse = await self.call(FIND_COORDINATOR, version, request, **options)
        return answer.coordinators[0].error_code if version >= 4 else answer.error_code

    async def join_group(
        self, group: str, member: str, topics: bytes, *, session_ms: int, rebalance_ms: int, **options: Any
    ) -> join_group_messages.JoinGroupResponse:
        request = join_group_messages.JoinGroupRequest(
            group_id=group,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=member,
            protocol_type="consumer",
            protocols=[join_group_messages.JoinGroupRequestProtocol(name="spread", metadata=topics)],
        )
        answer: join_group_messages.JoinGroupResponse = await self.call(JOIN_GROUP, self.version(JOIN_GROUP), request, **options)
        return answer

    async def sync_group(
        self, group: str, generation: int, member: str, assignments: dict[str, bytes], **options: Any
    ) -> sync_group_messages.SyncGroupResponse:
        request = sync_group_messages.SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member,
            protocol_type="consumer",
            protocol_name="spread",
            assignments=[
                sync_group_messages.SyncGroupRequestAssignment(member_id=name, assignment=data)
                for name, data in sorted(assignments.items())
            ],
        )
        answer: sync_group_messages.SyncGroupResponse = await self.call(SYNC_GROUP, self.version(SYNC_GROUP), request, **options)
        return answer

    async def heartbeat(self, group: str, generation: int, member: str, **options: Any) -> int:
        request = heartbeat_messages.HeartbeatRequest(group_id=group, generation_id=generation, member_id=member)
        answer: heartbeat_messages.HeartbeatResponse = await self.call(HEARTBEAT, self.version(HEARTBEAT), request, **options)
        return answer.error_code

    async def leave_group(self, group: str, member: str, **options: Any) -> int:
        version = self.version(LEAVE_GROUP)
        request = leave_group_messages.LeaveGroupRequest(group_id=group)
        if version >= 3:
            request.members = [leave_group_messages.MemberIdentity(member_id=member)]
        else:
            request.member_id = member
        answer: leave_group_messages.LeaveGroupResponse = await self.call(LEAVE_GROUP, version, request, **options)
        return answer.error_code

    async def commit(
        self, group: str, generation: int, member: str, topic: str, offsets: dict[int, int], **options: Any
    ) -> dict[int, int]:
        """Partition to error code."""
        request = offset_commit_messages.OffsetCommitRequest(
            group_id=group,
            generation_id_or_member_epoch=generation,
            member_id=member,
            topics=[
                offset_commit_messages.OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        offset_commit_messages.OffsetCommitRequestPartition(
                            partition_index=partition, committed_offset=offset, committed_metadata=""
                        )
                        for partition, offset in sorted(offsets.items())
                    ],
                )
            ],
        )
        answer: offset_commit_messages.OffsetCommitResponse = await self.call(
            OFFSET_COMMIT, self.version(OFFSET_COMMIT), request, **options
        )
        return {part.partition_index: part.error_code for part in answer.topics[0].partitions}

    async def committed(self, group: str, topic: str, partitions: list[int], **options: Any) -> dict[int, int] | int:
        """Partition to committed offset (-1: none), or an error code."""
        version = self.version(OFFSET_FETCH)
        request = offset_fetch_messages.OffsetFetchRequest()
        if version >= 8:
            request.groups = [
                offset_fetch_messages.OffsetFetchRequestGroup(
                    group_id=group,
                    topics=[offset_fetch_messages.OffsetFetchRequestTopics(name=topic, partition_indexes=partitions)],
                )
            ]
        else:
            request.group_id = group
            request.topics = [offset_fetch_messages.OffsetFetchRequestTopic(name=topic, partition_indexes=partitions)]
        answer: offset_fetch_messages.OffsetFetchResponse = await self.call(OFFSET_FETCH, version, request, **options)
        part = answer.groups[0] if version >= 8 else answer
        if part.error_code:
            return part.error_code
        result: dict[int, int] = {}
        for entry in part.topics[0].partitions if part.topics else ():
            if entry.error_code:
                return entry.error_code
            result[entry.partition_index] = entry.committed_offset
        return result
