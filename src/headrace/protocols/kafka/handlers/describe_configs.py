"""DescribeConfigs: the settings of topics and of the node, where they come from, and what they mean.

v1    sources and synonyms (KIP-226); v2 no change; v3 types and documentation (KIP-569); v4 flexible
"""

from __future__ import annotations

from headrace.base import node_settings, topic_settings
from headrace.base.errors import Code, Refused
from headrace.base.topic_settings import Described, Source, Synonym
from headrace.broker.broker import Broker
from headrace.cluster import topic_names
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers import config_resources as kinds
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)


def handle(broker: Broker, request: DescribeConfigsRequest, context: Context) -> DescribeConfigsResponse:
    results = []
    answered: set[tuple[int, str]] = set()
    for resource in request.resources:
        key = (resource.resource_type, resource.resource_name)
        if key in answered:  # 20 bytes of a request would fetch 10 KB each
            continue
        answered.add(key)
        found = _describe(broker, resource)
        if isinstance(found, list):
            found = [_as_reached(broker, one, context) for one in found]
        result = DescribeConfigsResult(errors.NONE, "", resource.resource_type, resource.resource_name)
        if isinstance(found, Refused):
            result.error_code, result.error_message = errors.tell(found, broker.metrics), found.why
        else:
            result.configs = [_row(one, request) for one in found]
        results.append(result)
    return DescribeConfigsResponse(results=results)


def _describe(broker: Broker, resource: DescribeConfigsResource) -> list[Described] | Refused:
    name, names = resource.resource_name, resource.configuration_keys or None
    if resource.resource_type == kinds.TOPIC:
        bad = topic_names.check(name)
        if bad is not None:
            return bad
        topic = broker.image.topic(name)
        if topic is None:
            return Refused(Code.UNKNOWN_TOPIC, f"there is no topic {name}")
        return topic_settings.describe(topic.configs, broker.image.layers, names)
    if resource.resource_type == kinds.BROKER:
        node_id = kinds.node_of(broker, name)
        if isinstance(node_id, Refused):
            return node_id
        if node_id is None:
            rows = node_settings.describe_run_time(broker.image.node_configs(None), Source.ALL_NODES)
            return [row for row in rows if names is None or row.name in names]
        return node_settings.describe(broker.settings, broker.image.layers, names)
    if resource.resource_type in (kinds.GROUP, kinds.CLIENT_METRICS):
        return []
    return kinds.not_here(resource.resource_type)


def _as_reached(broker: Broker, one: Described, context: Context) -> Described:
    """Without a setting of the operator's, clients are told the address they came to: that is what is in force."""
    if one.name != "advertised.listeners" or one.value is not None:
        return one
    host, port = broker.advertised(context.peer.local_host, context.peer.local_port)
    value = f"PLAINTEXT://{host}:{port}"
    synonyms = [Synonym(one.name, value, Source.FILE)]
    return Described(one.name, value, Source.FILE, one.kind, one.documentation, synonyms, read_only=True)


def _row(one: Described, request: DescribeConfigsRequest) -> DescribeConfigsResourceResult:
    synonyms = one.synonyms if request.include_synonyms else ()
    return DescribeConfigsResourceResult(
        one.name,
        None if one.sensitive else one.value,
        one.read_only,
        one.source,
        one.sensitive,
        [DescribeConfigsSynonym(synonym.name, synonym.value, synonym.source) for synonym in synonyms],
        one.kind,
        one.documentation if request.include_documentation else None,
    )
