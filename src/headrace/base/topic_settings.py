"""The settings of topics: what Kafka's clients may see and set, with Kafka's names, and two of our own.

One table, `TOPIC_SETTINGS`. Whoever asks for the settings in force gets a `TopicSettings`: plain numbers, parsed once,
cheap on the hot path. Whoever describes them gets `Described` rows with the source of each value.

The value in force is the first of: the topic's own, this node's (set at run time), all nodes' (set at run time), the
settings file's, the built-in one. The layers below the topic carry the node's names (`log.retention.ms` is what
`retention.ms` is called there), as Kafka has it.

Texts are kept as they were sent; they are checked when they are set, so that what is kept always parses. A text of the
settings file has been checked by `base/settings.py`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping

from headrace.base import limits
from headrace.base.errors import Code, Refused

LONG_MAX = 2**63 - 1
INT_MAX = 2**31 - 1
UNLIMITED = -1
DAY_MS = 86_400_000

RETENTION_MS_DEFAULT = 14 * DAY_MS


class Kind(enum.IntEnum):
    """The type of a setting. The numbers are those of Kafka's DescribeConfigs."""

    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class Source(enum.IntEnum):
    """Where a value comes from. The numbers are those of Kafka's DescribeConfigs; the first that has a value wins."""

    TOPIC = 1  # DYNAMIC_TOPIC_CONFIG
    NODE = 2  # DYNAMIC_BROKER_CONFIG: set at run time for this node
    ALL_NODES = 3  # DYNAMIC_DEFAULT_BROKER_CONFIG: set at run time for all nodes
    FILE = 4  # STATIC_BROKER_CONFIG: settings file, environment or flag
    BUILT_IN = 5  # DEFAULT_CONFIG


class TopicSetting:
    """One row of the table."""

    __slots__ = ("choices", "default", "documentation", "effective", "high", "kind", "low", "name", "node_name", "or_exactly")

    def __init__(
        self,
        name: str,
        kind: Kind,
        default: str,
        documentation: str,
        *,
        node_name: str | None = None,
        low: float | None = None,
        high: float | None = None,
        or_exactly: int | None = None,
        choices: tuple[str, ...] = (),
        effective: bool = True,
    ) -> None:
        self.name = name
        self.kind = kind
        self.default = default
        self.documentation = documentation
        self.node_name = node_name  # What the same setting is called on a node, where it has a name there.
        self.low = low
        self.high = high
        self.or_exactly = or_exactly  # One value outside low..high that is allowed too.
        self.choices = choices
        self.effective = effective  # False: taken, kept and shown, but nothing here acts on it.


_COMPRESSIONS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
_NOT_TIERED = "Tiered storage does not exist here."
_NO_CLEANER = "Kept for the cleaner of compacted topics, which does not exist yet."

TOPIC_SETTINGS: tuple[TopicSetting, ...] = (
    TopicSetting(
        "cleanup.policy",
        Kind.LIST,
        "delete",
        "What becomes of old records: delete drops whole segments by age and size; compact keeps the last record of each key. "
        "Nothing of a topic with compact is deleted until the cleaner exists.",
        node_name="log.cleanup.policy",
        choices=("compact", "delete"),
    ),
    TopicSetting(
        "compression.gzip.level",
        Kind.INT,
        "-1",
        "How hard gzip tries where this node compresses; -1 is the codec's own default.",
        node_name="compression.gzip.level",
        low=1,
        high=9,
        or_exactly=-1,
    ),
    TopicSetting(
        "compression.lz4.level",
        Kind.INT,
        "9",
        "How hard lz4 tries where this node compresses.",
        node_name="compression.lz4.level",
        low=1,
        high=17,
    ),
    TopicSetting(
        "compression.type",
        Kind.STRING,
        "producer",
        "producer keeps batches as they were sent; with any other value this node compresses them again, which costs it time.",
        node_name="compression.type",
        choices=_COMPRESSIONS,
    ),
    TopicSetting(
        "compression.zstd.level",
        Kind.INT,
        "3",
        "How hard zstd tries where this node compresses.",
        node_name="compression.zstd.level",
        low=-131072,
        high=22,
    ),
    TopicSetting(
        "delete.retention.ms",
        Kind.LONG,
        str(DAY_MS),
        f"How long a compacted topic keeps the mark of a deleted key. {_NO_CLEANER}",
        node_name="log.cleaner.delete.retention.ms",
        low=0,
        effective=False,
    ),
    TopicSetting(
        "durability",
        Kind.STRING,
        "fsynced",
        "fsynced: what was acknowledged or read is on the disk. pagecache: the operating system has it, and a power cut may "
        "take it back. "
        "Headrace's own setting.",
        node_name="durability",
        choices=("fsynced", "pagecache"),
    ),
    TopicSetting(
        "file.delete.delay.ms",
        Kind.LONG,
        "60000",
        "How long the files of a deleted segment stay, so that readers on their way can finish.",
        node_name="log.segment.delete.delay.ms",
        low=0,
    ),
    TopicSetting(
        "flush.messages",
        Kind.LONG,
        str(LONG_MAX),
        "Kafka's flush after so many records. Not followed: durability says when data is flushed.",
        node_name="log.flush.interval.messages",
        low=1,
        effective=False,
    ),
    TopicSetting(
        "flush.ms",
        Kind.LONG,
        str(LONG_MAX),
        "Kafka's flush after so much time. Not followed: durability says when data is flushed.",
        node_name="log.flush.interval.ms",
        low=0,
        effective=False,
    ),
    TopicSetting(
        "follower.replication.throttled.replicas",
        Kind.LIST,
        "",
        "Replicas whose followers fetch at a limited rate, as partition:node pairs or *. Kept; partitions have one replica yet.",
        effective=False,
    ),
    TopicSetting(
        "index.interval.bytes",
        Kind.INT,
        "4096",
        "After how many bytes of a segment its offset index gets another entry.",
        node_name="log.index.interval.bytes",
        low=0,
    ),
    TopicSetting(
        "leader.replication.throttled.replicas",
        Kind.LIST,
        "",
        "Replicas whose leaders send at a limited rate, as partition:node pairs or *. Kept; partitions have one replica yet.",
        effective=False,
    ),
    TopicSetting(
        "local.retention.bytes",
        Kind.LONG,
        "-2",
        f"The part of retention.bytes kept on this machine; -2 is all. {_NOT_TIERED}",
        node_name="log.local.retention.bytes",
        low=-2,
        effective=False,
    ),
    TopicSetting(
        "local.retention.ms",
        Kind.LONG,
        "-2",
        f"The part of retention.ms kept on this machine; -2 is all. {_NOT_TIERED}",
        node_name="log.local.retention.ms",
        low=-2,
        effective=False,
    ),
    TopicSetting(
        "max.compaction.lag.ms",
        Kind.LONG,
        str(LONG_MAX),
        f"The longest a record may stay uncompacted. {_NO_CLEANER}",
        node_name="log.cleaner.max.compaction.lag.ms",
        low=1,
        effective=False,
    ),
    TopicSetting(
        "max.message.bytes",
        Kind.INT,
        str(limits.BATCH_SIZE_MAX_DEFAULT),
        "The largest batch that is taken, in bytes as it lies on the wire.",
        node_name="message.max.bytes",
        low=0,
    ),
    TopicSetting(
        "message.timestamp.after.max.ms",
        Kind.LONG,
        "3600000",
        "How far in the future the timestamp of a record may lie; beyond it the batch is refused.",
        node_name="log.message.timestamp.after.max.ms",
        low=0,
    ),
    TopicSetting(
        "message.timestamp.before.max.ms",
        Kind.LONG,
        str(LONG_MAX),
        "How far in the past the timestamp of a record may lie; beyond it the batch is refused.",
        node_name="log.message.timestamp.before.max.ms",
        low=0,
    ),
    TopicSetting(
        "message.timestamp.type",
        Kind.STRING,
        "CreateTime",
        "Whose time a record carries: CreateTime is the producer's, LogAppendTime the time at which this node stored it.",
        node_name="log.message.timestamp.type",
        choices=("CreateTime", "LogAppendTime"),
    ),
    TopicSetting(
        "min.cleanable.dirty.ratio",
        Kind.DOUBLE,
        "0.5",
        f"The share of a compacted log that may be dirty before it is cleaned. {_NO_CLEANER}",
        node_name="log.cleaner.min.cleanable.ratio",
        low=0,
        high=1,
        effective=False,
    ),
    TopicSetting(
        "min.compaction.lag.ms",
        Kind.LONG,
        "0",
        f"The shortest time a record stays uncompacted. {_NO_CLEANER}",
        node_name="log.cleaner.min.compaction.lag.ms",
        low=0,
        effective=False,
    ),
    TopicSetting(
        "min.insync.replicas",
        Kind.INT,
        "1",
        "How many replicas must have a batch before a producer that asked for acks=all is answered.",
        node_name="min.insync.replicas",
        low=1,
    ),
    TopicSetting(
        "preallocate",
        Kind.BOOLEAN,
        "false",
        "Kafka's reserving of a segment's full size when it begins. Not followed: segments grow as they are written.",
        node_name="log.preallocate",
        effective=False,
    ),
    TopicSetting(
        "record.validation",
        Kind.STRING,
        "records",
        "records: every record of a batch is walked before anything of it is stored. header: only the batch's header and "
        "checksum are looked at, for producers that are trusted. Headrace's own setting.",
        node_name="record.validation",
        choices=("records", "header"),
    ),
    TopicSetting(
        "remote.log.copy.disable", Kind.BOOLEAN, "false", f"Stops copying to tiered storage. {_NOT_TIERED}", effective=False
    ),
    TopicSetting(
        "remote.log.delete.on.disable",
        Kind.BOOLEAN,
        "false",
        f"Deletes tiered data when tiering is switched off. {_NOT_TIERED}",
        effective=False,
    ),
    TopicSetting(
        "remote.storage.enable",
        Kind.BOOLEAN,
        "false",
        f"Tiered storage for the topic; only false is allowed. {_NOT_TIERED}",
        choices=("false",),
        effective=False,
    ),
    TopicSetting(
        "retention.bytes",
        Kind.LONG,
        "-1",
        "How large a partition may grow before its oldest segments are dropped; -1 is no limit.",
        node_name="log.retention.bytes",
    ),
    TopicSetting(
        "retention.ms",
        Kind.LONG,
        str(RETENTION_MS_DEFAULT),
        "How old records grow before their segment is dropped; -1 is for ever. Kafka's default is 7 days, ours 14.",
        node_name="log.retention.ms",
        low=-1,
    ),
    TopicSetting(
        "segment.bytes",
        Kind.INT,
        str(2**30),
        "At what size a segment is closed and the next begun. Retention drops whole segments.",
        node_name="log.segment.bytes",
        low=limits.MIB,
    ),
    TopicSetting(
        "segment.index.bytes",
        Kind.INT,
        str(10 * limits.MIB),
        "How large an index of a segment may grow before the next segment begins.",
        node_name="log.index.size.max.bytes",
        low=4,
    ),
    TopicSetting(
        "segment.jitter.ms",
        Kind.LONG,
        "0",
        "The most that is taken off segment.ms, by chance, so that many partitions do not begin segments at once.",
        node_name="log.roll.jitter.ms",
        low=0,
        effective=False,
    ),
    TopicSetting(
        "segment.ms",
        Kind.LONG,
        str(7 * DAY_MS),
        "At what age a segment is closed and the next begun, full or not.",
        node_name="log.roll.ms",
        low=1,
    ),
    TopicSetting(
        "unclean.leader.election.enable",
        Kind.BOOLEAN,
        "false",
        "Whether a replica that lacks committed records may lead when no other is left. Kept; partitions have one replica yet.",
        node_name="unclean.leader.election.enable",
        effective=False,
    ),
)
BY_NAME: dict[str, TopicSetting] = {setting.name: setting for setting in TOPIC_SETTINGS}
BY_NODE_NAME: dict[str, TopicSetting] = {s.node_name: s for s in TOPIC_SETTINGS if s.node_name is not None}

_BOUNDS = {Kind.INT: (-(2**31), INT_MAX), Kind.SHORT: (-(2**15), 2**15 - 1), Kind.LONG: (-(2**63), LONG_MAX)}


def check(name: str, value: str | None) -> Refused | None:
    """Whether a topic may have this value under this name."""
    setting = BY_NAME.get(name)
    if setting is None:
        return Refused(Code.BAD_CONFIG, f"unknown topic setting {name}{_nearest(name)}")
    if value is None:
        return Refused(Code.BAD_CONFIG, f"{name} needs a value; to fall back to the default, delete it")
    parsed = parse(setting, value, name)
    return parsed if isinstance(parsed, Refused) else None


def check_all(values: Mapping[str, str | None]) -> Refused | None:
    """The first refusal among them, by name."""
    for name in sorted(values):
        refused = check(name, values[name])
        if refused is not None:
            return refused
    return None


Value = bool | int | float | str | tuple[str, ...]


def parse(setting: TopicSetting, text: str, name: str | None = None) -> Value | Refused:
    """The value of a text, or what is allowed instead. `name` is what the asker calls the setting."""
    trimmed = text.strip()
    value: Value | None = None
    match setting.kind:
        case Kind.INT | Kind.SHORT | Kind.LONG:
            number = _whole_number(trimmed)
            low, high = _BOUNDS[setting.kind]
            value = number if number is not None and low <= number <= high and _in_range(setting, number) else None
        case Kind.DOUBLE:
            real = _real_number(trimmed)
            value = real if real is not None and _in_range(setting, real) else None
        case Kind.BOOLEAN:
            lower = trimmed.lower()
            allowed = setting.choices or ("true", "false")
            value = lower == "true" if lower in allowed else None
        case Kind.LIST:
            items = split_list(text)
            good = all(i in setting.choices for i in items) if setting.choices else _are_throttled_replicas(items)
            value = items if good else None
        case Kind.STRING | Kind.CLASS | Kind.PASSWORD:
            value = trimmed if trimmed in setting.choices or not setting.choices else None
    if value is None:
        return Refused(Code.BAD_CONFIG, f"{name or setting.name} cannot be {text[:200]!r}: allowed is {allowed_values(setting)}")
    return value


def split_list(text: str) -> tuple[str, ...]:
    """The items of a list value: no blanks around them, each once, in the order given."""
    return tuple(dict.fromkeys(item for part in text.split(",") if (item := part.strip())))


def allowed_values(setting: TopicSetting) -> str:
    """What a setting may be, in words."""
    if setting.kind is Kind.LIST:
        return f"a list of {', '.join(setting.choices)}" if setting.choices else "* or a list of partition:node pairs"
    if setting.choices:
        return " or ".join(setting.choices) if len(setting.choices) < 3 else f"one of {', '.join(setting.choices)}"
    if setting.kind is Kind.BOOLEAN:
        return "true or false"
    if setting.kind is Kind.DOUBLE:
        return f"a number from {setting.low:g} to {setting.high:g}"
    low, high = _BOUNDS[setting.kind]
    low = low if setting.low is None else int(setting.low)
    high = high if setting.high is None else int(setting.high)
    other = "" if setting.or_exactly is None else f", or {setting.or_exactly}"
    return f"a whole number from {low} to {high}{other}"


class NodeLayers:
    """What stands below the topics: the node's own values for them, under the node's names."""

    __slots__ = ("all_nodes", "file", "node")

    def __init__(
        self,
        file: Mapping[str, str] | None = None,
        all_nodes: Mapping[str, str] | None = None,
        node: Mapping[str, str] | None = None,
    ) -> None:
        self.file = file or {}
        self.all_nodes = all_nodes or {}
        self.node = node or {}

    def candidates(self, node_name: str | None) -> list[tuple[str, str, Source]]:
        """Every layer that has a value for it, the strongest first."""
        if node_name is None:
            return []
        layers = ((self.node, Source.NODE), (self.all_nodes, Source.ALL_NODES), (self.file, Source.FILE))
        return [(node_name, layer[node_name], source) for layer, source in layers if node_name in layer]


NO_LAYERS = NodeLayers()


class TopicSettings:
    """The settings in force for one topic, parsed. Made anew when one of them changes; never altered in place."""

    __slots__ = (
        "append_time",
        "batch_size_max",
        "compact",
        "compression",
        "compression_level_gzip",
        "compression_level_lz4",
        "compression_level_zstd",
        "delete",
        "file_delete_delay_ms",
        "fsynced",
        "index_interval_bytes",
        "index_size_bytes_max",
        "insync_replicas_min",
        "retention_bytes",
        "retention_ms",
        "segment_jitter_ms",
        "segment_ms",
        "segment_size_bytes",
        "timestamp_after_ms_max",
        "timestamp_before_ms_max",
        "validate_records",
    )

    def __init__(self, topic: Mapping[str, str] | None = None, layers: NodeLayers = NO_LAYERS) -> None:
        def text(name: str) -> str:
            setting = BY_NAME[name]
            if topic is not None and name in topic:
                return topic[name]
            candidates = layers.candidates(setting.node_name)
            return candidates[0][1] if candidates else setting.default

        def number(name: str) -> int:
            return int(text(name))

        policy = split_list(text("cleanup.policy"))
        self.delete = "delete" in policy
        self.compact = "compact" in policy
        self.retention_ms = number("retention.ms")  # -1: for ever
        self.retention_bytes = number("retention.bytes")  # below 0: no limit
        self.segment_size_bytes = number("segment.bytes")
        self.segment_ms = number("segment.ms")
        self.segment_jitter_ms = number("segment.jitter.ms")
        self.index_size_bytes_max = number("segment.index.bytes")
        self.index_interval_bytes = number("index.interval.bytes")
        self.file_delete_delay_ms = number("file.delete.delay.ms")
        self.batch_size_max = number("max.message.bytes")
        self.insync_replicas_min = number("min.insync.replicas")
        self.append_time = text("message.timestamp.type").strip() == "LogAppendTime"
        self.timestamp_before_ms_max = number("message.timestamp.before.max.ms")
        self.timestamp_after_ms_max = number("message.timestamp.after.max.ms")
        self.compression = text("compression.type").strip()
        self.compression_level_gzip = number("compression.gzip.level")
        self.compression_level_lz4 = number("compression.lz4.level")
        self.compression_level_zstd = number("compression.zstd.level")
        self.fsynced = text("durability").strip() == "fsynced"
        self.validate_records = text("record.validation").strip() == "records"


class Synonym:
    """A value that stands behind another one, and would be in force without it."""

    __slots__ = ("name", "source", "value")

    def __init__(self, name: str, value: str | None, source: Source) -> None:
        self.name = name
        self.value = value
        self.source = source


class Described:
    """One setting as a client is told about it."""

    __slots__ = ("documentation", "kind", "name", "read_only", "sensitive", "source", "synonyms", "value")

    def __init__(
        self,
        name: str,
        value: str | None,
        source: Source,
        kind: Kind,
        documentation: str,
        synonyms: list[Synonym],
        *,
        read_only: bool = False,
        sensitive: bool = False,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source
        self.kind = kind
        self.documentation = documentation
        self.synonyms = synonyms
        self.read_only = read_only
        self.sensitive = sensitive


def describe(topic: Mapping[str, str], layers: NodeLayers = NO_LAYERS, names: Iterable[str] | None = None) -> list[Described]:
    """The topic's settings by name. Names that do not exist are left out, as Kafka does."""
    wanted = BY_NAME.keys() if names is None else set(names) & BY_NAME.keys()
    return [_describe_one(BY_NAME[name], topic, layers) for name in sorted(wanted)]


def _describe_one(setting: TopicSetting, topic: Mapping[str, str], layers: NodeLayers) -> Described:
    synonyms: list[Synonym] = []
    if setting.name in topic:
        synonyms.append(Synonym(setting.name, topic[setting.name], Source.TOPIC))
    synonyms += [Synonym(*candidate) for candidate in layers.candidates(setting.node_name)]
    if setting.node_name is not None:
        synonyms.append(Synonym(setting.node_name, setting.default, Source.BUILT_IN))
    if synonyms:
        value, source = synonyms[0].value, synonyms[0].source
    else:
        value, source = setting.default, Source.BUILT_IN
    return Described(setting.name, value, source, setting.kind, setting.documentation, synonyms)


def _in_range(setting: TopicSetting, number: float) -> bool:
    if setting.or_exactly is not None and number == setting.or_exactly:
        return True
    return (setting.low is None or number >= setting.low) and (setting.high is None or number <= setting.high)


def _whole_number(text: str) -> int | None:
    digits = text[1:] if text[:1] in ("-", "+") else text
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) <= 32 else None


def _real_number(text: str) -> float | None:
    try:
        return float(text) if len(text) <= 64 and "_" not in text else None
    except ValueError:
        return None


def _are_throttled_replicas(items: tuple[str, ...]) -> bool:
    if items == ("*",):
        return True
    pairs = [item.split(":") for item in items]
    return all(len(pair) == 2 and all(part.isascii() and part.isdecimal() for part in pair) for pair in pairs)


def _nearest(name: str) -> str:
    import difflib  # loaded only when somebody mistyped: it is not small

    near = difflib.get_close_matches(name, BY_NAME, n=1)
    return f"; did you mean {near[0]}?" if near else ""
