"""What a topic may be called: Kafka's rule, with Kafka's reason (a name is a folder's name and a metric's)."""

from __future__ import annotations

import re

from headrace.base.errors import Code, Refused
from headrace.base.limits import TOPIC_NAME_LENGTH_MAX

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)


def check(name: str) -> Refused | None:
    if not name:
        why = "a topic's name cannot be empty"
    elif name in (".", ".."):
        why = f"{name!r} cannot be a topic's name"
    elif len(name) > TOPIC_NAME_LENGTH_MAX:
        why = f"a topic's name has at most {TOPIC_NAME_LENGTH_MAX} characters, and {name[:40]!r}... has {len(name)}"
    elif _LEGAL.fullmatch(name) is None:
        why = f"the topic name {name!r} has characters other than ASCII letters, digits, '.', '_' and '-'"
    else:
        return None
    return Refused(Code.BAD_TOPIC_NAME, why)
