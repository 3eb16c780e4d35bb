"""The stage for stories about groups: a host without a network, a log in memory, a clock that the script moves.

A story is a text file. A line that begins with `> ` is a command, the lines below it are what comes out, `#` begins a
comment. `HEADRACE_STORIES=write pytest tests/stories` writes what came out into the files; then read the difference.

    settings session_timeout_ms_min=100    first of all, if at all: fields of GroupSettings
    join a [topics=t,u] [protocols=range,sticky] [instance=i] [session=10000] [rebalance=30000] [member=ID|-] [old|v5] [type=T]
    sync a [plan=a:t0+t1,b:t2] [gen=N] [member=ID] [protocol=P]
    heartbeat a [gen=N] [member=ID] [instance=I]
    leave a b … | leave instance=i         all in one request
    commit a t/0=5 … [gen=N] [member=ID] [instance=I] [meta=TEXT] [retention=MS]     `commit - t/0=5`: by nobody
    fetch t/0 … | fetch                    (all)
    delete-offsets t/0 … | delete-group | describe | list [STATE] | forget-topic t
    wait MS                                ring every alarm on the way
    hold | flush                           the log keeps what is appended to itself, and commits it
    crash                                  what was not committed is lost; load again
    snapshot                               write the shortest log; drop what was there

`old` is a client from before member ids were asked for, `v5` one that cannot skip the plan. A client remembers the id and
generation that it was given, and its options; `member=-` forgets the id (a process that was started again). Protocols are
offered best first.
What comes out: `log …` for each record appended, then `name: …` for each answer, by the client that asked.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from headrace.base.errors import Refused
from headrace.groups.coordinator import Coordinator
from headrace.groups.decision import (
    Alive,
    Committed,
    Decision,
    DescribedGroups,
    FetchedOffsets,
    GroupsDeleted,
    Joined,
    JoinRefused,
    Left,
    ListedGroups,
    OffsetsDeleted,
    Reply,
    Synced,
    When,
)
from headrace.groups.facts import Fact, GroupForgotten, GroupStored, OffsetCommitted, OffsetForgotten, encode_fact, is_durable
from headrace.groups.requests import (
    CommitRequest,
    HeartbeatRequest,
    JoinRequest,
    Leaver,
    LeaveRequest,
    SyncRequest,
    TopicCommit,
    TopicPartitions,
)
from headrace.groups.settings import GroupSettings

GROUP = "g"


@dataclass(slots=True)
class Client:
    name: str
    member_id: str = ""
    instance_id: str | None = None
    generation: int = -1
    ids: int = 0
    topics: str = "t"
    protocols: str = "range"
    session: str = "10000"
    rebalance: str = "30000"


def subscription(topics: list[str], protocol: str) -> bytes:
    """As consumers write it; the protocol's name stands where they put their own data."""
    names = b"".join(struct.pack(">h", len(topic)) + topic.encode() for topic in topics)
    data = protocol.encode()
    return struct.pack(">hi", 0, len(topics)) + names + struct.pack(">i", len(data)) + data


class Stage:
    def __init__(self) -> None:
        self.settings = GroupSettings()
        self.machine = Coordinator(self.settings)
        self.now_ms = 0
        self.records: list[tuple[bytes, bytes | None]] = []
        self.committed = 0
        self.holds = False
        self.held: list[tuple[int, Reply]] = []
        self.clients: dict[str, Client] = {}
        self.asked: dict[int, str] = {}
        self.waiters = 0
        self.out: list[str] = []

    def run(self, command: str) -> list[str]:
        self.out = []
        verb, *words = command.split()
        options = dict(word.split("=", 1) for word in words if "=" in word and "/" not in word)
        plain = [word for word in words if "=" not in word or "/" in word]
        getattr(self, "do_" + verb.replace("-", "_"))(plain, options)
        self.tick()
        return self.out

    # The host -------------------------------------------------------------------------------------------------------

    def waiter(self, name: str) -> int:
        self.waiters += 1
        self.asked[self.waiters] = name
        return self.waiters

    def carry_out(self, decision: Decision) -> None:
        for fact in decision.facts:
            if is_durable(fact):
                assert isinstance(fact, OffsetCommitted | OffsetForgotten | GroupStored | GroupForgotten)
                self.records.append(encode_fact(fact))
                self.out.append("log " + show_fact(fact))
        position = len(self.records)
        self.machine.apply(decision.facts, position)
        if not self.holds:
            self.committed = position
        for reply in decision.replies:
            needs = {When.NOW: 0, When.SETTLED: decision.position, When.APPENDED: position}[reply.when]
            self.held.append((needs, reply))
        self.answer()

    def answer(self) -> None:
        ready = [reply for needs, reply in self.held if needs <= self.committed]
        self.held = [(needs, reply) for needs, reply in self.held if needs > self.committed]
        for reply in ready:
            name = self.asked.pop(reply.waiter)
            client = self.clients.get(name)
            if client is not None and isinstance(reply.result, Joined | JoinRefused) and reply.result.member_id:
                client.member_id = reply.result.member_id
            if client is not None and isinstance(reply.result, Joined):
                client.generation = reply.result.generation
            self.out += [f"{name}: {line}" for line in show_result(reply.result)]

    def tick(self) -> None:
        for _ in range(1000):
            deadline_ms = self.machine.deadline_ms()
            if deadline_ms is None or deadline_ms > self.now_ms:
                return
            self.carry_out(self.machine.tick(self.now_ms))
        raise AssertionError("the alarms never stop")

    # Commands -------------------------------------------------------------------------------------------------------

    def do_settings(self, plain: list[str], options: dict[str, str]) -> None:
        self.settings = GroupSettings(**{name: int(value) for name, value in options.items()})
        self.machine = Coordinator(self.settings)

    def client(self, name: str, options: dict[str, str]) -> Client:
        client = self.clients.setdefault(name, Client(name))
        if "member" in options:
            client.member_id = "" if options["member"] == "-" else options["member"]
        if "instance" in options:
            client.instance_id = options["instance"]
        return client

    def do_join(self, plain: list[str], options: dict[str, str]) -> None:
        client = self.client(plain[0], options)
        for option in ("topics", "protocols", "session", "rebalance"):
            setattr(client, option, options.get(option, getattr(client, option)))
        client.ids += 1
        topics = client.topics.split(",")
        protocols = [name for name in client.protocols.split(",") if name]
        request = JoinRequest(
            GROUP,
            client.member_id,
            client.instance_id,
            f"{client.name}-client",
            "/127.0.0.1",
            options.get("type", "consumer"),
            tuple((name, subscription(topics, name)) for name in protocols),
            int(client.session),
            int(client.rebalance),
            id_required="old" not in plain,
            can_skip_plan="v5" not in plain and "old" not in plain,
        )
        new_id = f"{client.name}-{client.ids}"
        self.carry_out(self.machine.join(request, self.now_ms, self.waiter(client.name), new_id))

    def do_sync(self, plain: list[str], options: dict[str, str]) -> None:
        client = self.client(plain[0], options)
        plan = []
        for part in filter(None, options.get("plan", "").split(",")):
            name, _, assignment = part.partition(":")
            member_id = self.clients[name].member_id if name in self.clients else name
            plan.append((member_id, assignment.encode()))
        generation = int(options.get("gen", client.generation))
        protocol = options.get("protocol")
        request = SyncRequest(GROUP, client.member_id, client.instance_id, generation, "consumer", protocol, plan)
        self.carry_out(self.machine.sync(request, self.now_ms, self.waiter(client.name)))

    def do_heartbeat(self, plain: list[str], options: dict[str, str]) -> None:
        client = self.client(plain[0], options)
        generation = int(options.get("gen", client.generation))
        request = HeartbeatRequest(GROUP, client.member_id, client.instance_id, generation)
        self.carry_out(self.machine.heartbeat(request, self.now_ms, self.waiter(client.name)))

    def do_leave(self, plain: list[str], options: dict[str, str]) -> None:
        leavers = [Leaver(self.clients[name].member_id, self.clients[name].instance_id) for name in plain]
        if "instance" in options:
            leavers.append(Leaver("", options["instance"]))
        if "member" in options:
            leavers.append(Leaver(options["member"]))
        self.carry_out(self.machine.leave(LeaveRequest(GROUP, leavers), self.now_ms, self.waiter(plain[0] if plain else "admin")))

    def do_commit(self, plain: list[str], options: dict[str, str]) -> None:
        name, *offsets = plain
        client = Client("-") if name == "-" else self.client(name, options)
        generation = int(options.get("gen", client.generation))
        topics: dict[str, list[tuple[int, int, int, str]]] = {}
        for word in offsets:
            place, _, offset = word.partition("=")
            topic, partition = place.split("/")
            topics.setdefault(topic, []).append((int(partition), int(offset), -1, options.get("meta", "")))
        commits = [TopicCommit(topic, partitions) for topic, partitions in topics.items()]
        retention_ms = int(options.get("retention", -1))
        request = CommitRequest(GROUP, client.member_id, client.instance_id, generation, commits, retention_ms)
        self.carry_out(self.machine.commit(request, self.now_ms, self.waiter(name)))

    def do_fetch(self, plain: list[str], options: dict[str, str]) -> None:
        topics = places(plain) if plain else None
        self.carry_out(self.machine.fetch_offsets(GROUP, topics, self.waiter("admin")))

    def do_delete_offsets(self, plain: list[str], options: dict[str, str]) -> None:
        self.carry_out(self.machine.delete_offsets(GROUP, places(plain), self.waiter("admin")))

    def do_delete_group(self, plain: list[str], options: dict[str, str]) -> None:
        self.carry_out(self.machine.delete_groups([GROUP], self.waiter("admin")))

    def do_describe(self, plain: list[str], options: dict[str, str]) -> None:
        self.carry_out(self.machine.describe([GROUP], self.waiter("admin")))

    def do_list(self, plain: list[str], options: dict[str, str]) -> None:
        self.carry_out(self.machine.list_groups(plain, [], self.waiter("admin")))

    def do_forget_topic(self, plain: list[str], options: dict[str, str]) -> None:
        self.carry_out(self.machine.forget_topics(plain))

    def do_wait(self, plain: list[str], options: dict[str, str]) -> None:
        until_ms = self.now_ms + int(plain[0])
        while True:
            deadline_ms = self.machine.deadline_ms()
            if deadline_ms is None or deadline_ms > until_ms:
                break
            self.now_ms = max(self.now_ms, deadline_ms)
            before = len(self.out)
            self.tick()
            self.out[before:] = [f"{line}   (at {self.now_ms})" for line in self.out[before:]]
        self.now_ms = until_ms

    def do_hold(self, plain: list[str], options: dict[str, str]) -> None:
        self.holds = True

    def do_flush(self, plain: list[str], options: dict[str, str]) -> None:
        self.holds = False
        self.committed = len(self.records)
        self.answer()

    def do_crash(self, plain: list[str], options: dict[str, str]) -> None:
        del self.records[self.committed :]
        self.holds = False
        self.held = []
        self.asked = {}
        self.load()

    def do_snapshot(self, plain: list[str], options: dict[str, str]) -> None:
        before = len(self.records)
        self.records = [encode_fact(fact) for fact in self.machine.snapshot()]
        self.committed = len(self.records)
        self.out.append(f"log of {before} records is now {len(self.records)}")
        self.load()

    def load(self) -> None:
        self.machine = Coordinator(self.settings)
        for index, (key, value) in enumerate(self.records):
            self.machine.replay(key, value, index + 1)
        self.carry_out(self.machine.loaded(self.now_ms))


def places(words: list[str]) -> list[TopicPartitions]:
    topics: dict[str, list[int]] = {}
    for word in words:
        topic, partition = word.split("/")
        topics.setdefault(topic, []).append(int(partition))
    return [TopicPartitions(topic, partitions) for topic, partitions in topics.items()]


def show_fact(fact: Fact) -> str:
    match fact:
        case OffsetCommitted():
            return f"offset {fact.topic}/{fact.partition}={fact.offset}"
        case OffsetForgotten():
            return f"forgot {fact.topic}/{fact.partition}"
        case GroupForgotten():
            return "forgot group"
        case GroupStored(members=()):
            return f"stored gen={fact.generation} empty"
        case GroupStored():
            members = " ".join(f"{m.member_id}:{m.assignment.decode() or '-'}" for m in fact.members)
            return f"stored gen={fact.generation} {fact.protocol} leader={fact.leader} {members}"
    raise AssertionError(fact)


def show_refused(refused: Refused) -> str:
    return refused.code.value


def show_result(result: object) -> list[str]:
    match result:
        case JoinRefused(member_id=member_id) if member_id:
            return [f"{show_refused(result)} ({member_id})"]
        case Refused():
            return [show_refused(result)]
        case Joined():
            members = " ".join(member_id for member_id, _, _ in result.members)
            lead = f" leads: {members}" if members else f" leader={result.leader}"
            skip = " skip plan" if result.skip_plan else ""
            return [f"joined {result.member_id} gen={result.generation} {result.protocol}{lead}{skip}"]
        case Synced():
            return [f"synced {result.assignment.decode() or '-'}"]
        case Alive():
            return ["alive"]
        case Left():
            return [f"left {m or i} {'ok' if refused is None else show_refused(refused)}" for m, i, refused in result.members]
        case Committed() | OffsetsDeleted():
            word = "committed" if isinstance(result, Committed) else "deleted"
            return [
                f"{word if refused is None else show_refused(refused)} {topic}/{partition}"
                for topic, partitions in result.topics
                for partition, refused in partitions
            ] or ["nothing"]
        case FetchedOffsets():
            return [
                f"{topic}/{partition}={'none' if committed is None else committed.offset}"
                for topic, partitions in result.topics
                for partition, committed in partitions
            ] or ["nothing"]
        case GroupsDeleted():
            return ["deleted" if refused is None else show_refused(refused) for _, refused in result.groups]
        case DescribedGroups():
            return [show_described(described) for _, described in result.groups]
        case ListedGroups():
            return [f"{listed.group} {listed.state} {listed.protocol_type or '-'}" for listed in result.groups] or ["nothing"]
    raise AssertionError(result)


def show_described(described: object) -> str:
    if isinstance(described, Refused):
        return show_refused(described)
    members = " ".join(f"{m.member_id}:{m.assignment.decode() or '-'}" for m in described.members)  # type: ignore[attr-defined]
    return f"{described.state} {described.protocol or '-'} {members}".rstrip()  # type: ignore[attr-defined]


def play(story: str) -> str:
    """The story with what really came out."""
    stage = Stage()
    lines: list[str] = []
    for line in story.splitlines():
        if line.startswith("> "):
            lines.append(line)
            lines += stage.run(line[2:])
        elif not line.strip() or line.startswith("#"):
            lines.append(line)
    return "\n".join(lines) + "\n"
