"""Every command as data: its words, its arguments, where its code lies. Help, parsing and shell completion are made from it.

The code of a command is imported when it runs, not before: `--help` needs this file and argparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

SERVER_DEFAULT = "127.0.0.1:9092"


@dataclass(slots=True)
class Argument:
    """A flag ("--partitions") or a place ("TOPIC"); `many` may be given several times."""

    name: str
    help: str
    value: str = ""  # what the value is called in help; empty: the flag takes none
    many: bool = False
    optional: bool = False  # places only
    choices: tuple[str, ...] = ()
    default: str | None = None
    short: str = ""
    files: bool = False  # completes to paths
    bare: str = ""  # the value of the flag when it stands alone

    @property
    def is_place(self) -> bool:
        return not self.name.startswith("-")

    @property
    def key(self) -> str:
        """The attribute that holds it."""
        return self.name.lstrip("-").replace("-", "_").lower()


@dataclass(slots=True)
class Command:
    words: tuple[str, ...]
    help: str
    code: str  # module:function
    arguments: list[Argument] = field(default_factory=list)
    more: Callable[[], list[Argument]] | None = None  # arguments that must be looked up
    long: str = ""


OUTPUT = Argument("--output", "table for people, json for machines", "FORM", choices=("table", "json"), default="table", short="-o")
SERVER = Argument(
    "--server", f"a broker of the cluster (default: the environment's HEADRACE_SERVER, else {SERVER_DEFAULT})", "HOST:PORT"
)
TALKS = [SERVER, OUTPUT]
TOPIC = Argument("TOPIC", "the topic's name")
GROUP = Argument("GROUP", "the group's name")


def settings_arguments() -> list[Argument]:
    from headrace.cli.settings_flags import arguments

    return arguments()


NOUNS = {
    "serve": "run a broker",
    "topic": "create, list, describe, alter and delete topics",
    "produce": "write records, one a line of standard input",
    "consume": "read records",
    "group": "list, describe, reset and delete consumer groups",
    "log": "look into the files of a log",
    "config": "show the settings in force",
    "completion": "print the completion script for a shell",
}

COMMANDS = [
    Command(
        ("serve",),
        "Run a broker until it is told to stop (Ctrl-C or SIGTERM).",
        "serve:serve",
        more=settings_arguments,
        long="Every setting is also a key of the settings file and an environment variable: docs/settings.md.",
    ),
    Command(
        ("topic", "create"),
        "Create a topic.",
        "topic:create",
        [
            TOPIC,
            Argument("--partitions", "number of partitions (default: the broker's)", "N"),
            Argument("--replicas", "copies of each partition (default: the broker's)", "N"),
            Argument("--set", "a setting of the topic, such as retention.ms=3600000", "NAME=VALUE", many=True),
            *TALKS,
        ],
    ),
    Command(
        ("topic", "list"),
        "List topics.",
        "topic:list_topics",
        [Argument("--internal", "show the cluster's own topics, too"), *TALKS],
    ),
    Command(
        ("topic", "describe"),
        "Show a topic's partitions, offsets and settings.",
        "topic:describe",
        [TOPIC, Argument("--all", "show settings that have their default, too"), *TALKS],
    ),
    Command(
        ("topic", "alter"),
        "Add partitions to a topic or change its settings.",
        "topic:alter",
        [
            TOPIC,
            Argument("--partitions", "the new number of partitions; it can only grow", "N"),
            Argument("--set", "set a setting", "NAME=VALUE", many=True),
            Argument("--unset", "put a setting back to its default", "NAME", many=True),
            Argument("--plan", "check and show, change nothing"),
            *TALKS,
        ],
    ),
    Command(
        ("topic", "delete"),
        "Delete topics and all their records.",
        "topic:delete",
        [
            Argument("TOPIC", "the topics' names", many=True),
            Argument("--yes", "do not ask"),
            Argument("--plan", "show what would be deleted, delete nothing"),
            *TALKS,
        ],
    ),
    Command(
        ("produce",),
        "Write records to a topic, one a line of standard input.",
        "produce:produce",
        [
            TOPIC,
            Argument("--key", "the key of every record", "KEY"),
            Argument("--label", "a label of every record", "NAME=VALUE", many=True),
            Argument("--partition", "write to this partition (default: by key, else in turn)", "N"),
            Argument("--json", "each line is an object with key, value, labels, timestamp, partition; all may be left out"),
            Argument("--compression", "how batches are compressed", "CODEC", choices=("none", "gzip", "snappy", "lz4", "zstd")),
            *TALKS,
        ],
        long="A record is acknowledged when the broker has it as safe as the topic's durability asks for. The same key goes to the "
        "same partition as with Kafka's own producer.",
    ),
    Command(
        ("consume",),
        "Read records of a topic as they come.",
        "consume:consume",
        [
            TOPIC,
            Argument("--from", "where to begin: earliest, latest or an offset (default: latest)", "PLACE"),
            Argument("--since", "begin with records that are at most this old, such as 5h", "SPAN"),
            Argument("--partition", "read this partition only", "N", many=True),
            Argument("--group", "share the work with others of this group and remember what was read", "GROUP"),
            Argument("--label", "show only records with this label", "NAME=VALUE", many=True),
            Argument("--max", "stop after so many records", "N"),
            Argument("--timeout", "stop when no record has come for so long, such as 5s", "SPAN"),
            Argument("--json", "one object a line, as produce --json takes them"),
            Argument("--values", "the values alone, one a line"),
            *TALKS,
        ],
        long="A line shows partition/offset, time, key, value and labels, with tabs between.",
    ),
    Command(
        ("group", "list"),
        "List consumer groups.",
        "group:list_groups",
        TALKS,
    ),
    Command(("group", "describe"), "Show a group's members, offsets and lag.", "group:describe", [GROUP, *TALKS]),
    Command(
        ("group", "reset"),
        "Move a group's offsets. The group must have no running consumers.",
        "group:reset",
        [
            GROUP,
            Argument("--topic", "only this topic (default: all the group has offsets for)", "TOPIC", many=True),
            Argument("--partition", "only this partition of the one topic", "N", many=True),
            Argument("--to-offset", "to this offset", "OFFSET"),
            Argument("--to-earliest", "to the oldest record"),
            Argument("--to-latest", "behind the newest record"),
            Argument("--to-time", "to the first record from this time on: 2026-11-19T20:45, or -5h from now", "TIME"),
            Argument("--by", "move by a time (-5h, from the record it stands at) or by a number of records (-100)", "STEP"),
            Argument("--plan", "show what would change, change nothing"),
            *TALKS,
        ],
    ),
    Command(
        ("group", "delete"),
        "Delete groups and their offsets.",
        "group:delete",
        [
            Argument("GROUP", "the groups' names", many=True),
            Argument("--yes", "do not ask"),
            *TALKS,
        ],
    ),
    Command(
        ("log", "dump"),
        "Show the batches of a segment or of a partition's folder.",
        "log:dump",
        [
            Argument("PATH", "a .log file, or a partition's folder", files=True),
            Argument("--records", "show each record, too"),
            Argument("--max", "stop after so many batches", "N"),
            OUTPUT,
        ],
    ),
    Command(
        ("log", "verify"),
        "Check every batch, checksum and record of a log.",
        "log:verify",
        [
            Argument("PATH", "a .log file, a partition's folder or a data folder", files=True, many=True),
            OUTPUT,
        ],
        long="Reads only; the broker may run meanwhile. Exit status 4 when something is damaged.",
    ),
    Command(
        ("config", "show"),
        "Show every setting, its value and where it comes from.",
        "config:show",
        [OUTPUT],
        more=settings_arguments,
    ),
    Command(
        ("completion",),
        "Print the completion script for a shell.",
        "completion:completion",
        [Argument("SHELL", "bash, zsh or fish", choices=("bash", "zsh", "fish"))],
        long='bash: eval "$(headrace completion bash)"; zsh: the same with zsh; fish: headrace completion fish | source',
    ),
]


def find(words: tuple[str, ...]) -> list[Command]:
    """The commands that begin with these words."""
    return [command for command in COMMANDS if command.words[: len(words)] == words]
