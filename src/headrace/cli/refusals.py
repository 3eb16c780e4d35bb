"""A broker's error code, in words: our own name for it, the likely cause, what to do next.

Kafka's number is all that comes over the wire (and sometimes a sentence). The names come from the broker's own total table, so
that an error reads the same on both sides; a number it never sends (the broker may be another one) is shown as it is.
"""

from __future__ import annotations

from headrace.base.errors import Code
from headrace.cli.errors import CliError, Trouble
from headrace.protocols.kafka import errors

NAMES = {value: name for name, value in vars(errors).items() if name.isupper() and isinstance(value, int)}
OURS: dict[int, Code] = {}
for _code, _number in errors.CODES.items():
    OURS.setdefault(_number, _code)
# Where several of our codes share a number, the one a command is most likely to meet.
OURS[errors.INVALID_REQUEST] = Code.BAD_REQUEST
OURS[errors.UNKNOWN_SERVER_ERROR] = Code.INTERNAL
OURS[errors.UNSUPPORTED_VERSION] = Code.UNSUPPORTED_VERSION
OURS[errors.LEADER_NOT_AVAILABLE] = Code.NOT_LEADER

# Answers that are worth asking again for: the broker is on its way to being able.
PASSING = frozenset(
    {
        errors.LEADER_NOT_AVAILABLE,
        errors.NOT_LEADER_OR_FOLLOWER,
        errors.REPLICA_NOT_AVAILABLE,
        errors.FENCED_LEADER_EPOCH,
        errors.UNKNOWN_LEADER_EPOCH,
        errors.COORDINATOR_LOAD_IN_PROGRESS,
        errors.COORDINATOR_NOT_AVAILABLE,
        errors.NOT_COORDINATOR,
    }
)

HINTS: dict[Code, tuple[str, str]] = {
    Code.UNKNOWN_TOPIC: ("the name is misspelled, or the topic was deleted", "headrace topic list"),
    Code.TOPIC_EXISTS: ("it was created before", "headrace topic describe {name}"),
    Code.BAD_TOPIC_NAME: ("a name has 1 to 249 of the characters a-z A-Z 0-9 . _ -", "choose another name"),
    Code.BAD_PARTITIONS: ("partitions can be added, not taken away", "headrace topic describe {name}"),
    Code.BAD_REPLICAS: ("there are fewer brokers than replicas were asked for", "leave --replicas out"),
    Code.BAD_CONFIG: ("the setting's name or value is wrong", "docs/settings.md lists names and bounds"),
    Code.GROUP_NOT_FOUND: ("the name is misspelled, or the group's offsets have expired", "headrace group list"),
    Code.GROUP_NOT_EMPTY: ("consumers of the group are still running", "stop them; headrace group describe {name} names them"),
    Code.UNKNOWN_MEMBER: ("consumers of the group are still running", "stop them; headrace group describe {name} names them"),
    Code.REBALANCE_IN_PROGRESS: ("consumers of the group come or go just now", "try again in a few seconds"),
    Code.BATCH_TOO_LARGE: ("a record is larger than the topic takes", "headrace topic alter {name} --set max.message.bytes=SIZE"),
    Code.OFFSET_OUT_OF_RANGE: ("retention has removed it, or it does not exist yet", "headrace topic describe {name}"),
    Code.STORAGE_FAILED: ("the broker's disk is full or failing", "look into the broker's log"),
    Code.NOT_LEADER: ("the partition is moving to another broker", "try again in a few seconds"),
    Code.COORDINATOR_LOADING: ("the broker has just started", "try again in a few seconds"),
    Code.COORDINATOR_UNAVAILABLE: ("the broker has just started", "try again in a few seconds"),
    Code.SECURITY_DISABLED: ("access control is not enabled there", ""),
    Code.POLICY_VIOLATION: ("a rule of the broker's operator forbids it", ""),
    Code.INVALID_RECORD: ("the topic asks for a key, or a timestamp is odd", "headrace topic describe {name}"),
    Code.TIMESTAMP_OUT_OF_RANGE: (
        "a timestamp lies further from now than the topic allows",
        "leave the timestamp out, or see message.timestamp.after.max.ms",
    ),
}


def name_of(number: int) -> str:
    return NAMES.get(number, f"error {number}")


def refusal(number: int, what: str, *, message: str | None = None, name: str = "NAME") -> CliError:
    """The error to raise for a broker's `number`; `what` says what was tried, `name` fills the hint."""
    assert number != errors.NONE
    evidence = f"the broker answered {name_of(number)} ({number})" + (f": {message}" if message else "")
    ours = OURS.get(number)
    if ours is None:
        return CliError(Trouble.BROKER_REFUSED, what, evidence=evidence)
    likely, next = HINTS.get(ours, ("", ""))
    return CliError(ours, what, evidence=evidence, likely=likely, next=next.format(name=name))
