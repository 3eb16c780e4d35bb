"""What must hold of the machine whatever is done to it.

The three properties of every machine (deciding changes nothing; replayed durable facts give the same durable state; a
snapshot and the rest are as good as all), the promises to the host (every waiter is answered once, alarms do not stay
behind), and safety: a model of a hundred lines that only listens to the answers, as clients do, and knows no more about
groups than that a partition has one owner per generation and that a fenced member cannot commit.
"""

from __future__ import annotations

import heapq
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from headrace.base.errors import Code, Refused
from headrace.groups.coordinator import Coordinator
from headrace.groups.decision import (
    Committed,
    Decision,
    Joined,
    JoinRefused,
    Left,
    Reply,
    Synced,
    When,
)
from headrace.groups.facts import GroupDropped, GroupForgotten, encode_fact, is_durable
from headrace.groups.group import Group, State
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

SETTINGS = GroupSettings(
    session_timeout_ms_min=1,
    members_max=4,
    initial_rebalance_delay_ms=100,
    new_member_join_timeout_ms=2000,
    offsets_retention_ms=3000,
    offsets_check_ms=500,
)
INSTANCES = (("g", None), ("g", None), ("g", "A"), ("g", "A"), ("g", "B"), ("h", None))
PARTITIONS = ("t0", "t1", "t2")


def everything(machine: Coordinator) -> Any:
    """All there is in a machine, as plain values."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return [(key, plain(item)) for key, item in value.items()]
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        return [plain(getattr(value, name)) for name in slots] if slots else value

    return plain(machine.groups), list(machine.alarms), dict(machine.armed), machine.position


def durable(machine: Coordinator) -> Any:
    facts = machine.snapshot()
    return sorted((encode_fact(fact) for fact in facts), key=lambda pair: pair[0])


def check_group(group: Group) -> None:
    """The invariants that are written at the fields."""
    members = group.members
    assert group.instances == {m.instance_id: m.member_id for m in members.values() if m.instance_id is not None}
    supporters: dict[str, int] = {}
    for member in members.values():
        for name, _ in member.protocols:
            supporters[name] = supporters.get(name, 0) + 1
    assert group.supporters == supporters
    assert group.awaiting_join == sum(m.join_waiter is not None for m in members.values())
    assert group.leader in members if members else group.leader is None
    assert not members.keys() & group.pending.keys()
    assert group.deadlines.keys() == members.keys() | group.pending.keys()
    assert group.unsynced.keys() <= members.keys()
    assert (group.join_deadline_ms is not None) == (group.state is State.PREPARING)
    assert (group.sync_deadline_ms is not None) == bool(group.unsynced)
    assert group.wake_ms <= group.alarm_ms(group.check_ms)
    if group.state is State.EMPTY:
        assert not members
    if group.state in (State.COMPLETING, State.STABLE):
        assert members and all(m.join_waiter is None for m in members.values())
        assert all(group.protocol in dict(m.protocols) for m in members.values())
    if group.state is not State.COMPLETING:
        assert all(m.sync_waiter is None for m in members.values())


class Client:
    def __init__(self, group: str, instance_id: str | None) -> None:
        self.group = group
        self.instance_id = instance_id
        self.member_id = ""
        self.generation = -1
        self.leads: list[str] | None = None  # the members to plan for
        self.next = "join"  # what a well-behaved client would do


class Safety:
    """What clients may conclude from the answers alone. A group's generations start anew only with a crash."""

    def __init__(self) -> None:
        self.generation: dict[str, int] = {}
        self.owners: dict[tuple[str, int], dict[str, str]] = {}  # group and generation -> partition -> member
        self.fenced: set[tuple[str, str]] = set()  # group and member id
        self.places: dict[tuple[str, str], str] = {}  # group and instance id -> member id

    def seen(self, client: Client) -> tuple[int, bool]:
        """What is known when a request is sent: the newest generation that anybody heard of; whether this id is fenced."""
        return self.generation.get(client.group, 0), (client.group, client.member_id) in self.fenced

    def joined(self, client: Client, joined: Joined, seen: tuple[int, bool]) -> None:
        assert joined.generation >= seen[0], "generations go up"
        self.generation[client.group] = max(joined.generation, self.generation.get(client.group, 0))
        assert not seen[1], "a fenced member is back"
        if client.instance_id is not None:
            before = self.places.get((client.group, client.instance_id))
            if before not in (None, joined.member_id):
                self.fenced.add((client.group, before))
            self.places[client.group, client.instance_id] = joined.member_id

    def synced(self, client: Client, instance: str | None, assignment: bytes) -> None:
        owners = self.owners.setdefault((client.group, client.generation), {})
        for partition in filter(None, assignment.decode().split("+")):
            owner = owners.setdefault(partition, instance or client.member_id)
            assert owner == (instance or client.member_id), f"{partition} has two owners in generation {client.generation}"

    def committed(self, generation: int, seen: tuple[int, bool]) -> None:
        assert not seen[1], "a fenced member has committed"
        assert generation < 0 or generation >= seen[0], "a commit of an old generation"

    def left(self, group: str, member_id: str) -> None:
        self.fenced.add((group, member_id))

    def ended(self, group: str) -> None:
        """A group that was empty for long is gone; the next one of that name counts from the start."""
        self.generation.pop(group, None)
        self.owners = {key: owners for key, owners in self.owners.items() if key[0] != group}

    def crashed(self) -> None:
        """Generations that were never stored may be used again, by other members."""
        self.generation.clear()
        self.owners.clear()
        self.fenced.clear()
        self.places.clear()


class Machine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.machine = Coordinator(SETTINGS)
        self.safety = Safety()
        self.now_ms = 1_000
        self.log: list[tuple[bytes, bytes | None]] = []
        self.committed = 0
        self.waiter = 0
        self.ids = 0
        self.waiting: dict[int, tuple[Client, Any, tuple[int, bool]]] = {}
        self.held: list[tuple[int, Reply]] = []
        self.kept_by: dict[int, int] = {}  # waiter of a commit -> the end of the log with its offsets
        self.zombies: list[tuple[str, str | None, str, int]] = []  # everybody that anybody ever was
        self.clients = [Client(group, instance) for group, instance in INSTANCES]

    # The host -------------------------------------------------------------------------------------------------------

    def decide(self, verb: str, *arguments: Any) -> Decision:
        before = everything(self.machine)
        decision: Decision = getattr(self.machine, verb)(*arguments)
        assert everything(self.machine) == before, "deciding changed something"
        again: Decision = getattr(self.machine, verb)(*arguments)
        assert again == decision, "the same question, another answer"
        return decision

    def ask(self, client: Client, verb: str, request: Any, *more: Any) -> None:
        self.waiter += 1
        self.waiting[self.waiter] = (client, request, self.safety.seen(client))
        decision = self.decide(verb, request, self.now_ms, self.waiter, *more)
        if verb == "commit" and any(map(is_durable, decision.facts)):
            self.kept_by[self.waiter] = len(self.log) + sum(map(is_durable, decision.facts))
        self.carry_out(decision)

    def carry_out(self, decision: Decision) -> None:
        self.log += [encode_fact(fact) for fact in decision.facts if is_durable(fact)]  # type: ignore[arg-type]
        position = len(self.log)
        self.machine.apply(decision.facts, position)
        for fact in decision.facts:
            if isinstance(fact, GroupForgotten | GroupDropped):
                self.safety.ended(fact.group)
        for reply in decision.replies:
            assert reply.waiter in self.waiting, "an answer for nobody, or a second one"
            needs = {When.NOW: 0, When.SETTLED: decision.position, When.APPENDED: position}[reply.when]
            assert needs <= position
            self.held.append((needs, reply))
        self.answer()

    def answer(self) -> None:
        for needs, reply in list(self.held):
            if needs <= self.committed:
                self.held.remove((needs, reply))
                assert self.kept_by.get(reply.waiter, 0) <= self.committed, "a commit was confirmed that a crash takes back"
                self.hear(*self.waiting.pop(reply.waiter), reply.result)

    def hear(self, client: Client, request: Any, seen: tuple[int, bool], result: Any) -> None:
        match result:
            case Joined():
                client.member_id, client.generation = result.member_id, result.generation
                self.zombies.append((client.group, client.instance_id, client.member_id, client.generation))
                client.leads = [member_id for member_id, _, _ in result.members] if not result.skip_plan else None
                client.next = "sync"
                self.safety.joined(client, result, seen)
            case JoinRefused(code=Code.MEMBER_ID_REQUIRED):
                client.member_id = result.member_id
                client.next = "join"
            case Synced() if request.generation == client.generation and request.member_id == client.member_id:
                self.safety.synced(client, client.instance_id, result.assignment)
                client.next = "commit"
            case Committed() if request.member_id == client.member_id:
                self.safety.committed(request.generation, seen)
            case Refused() if getattr(request, "member_id", None) == client.member_id:
                client.next = "join"
                if result.code in (Code.UNKNOWN_MEMBER, Code.FENCED_INSTANCE):
                    client.member_id, client.generation = "", -1
            case Left() if request is not None:
                for member_id, _, refused in result.members:
                    if refused is None:
                        self.safety.left(request.group, member_id)
            case _:
                pass

    # What may happen ------------------------------------------------------------------------------------------------

    clients_at = st.integers(0, len(INSTANCES) - 1)

    @rule(order=st.lists(clients_at, min_size=3, max_size=30), flush=st.booleans())
    def go_on(self, order: list[int], flush: bool) -> None:
        """Clients that behave: each does what comes next, where it does not wait."""
        for at in order:
            client = self.clients[at]
            if client.next == "join":
                self.join(at, ("range", "sticky"), False)
            elif client.next == "sync":
                self.sync(at, 0)
            else:
                self.heartbeat(at, 0)
                self.commit(at, 0, at % 3, self.waiter)
            if flush:
                self.flush()
                self.wait(40)

    @rule(at=clients_at, protocols=st.sampled_from([("range",), ("range", "sticky"), ("sticky", "range")]), old=st.booleans())
    def join(self, at: int, protocols: tuple[str, ...], old: bool) -> None:
        client = self.clients[at]
        if self.waits(client):
            return
        self.ids += 1
        offered = tuple((name, b"\0\0\0\0\0\1\0\1t" + bytes([at % 2])) for name in protocols)
        request = JoinRequest(
            client.group, client.member_id, client.instance_id, "c", "/h", "consumer", offered, 1000, 800, not old, not old
        )
        self.ask(client, "join", request, f"m{self.ids}")

    def waits(self, client: Client) -> bool:
        return any(other is client for other, _, _ in self.waiting.values())

    @rule(at=clients_at, shift=st.integers(0, 3))
    def sync(self, at: int, shift: int) -> None:
        client = self.clients[at]
        plan: list[tuple[str, bytes]] = []
        if client.leads:
            parts: dict[str, list[str]] = {member_id: [] for member_id in client.leads}
            for index, partition in enumerate(PARTITIONS):
                parts[client.leads[(index + shift) % len(client.leads)]].append(partition)
            plan = [(member_id, "+".join(names).encode()) for member_id, names in parts.items()]
        self.ask(client, "sync", SyncRequest(client.group, client.member_id, client.instance_id, client.generation, plan=plan))

    @rule(at=clients_at, old=st.integers(0, 1))
    def heartbeat(self, at: int, old: int) -> None:
        client = self.clients[at]
        generation = client.generation - old
        self.ask(client, "heartbeat", HeartbeatRequest(client.group, client.member_id, client.instance_id, generation))

    @rule(at=clients_at, old=st.integers(0, 1), partition=st.integers(0, 2), offset=st.integers(0, 9))
    def commit(self, at: int, old: int, partition: int, offset: int) -> None:
        client = self.clients[at]
        topics = [TopicCommit("t", [(partition, offset, -1, "")]), TopicCommit("u", [(0, offset, 2, "m")])]
        generation = client.generation - old if client.generation >= 0 else -1
        self.ask(client, "commit", CommitRequest(client.group, client.member_id, client.instance_id, generation, topics))

    @precondition(lambda self: self.zombies)
    @rule(which=st.integers(0, 999), older=st.integers(0, 1))
    def haunt(self, which: int, older: int) -> None:
        """Somebody whom all believed gone does what it always did, or what it did a generation ago."""
        group, instance_id, member_id, generation = self.zombies[which % len(self.zombies)]
        zombie = Client(group, instance_id)
        zombie.member_id, zombie.generation = member_id, generation - older
        self.ask(zombie, "heartbeat", HeartbeatRequest(group, member_id, instance_id, zombie.generation))
        topics = [TopicCommit("t", [(0, 1, -1, "")])]
        self.ask(zombie, "commit", CommitRequest(group, member_id, instance_id, max(zombie.generation, 0), topics))

    @rule(at=clients_at)
    def leave(self, at: int) -> None:
        client = self.clients[at]
        if client.member_id:
            self.ask(client, "leave", LeaveRequest(client.group, [Leaver(client.member_id, client.instance_id)]))
        client.member_id, client.generation, client.next = "", -1, "join"

    @rule(at=clients_at)
    def forget_id(self, at: int) -> None:
        """The process is started again."""
        client = self.clients[at]
        client.member_id, client.generation, client.next = "", -1, "join"

    @rule(group=st.sampled_from("gh"))
    def fetch(self, group: str) -> None:
        self.waiter += 1
        self.waiting[self.waiter] = (Client(group, None), None, (0, False))
        self.carry_out(self.decide("fetch_offsets", group, None, self.waiter))

    @rule(group=st.sampled_from("gh"), topic=st.sampled_from("tu"))
    def administer(self, group: str, topic: str) -> None:
        for verb, arguments in (
            ("describe", ([group, "nobody"],)),
            ("list_groups", ([], [])),
            ("delete_offsets", (group, [TopicPartitions(topic, [0, 1])])),
            ("delete_groups", (["h", "h"],)),
        ):
            self.waiter += 1
            self.waiting[self.waiter] = (Client(group, None), None, (0, False))
            self.carry_out(self.decide(verb, *arguments, self.waiter))

    @rule(topic=st.sampled_from("tu"))
    def delete_topic(self, topic: str) -> None:
        self.carry_out(self.decide("forget_topics", [topic]))

    @rule(step_ms=st.sampled_from([0, 1, 50, 100, 400, 1000, 4000]))
    def wait(self, step_ms: int) -> None:
        self.now_ms += step_ms
        for _ in range(200):
            deadline_ms = self.machine.deadline_ms()
            if deadline_ms is None or deadline_ms > self.now_ms:
                break
            self.carry_out(self.decide("tick", self.now_ms))
        else:
            raise AssertionError("the alarms never stop")
        for group in self.machine.groups.values():
            assert group.alarm_ms(group.check_ms) > self.now_ms, "an alarm stayed behind"

    @rule()
    def flush(self) -> None:
        self.committed = len(self.log)
        self.answer()

    @rule()
    def check(self) -> None:
        self.replay_gives_the_same()
        self.snapshot_and_rest_are_all()

    @precondition(lambda self: self.log)
    @rule()
    def crash(self) -> None:
        del self.log[self.committed :]
        self.waiting.clear()
        self.held.clear()
        self.safety.crashed()
        self.machine = self.load(self.log)
        self.carry_out(self.decide("loaded", self.now_ms))

    # What must hold -------------------------------------------------------------------------------------------------

    def load(self, log: list[tuple[bytes, bytes | None]]) -> Coordinator:
        machine = Coordinator(SETTINGS)
        for index, (key, value) in enumerate(log):
            machine.replay(key, value, index + 1)
        return machine

    def teardown(self) -> None:
        self.replay_gives_the_same()
        self.snapshot_and_rest_are_all()

    def replay_gives_the_same(self) -> None:
        """And both are what Kafka's compaction of the log would leave: the last value of each key."""
        last = dict(self.log)
        kept = sorted((key, value) for key, value in last.items() if value is not None)
        assert durable(self.load(self.log)) == kept
        assert durable(self.machine) == kept

    def snapshot_and_rest_are_all(self) -> None:
        half = len(self.log) // 2
        short = [encode_fact(fact) for fact in self.load(self.log[:half]).snapshot()]
        assert durable(self.load(short + self.log[half:])) == durable(self.machine)
        assert len(short) <= half

    @invariant()
    def fields_keep_their_word(self) -> None:
        for group in self.machine.groups.values():
            check_group(group)
            assert self.machine.armed[group.group_id] <= group.wake_ms
        alarms = list(self.machine.alarms)
        heapq.heapify(alarms)
        assert all((self.machine.armed[name], name) in alarms for name in self.machine.groups)

    @invariant()
    def parked_waiters_are_known(self) -> None:
        held = {reply.waiter for _, reply in self.held}
        parked = [
            waiter
            for group in self.machine.groups.values()
            for member in group.members.values()
            for waiter in (member.join_waiter, member.sync_waiter)
            if waiter is not None
        ]
        assert len(set(parked)) == len(parked) and not held & set(parked)
        assert held | set(parked) == set(self.waiting), "somebody is never answered"


Machine.TestCase.settings = settings(
    max_examples=200, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
test_machine = Machine.TestCase
