"""The ways in which Headrace says no.

Four kinds (see CONTRIBUTING): our own bugs are asserts; what a client should hear is a value, `Refused`;
a peer that breaks its protocol is a `ProtocolError`, raised in codec and connection only; what the world does
to us is an `OSError`. Nothing here knows a protocol: each protocol folder has one total table from `Code`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Code(enum.Enum):
    """Why something was refused. The value is the stable name that logs, metrics and `docs/errors.md` use."""

    # the request itself
    BAD_REQUEST = "bad-request"
    UNSUPPORTED_VERSION = "unsupported-version"
    UNSUPPORTED_FORMAT = "unsupported-format"
    UNSUPPORTED_CODEC = "unsupported-codec"
    NOT_SUPPORTED = "not-supported"
    SECURITY_DISABLED = "security-disabled"
    SASL_NOT_ENABLED = "sasl-not-enabled"
    TIMED_OUT = "timed-out"
    POLICY_VIOLATION = "policy-violation"
    INTERNAL = "internal"
    # topics and partitions
    UNKNOWN_TOPIC = "unknown-topic"
    UNKNOWN_TOPIC_ID = "unknown-topic-id"
    INCONSISTENT_TOPIC_ID = "inconsistent-topic-id"
    TOPIC_EXISTS = "topic-exists"
    BAD_TOPIC_NAME = "bad-topic-name"
    BAD_PARTITIONS = "bad-partitions"
    BAD_REPLICAS = "bad-replicas"
    BAD_ASSIGNMENT = "bad-assignment"
    BAD_CONFIG = "bad-config"
    TOPIC_DELETION_OFF = "topic-deletion-off"
    NOT_LEADER = "not-leader"
    UNKNOWN_LEADER_EPOCH = "unknown-leader-epoch"
    FENCED_LEADER_EPOCH = "fenced-leader-epoch"
    UNKNOWN_NODE = "unknown-node"
    NO_REASSIGNMENT = "no-reassignment"
    ELECTION_NOT_NEEDED = "election-not-needed"
    LOG_FOLDER_UNKNOWN = "log-folder-unknown"
    # records
    CORRUPT_BATCH = "corrupt-batch"
    INVALID_RECORD = "invalid-record"
    BATCH_TOO_LARGE = "batch-too-large"
    TIMESTAMP_OUT_OF_RANGE = "timestamp-out-of-range"
    BAD_ACKS = "bad-acks"
    OFFSET_OUT_OF_RANGE = "offset-out-of-range"
    STORAGE_FAILED = "storage-failed"
    NOT_ENOUGH_REPLICAS = "not-enough-replicas"
    # producers
    OUT_OF_ORDER_SEQUENCE = "out-of-order-sequence"
    DUPLICATE_SEQUENCE = "duplicate-sequence"
    PRODUCER_FENCED = "producer-fenced"
    UNKNOWN_PRODUCER = "unknown-producer"
    TRANSACTIONS_NOT_SUPPORTED = "transactions-not-supported"
    # groups
    BAD_GROUP = "bad-group"
    GROUP_NOT_FOUND = "group-not-found"
    GROUP_NOT_EMPTY = "group-not-empty"
    GROUP_SUBSCRIBED = "group-subscribed"
    GROUP_FULL = "group-full"
    COORDINATOR_LOADING = "coordinator-loading"
    NOT_COORDINATOR = "not-coordinator"
    COORDINATOR_UNAVAILABLE = "coordinator-unavailable"
    UNKNOWN_MEMBER = "unknown-member"
    MEMBER_ID_REQUIRED = "member-id-required"
    ILLEGAL_GENERATION = "illegal-generation"
    REBALANCE_IN_PROGRESS = "rebalance-in-progress"
    INCONSISTENT_PROTOCOL = "inconsistent-protocol"
    FENCED_INSTANCE = "fenced-instance"
    BAD_SESSION_TIMEOUT = "bad-session-timeout"
    COMMIT_METADATA_TOO_LARGE = "commit-metadata-too-large"
    BAD_COMMIT_SIZE = "bad-commit-size"
    # fetch sessions
    FETCH_SESSION_UNKNOWN = "fetch-session-unknown"
    FETCH_SESSION_EPOCH = "fetch-session-epoch"
    FETCH_SESSION_TOPIC_ID = "fetch-session-topic-id"
    # cluster store
    CONFLICT = "conflict"
    BAD_FEATURE = "bad-feature"


@dataclass(slots=True)
class Refused:
    """A refusal the client should hear: the reason, with the numbers."""

    code: Code
    why: str


class ProtocolError(Exception):
    """The peer broke its protocol. Raised in codecs and connections only; the connection closes."""
