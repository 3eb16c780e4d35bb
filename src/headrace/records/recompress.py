"""A batch with another codec: what `compression.type` other than `producer` asks for.

Only the records section is packed anew. Offsets, timestamps, producer state and the batch's other attributes stay as they are.
"""

from __future__ import annotations

from headrace.base.errors import Refused
from headrace.base.files import Buffer
from headrace.base.limits import INFLATED_SIZE_MAX
from headrace.records.build import assemble
from headrace.records.compression import inflate
from headrace.records.header import CODEC_MASK, HEADER_SIZE, BatchHeader


def recompress(
    data: Buffer, header: BatchHeader, codec: int, level: int | None = None, *, inflated_size_max: int = INFLATED_SIZE_MAX
) -> bytearray | Refused:
    """The batch that `data` is, with `codec`. Refused when its records cannot be inflated. Slow: off the loop."""
    section = inflate(header.codec, memoryview(data)[HEADER_SIZE : header.size], inflated_size_max)
    if isinstance(section, Refused):
        return section
    return assemble(
        section,
        base_offset=header.base_offset,
        leader_epoch=header.leader_epoch,
        attributes=header.attributes & ~CODEC_MASK | codec,
        last_offset_delta=header.last_offset_delta,
        base_timestamp=header.base_timestamp,
        max_timestamp=header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        count=header.count,
        level=level,
    )
