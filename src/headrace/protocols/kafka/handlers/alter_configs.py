"""AlterConfigs: replace all settings of a topic or a node. Old; IncrementalAlterConfigs is what clients use now.

v0-1; v2 flexible
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers import config_resources as kinds
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)


async def handle(broker: Broker, request: AlterConfigsRequest, context: Context) -> AlterConfigsResponse:
    rows = []
    for resource in request.resources:
        done = await _one(broker, resource, request.validate_only)
        row = AlterConfigsResourceResponse(errors.NONE, None, resource.resource_type, resource.resource_name)
        if isinstance(done, Refused):
            row.error_code, row.error_message = errors.tell(done, broker.metrics), done.why
        rows.append(row)
    return AlterConfigsResponse(responses=rows)


async def _one(broker: Broker, resource: AlterConfigsResource, check_only: bool) -> dict[str, str] | Refused:
    values = {config.name: config.value for config in resource.configs}
    if len(values) != len(resource.configs):
        return Refused(Code.BAD_REQUEST, "a setting is named twice")
    for name, value in values.items():
        if value is None:
            return Refused(Code.BAD_REQUEST, f"{name} needs a value; to fall back to the default, leave it out")
    if resource.resource_type == kinds.TOPIC:
        return await broker.metadata.replace_topic_configs(resource.resource_name, values, check_only=check_only)
    if resource.resource_type == kinds.BROKER:
        node_id = kinds.node_of(broker, resource.resource_name)
        if isinstance(node_id, Refused):
            return node_id
        return await broker.metadata.replace_node_configs(node_id, values, check_only=check_only)
    return kinds.not_here(resource.resource_type)
