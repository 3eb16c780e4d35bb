"""A broker in memory for tests of commands: real frames in, real frames out, no socket; and a terminal to go with it.

It knows as much as the commands ask for. Everything of its state is public, so that a test can set it up and look at it.
`fail` holds error codes to answer with next, by API name, for as many times as listed.
"""

from __future__ import annotations

import io
from collections import defaultdict
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from headrace.cli.main import main
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.codec import decode_header, decode_request, encode_response
from headrace.protocols.kafka.messages import API, Message
from headrace.protocols.kafka.messages.api_versions import ApiVersion
from headrace.protocols.kafka.messages.create_partitions import CreatePartitionsTopicResult
from headrace.protocols.kafka.messages.create_topics import CreatableTopicResult
from headrace.protocols.kafka.messages.delete_groups import DeletableGroupResult
from headrace.protocols.kafka.messages.delete_topics import DeletableTopicResult
from headrace.protocols.kafka.messages.describe_configs import DescribeConfigsResourceResult, DescribeConfigsResult
from headrace.protocols.kafka.messages.describe_groups import DescribedGroup, DescribedGroupMember
from headrace.protocols.kafka.messages.fetch import FetchableTopicResponse, PartitionData
from headrace.protocols.kafka.messages.incremental_alter_configs import AlterConfigsResourceResponse
from headrace.protocols.kafka.messages.join_group import JoinGroupResponseMember
from headrace.protocols.kafka.messages.list_groups import ListedGroup
from headrace.protocols.kafka.messages.list_offsets import ListOffsetsPartitionResponse, ListOffsetsTopicResponse
from headrace.protocols.kafka.messages.metadata import (
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from headrace.protocols.kafka.messages.offset_commit import OffsetCommitResponsePartition, OffsetCommitResponseTopic
from headrace.protocols.kafka.messages.offset_fetch import (
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from headrace.protocols.kafka.messages.produce import PartitionProduceResponse, TopicProduceResponse
from headrace.records.build import build_batch
from headrace.records.record import Record, read_records
from headrace.records.stamp import stamp

NOW_MS = 1_795_000_000_000
TOPIC_ID = UUID(int=7)


class FakeKafka:
    def __init__(self) -> None:
        self.topics: dict[str, list[list[Record]]] = {}
        self.starts: dict[tuple[str, int], int] = {}
        self.configs: dict[str, dict[str, str]] = defaultdict(dict)
        self.offsets: dict[str, dict[tuple[str, int], int]] = {}
        self.members: dict[str, list[str]] = {}
        self.assignments: dict[str, bytes] = {}
        self.generation = 0
        self.fail: dict[str, list[int]] = defaultdict(list)
        self.asked: list[Message] = []
        self.versions_max: dict[str, int] = {}

    def add(self, topic: str, partitions: int = 1) -> None:
        self.topics[topic] = [[] for _ in range(partitions)]

    def put(self, topic: str, partition: int, *values: str, key: str | None = None, timestamp: int = NOW_MS) -> None:
        log = self.topics[topic][partition]
        for value in values:
            log.append(Record(len(log), timestamp, None if key is None else key.encode(), value.encode()))

    def values(self, topic: str, partition: int = 0) -> list[bytes | None]:
        return [record.value for record in self.topics[topic][partition]]

    # --- the wire ----------------------------------------------------------------------------------------------------

    def answer(self, frame: bytes) -> memoryview:
        view = memoryview(frame)[4:]
        header, at = decode_header(view)
        request = decode_request(header, view, at)
        self.asked.append(request)
        api = API[header.api_key]
        codes = self.fail[api.name]
        code = codes.pop(0) if codes else 0
        answer = getattr(self, "on_" + api.name)(request, code)
        bodies = encode_response(header.api_key, header.api_version, header.correlation_id, answer)
        return memoryview(b"".join(bytes(body) for body in bodies))[4:]  # type: ignore[arg-type]

    def on_ApiVersions(self, request: Any, code: int) -> Message:
        rows = [ApiVersion(a.key, a.advertised_min, self.versions_max.get(a.name, a.max_version)) for a in API.values()]
        return API[18].response(error_code=code, api_keys=rows)

    def on_Metadata(self, request: Any, code: int) -> Message:
        names = sorted(self.topics) if request.topics is None else [topic.name for topic in request.topics]
        topics = []
        for name in names:
            if name not in self.topics and request.allow_auto_topic_creation and request.topics is not None:
                self.add(name)
            error = code or (0 if name in self.topics else errors.UNKNOWN_TOPIC_OR_PARTITION)
            partitions = [MetadataResponsePartition(0, p, 1, 0, [1], [1]) for p in range(0 if error else len(self.topics[name]))]
            topics.append(MetadataResponseTopic(error, name, TOPIC_ID, name.startswith("__"), partitions))
        return API[3].response(0, [MetadataResponseBroker(1, "fake", 9092)], "c", 1, topics)

    def on_CreateTopics(self, request: Any, code: int) -> Message:
        results = []
        for topic in request.topics:
            error = code or (errors.TOPIC_ALREADY_EXISTS if topic.name in self.topics else 0)
            if not error:
                self.add(topic.name, max(1, topic.num_partitions))
                self.configs[topic.name] = {config.name: config.value for config in topic.configs}
            made = -1 if error else len(self.topics[topic.name])
            results.append(CreatableTopicResult(topic.name, TOPIC_ID, error, "said so" if error else None, 0, made))
        return API[19].response(0, results)

    def on_DeleteTopics(self, request: Any, code: int) -> Message:
        names = [state.name for state in request.topics] or list(request.topic_names)
        for name in names:
            if not code:
                self.topics.pop(name)
        return API[20].response(0, [DeletableTopicResult(name, TOPIC_ID, code) for name in names])

    def on_CreatePartitions(self, request: Any, code: int) -> Message:
        for topic in request.topics:
            code = code or (errors.INVALID_PARTITIONS if topic.count <= len(self.topics[topic.name]) else 0)
            if not code and not request.validate_only:
                self.topics[topic.name] += [[] for _ in range(topic.count - len(self.topics[topic.name]))]
        return API[37].response(0, [CreatePartitionsTopicResult(topic.name, code) for topic in request.topics])

    def on_DescribeConfigs(self, request: Any, code: int) -> Message:
        name = request.resources[0].resource_name
        rows = [DescribeConfigsResourceResult(k, v, False, 1) for k, v in self.configs[name].items()]
        rows.append(DescribeConfigsResourceResult("cleanup.policy", "delete", False, 5))
        return API[32].response(0, [DescribeConfigsResult(code, None, 2, name, rows)])

    def on_IncrementalAlterConfigs(self, request: Any, code: int) -> Message:
        resource = request.resources[0]
        for change in resource.configs:
            if request.validate_only or code:
                continue
            if change.config_operation == 0:
                self.configs[resource.resource_name][change.name] = change.value
            else:
                self.configs[resource.resource_name].pop(change.name, None)
        return API[44].response(0, [AlterConfigsResourceResponse(code, None, 2, resource.resource_name)])

    def on_InitProducerId(self, request: Any, code: int) -> Message:
        return API[22].response(0, code, -1 if code else 9, 0)

    def on_Produce(self, request: Any, code: int) -> Message:
        topics = []
        for topic in request.topic_data:
            rows = []
            for data in topic.partition_data:
                log = self.topics[topic.name][data.index]
                base = len(log)
                if not code:
                    for record in read_records(bytes(data.records)):
                        record.offset = len(log)
                        log.append(record)
                rows.append(PartitionProduceResponse(data.index, code, base))
            topics.append(TopicProduceResponse(topic.name, partition_responses=rows))
        return API[0].response(topics)

    def on_Fetch(self, request: Any, code: int) -> Message:
        topics = []
        for topic in request.topics:
            rows = []
            for wanted in topic.partitions:
                log = self.topics[topic.topic][wanted.partition]
                start = self.starts.get((topic.topic, wanted.partition), 0)
                error = code or (0 if start <= wanted.fetch_offset <= len(log) else errors.OFFSET_OUT_OF_RANGE)
                batch = b""
                # Batches of three, whole ones: a reader must skip what lies before its offset.
                at = max(start, wanted.fetch_offset // 3 * 3)
                if not error and wanted.fetch_offset < len(log):
                    made = build_batch(log[at : at + 3])
                    stamp(memoryview(made), at, 0)
                    batch = bytes(made)
                rows.append(PartitionData(wanted.partition, error, len(log), records=memoryview(batch)))
            topics.append(FetchableTopicResponse(topic.topic, partitions=rows))
        return API[1].response(responses=topics)

    def on_ListOffsets(self, request: Any, code: int) -> Message:
        topics = []
        for topic in request.topics:
            rows = []
            for wanted in topic.partitions:
                log = self.topics[topic.name][wanted.partition_index]
                start = self.starts.get((topic.name, wanted.partition_index), 0)
                if wanted.timestamp == -2:
                    offset = start
                elif wanted.timestamp == -1:
                    offset = len(log)
                else:
                    offset = next((r.offset for r in log[start:] if r.timestamp >= wanted.timestamp), -1)
                rows.append(ListOffsetsPartitionResponse(wanted.partition_index, code, -1, offset))
            topics.append(ListOffsetsTopicResponse(topic.name, rows))
        return API[2].response(0, topics)

    # --- groups ------------------------------------------------------------------------------------------------------

    def on_FindCoordinator(self, request: Any, code: int) -> Message:
        return API[10].response(error_code=code, node_id=1, host="fake", port=9092)

    def on_ListGroups(self, request: Any, code: int) -> Message:
        groups = [ListedGroup(name, "consumer", self.state(name), "classic") for name in sorted(self.offsets)]
        return API[16].response(0, code, groups)

    def state(self, group: str) -> str:
        return "Stable" if self.members.get(group) else "Empty" if group in self.offsets else "Dead"

    def on_DescribeGroups(self, request: Any, code: int) -> Message:
        name = request.groups[0]
        shares = {member: self.assignments.get(member, b"") for member in self.members.get(name, ())}
        members = [DescribedGroupMember(m, None, "client", "/10.0.0.1", b"", share) for m, share in shares.items()]
        return API[15].response(0, [DescribedGroup(code, None, name, self.state(name), "consumer", "range", members)])

    def on_DeleteGroups(self, request: Any, code: int) -> Message:
        rows = []
        for name in request.groups_names:
            error = code or (0 if self.offsets.pop(name, None) is not None else errors.GROUP_ID_NOT_FOUND)
            rows.append(DeletableGroupResult(name, error))
        return API[42].response(0, rows)

    def on_OffsetFetch(self, request: Any, code: int) -> Message:
        group = request.groups[0]
        known = self.offsets.get(group.group_id, {})
        if group.topics is None:
            wanted = list(known)
        else:
            wanted = [(topic.name, p) for topic in group.topics for p in topic.partition_indexes]
        topics = [
            OffsetFetchResponseTopics(t, partitions=[OffsetFetchResponsePartitions(p, known.get((t, p), -1))]) for t, p in wanted
        ]
        return API[9].response(groups=[OffsetFetchResponseGroup(group.group_id, topics, code)])

    def on_OffsetCommit(self, request: Any, code: int) -> Message:
        topics = []
        for topic in request.topics:
            for p in topic.partitions:
                if not code:
                    self.offsets.setdefault(request.group_id, {})[topic.name, p.partition_index] = p.committed_offset
            rows = [OffsetCommitResponsePartition(p.partition_index, code) for p in topic.partitions]
            topics.append(OffsetCommitResponseTopic(topic.name, partitions=rows))
        return API[8].response(0, topics)

    def on_JoinGroup(self, request: Any, code: int) -> Message:
        if not request.member_id:
            return API[11].response(error_code=errors.MEMBER_ID_REQUIRED, member_id="m1")
        self.generation += not code
        self.members[request.group_id] = [request.member_id]
        member = JoinGroupResponseMember(request.member_id, None, request.protocols[0].metadata)
        me = request.member_id
        return API[11].response(0, code, self.generation, "consumer", "range", me, False, me, [member])

    def on_SyncGroup(self, request: Any, code: int) -> Message:
        for part in request.assignments:
            self.assignments[part.member_id] = bytes(part.assignment)
        return API[14].response(0, code, "consumer", "range", self.assignments.get(request.member_id, b""))

    def on_Heartbeat(self, request: Any, code: int) -> Message:
        return API[12].response(0, code)

    def on_LeaveGroup(self, request: Any, code: int) -> Message:
        self.members[request.group_id] = []
        return API[13].response(0, code)


class FakeLine:
    def __init__(self, kafka: FakeKafka) -> None:
        self.kafka = kafka

    def exchange(self, frame: Any, timeout_s: float) -> memoryview:
        return self.kafka.answer(b"".join(bytes(part) for part in frame))

    def close(self) -> None:
        pass


class FakeTerminal:
    """What `server.terminal.Terminal` is to a command. Time passes only by sleeping and by looking at the clock."""

    def __init__(self, kafka: FakeKafka | None = None, *, input: bytes | list[bytes] = b"", terminal: bool = False) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        self.env: dict[str, str] = {}
        self.kafka = kafka
        self.pieces = [input] if isinstance(input, bytes) else list(input)
        self.terminal = terminal
        self.answers: list[str] = []
        self.seconds = 0.0
        self.files: dict[str, str] = {}
        self.shields = 0

    def abandon_output(self) -> None:
        """There is no process whose end could complain."""

    def dial(self, host: str, port: int, timeout_s: float) -> Any:
        if self.kafka is None:
            raise ConnectionRefusedError(111, "Connection refused")
        return FakeLine(self.kafka)

    def is_terminal(self, stream: Any) -> bool:
        return self.terminal

    def input_is_terminal(self) -> bool:
        return self.terminal

    def width(self) -> int:
        return 100

    def read_input(self) -> bytes:
        assert not self.shields, "nothing can interrupt a wait for input that is shielded"
        piece = self.pieces.pop(0) if self.pieces else b""
        if piece == b"^C":
            raise KeyboardInterrupt
        return piece

    def reader_has_gone(self) -> bool:
        return False

    def ask(self, question: str) -> str:
        self.err.write(question)
        return self.answers.pop(0)

    def read_text(self, path: str) -> str:
        if path not in self.files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return self.files[path]

    def command_name(self) -> str:
        return "headrace"

    def now_ms(self) -> int:
        return NOW_MS + int(self.seconds * 1000)

    def monotonic_s(self) -> float:
        self.seconds += 0.01
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def chance(self, end: int) -> int:
        return 0

    def catch_interrupts(self) -> None:
        pass

    @contextmanager
    def shielded(self) -> Any:
        self.shields += 1
        try:
            yield
        finally:
            self.shields -= 1


class Ran:
    def __init__(self, status: int, terminal: FakeTerminal) -> None:
        self.status = status
        self.out = terminal.out.getvalue()
        self.err = terminal.err.getvalue()


def run(words: str | list[str], kafka: FakeKafka | None = None, *, terminal: FakeTerminal | None = None, **more: Any) -> Ran:
    """A whole command."""
    terminal = terminal or FakeTerminal(kafka, **more)
    status = main(words.split() if isinstance(words, str) else words, terminal)  # type: ignore[arg-type]
    return Ran(status, terminal)
