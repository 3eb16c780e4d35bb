"""`headrace group …`

`reset` first makes a plan, one row a partition, from the group's offsets and the log's; `--plan` shows it and ends there.
Offsets are set topic by topic, each topic's in one request, so that Ctrl-C never leaves a topic between old and new.
"""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass

from headrace.cli.client import EARLIEST, LATEST, Client, Where, join
from headrace.cli.consume import FETCH
from headrace.cli.errors import DONE, FAILED, CliError, Trouble, bad_value
from headrace.cli.membership import commit, committed, read_assignment
from headrace.cli.output import Output
from headrace.cli.progress import Progress
from headrace.cli.refusals import name_of, refusal
from headrace.cli.topic import confirm, open_client
from headrace.cli.values import read_count, read_signed_span_ms, read_time_ms
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from headrace.protocols.kafka.messages.describe_groups import DescribedGroup, DescribeGroupsRequest, DescribeGroupsResponse
from headrace.protocols.kafka.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from headrace.protocols.kafka.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from headrace.records.record import read_batches, read_records
from headrace.server.terminal import Terminal

DESCRIBE_GROUPS, LIST_GROUPS, DELETE_GROUPS = 15, 16, 42
DESCRIBED_AT_ONCE_MAX = 100


def list_groups(args: Namespace, terminal: Terminal) -> int:
    rows: dict[str, dict[str, object]] = {}
    with open_client(args, terminal) as client:
        client.metadata(())
        for address in sorted(client.nodes.values()):
            answer = client.call(LIST_GROUPS, ListGroupsRequest(), ListGroupsResponse, at=address)
            if answer.error_code:
                raise refusal(answer.error_code, f"{join(address)} does not list its groups")
            for group in answer.groups:
                rows[group.group_id] = {
                    "group": group.group_id,
                    "state": group.group_state or None,
                    "protocol": group.protocol_type or None,
                    "coordinator": join(address),
                }
    Output(terminal, args.output).rows(
        [rows[group] for group in sorted(rows)], columns=["group", "state", "protocol", "coordinator"]
    )
    return DONE


def look_up(client: Client, group: str) -> DescribedGroup:
    deadline_s = client.deadline()
    while True:
        request = DescribeGroupsRequest([group])
        found = client.call(DESCRIBE_GROUPS, request, DescribeGroupsResponse, at=client.coordinator(group)).groups[0]
        if not found.error_code or found.error_code == errors.GROUP_ID_NOT_FOUND:
            return found
        if not client.passing(found.error_code, deadline_s):
            raise refusal(found.error_code, f"group {group!r} cannot be described", message=found.error_message, name=group)
        client.coordinators.pop(group, None)


def describe(args: Namespace, terminal: Terminal) -> int:
    output = Output(terminal, args.output)
    with open_client(args, terminal) as client:
        group = look_up(client, args.group)
        offsets = {where: offset for where, offset in committed(client, args.group, None).items() if offset >= 0}
        if not offsets and group.group_state in ("Dead", ""):
            raise refusal(errors.GROUP_ID_NOT_FOUND, f"there is no group {args.group!r}", name=args.group)
        holders: dict[Where, str] = {}
        members = []
        for member in group.members:
            share = read_assignment(member.member_assignment) if group.protocol_type == "consumer" else []
            holders |= dict.fromkeys(share, member.member_id)
            members.append(
                {
                    "member": member.member_id,
                    "instance": member.group_instance_id,
                    "client": member.client_id,
                    "host": member.client_host.removeprefix("/"),
                    "partitions": [f"{topic}-{partition}" for topic, partition in sorted(share)],
                }
            )
        everything = sorted(offsets.keys() | holders.keys())
        there = known_partitions(client, everything)
        ends = client.list_offsets({where: LATEST for where in everything if where in there})
    rows = []
    for where in everything:
        offset, end = offsets.get(where), ends.get(where)
        rows.append(
            {
                "topic": where[0],
                "partition": where[1],
                "offset": offset,
                "end": end.offset if end else None,
                "lag": max(0, end.offset - offset) if end and offset is not None else None,
                "member": holders.get(where),
            }
        )
    if output.json:
        output.value({"group": args.group, "state": group.group_state, "offsets": rows, "members": members})
        return DONE
    lag = sum(int(str(row["lag"])) for row in rows if row["lag"] is not None)
    title = f"{args.group}: {group.group_state}, {len(members)} member{'s' * (len(members) != 1)}, lag {lag}"
    output.rows(rows, columns=["topic", "partition", "offset", "end", "lag", "member"], title=title)
    if members:
        terminal.out.write("\n")
        output.rows(members, columns=["member", "instance", "client", "host", "partitions"])
    return DONE


def known_partitions(client: Client, wheres: list[Where]) -> set[Where]:
    """Those that exist and have a leader; the others' topics were deleted, or their broker is down."""
    topics = sorted({topic for topic, _ in wheres})
    if not topics:
        return set()
    found = client.metadata(topics).topics
    return {(t.name or "", p.partition_index) for t in found for p in t.partitions if p.leader_id >= 0}


# --- reset -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Move:
    """Where one partition's offset is and where it goes."""

    old: int  # -1: none
    start: int
    end: int
    new: int


def reset(args: Namespace, terminal: Terminal) -> int:
    ways = {
        "--to-offset": args.to_offset is not None,
        "--to-earliest": args.to_earliest,
        "--to-latest": args.to_latest,
        "--to-time": args.to_time is not None,
        "--by": args.by is not None,
    }
    given = [way for way, is_given in ways.items() if is_given]
    if len(given) != 1:
        what = f"{' and '.join(given)} exclude each other" if given else "it was not said where to"
        raise bad_value(what, f"give one of {', '.join(ways)}")
    output = Output(terminal, args.output)
    with open_client(args, terminal) as client:
        require_idle(client, args.group)
        moves = plan(client, args, terminal, choose(client, args))
        rows = [row(where, move) for where, move in sorted(moves.items())]
        changes = {where: move.new for where, move in moves.items() if move.new != move.old}
        if not args.plan:
            set_offsets(client, args.group, changes, terminal, quiet=output.json)
    verb = "would move" if args.plan else "moved"
    title = f"{verb} {len(changes)} of {len(moves)} offsets of {args.group}"
    output.rows(rows, columns=["topic", "partition", "offset", "new", "step", "start", "end"], title=title)
    if args.plan and not output.json:
        terminal.out.write("nothing was changed; the same command without --plan does it\n")
    return DONE


def row(where: Where, move: Move) -> dict[str, object]:
    return {
        "topic": where[0],
        "partition": where[1],
        "offset": move.old if move.old >= 0 else None,
        "new": move.new,
        "step": move.new - move.old if move.old >= 0 else None,
        "start": move.start,
        "end": move.end,
    }


def require_idle(client: Client, group: str) -> None:
    found = look_up(client, group)
    if found.group_state not in ("Empty", "Dead", ""):
        hosts = sorted({f"{m.client_id} at {m.client_host.removeprefix('/')}" for m in found.members})
        raise CliError(
            refusal(errors.NON_EMPTY_GROUP, "").code,
            f"group {group!r} has running consumers, so its offsets cannot be moved",
            evidence=f"it is {found.group_state} with {len(found.members)} members: {', '.join(hosts[:5])}",
            likely="they would commit their own offsets over the new ones",
            next=f"stop them, then try again; headrace group describe {group}",
        )


def choose(client: Client, args: Namespace) -> dict[Where, int]:
    """The partitions meant, with the group's offsets (-1 where it has none)."""
    known = {where: offset for where, offset in committed(client, args.group, None).items() if offset >= 0}
    if not args.topic:
        if args.partition:
            raise bad_value("--partition needs one --topic", "name the topic")
        if not known:
            raise CliError(
                Trouble.NO_OFFSETS,
                f"group {args.group!r} has no offsets to move",
                likely="the name is misspelled, or the group has not committed yet",
                next="headrace group list; with --topic offsets are set for a new group, too",
            )
        client.topics(sorted({topic for topic, _ in known}))
        return known
    topics = client.topics(list(dict.fromkeys(args.topic)))
    partitions = [read_count(text, "--partition") for text in args.partition]
    if partitions and len(topics) != 1:
        raise bad_value("--partition needs one --topic", "name one topic")
    wheres = [(t.name or "", p.partition_index) for t in topics for p in t.partitions]
    missing = [partition for partition in partitions if (topics[0].name, partition) not in wheres]
    if missing:
        raise bad_value(f"topic {args.topic[0]} has no partition {missing[0]}", f"it has {len(wheres)}, counted from 0")
    return {where: known.get(where, -1) for where in wheres if not partitions or where[1] in partitions}


def plan(client: Client, args: Namespace, terminal: Terminal, chosen: dict[Where, int]) -> dict[Where, Move]:
    """Every new offset lies within what the log holds."""
    starts = client.list_offsets(dict.fromkeys(chosen, EARLIEST))
    ends = client.list_offsets(dict.fromkeys(chosen, LATEST))
    moves = {where: Move(old, starts[where].offset, ends[where].offset, old) for where, old in chosen.items()}
    times: dict[Where, int] = {}
    for where, move in moves.items():
        if args.to_offset is not None:
            move.new = read_count(args.to_offset, "--to-offset")
        elif args.to_earliest:
            move.new = move.start
        elif args.to_latest:
            move.new = move.end
        elif args.to_time is not None:
            times[where] = read_time_ms(args.to_time, "--to-time", terminal.now_ms())
        elif args.by.lstrip("+-").isdigit():
            move.new = (move.old if move.old >= 0 else move.end) + int(args.by)
        else:
            span_ms = read_signed_span_ms(args.by, "--by")
            times[where] = max(0, stands_at_ms(client, where, move, terminal.now_ms()) + span_ms)
    for where, found in client.list_offsets(times).items():
        moves[where].new = found.offset if found.offset >= 0 else moves[where].end
    for move in moves.values():
        move.new = min(max(move.new, move.start), move.end)
    return moves


def stands_at_ms(client: Client, where: Where, move: Move, now_ms: int) -> int:
    """The timestamp of the record a group would read next; now, where it has read all."""
    at = max(move.old if move.old >= 0 else move.end, move.start)
    if at >= move.end:
        return now_ms
    asked = FetchTopic(where[0], partitions=[FetchPartition(where[1], fetch_offset=at, partition_max_bytes=1)])
    request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=1, topics=[asked])
    data = client.call(FETCH, request, FetchResponse, at=client.leader(where)).responses[0].partitions[0]
    if data.error_code:
        raise refusal(data.error_code, f"{where[0]}-{where[1]} cannot be read at offset {at}", name=where[0])
    view = data.records
    assert isinstance(view, memoryview | bytes | bytearray)
    for position, header in read_batches(view):
        for record in read_records(memoryview(view)[position : position + header.size], header):
            if record.offset >= at:
                return record.timestamp
    return now_ms


def set_offsets(client: Client, group: str, changes: dict[Where, int], terminal: Terminal, *, quiet: bool) -> None:
    topics = sorted({topic for topic, _ in changes})
    moved = 0
    try:
        with Progress(terminal, "reset", len(topics), "topics", quiet=quiet) as progress:
            for topic in topics:
                with terminal.shielded():
                    of_topic = {where: offset for where, offset in changes.items() if where[0] == topic}
                    for where, code in commit(client, group, of_topic).items():
                        what = f"the offset of {where[0]}-{where[1]} was not moved; {moved} of {len(topics)} topics are"
                        raise refusal(code, what, name=group)
                    moved += 1
                    progress.step(1, topic)
    except KeyboardInterrupt:
        terminal.err.write(f"interrupted: the offsets of {moved} of {len(topics)} topics are moved, the others are as they were\n")
        raise


def delete(args: Namespace, terminal: Terminal) -> int:
    names = list(dict.fromkeys(args.group))
    output = Output(terminal, args.output)
    rows: list[dict[str, object]] = []
    codes: list[int] = []
    confirm(args, terminal, f"Delete {', '.join(names[:5])}{' …' * (len(names) > 5)} and all offsets of theirs?")
    with open_client(args, terminal) as client:
        try:
            with Progress(terminal, "delete", len(names), "groups", quiet=output.json) as progress:
                for name in names:
                    with terminal.shielded():
                        codes.append(delete_one(client, name))
                        error = name_of(codes[-1]) if codes[-1] else None
                        rows.append({"group": name, "deleted": not codes[-1], "error": error})
                        progress.step(1, name)
        except KeyboardInterrupt:
            terminal.err.write(f"interrupted: {codes.count(0)} of {len(names)} groups are deleted\n")
            raise
    if len(names) == 1 and codes[0]:
        raise refusal(codes[0], f"group {names[0]!r} was not deleted", name=names[0])
    if output.json or len(rows) > 1:
        output.rows(rows, columns=["group", "deleted", "error"])
    else:
        output.say(f"deleted {names[0]}")
    return FAILED if any(codes) else DONE


def delete_one(client: Client, group: str) -> int:
    deadline_s = client.deadline()
    while True:
        request = DeleteGroupsRequest([group])
        result = client.call(DELETE_GROUPS, request, DeleteGroupsResponse, at=client.coordinator(group)).results[0]
        if not client.passing(result.error_code, deadline_s):
            return result.error_code
        client.coordinators.pop(group, None)
