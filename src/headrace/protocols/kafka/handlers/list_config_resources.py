"""ListConfigResources: what has settings (KIP-1000, KIP-1142).

v0 client metrics only; v1 topics, nodes, groups, client metrics
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers import config_resources as kinds
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_LISTED = (kinds.TOPIC, kinds.BROKER, kinds.BROKER_LOGGER, kinds.CLIENT_METRICS, kinds.GROUP)


def handle(broker: Broker, request: ListConfigResourcesRequest, context: Context) -> ListConfigResourcesResponse:
    if context.version == 0:
        return ListConfigResourcesResponse()
    wanted = set(request.resource_types) or set(_LISTED)
    if not wanted <= set(_LISTED):
        return ListConfigResourcesResponse(error_code=errors.UNSUPPORTED_VERSION)
    rows = []
    if kinds.TOPIC in wanted:
        rows += [ConfigResource(topic.name, kinds.TOPIC) for topic in broker.image.topics()]
    if kinds.BROKER in wanted:
        rows.append(ConfigResource(str(broker.node_id), kinds.BROKER))
    if kinds.BROKER_LOGGER in wanted:
        rows.append(ConfigResource(str(broker.node_id), kinds.BROKER_LOGGER))
    return ListConfigResourcesResponse(config_resources=rows)
