"""All handlers: each is there, says which versions it serves, and answers an empty request in all of them."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from headrace.protocols.kafka.codec import decode_response, encode_response
from headrace.protocols.kafka.handlers import HANDLERS
from headrace.protocols.kafka.messages import API
from tests.support.broker_harness import Harness, play


def module_of(key: int):
    return import_module(f"headrace.protocols.kafka.handlers.{HANDLERS[key]}")


@pytest.mark.parametrize("key", HANDLERS)
def test_the_card_names_the_versions(key: int):
    api = API[key]
    assert api.module.rpartition(".")[2] == HANDLERS[key]
    card = module_of(key).__doc__ or ""
    assert card.startswith((f"{api.name}: ", f"{api.name}."))
    named = {int(number) for pair in re.findall(r"(?<![\w.])v(\d+)(?:-(\d+))?", card) for number in pair if number}
    assert named, "no version is named"
    assert max(named) == api.max_version
    assert callable(module_of(key).handle)


@pytest.mark.parametrize("key", HANDLERS)
def test_an_empty_request_gets_an_answer_that_every_version_can_carry(key: int):
    """A null where a version has no room for one is found here, and not by a client."""

    async def main(node: Harness) -> None:
        api = API[key]
        await node.create("t")
        assert await node.broker.make_offsets_topic() is None
        for version in range(api.min_version, api.max_version + 1):
            request = api.request()
            if key == 0:
                request.acks = 1
            answer = await node.ask(module_of(key).handle, request, version)
            data = b"".join(bytes(piece) for piece in encode_response(key, version, 7, answer))  # type: ignore[arg-type]
            correlation_id, again = decode_response(key, version, memoryview(data)[4:])[:2]
            assert correlation_id == 7 and isinstance(again, api.response)

    play(main)
