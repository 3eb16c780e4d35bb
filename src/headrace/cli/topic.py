"""`headrace topic …`"""

from __future__ import annotations

from argparse import Namespace

from headrace.cli.client import EARLIEST, LATEST, Client
from headrace.cli.commands import SERVER_DEFAULT
from headrace.cli.errors import DONE, FAILED, CliError, Trouble, bad_value
from headrace.cli.output import Output
from headrace.cli.progress import Progress
from headrace.cli.refusals import name_of, refusal
from headrace.cli.values import read_count, read_setting
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from headrace.protocols.kafka.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from headrace.protocols.kafka.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from headrace.protocols.kafka.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
)
from headrace.protocols.kafka.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from headrace.server.terminal import Terminal

CREATE_TOPICS, DELETE_TOPICS, DESCRIBE_CONFIGS, CREATE_PARTITIONS, INCREMENTAL_ALTER_CONFIGS = 19, 20, 32, 37, 44
TOPIC_RESOURCE = 2
SET, UNSET = 0, 1
WORK_WAIT_MS_MAX = 25_000
DELETED_AT_ONCE_MAX = 20

SOURCES = {1: "topic", 2: "this node", 3: "all nodes", 4: "settings file", 5: "default", 6: "logger", 7: "client", 8: "group"}
DEFAULT_SOURCE = 5


def open_client(args: Namespace, terminal: Terminal) -> Client:
    return Client(terminal, args.server or terminal.env.get("HEADRACE_SERVER") or SERVER_DEFAULT)


def create(args: Namespace, terminal: Terminal) -> int:
    partitions = -1 if args.partitions is None else read_count(args.partitions, "--partitions", low=1)
    replicas = -1 if args.replicas is None else read_count(args.replicas, "--replicas", low=1)
    settings = [CreatableTopicConfig(*read_setting(text)) for text in args.set]
    with open_client(args, terminal) as client, terminal.shielded():
        topic = CreatableTopic(args.topic, partitions, replicas, (), settings)
        request = CreateTopicsRequest([topic], WORK_WAIT_MS_MAX)
        version_min_for_defaults = 4
        version = client.version(CREATE_TOPICS)
        if version < version_min_for_defaults and (partitions < 0 or replicas < 0):
            topic.num_partitions, topic.replication_factor = max(1, partitions), max(1, replicas)
        result = client.call(CREATE_TOPICS, request, CreateTopicsResponse).topics[0]
    if result.error_code:
        raise refusal(result.error_code, f"topic {args.topic!r} was not created", message=result.error_message, name=args.topic)
    made = result.num_partitions if result.num_partitions > 0 else topic.num_partitions
    Output(terminal, args.output).say(
        f"created {args.topic} with {made} partition{'s' * (made != 1)}", topic=args.topic, partitions=made, created=True
    )
    return DONE


def list_topics(args: Namespace, terminal: Terminal) -> int:
    with open_client(args, terminal) as client:
        found = client.metadata(None).topics
    rows = [
        {
            "topic": topic.name,
            "partitions": len(topic.partitions),
            "replicas": max((len(p.replica_nodes) for p in topic.partitions), default=0),
            "internal": topic.is_internal,
        }
        for topic in sorted(found, key=lambda topic: topic.name or "")
        if args.internal or not topic.is_internal
    ]
    columns = ["topic", "partitions", "replicas"] + (["internal"] if args.internal else [])
    Output(terminal, args.output).rows(rows, columns=columns)
    return DONE


def read_configs(client: Client, topic: str) -> list[DescribeConfigsResourceResult]:
    request = DescribeConfigsRequest([DescribeConfigsResource(TOPIC_RESOURCE, topic, None)])
    result = client.call(DESCRIBE_CONFIGS, request, DescribeConfigsResponse).results[0]
    if result.error_code:
        raise refusal(result.error_code, f"the settings of topic {topic!r} are not told", message=result.error_message, name=topic)
    return sorted(result.configs, key=lambda config: config.name)


def describe(args: Namespace, terminal: Terminal) -> int:
    output = Output(terminal, args.output)
    with open_client(args, terminal) as client:
        found = client.metadata([args.topic]).topics[0]
        if found.error_code:
            raise refusal(found.error_code, f"topic {args.topic!r} cannot be described", name=args.topic)
        alive = [(args.topic, p.partition_index) for p in found.partitions if p.leader_id >= 0]
        starts = client.list_offsets(dict.fromkeys(alive, EARLIEST))
        ends = client.list_offsets(dict.fromkeys(alive, LATEST))
        configs = read_configs(client, args.topic)
    rows = []
    for p in sorted(found.partitions, key=lambda p: p.partition_index):
        where = (args.topic, p.partition_index)
        start, end = starts.get(where), ends.get(where)
        rows.append(
            {
                "partition": p.partition_index,
                "leader": p.leader_id if p.leader_id >= 0 else None,
                "epoch": p.leader_epoch,
                "replicas": list(p.replica_nodes),
                "in_sync": list(p.isr_nodes),
                "start": start.offset if start else None,
                "end": end.offset if end else None,
                "records": end.offset - start.offset if start and end else None,
                "error": name_of(p.error_code) if p.error_code else None,
            }
        )
    settings = [
        {"setting": c.name, "value": None if c.is_sensitive else c.value, "source": SOURCES.get(c.config_source, "unknown")}
        for c in configs
        if args.all or c.config_source != DEFAULT_SOURCE
    ]
    if output.json:
        output.value(
            {
                "topic": args.topic,
                "id": str(found.topic_id),
                "internal": found.is_internal,
                "partitions": rows,
                "settings": settings,
            }
        )
        return DONE
    columns = ["partition", "leader", "epoch", "replicas", "in_sync", "start", "end", "records"]
    if any(row["error"] for row in rows):
        columns.append("error")
    output.rows(rows, columns=columns, title=f"{args.topic} ({found.topic_id})")
    if settings:
        terminal.out.write("\n")
        output.rows(settings, columns=["setting", "value", "source"])
    return DONE


def alter(args: Namespace, terminal: Terminal) -> int:
    changes = [AlterableConfig(name, SET, value) for name, value in map(read_setting, args.set)]
    changes += [AlterableConfig(name, UNSET, None) for name in args.unset]
    partitions = None if args.partitions is None else read_count(args.partitions, "--partitions", low=1)
    if not changes and partitions is None:
        raise bad_value("nothing to change was named", "give --partitions N, --set NAME=VALUE or --unset NAME")
    output = Output(terminal, args.output)
    done: list[str] = []
    with open_client(args, terminal) as client, terminal.shielded():
        # Both are checked before either is done, so that a wrong word changes nothing.
        for check_only in (True,) if args.plan else (True, False):
            if changes:
                resource = AlterConfigsResource(TOPIC_RESOURCE, args.topic, changes)
                answer = client.call(
                    INCREMENTAL_ALTER_CONFIGS,
                    IncrementalAlterConfigsRequest([resource], check_only),
                    IncrementalAlterConfigsResponse,
                ).responses[0]
                if answer.error_code:
                    raise refusal(
                        answer.error_code,
                        f"the settings of topic {args.topic!r} were not changed",
                        message=answer.error_message,
                        name=args.topic,
                    )
            if partitions is not None:
                more = CreatePartitionsTopic(args.topic, partitions, None)
                result = client.call(
                    CREATE_PARTITIONS, CreatePartitionsRequest([more], WORK_WAIT_MS_MAX, check_only), CreatePartitionsResponse
                ).results[0]
                if result.error_code:
                    raise refusal(
                        result.error_code,
                        f"topic {args.topic!r} was not given {partitions} partitions",
                        message=result.error_message,
                        name=args.topic,
                    )
    done += [f"{c.name}={c.value}" if c.config_operation == SET else f"{c.name} back to its default" for c in changes]
    done += [f"{partitions} partitions"] if partitions is not None else []
    verb = "would change" if args.plan else "changed"
    output.say(f"{verb} {args.topic}: {', '.join(done)}", topic=args.topic, changes=done, changed=not args.plan)
    return DONE


def confirm(args: Namespace, terminal: Terminal, question: str) -> None:
    """Asks where a person is there to answer; a script has said what it wants."""
    if args.yes or not terminal.input_is_terminal():
        return
    if terminal.ask(f"{question} [y/N] ").lower() not in ("y", "yes"):
        raise CliError(Trouble.NOTHING_DONE, "nothing was deleted", evidence="you did not say yes", next="--yes does not ask")


def delete(args: Namespace, terminal: Terminal) -> int:
    names = list(dict.fromkeys(args.topic))
    output = Output(terminal, args.output)
    with open_client(args, terminal) as client:
        found = {topic.name: topic for topic in client.metadata(names).topics}
        missing = [name for name in names if found[name].error_code]
        if missing:
            raise refusal(
                found[missing[0]].error_code, f"nothing was deleted: there is no topic {', '.join(missing)}", name=missing[0]
            )
        partitions = sum(len(found[name].partitions) for name in names)
        if args.plan:
            rows = [{"topic": name, "partitions": len(found[name].partitions)} for name in names]
            output.rows(rows, columns=["topic", "partitions"], title="would delete")
            return DONE
        confirm(args, terminal, f"Delete {', '.join(names[:5])}{' …' * (len(names) > 5)} ({partitions} partitions) for ever?")
        rows = []
        try:
            with Progress(terminal, "delete", len(names), "topics", quiet=output.json) as progress:
                for at in range(0, len(names), DELETED_AT_ONCE_MAX):
                    with terminal.shielded():
                        rows += delete_some(client, names[at : at + DELETED_AT_ONCE_MAX])
                        progress.step(len(names[at : at + DELETED_AT_ONCE_MAX]), f"up to {names[at]}")
        except KeyboardInterrupt:
            terminal.err.write(f"interrupted: {sum(row['deleted'] is True for row in rows)} of {len(names)} topics are deleted\n")
            raise
    failed = [row for row in rows if not row["deleted"]]
    if output.json or len(rows) > 1:
        output.rows(rows, columns=["topic", "deleted", "error"])
    elif not failed:
        output.say(f"deleted {names[0]}")
    if len(failed) == 1 and len(rows) == 1:
        raise refusal(
            int(str(failed[0]["error_code"])),
            f"topic {names[0]!r} was not deleted",
            message=str(failed[0]["message"] or ""),
            name=names[0],
        )
    return FAILED if failed else DONE


def delete_some(client: Client, names: list[str]) -> list[dict[str, object]]:
    states = [DeleteTopicState(name=name) for name in names]
    version = client.version(DELETE_TOPICS)
    request = DeleteTopicsRequest(states if version >= 6 else (), names if version < 6 else (), WORK_WAIT_MS_MAX)
    answer = client.call(DELETE_TOPICS, request, DeleteTopicsResponse)
    return [
        {
            "topic": result.name,
            "deleted": result.error_code == errors.NONE,
            "error": name_of(result.error_code) if result.error_code else None,
            "error_code": result.error_code,
            "message": result.error_message,
        }
        for result in answer.responses
    ]
