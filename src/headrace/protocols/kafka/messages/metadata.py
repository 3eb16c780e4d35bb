"""Metadata, versions 0 to 13.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.base.ids import NO_TOPIC_ID
from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

API_KEY = 3
VERSIONS = (0, 13)
FLEXIBLE_FROM = 9


class MetadataRequestTopic(Message):
    __slots__ = ("name", "topic_id")
    FIELDS = """
        topic_id uuid 10+ ignorable
        name string 0+ nullable=10+
    """

    def __init__(
        self,
        topic_id: UUID = NO_TOPIC_ID,
        name: str | None = "",
    ) -> None:
        self.topic_id = topic_id
        self.name = name


class MetadataRequest(Message):
    __slots__ = (
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
        "topics",
    )
    FIELDS = """
        topics []MetadataRequestTopic 0+ nullable=1+
        allow_auto_topic_creation bool 4+ default=true
        include_cluster_authorized_operations bool 8-10
        include_topic_authorized_operations bool 8+
    """

    def __init__(
        self,
        topics: Sequence[MetadataRequestTopic] | None = (),
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics = topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations


class MetadataResponseBroker(Message):
    __slots__ = ("host", "node_id", "port", "rack")
    FIELDS = """
        node_id int32 0+
        host string 0+
        port int32 0+
        rack string 1+ nullable=1+ default=null ignorable
    """

    def __init__(
        self,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id = node_id
        self.host = host
        self.port = port
        self.rack = rack


class MetadataResponsePartition(Message):
    __slots__ = ("error_code", "isr_nodes", "leader_epoch", "leader_id", "offline_replicas", "partition_index", "replica_nodes")
    FIELDS = """
        error_code int16 0+
        partition_index int32 0+
        leader_id int32 0+
        leader_epoch int32 7+ default=-1 ignorable
        replica_nodes []int32 0+
        isr_nodes []int32 0+
        offline_replicas []int32 5+ ignorable
    """

    def __init__(
        self,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: Sequence[int] = (),
        isr_nodes: Sequence[int] = (),
        offline_replicas: Sequence[int] = (),
    ) -> None:
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = replica_nodes
        self.isr_nodes = isr_nodes
        self.offline_replicas = offline_replicas


class MetadataResponseTopic(Message):
    __slots__ = ("error_code", "is_internal", "name", "partitions", "topic_authorized_operations", "topic_id")
    FIELDS = """
        error_code int16 0+
        name string 0+ nullable=12+
        topic_id uuid 10+ ignorable
        is_internal bool 1+ default=false ignorable
        partitions []MetadataResponsePartition 0+
        topic_authorized_operations int32 8+ default=-2147483648
    """

    def __init__(
        self,
        error_code: int = 0,
        name: str | None = "",
        topic_id: UUID = NO_TOPIC_ID,
        is_internal: bool = False,
        partitions: Sequence[MetadataResponsePartition] = (),
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = partitions
        self.topic_authorized_operations = topic_authorized_operations


class MetadataResponse(Message):
    __slots__ = (
        "brokers",
        "cluster_authorized_operations",
        "cluster_id",
        "controller_id",
        "error_code",
        "throttle_time_ms",
        "topics",
    )
    FIELDS = """
        throttle_time_ms int32 3+ ignorable
        brokers []MetadataResponseBroker 0+
        cluster_id string 2+ nullable=2+ default=null ignorable
        controller_id int32 1+ default=-1 ignorable
        topics []MetadataResponseTopic 0+
        cluster_authorized_operations int32 8-10 default=-2147483648
        error_code int16 13+ ignorable
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        brokers: Sequence[MetadataResponseBroker] = (),
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: Sequence[MetadataResponseTopic] = (),
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.brokers = brokers
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.topics = topics
        self.cluster_authorized_operations = cluster_authorized_operations
        self.error_code = error_code
