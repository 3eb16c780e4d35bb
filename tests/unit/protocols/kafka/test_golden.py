"""What real clients sent to Kafka 4.3.1 and what it answered, read, and written again to the same bytes.

`tools/capture_golden.py` recorded it.
"""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from headrace.protocols.kafka.codec import decode_header, decode_request, decode_response, encode_request, encode_response

FOLDER = Path(__file__).parents[3] / "golden" / "kafka"
FILES = sorted(FOLDER.glob("*/*.txt"))


def frames(path: Path) -> dict[str, bytes]:
    return {word: bytes.fromhex(text) for word, text in (line.split() for line in path.read_text().splitlines())}


def test_there_are_golden_frames() -> None:
    assert len(FILES) >= 80
    assert len({path.parent.name for path in FILES}) == 4


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_golden(path: Path) -> None:
    golden = frames(path)
    frame = memoryview(golden["request"])
    header, at = decode_header(frame)
    request = decode_request(header, frame, at)
    buffers = encode_request(header.api_key, header.api_version, header.correlation_id, header.client_id, request)
    assert b"".join(buffers) == struct.pack(">i", len(frame)) + golden["request"]  # type: ignore[arg-type]

    correlation_id, response = decode_response(header.api_key, header.api_version, memoryview(golden["response"]))
    assert correlation_id == header.correlation_id
    buffers = encode_response(header.api_key, header.api_version, correlation_id, response)
    assert b"".join(buffers)[4:] == golden["response"]  # type: ignore[arg-type]
