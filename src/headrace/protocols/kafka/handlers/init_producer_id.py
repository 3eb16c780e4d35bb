"""InitProducerId: an id for a producer that numbers its batches.

v0; v1 throttling; v2 flexible; v3 keep the id, raise the epoch (KIP-360); v4 PRODUCER_FENCED; v5 transactions

Without a transactional id. Ids come in blocks from the cluster store, so that none is ever given twice.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from headrace.base.errors import Refused
from headrace.base.ids import NO_EPOCH, NO_PRODUCER
from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse


def handle(
    broker: Broker, request: InitProducerIdRequest, context: Context
) -> InitProducerIdResponse | Coroutine[Any, Any, InitProducerIdResponse]:
    if request.transactional_id is not None:
        code = errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED if request.transactional_id else errors.INVALID_REQUEST
        return InitProducerIdResponse(error_code=code, producer_epoch=-1)
    if (request.producer_id == NO_PRODUCER) != (request.producer_epoch == NO_EPOCH):
        return InitProducerIdResponse(error_code=errors.INVALID_REQUEST, producer_epoch=-1)
    return _give(broker)


async def _give(broker: Broker) -> InitProducerIdResponse:
    producer_id = await broker.new_producer_id()
    if isinstance(producer_id, Refused):
        return InitProducerIdResponse(error_code=errors.tell(producer_id, broker.metrics), producer_epoch=-1)
    return InitProducerIdResponse(producer_id=producer_id)
