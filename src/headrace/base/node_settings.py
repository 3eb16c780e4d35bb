"""The settings of a node as Kafka's clients see them: the BROKER resource of DescribeConfigs and its changes.

Shown are the settings that mean something here, with Kafka's names: those of `base/settings.py` that have one, the
node's names of the topic settings, and a few facts that tools ask for. Changed at run time may be the node's names of the
topic settings: the cluster store keeps them, for one node or for all, and they are layers below the topics' own
settings. Kafka's other settings that can change at run time are taken and kept, but nothing here follows them: tools
set them, and a refusal would stop those tools. What Kafka reads only at start is refused, and so is what nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from headrace.base.errors import Code, Refused
from headrace.base.settings import BUILT_IN, SETTINGS, TOPIC_DEFAULTS, Form, Setting, Settings
from headrace.base.topic_settings import BY_NODE_NAME, Described, Kind, NodeLayers, Source, Synonym, TopicSetting
from headrace.base.topic_settings import parse as parse_topic_setting

# Kafka's settings that may be altered at run time and have no meaning here.
_KEPT_ONLY = """
    background.threads config.providers cordoned.log.dirs follower.fetch.last.tiered.offset.enable
    group.consumer.assignment.interval.ms group.coordinator.cached.buffer.max.bytes group.share.assignment.interval.ms
    group.streams.assignment.interval.ms listener.security.protocol.map log.cleaner.backoff.ms
    log.cleaner.dedupe.buffer.size log.cleaner.io.buffer.load.factor log.cleaner.io.buffer.size
    log.cleaner.io.max.bytes.per.second log.cleaner.threads max.connection.creation.rate max.connections.per.ip
    max.connections.per.ip.overrides metric.reporters num.io.threads num.network.threads
    num.recovery.threads.per.data.dir num.replica.fetchers principal.builder.class remote.fetch.max.wait.ms
    remote.list.offsets.request.timeout.ms remote.log.index.file.cache.total.size.bytes
    remote.log.manager.copier.thread.pool.size remote.log.manager.copy.max.bytes.per.second
    remote.log.manager.expiration.thread.pool.size remote.log.manager.fetch.max.bytes.per.second
    remote.log.manager.follower.thread.pool.size remote.log.reader.threads sasl.enabled.mechanisms
    sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin sasl.kerberos.principal.to.local.rules
    sasl.kerberos.service.name sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
    sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
    sasl.login.refresh.window.jitter sasl.mechanism.inter.broker.protocol share.coordinator.cached.buffer.max.bytes
    ssl.cipher.suites ssl.client.auth ssl.enabled.protocols ssl.endpoint.identification.algorithm
    ssl.engine.factory.class ssl.keymanager.algorithm ssl.keystore.location ssl.keystore.type ssl.protocol ssl.provider
    ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.location ssl.truststore.type
    transaction.partition.verification.enable
"""
KEPT_ONLY = frozenset(_KEPT_ONLY.split())
# Kafka's secrets: never taken, because they would lie in the store in the clear.
_SECRETS = """
    sasl.jaas.config ssl.key.password ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.password
    ssl.truststore.certificates ssl.truststore.password
"""
SECRETS = frozenset(_SECRETS.split())

_KINDS = {
    Form.SWITCH: Kind.BOOLEAN,
    Form.NUMBER: Kind.INT,
    Form.SIZE: Kind.LONG,
    Form.DURATION: Kind.LONG,
    Form.TEXT: Kind.STRING,
    Form.CHOICE: Kind.STRING,
    Form.ADDRESS: Kind.STRING,
}
# Where Kafka's type is another one than the form says.
_KIND_EXCEPTIONS = {
    "listeners": Kind.LIST,
    "advertised.listeners": Kind.LIST,
    "log.dirs": Kind.LIST,
    "group.min.session.timeout.ms": Kind.INT,
    "group.max.session.timeout.ms": Kind.INT,
    "group.initial.rebalance.delay.ms": Kind.INT,
    "offsets.retention.minutes": Kind.INT,
    "offset.metadata.max.bytes": Kind.INT,
    "producer.id.expiration.ms": Kind.INT,
    "socket.request.max.bytes": Kind.INT,
    "fetch.max.bytes": Kind.INT,
}


def is_alterable(name: str) -> bool:
    return name in BY_NODE_NAME or name in KEPT_ONLY


def check(name: str, value: str | None) -> Refused | None:
    """Whether a node may get this value at run time."""
    if is_alterable(name):
        if value is None:
            return Refused(Code.BAD_CONFIG, f"{name} needs a value; to fall back to the default, delete it")
        setting = BY_NODE_NAME.get(name)
        parsed = None if setting is None else parse_topic_setting(setting, value, name)
        return parsed if isinstance(parsed, Refused) else None
    if name in SECRETS:
        return Refused(Code.BAD_REQUEST, f"{name} is not kept: there is no authentication and no TLS here to use it")
    if name in {row.kafka_name for row in SETTINGS} or name in _FACTS:
        return Refused(Code.BAD_REQUEST, f"{name} is read when the node starts and cannot be altered while it runs")
    return Refused(Code.BAD_CONFIG, f"unknown node setting {name}{_nearest(name)}")


def describe(settings: Settings, layers: NodeLayers, names: Iterable[str] | None = None) -> list[Described]:
    """The node's settings by name. `layers` has the values set at run time."""
    rows = {row.name: row for row in _rows(settings, layers)}
    wanted = rows.keys() if names is None else set(names) & rows.keys()
    return [rows[name] for name in sorted(wanted)]


def describe_run_time(values: Mapping[str, str], source: Source) -> list[Described]:
    """Only what was set at run time, for all nodes or for one that is not here."""
    rows = []
    for name in sorted(values):
        setting = BY_NODE_NAME.get(name)
        kind, text = (Kind.STRING, "") if setting is None else (setting.kind, setting.documentation)
        rows.append(Described(name, values[name], source, kind, text, [Synonym(name, values[name], source)]))
    return rows


def wire_text(setting: Setting, value: object) -> str | None:
    """The value as Kafka writes it: plain numbers in Kafka's unit."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if setting.kafka_name == "offsets.retention.minutes":
        assert isinstance(value, int)
        return str(value // 60_000)
    if setting.kafka_name in ("listeners", "advertised.listeners"):
        return f"PLAINTEXT://{value}"
    return str(value)


# Facts that Kafka's tools look for: name -> (kind, text, documentation). `{node_id}` and `{data}` are filled in.
_FACTS: dict[str, tuple[Kind, str, str]] = {
    "authorizer.class.name": (Kind.STRING, "", "Empty: there are no access rules yet."),
    "broker.id": (Kind.INT, "{node_id}", "The same as node.id."),
    "log.cleaner.enable": (Kind.BOOLEAN, "false", "False: the cleaner of compacted topics does not exist yet."),
    "log.dir": (Kind.STRING, "{data}", "The same as log.dirs."),
    "offsets.topic.replication.factor": (Kind.SHORT, "1", "How many replicas the topic of groups gets."),
    "process.roles": (Kind.LIST, "broker,controller", "A node is both."),
    "remote.log.storage.system.enable": (Kind.BOOLEAN, "false", "False: tiered storage does not exist here."),
}


def _rows(settings: Settings, layers: NodeLayers) -> Iterable[Described]:
    at_run_time = {**layers.all_nodes, **layers.node}
    for setting in SETTINGS:
        if setting.kafka_name is not None and setting.name not in TOPIC_DEFAULTS:
            yield _file_row(setting, settings)
    for topic_setting in BY_NODE_NAME.values():
        yield _layered_row(topic_setting, layers)
    for name, (kind, text, documentation) in _FACTS.items():
        if name not in at_run_time:
            value = text.format(node_id=settings.node_id, data=settings.data)
            synonyms = [Synonym(name, value, Source.BUILT_IN)]
            yield Described(name, value, Source.BUILT_IN, kind, documentation, synonyms, read_only=True)
    for name in at_run_time:
        if name not in BY_NODE_NAME:
            source = Source.NODE if name in layers.node else Source.ALL_NODES
            synonyms = [Synonym(*candidate) for candidate in layers.candidates(name)]
            yield Described(name, at_run_time[name], source, Kind.STRING, "Kept, but nothing here follows it.", synonyms)


def _file_row(setting: Setting, settings: Settings) -> Described:
    assert setting.kafka_name is not None
    name = setting.kafka_name
    built_in = wire_text(setting, setting.default)
    value = wire_text(setting, settings.value(setting.name))
    synonyms = [Synonym(name, built_in, Source.BUILT_IN)]
    source = Source.BUILT_IN
    if settings.origins[setting.name] != BUILT_IN:
        source = Source.FILE
        synonyms.insert(0, Synonym(name, value, source))
    kind = _KIND_EXCEPTIONS.get(name, _KINDS[setting.form])
    return Described(name, value, source, kind, setting.documentation, synonyms, read_only=True)


def _layered_row(setting: TopicSetting, layers: NodeLayers) -> Described:
    assert setting.node_name is not None
    name = setting.node_name
    synonyms = [Synonym(*candidate) for candidate in layers.candidates(name)]
    synonyms.append(Synonym(name, setting.default, Source.BUILT_IN))
    return Described(name, synonyms[0].value, synonyms[0].source, setting.kind, setting.documentation, synonyms)


def _nearest(name: str) -> str:
    import difflib  # loaded only when somebody mistyped: it is not small

    near = difflib.get_close_matches(name, BY_NODE_NAME, n=1)
    return f"; did you mean {near[0]}?" if near else ""
