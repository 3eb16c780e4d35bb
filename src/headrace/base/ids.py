"""Names of things that are easily mixed up. All are plain values at run time."""

from __future__ import annotations

from typing import NewType
from uuid import UUID

NodeId = NewType("NodeId", int)
TopicId = UUID  # 16 bytes on the wire; the zero UUID means "no id"
NO_TOPIC_ID = UUID(int=0)

NO_PRODUCER = -1  # producer id of a batch that was sent without idempotence
NO_EPOCH = -1
NO_SEQUENCE = -1
NO_TIMESTAMP = -1
