"""A small blocking Kafka client: what the commands need, on the broker's own codec.

One request at a time, one connection a broker, versions chosen from what the broker offers. Topics are called by name (the
versions that call them by id are left out), answers that only mean "not yet" are asked again for a few seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from headrace.base.errors import ProtocolError
from headrace.base.files import Buffer
from headrace.cli.errors import NO_BROKER, CliError, Trouble, bad_value
from headrace.cli.refusals import PASSING, refusal
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.codec import decode_response, encode_request
from headrace.protocols.kafka.messages import API, Message
from headrace.protocols.kafka.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from headrace.protocols.kafka.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from headrace.protocols.kafka.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from headrace.protocols.kafka.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from headrace.server.dial import Line
from headrace.server.terminal import Terminal

M = TypeVar("M", bound=Message)
Where = tuple[str, int]  # topic and partition

CLIENT_ID = "headrace-cli"
CONNECT_WAIT_S_MAX = 5.0
ANSWER_WAIT_S_MAX = 30.0
PASSING_WAIT_S_MAX = 15.0
PASSING_PAUSE_S = 0.2

API_VERSIONS, LIST_OFFSETS, METADATA, FIND_COORDINATOR = 18, 2, 3, 10
# From these on topics have ids in place of names.
BY_NAME_MAX = {0: 12, 1: 12, 8: 9, 9: 9}

EARLIEST, LATEST, MAX_TIMESTAMP = -2, -1, -3


@dataclass(slots=True)
class Offset:
    """What ListOffsets found: an offset, -1 where there is none, and its timestamp where one was asked for."""

    offset: int
    timestamp: int


def parse_server(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise bad_value(f"{text!r} is not HOST:PORT", "for example --server 127.0.0.1:9092")
    return host, int(port)


class Client:
    """Knows the brokers of one cluster by the address of one of them."""

    def __init__(self, terminal: Terminal, server: str) -> None:
        self.terminal = terminal
        self.server = parse_server(server)
        self.lines: dict[tuple[str, int], Line] = {}
        self.versions: dict[tuple[str, int], dict[int, tuple[int, int]]] = {}
        self.nodes: dict[int, tuple[str, int]] = {}
        self.leaders: dict[Where, int] = {}
        self.coordinators: dict[str, tuple[str, int]] = {}
        self.correlation_id = 0

    def close(self) -> None:
        for line in self.lines.values():
            line.close()
        self.lines.clear()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- one request -------------------------------------------------------------------------------------------------

    def call(
        self,
        api_key: int,
        request: Message,
        answer: type[M],
        *,
        at: tuple[str, int] | None = None,
        version_max: int = 32767,
        wait_s: float = ANSWER_WAIT_S_MAX,
    ) -> M:
        """Ask one broker (any, without `at`) and decode its answer."""
        version = self.version(api_key, at, version_max)
        found = self.exchange(at or self.server, api_key, version, request, wait_s)
        assert isinstance(found, answer), (found, answer)
        return found

    def version(self, api_key: int, at: tuple[str, int] | None = None, version_max: int = 32767) -> int:
        """The newest version that both sides speak."""
        address = at or self.server
        offered = self.versions.get(address)
        if offered is None:
            found = self.exchange(address, API_VERSIONS, 0, ApiVersionsRequest(), ANSWER_WAIT_S_MAX)
            assert isinstance(found, ApiVersionsResponse)
            if found.error_code:
                raise refusal(found.error_code, f"{join(address)} does not say which versions it speaks")
            offered = self.versions[address] = {row.api_key: (row.min_version, row.max_version) for row in found.api_keys}
        api = API[api_key]
        low, high = offered.get(api_key, (0, -1))
        best = min(high, api.max_version, version_max, BY_NAME_MAX.get(api_key, 32767))
        if best < max(low, api.min_version):
            raise CliError(
                Trouble.NO_COMMON_VERSION,
                f"the broker at {join(address)} and this command have no version of {api.name} in common",
                evidence=f"it offers {low} to {high}, here are {api.min_version} to {min(api.max_version, version_max)}"
                if high >= low
                else f"it does not offer {api.name} at all",
                likely="the broker is much older or much newer than this command, or does not have the feature",
                next="headrace --version",
            )
        return best

    def exchange(self, address: tuple[str, int], api_key: int, version: int, request: Message, wait_s: float) -> Message:
        line = self.line(address)
        self.correlation_id += 1
        frame = cast(Sequence[Buffer], encode_request(api_key, version, self.correlation_id, CLIENT_ID, request))
        name = API[api_key].name
        try:
            correlation_id, message = decode_response(api_key, version, line.exchange(frame, wait_s))
            if correlation_id != self.correlation_id:
                raise ProtocolError(f"answer {correlation_id} to request {self.correlation_id}")
        except TimeoutError as error:
            self.lines.pop(address, None)
            raise CliError(
                Trouble.BROKER_SILENT,
                f"{join(address)} did not answer {name} within {wait_s:g} s",
                evidence=str(error) or "timed out",
                likely="the broker is overloaded or stopped, or what listens there is no broker",
                next="look into the broker's log",
                status=NO_BROKER,
            ) from None
        except ProtocolError as error:
            self.lines.pop(address, None)
            raise CliError(
                Trouble.NOT_KAFKA,
                f"what answers at {join(address)} does not speak Kafka's protocol",
                evidence=f"{name} version {version}: {error}",
                likely="another service listens on that port, or it wants TLS",
                next="check --server; headrace serve prints the address it listens on",
                status=NO_BROKER,
            ) from None
        except OSError as error:
            self.lines.pop(address, None)
            raise CliError(
                Trouble.BROKER_HUNG_UP,
                f"{join(address)} closed the connection instead of answering {name}",
                evidence=f"{name} version {version}: {error}",
                likely="the broker was stopped, what listens there is no broker, or a limit was passed",
                next="look into the broker's log",
                status=NO_BROKER,
            ) from None
        except BaseException:
            self.lines.pop(address, None)
            raise
        return message

    def line(self, address: tuple[str, int]) -> Line:
        line = self.lines.get(address)
        if line is None:
            try:
                line = self.terminal.dial(*address, CONNECT_WAIT_S_MAX)
            except OSError as error:
                raise CliError(
                    Trouble.NO_BROKER,
                    f"no broker answers at {join(address)}",
                    evidence=f"connect: {error}",
                    likely="no broker runs there, it listens on another address, or a firewall lies between",
                    next="headrace serve starts one; --server HOST:PORT (or HEADRACE_SERVER) names another",
                    status=NO_BROKER,
                ) from None
            self.lines[address] = line
        return line

    def deadline(self) -> float:
        return self.terminal.monotonic_s() + PASSING_WAIT_S_MAX

    def passing(self, error_code: int, deadline_s: float) -> bool:
        """Whether to ask again; waits a moment before it says yes."""
        if error_code not in PASSING or self.terminal.monotonic_s() > deadline_s:
            return False
        self.terminal.sleep(PASSING_PAUSE_S)
        return True

    # --- what every command asks -------------------------------------------------------------------------------------

    def metadata(self, topics: Sequence[str] | None, *, create: bool = False) -> MetadataResponse:
        """Topics (all of them for None) as the brokers see them, errors included. Learns the brokers' addresses."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        answer = self.call(METADATA, MetadataRequest(wanted, create), MetadataResponse)
        if answer.error_code:
            raise refusal(answer.error_code, "the broker does not tell about its topics")
        self.nodes = {broker.node_id: (broker.host, broker.port) for broker in answer.brokers}
        for topic in answer.topics:
            for partition in topic.partitions:
                if topic.name is not None:
                    self.leaders[topic.name, partition.partition_index] = partition.leader_id
        return answer

    def topics(self, names: Sequence[str], *, create: bool = False) -> list[MetadataResponseTopic]:
        """These topics, each with a leader for every partition; an error where one does not exist."""
        deadline_s = self.deadline()
        while True:
            found = self.metadata(names, create=create).topics
            codes = [t.error_code for t in found] + [p.error_code for t in found for p in t.partitions if p.leader_id < 0]
            failed = next((code for code in codes if code), 0)
            unknown_yet = create and failed == errors.UNKNOWN_TOPIC_OR_PARTITION and self.terminal.monotonic_s() <= deadline_s
            if not failed:
                return sorted(found, key=lambda topic: names.index(topic.name or ""))
            if unknown_yet:
                self.terminal.sleep(PASSING_PAUSE_S)
            elif not self.passing(failed, deadline_s):
                break
        for topic in found:
            if topic.error_code:
                raise refusal(topic.error_code, f"topic {topic.name!r} cannot be used", name=topic.name or "NAME")
        raise CliError(
            Trouble.NO_LEADER,
            "a partition has no leader",
            evidence=", ".join(f"{t.name}-{p.partition_index}" for t in found for p in t.partitions if p.leader_id < 0),
            likely="the broker that keeps it is down",
            next="headrace topic describe " + " ".join(names),
        )

    def leader(self, where: Where) -> tuple[str, int]:
        return self.nodes[self.leaders[where]]

    def by_leader(self, wheres: Iterable[Where]) -> Mapping[tuple[str, int], dict[str, list[int]]]:
        """Partitions grouped by the broker to ask, then by topic."""
        grouped: dict[tuple[str, int], dict[str, list[int]]] = {}
        for topic, partition in sorted(wheres):
            grouped.setdefault(self.leader((topic, partition)), {}).setdefault(topic, []).append(partition)
        return grouped

    def list_offsets(self, timestamps: Mapping[Where, int]) -> dict[Where, Offset]:
        """The first offset at or after a timestamp, or EARLIEST, LATEST, MAX_TIMESTAMP, for each partition."""
        found: dict[Where, Offset] = {}
        missing = dict(timestamps)
        deadline_s = self.deadline()
        while missing:
            failed: dict[Where, int] = {}
            for address, topics in self.by_leader(missing).items():
                asked = [
                    ListOffsetsTopic(topic, [ListOffsetsPartition(p, -1, missing[topic, p]) for p in partitions])
                    for topic, partitions in topics.items()
                ]
                answer = self.call(LIST_OFFSETS, ListOffsetsRequest(-1, 0, asked), ListOffsetsResponse, at=address)
                for topic in answer.topics:
                    for p in topic.partitions:
                        if p.error_code:
                            failed[topic.name, p.partition_index] = p.error_code
                        else:
                            found[topic.name, p.partition_index] = Offset(p.offset, p.timestamp)
            missing = {where: missing[where] for where in failed}
            for where, code in failed.items():
                if not self.passing(code, deadline_s):
                    raise refusal(code, f"{where[0]}-{where[1]} does not tell its offsets", name=where[0])
                self.metadata(sorted({topic for topic, _ in missing}))
                break
        return found

    def coordinator(self, group: str) -> tuple[str, int]:
        known = self.coordinators.get(group)
        if known is not None:
            return known
        deadline_s = self.deadline()
        while True:
            answer = self.call(FIND_COORDINATOR, FindCoordinatorRequest(group), FindCoordinatorResponse, version_max=3)
            if not answer.error_code:
                self.coordinators[group] = (answer.host, answer.port)
                return self.coordinators[group]
            if not self.passing(answer.error_code, deadline_s):
                raise refusal(answer.error_code, f"no coordinator for group {group!r}", message=answer.error_message, name=group)


def join(address: tuple[str, int]) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
