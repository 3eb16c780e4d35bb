"""Metadata: which nodes and topics there are, and who leads what.

v0    all topics when none is named; v1 null means all, controller, internal topics; v2 cluster id; v4 auto-creation on request
v7    leader epochs; v8 authorized operations (KIP-430); v9 flexible; v10 topic ids; v11 no cluster operations
v12   topics by id (KIP-516); v13 an error of the whole answer (KIP-1102)

Answers come from the image, sorted, so that two of them are alike byte for byte when nothing has changed. A topic that does
not exist is made when the client and the setting `auto-create-topics` allow it; the answer then has it already, with leaders.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from headrace.base.errors import Code, Refused
from headrace.base.ids import NO_TOPIC_ID
from headrace.broker.broker import Broker
from headrace.cluster import topic_names
from headrace.cluster.image import TopicImage
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.handlers.operations import CLUSTER_OPERATIONS, TOPIC_OPERATIONS
from headrace.protocols.kafka.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

NOT_ASKED = -(2**31)


def handle(broker: Broker, request: MetadataRequest, context: Context) -> MetadataResponse | Coroutine[Any, Any, MetadataResponse]:
    topics = request.topics
    if topics is None or (context.version == 0 and not topics):
        rows = [_known(topic, request) for topic in broker.image.topics()]
        return _answer(broker, request, context, rows)
    if context.version in (10, 11) and any(topic.name is None or topic.topic_id != NO_TOPIC_ID for topic in topics):
        # These versions have the field, but topics are asked for by id from version 12 on, and their answer has no null name.
        rows = [MetadataResponseTopic(errors.INVALID_REQUEST, topic.name or "", topic.topic_id) for topic in topics]
        return MetadataResponse(topics=rows)
    may_make = request.allow_auto_topic_creation or context.version < 4
    if may_make and broker.settings.auto_create_topics:
        missing = [
            topic.name
            for topic in topics
            if topic.topic_id == NO_TOPIC_ID
            and topic.name is not None
            and broker.image.topic(topic.name) is None
            and topic_names.check(topic.name) is None
        ]
        if missing:
            return _make_and_answer(broker, request, context, list(dict.fromkeys(missing)))
    return _answer(broker, request, context, _named(broker, request, context, {}))


async def _make_and_answer(broker: Broker, request: MetadataRequest, context: Context, missing: list[str]) -> MetadataResponse:
    refused: dict[str, Refused] = {}
    for name in missing:
        why = await broker.auto_create(name)
        if why is not None:
            refused[name] = why
    return _answer(broker, request, context, _named(broker, request, context, refused))


def _named(broker: Broker, request: MetadataRequest, context: Context, refused: dict[str, Refused]) -> list[MetadataResponseTopic]:
    rows = []
    seen: set[object] = set()
    for asked in request.topics or ():
        by_id = asked.topic_id != NO_TOPIC_ID or asked.name is None
        key: object = asked.topic_id if by_id else asked.name
        if key in seen:
            continue
        seen.add(key)
        rows.append(_by_id(broker, asked, request) if by_id else _by_name(broker, asked.name or "", request, refused))
    rows.sort(key=lambda row: row.name or "")
    return rows


def _by_id(broker: Broker, asked: MetadataRequestTopic, request: MetadataRequest) -> MetadataResponseTopic:
    topic = broker.image.topic_by_id(asked.topic_id)
    if topic is not None:
        return _known(topic, request)
    return MetadataResponseTopic(errors.UNKNOWN_TOPIC_ID, None, asked.topic_id)


def _by_name(broker: Broker, name: str, request: MetadataRequest, refused: dict[str, Refused]) -> MetadataResponseTopic:
    topic = broker.image.topic(name)
    if topic is not None:
        return _known(topic, request)
    why = refused.get(name) or topic_names.check(name)
    code = errors.tell(why, broker.metrics) if why is not None else errors.UNKNOWN_TOPIC_OR_PARTITION
    if why is not None and why.code is Code.CONFLICT:
        code = errors.LEADER_NOT_AVAILABLE
    return MetadataResponseTopic(code, name, NO_TOPIC_ID, name in broker.internal_topics)


def _known(topic: TopicImage, request: MetadataRequest) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        errors.NONE,
        topic.name,
        topic.id,
        topic.internal,
        [
            MetadataResponsePartition(errors.NONE, part.index, part.leader, part.leader_epoch, part.replicas, part.isr)
            for part in topic.partitions
        ],
        TOPIC_OPERATIONS if request.include_topic_authorized_operations else NOT_ASKED,
    )


def _answer(broker: Broker, request: MetadataRequest, context: Context, rows: list[MetadataResponseTopic]) -> MetadataResponse:
    return MetadataResponse(
        brokers=nodes(broker, context),
        cluster_id=broker.image.cluster_id,
        controller_id=broker.node_id,
        topics=rows,
        cluster_authorized_operations=CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED,
    )


def nodes(broker: Broker, context: Context) -> list[MetadataResponseBroker]:
    """This node, at the address the client came to."""
    host, port = broker.advertised(context.peer.local_host, context.peer.local_port)
    return [MetadataResponseBroker(broker.node_id, host, port, None)]
