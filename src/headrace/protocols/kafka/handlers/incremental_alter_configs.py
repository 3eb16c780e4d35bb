"""IncrementalAlterConfigs: set, delete, append to and subtract from single settings (KIP-339).

v0; v1 flexible
"""

from __future__ import annotations

from headrace.base.errors import Code, Refused
from headrace.broker.broker import Broker
from headrace.cluster.config_changes import Act, ConfigChange
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers import config_resources as kinds
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

_ACTS = {int(act) for act in Act}


async def handle(broker: Broker, request: IncrementalAlterConfigsRequest, context: Context) -> IncrementalAlterConfigsResponse:
    rows = []
    for resource in request.resources:
        done = await _one(broker, resource, request.validate_only)
        row = AlterConfigsResourceResponse(errors.NONE, None, resource.resource_type, resource.resource_name)
        if isinstance(done, Refused):
            row.error_code, row.error_message = errors.tell(done, broker.metrics), done.why
        rows.append(row)
    return IncrementalAlterConfigsResponse(responses=rows)


async def _one(broker: Broker, resource: AlterConfigsResource, check_only: bool) -> dict[str, str] | Refused:
    for config in resource.configs:
        if config.config_operation not in _ACTS:
            return Refused(Code.BAD_REQUEST, f"operation {config.config_operation} is not known; there are 0 to 3")
        if config.value is None and config.config_operation != Act.DELETE:
            return Refused(Code.BAD_REQUEST, f"{config.name} needs a value; to fall back to the default, delete it")
    changes = [ConfigChange(config.name, Act(config.config_operation), config.value) for config in resource.configs]
    if resource.resource_type == kinds.TOPIC:
        return await broker.metadata.alter_topic_configs(resource.resource_name, changes, check_only=check_only)
    if resource.resource_type == kinds.BROKER:
        node_id = kinds.node_of(broker, resource.resource_name)
        if isinstance(node_id, Refused):
            return node_id
        return await broker.metadata.alter_node_configs(node_id, changes, check_only=check_only)
    return kinds.not_here(resource.resource_type)
