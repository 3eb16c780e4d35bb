"""The settings of a node: one table, read from one TOML file, the environment and flags; none is needed.

`node_id = 1` in the file, `HEADRACE_NODE_ID=1` in the environment and `--node-id 1` as a flag are the same setting; a
flag beats the environment, which beats the file, which beats the built-in value. Everything comes in as values: who
reads the file and knows the environment is the caller. All that is wrong is refused in one answer, line by line,
unknown names with the nearest known one.

Settings that are the defaults of topics lie below each topic's own (see `topic_settings.NodeLayers`). What the wire
calls a setting stands in its row.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import NamedTuple

from headrace.base import limits
from headrace.base.errors import Code, Refused
from headrace.base.topic_settings import DAY_MS, RETENTION_MS_DEFAULT, UNLIMITED
from headrace.base.units import format_duration_ms, format_size, parse_duration_ms, parse_size

# In the environment, but not settings of a node: the file to read, and where the client commands connect.
OTHER_VARIABLES = ("HEADRACE_CONFIG", "HEADRACE_SERVER")


class Form(enum.Enum):
    """How a setting is written."""

    SWITCH = "true or false"
    NUMBER = "a whole number"
    SIZE = 'a size such as "64MiB" or "1GB"'
    DURATION = 'a duration such as "500ms", "5h" or "14d"'
    TEXT = "a text"
    ADDRESS = "HOST:PORT"
    CHOICE = "one of"


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Origin(NamedTuple):
    """Where a value was found: "built-in", the file's name, the variable or the flag."""

    layer: str  # "built-in", "file", "environment", "flag"
    where: str


Value = bool | int | str | Address | None


class Setting:
    """One row of the table."""

    __slots__ = ("choices", "default", "documentation", "form", "high", "kafka_name", "low", "name", "room", "unlimited")

    def __init__(
        self,
        room: str,
        name: str,
        form: Form,
        default: Value,
        documentation: str,
        *,
        kafka_name: str | None = None,
        low: int = 0,
        high: int = 2**63 - 1,
        unlimited: bool = False,
        choices: tuple[str, ...] = (),
    ) -> None:
        self.room = room  # The heading it stands under in the reference.
        self.name = name
        self.form = form
        self.default = default
        self.documentation = documentation
        self.kafka_name = kafka_name  # Where it means what Kafka's setting of this name means.
        self.low = low
        self.high = high
        self.unlimited = unlimited  # "unlimited" is allowed too, and is -1.
        self.choices = choices

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return "HEADRACE_" + self.name.upper()


LISTENING = "Where the node is"
TOPICS = "Topics"
DEFAULTS = "What a topic gets that does not say otherwise"
GROUPS = "Groups"
PRODUCERS = "Producers"
BOUNDS = "Bounds"
LOGGING = "What the node says"

SETTINGS: tuple[Setting, ...] = (
    Setting(
        LISTENING,
        "kafka",
        Form.ADDRESS,
        Address("127.0.0.1", 9092),
        "Where Kafka's clients connect. Port 0 takes any free one.",
        kafka_name="listeners",
    ),
    Setting(
        LISTENING,
        "http",
        Form.ADDRESS,
        Address("127.0.0.1", 9644),
        "Where /healthz, /readyz and /metrics are served. Port 0 takes any free one.",
    ),
    Setting(
        LISTENING,
        "data",
        Form.TEXT,
        "headrace-data",
        "The folder of everything the node keeps. It is made where it does not exist.",
        kafka_name="log.dirs",
    ),
    Setting(
        LISTENING,
        "advertise",
        Form.ADDRESS,
        None,
        "The address clients are told to come back to. Without it: the one they connected to, right unless ports are mapped.",
        kafka_name="advertised.listeners",
    ),
    Setting(
        LISTENING,
        "insecure",
        Form.SWITCH,
        False,
        "Allows listening on addresses that others can reach, although nobody has to say who they are.",
    ),
    Setting(
        LISTENING,
        "node_id",
        Form.NUMBER,
        0,
        "The number of this node in its cluster. The data folder keeps it; another number there is refused.",
        kafka_name="node.id",
        high=2**31 - 1,
    ),
    Setting(
        LISTENING,
        "cluster_id",
        Form.TEXT,
        None,
        "The id of the cluster. Without it: the one in the data folder, or a new one for an empty folder.",
    ),
    Setting(
        TOPICS,
        "auto_create_topics",
        Form.SWITCH,
        True,
        "Whether a topic that somebody asks for by name comes into being.",
        kafka_name="auto.create.topics.enable",
    ),
    Setting(TOPICS, "delete_topics", Form.SWITCH, True, "Whether clients may delete topics.", kafka_name="delete.topic.enable"),
    Setting(
        TOPICS,
        "default_partitions",
        Form.NUMBER,
        1,
        "How many partitions a topic gets that does not say.",
        kafka_name="num.partitions",
        low=1,
        high=limits.PARTITIONS_PER_TOPIC_MAX,
    ),
    Setting(
        TOPICS,
        "default_replicas",
        Form.NUMBER,
        1,
        "How many replicas a partition gets that does not say. One node can hold one.",
        kafka_name="default.replication.factor",
        low=1,
        high=2**15 - 1,
    ),
    Setting(
        TOPICS,
        "offsets_partitions",
        Form.NUMBER,
        16,
        "How many partitions the topic of groups and their offsets gets when it is made. Kafka's 50 is for many nodes.",
        kafka_name="offsets.topic.num.partitions",
        low=1,
        high=limits.PARTITIONS_PER_TOPIC_MAX,
    ),
    Setting(
        DEFAULTS,
        "durability",
        Form.CHOICE,
        "fsynced",
        "fsynced: what was acknowledged or read is on the disk. pagecache: a power cut may take it back.",
        choices=("fsynced", "pagecache"),
    ),
    Setting(
        DEFAULTS,
        "record_validation",
        Form.CHOICE,
        "records",
        "records: every record is walked before it is stored. header: only a batch's header and checksum are looked at.",
        choices=("records", "header"),
    ),
    Setting(
        DEFAULTS,
        "retention",
        Form.DURATION,
        RETENTION_MS_DEFAULT,
        "How old records grow before they are dropped. Kafka's default is 7 days.",
        kafka_name="log.retention.ms",
        unlimited=True,
    ),
    Setting(
        DEFAULTS,
        "retention_size",
        Form.SIZE,
        UNLIMITED,
        "How large a partition grows before its oldest segments are dropped.",
        kafka_name="log.retention.bytes",
        unlimited=True,
    ),
    Setting(
        DEFAULTS,
        "segment_size",
        Form.SIZE,
        2**30,
        "At what size a partition begins the next segment.",
        kafka_name="log.segment.bytes",
        low=limits.MIB,
        high=2**31 - 1,
    ),
    Setting(
        DEFAULTS,
        "segment_age",
        Form.DURATION,
        7 * DAY_MS,
        "At what age a partition begins the next segment.",
        kafka_name="log.roll.ms",
        low=1,
    ),
    Setting(
        DEFAULTS,
        "batch_size_max",
        Form.SIZE,
        limits.BATCH_SIZE_MAX_DEFAULT,
        "The largest batch that is taken.",
        kafka_name="message.max.bytes",
        high=2**31 - 1,
    ),
    Setting(
        DEFAULTS,
        "compression",
        Form.CHOICE,
        "producer",
        "producer keeps batches as they were sent; with any other value the node compresses them again.",
        kafka_name="compression.type",
        choices=("producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"),
    ),
    Setting(
        DEFAULTS,
        "insync_replicas_min",
        Form.NUMBER,
        1,
        "How many replicas must have a batch before acks=all is answered.",
        kafka_name="min.insync.replicas",
        low=1,
        high=2**31 - 1,
    ),
    Setting(
        GROUPS,
        "group_session_timeout_min",
        Form.DURATION,
        6_000,
        "The shortest session time-out a member may ask for.",
        kafka_name="group.min.session.timeout.ms",
        high=2**31 - 1,
    ),
    Setting(
        GROUPS,
        "group_session_timeout_max",
        Form.DURATION,
        1_800_000,
        "The longest session time-out a member may ask for.",
        kafka_name="group.max.session.timeout.ms",
        high=2**31 - 1,
    ),
    Setting(
        GROUPS,
        "group_initial_delay",
        Form.DURATION,
        3_000,
        "How long an empty group waits for more members before its first assignment.",
        kafka_name="group.initial.rebalance.delay.ms",
        high=2**31 - 1,
    ),
    Setting(
        GROUPS,
        "group_members_max",
        Form.NUMBER,
        limits.GROUP_MEMBERS_MAX,
        "How many members a group may have. Kafka has no bound.",
        kafka_name="group.max.size",
        low=1,
        high=2**31 - 1,
    ),
    Setting(
        GROUPS,
        "offsets_retention",
        Form.DURATION,
        7 * DAY_MS,
        "How long the offsets of a group without members are kept. Whole minutes.",
        kafka_name="offsets.retention.minutes",
        low=60_000,
        high=(2**31 - 1) * 60_000,
    ),
    Setting(
        GROUPS,
        "offsets_retention_check",
        Form.DURATION,
        600_000,
        "How often the node looks for offsets that are too old.",
        kafka_name="offsets.retention.check.interval.ms",
        low=1,
    ),
    Setting(
        GROUPS,
        "commit_metadata_max",
        Form.SIZE,
        limits.COMMIT_METADATA_LENGTH_MAX,
        "How long the text may be that a consumer leaves with an offset.",
        kafka_name="offset.metadata.max.bytes",
        high=limits.MIB,
    ),
    Setting(
        PRODUCERS,
        "producer_expiry",
        Form.DURATION,
        DAY_MS,
        "How long a partition remembers an idempotent producer that no longer writes to it.",
        kafka_name="producer.id.expiration.ms",
        low=1,
        high=2**31 - 1,
    ),
    Setting(
        BOUNDS,
        "connections_max",
        Form.NUMBER,
        limits.CONNECTIONS_MAX,
        "How many clients may be connected at once.",
        kafka_name="max.connections",
        low=1,
        high=2**31 - 1,
    ),
    Setting(
        BOUNDS,
        "connection_idle",
        Form.DURATION,
        600_000,
        "After how long without a request a connection is closed.",
        kafka_name="connections.max.idle.ms",
        low=1,
    ),
    Setting(
        BOUNDS,
        "request_size_max",
        Form.SIZE,
        limits.FRAME_SIZE_MAX,
        "The largest request that is taken.",
        kafka_name="socket.request.max.bytes",
        low=limits.MIB,
        high=2**31 - 1,
    ),
    Setting(
        BOUNDS,
        "request_memory_max",
        Form.SIZE,
        limits.NODE_REQUEST_BYTES_MAX,
        "How much memory unfinished requests and unsent answers of all clients may take; beyond it the node stops reading.",
        kafka_name="queued.max.request.bytes",
        low=limits.MIB,
    ),
    Setting(
        BOUNDS,
        "fetch_size_max",
        Form.SIZE,
        limits.FETCH_SIZE_MAX,
        "The most that one fetch is answered with, whatever the client asks for.",
        kafka_name="fetch.max.bytes",
        low=1024,
        high=2**31 - 1,
    ),
    Setting(
        BOUNDS,
        "fetch_sessions_max",
        Form.NUMBER,
        limits.FETCH_SESSIONS_MAX,
        "How many incremental fetch sessions the node keeps.",
        kafka_name="max.incremental.fetch.session.cache.slots",
        high=2**31 - 1,
    ),
    Setting(
        BOUNDS,
        "open_files_max",
        Form.NUMBER,
        limits.OPEN_FILES_MAX,
        "How many files of segments and indexes are kept open; others are opened again when they are used.",
        low=16,
        high=2**31 - 1,
    ),
    Setting(
        BOUNDS,
        "retention_check",
        Form.DURATION,
        300_000,
        "How often the node looks for segments that are too old or too many.",
        kafka_name="log.retention.check.interval.ms",
        low=1,
    ),
    Setting(
        LOGGING,
        "log_level",
        Form.CHOICE,
        "info",
        "The least that is worth a line.",
        choices=("debug", "info", "warning", "error"),
    ),
    Setting(
        LOGGING,
        "log_format",
        Form.CHOICE,
        "auto",
        "text for people, json for machines; auto is text on a terminal and json elsewhere.",
        choices=("auto", "text", "json"),
    ),
)
BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}
BY_VARIABLE: dict[str, Setting] = {setting.variable: setting for setting in SETTINGS}

# The settings that are defaults of topics, under the names that topics' layers know.
TOPIC_DEFAULTS = {
    "durability": "durability",
    "record_validation": "record.validation",
    "retention": "log.retention.ms",
    "retention_size": "log.retention.bytes",
    "segment_size": "log.segment.bytes",
    "segment_age": "log.roll.ms",
    "batch_size_max": "message.max.bytes",
    "compression": "compression.type",
    "insync_replicas_min": "min.insync.replicas",
}


class Settings:
    """A node's settings, and where each came from. Durations are milliseconds, sizes bytes, -1 is unlimited."""

    __slots__ = (
        "advertise",
        "auto_create_topics",
        "batch_size_max",
        "cluster_id",
        "commit_metadata_max",
        "compression",
        "connection_idle",
        "connections_max",
        "data",
        "default_partitions",
        "default_replicas",
        "delete_topics",
        "durability",
        "fetch_sessions_max",
        "fetch_size_max",
        "group_initial_delay",
        "group_members_max",
        "group_session_timeout_max",
        "group_session_timeout_min",
        "http",
        "insecure",
        "insync_replicas_min",
        "kafka",
        "log_format",
        "log_level",
        "node_id",
        "offsets_partitions",
        "offsets_retention",
        "offsets_retention_check",
        "open_files_max",
        "origins",
        "producer_expiry",
        "record_validation",
        "request_memory_max",
        "request_size_max",
        "retention",
        "retention_check",
        "retention_size",
        "segment_age",
        "segment_size",
    )
    kafka: Address
    http: Address
    data: str
    advertise: Address | None
    insecure: bool
    node_id: int
    cluster_id: str | None
    auto_create_topics: bool
    delete_topics: bool
    default_partitions: int
    default_replicas: int
    offsets_partitions: int
    durability: str
    record_validation: str
    retention: int
    retention_size: int
    segment_size: int
    segment_age: int
    batch_size_max: int
    compression: str
    insync_replicas_min: int
    group_session_timeout_min: int
    group_session_timeout_max: int
    group_initial_delay: int
    group_members_max: int
    offsets_retention: int
    offsets_retention_check: int
    commit_metadata_max: int
    producer_expiry: int
    connections_max: int
    connection_idle: int
    request_size_max: int
    request_memory_max: int
    fetch_size_max: int
    fetch_sessions_max: int
    open_files_max: int
    retention_check: int
    log_level: str
    log_format: str
    origins: dict[str, Origin]

    def __init__(self, **values: Value) -> None:
        """The built-in values, and those given. Nothing is checked here: see `load`."""
        unknown = values.keys() - BY_NAME.keys()
        assert not unknown, f"no such settings: {sorted(unknown)}"
        self.origins = {}
        for setting in SETTINGS:
            setattr(self, setting.name, values.get(setting.name, setting.default))
            self.origins[setting.name] = Origin("code", "given") if setting.name in values else BUILT_IN

    def value(self, name: str) -> Value:
        """For those who go through the table."""
        assert name in BY_NAME
        return getattr(self, name)  # type: ignore[no-any-return]

    def topic_defaults(self) -> dict[str, str]:
        """What was set of the defaults of topics, as texts under the node's names: the layer `NodeLayers.file`."""
        return {
            name: "" if (value := self.value(ours)) is None else str(value)
            for ours, name in TOPIC_DEFAULTS.items()
            if self.origins[ours] != BUILT_IN
        }


BUILT_IN = Origin("built-in", "built-in")


def read_toml(text: str, name: str) -> dict[str, object] | Refused:
    """The keys of a settings file."""
    import tomllib  # loaded only where there is a file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Refused(Code.BAD_CONFIG, f"{name} is not TOML: {error}")


def load(
    file: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    *,
    file_name: str = "headrace.toml",
) -> Settings | Refused:
    """The settings in force. `flags` holds what was given on the command line, under the settings' names."""
    settings = Settings()
    wrong: list[str] = []

    def lay(given: Mapping[str, object], known: Mapping[str, Setting], layer: str, name_it: Callable[[str], str]) -> None:
        for key, raw in given.items():
            setting = known.get(key)
            if setting is None:
                wrong.append(f"{name_it(key)}: unknown setting{_nearest(key, known, name_it)}")
                continue
            value = parse(setting, raw)
            if isinstance(value, Refused):
                wrong.append(f"{name_it(key)}: {value.why}")
                continue
            setattr(settings, setting.name, value)
            settings.origins[setting.name] = Origin(layer, file_name if layer == "file" else name_it(key))

    ours = {key: value for key, value in (environment or {}).items() if key.startswith("HEADRACE_") and key not in OTHER_VARIABLES}
    lay(file or {}, BY_NAME, "file", lambda key: f"{file_name}: {key}")
    lay(ours, BY_VARIABLE, "environment", lambda key: key)
    lay(flags or {}, BY_NAME, "flag", lambda key: "--" + key.replace("_", "-"))
    if settings.group_session_timeout_min > settings.group_session_timeout_max:
        wrong.append(
            f"group_session_timeout_min ({format_duration_ms(settings.group_session_timeout_min)}) is above "
            f"group_session_timeout_max ({format_duration_ms(settings.group_session_timeout_max)})"
        )
    return Refused(Code.BAD_CONFIG, "\n".join(wrong)) if wrong else settings


def parse(setting: Setting, raw: object) -> Value | Refused:
    """A value as the file (typed), the environment or a flag (texts) gives it."""
    value: Value | Refused = Refused(Code.BAD_CONFIG, "")
    text = raw.strip() if isinstance(raw, str) else None
    number = raw if isinstance(raw, int) and not isinstance(raw, bool) else None
    match setting.form:
        case Form.SWITCH:
            if isinstance(raw, bool):
                value = raw
            elif text is not None and text.lower() in ("true", "false"):
                value = text.lower() == "true"
        case Form.NUMBER:
            if number is None and text is not None and text.isascii() and text.isdecimal() and len(text) < 20:
                number = int(text)
            value = value if number is None else number
        case Form.SIZE:
            value = number if number is not None else parse_size(text) if text else value
        case Form.DURATION:
            value = parse_duration_ms(text) if text else 0 if number == 0 else value
        case Form.TEXT:
            value = text or value
        case Form.CHOICE:
            value = text if text in setting.choices else value
        case Form.ADDRESS:
            value = parse_address(text) if text else value
    if setting.unlimited and text == "unlimited":
        return UNLIMITED
    if isinstance(value, int) and not isinstance(value, bool) and not setting.low <= value <= setting.high:
        return Refused(Code.BAD_CONFIG, f"{raw!r} is not {_expected(setting)}")
    return Refused(Code.BAD_CONFIG, f"{raw!r} is not {_expected(setting)}") if isinstance(value, Refused) else value


def parse_address(text: str) -> Address | Refused:
    """HOST:PORT; an IPv6 host stands in brackets."""
    host, colon, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""
    if not (colon and host and port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65535):
        return Refused(Code.BAD_CONFIG, f"{text!r} is not HOST:PORT with a port from 0 to 65535")
    return Address(host, int(port))


def format_value(setting: Setting, value: Value) -> str:
    """A value as it would be written in the file, without quotes."""
    if value is None:
        return ""
    if setting.unlimited and value == UNLIMITED:
        return "unlimited"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and setting.form is Form.SIZE:
        return format_size(value)
    if isinstance(value, int) and setting.form is Form.DURATION:
        return format_duration_ms(value)
    return str(value)


def _expected(setting: Setting) -> str:
    """What a value may be, with its bounds in the setting's own units."""
    other = ' or "unlimited"' if setting.unlimited else ""
    if setting.form is Form.CHOICE:
        return f"one of {', '.join(setting.choices)}"
    if setting.form not in (Form.NUMBER, Form.SIZE, Form.DURATION):
        return str(setting.form.value)
    bounds = f"of at least {format_value(setting, setting.low)}"
    if setting.high < 2**63 - 1:
        bounds += f" and at most {format_value(setting, setting.high)}"
    return f"{setting.form.value}, {bounds}{other}"


def _nearest(key: str, known: Mapping[str, Setting], name_it: Callable[[str], str]) -> str:
    import difflib  # loaded only when somebody mistyped: it is not small

    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f"; did you mean {name_it(near[0]).rpartition(' ')[2]}?" if near else ""
