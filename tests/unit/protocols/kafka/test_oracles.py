"""Our bytes against two libraries by others: kio 0.6.5 and kafka-python 3.0.12, both generated from Kafka's descriptions.

Each sample goes both ways: what we write they must read, field by field, and write again to the same bytes; what they wrote we
must read to an equal message.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import importlib
import io
import pkgutil
import random
from typing import Any
from uuid import UUID

import kio.index
import kio.schema.index
import pytest
from kafka.protocol.api_message import ApiMessage
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from headrace.protocols.kafka.codec import decode_message, encode_message
from headrace.protocols.kafka.fields import fields_of
from headrace.protocols.kafka.messages import API, Message
from headrace.protocols.kafka.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from headrace.protocols.kafka.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from tests.unit.protocols.kafka.samples import sample

SAMPLES = 4
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def kio_classes(api_key: int, version: int) -> list[Any]:
    try:
        return [kio.index.load_request_schema(api_key, version), kio.index.load_response_schema(api_key, version)]
    except kio.index.UnknownEntity:
        return []


def test_kio_knows_all() -> None:
    """A message or version without an oracle must not slip in unseen."""
    unknown = {
        (api.name, version)
        for api in API.values()
        for version in range(api.min_version, api.max_version + 1)
        if api.key not in kio.schema.index.api_key_map or not kio_classes(api.key, version)
    }
    assert unknown == set()


@pytest.mark.parametrize("api_key", sorted(API), ids=lambda key: API[key].name)
def test_kio(api_key: int) -> None:
    api = API[api_key]
    for version in range(api.min_version, api.max_version + 1):
        for ours, their in zip((api.request, api.response), kio_classes(api_key, version), strict=True):
            assert their.__flexible__ == api.is_flexible(version)
            header = their.__header_schema__.__version__
            expected = api.request_header_version(version) if ours is api.request else api.response_header_version(version)
            assert header == expected
            hold_against_kio(ours, their, version)


@pytest.mark.parametrize("ours", [ConsumerProtocolSubscription, ConsumerProtocolAssignment], ids=lambda ours: ours.__name__)
def test_kio_data(ours: type[Message]) -> None:
    for version in range(4):
        name = "consumer_protocol_" + ours.__name__.removeprefix("ConsumerProtocol").lower()
        hold_against_kio(ours, kio.index.load_entity_schema(name, version, EntityType.data), version)


def hold_against_kio(ours: type[Message], their: Any, version: int) -> None:
    read, write = entity_reader(their), entity_writer(their)
    for seed in range(SAMPLES):
        message = sample(ours, version, random.Random(f"{ours.__name__} {version} {seed}"))
        data = encode_message(message, version)
        entity, size = read(data, 0)
        assert size == len(data)
        assert_same(message, entity, version)
        out = io.BytesIO()
        write(out, entity)
        assert out.getvalue() == data
        assert_same(decode_message(ours, version, data), entity, version)


def assert_same(ours: Any, theirs: Any, version: int) -> None:
    """Equal, field by field, in the order and with the words of both."""
    if isinstance(ours, Message):
        names = [field.name for field in fields_of(type(ours)) if version in field.versions]
        pairs = dataclasses.fields(theirs)
        assert len(names) == len(pairs)
        for name, pair in zip(names, pairs, strict=True):
            assert pair.name in (name, name.removesuffix("_ms"), name + "_") or name.startswith(pair.name), (name, pair.name)
            value, other = getattr(ours, name), getattr(theirs, pair.name)
            if value is None and dataclasses.is_dataclass(other):
                assert other == pair.default  # absent is the same as a struct of defaults
            else:
                assert_same(value, other, version)
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other, version)
    else:
        assert plain(theirs, ours) == ours


def plain(value: Any, ours: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(milliseconds=1)
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(milliseconds=1)
    if value is None and isinstance(ours, UUID):
        return UUID(int=0)
    if value is None and isinstance(ours, int):
        return -1
    return value


def kafka_python_classes() -> dict[str, type[ApiMessage]]:
    for package in ("admin", "consumer", "metadata", "producer"):
        folder = importlib.import_module(f"kafka.protocol.{package}")
        for module in pkgutil.iter_modules(folder.__path__):
            importlib.import_module(f"kafka.protocol.{package}.{module.name}")
    importlib.import_module("kafka.protocol.sasl")
    found: dict[str, type[ApiMessage]] = {}
    waiting = [ApiMessage]
    while waiting:
        for made in waiting.pop().__subclasses__():
            waiting.append(made)
            found.setdefault(made.__name__, made)
    return found


KAFKA_PYTHON = kafka_python_classes()
KNOWN_TO_KAFKA_PYTHON = [key for key in sorted(API) if API[key].name + "Request" in KAFKA_PYTHON]


def test_kafka_python_knows_most() -> None:
    assert len(KNOWN_TO_KAFKA_PYTHON) >= 45


@pytest.mark.parametrize("api_key", KNOWN_TO_KAFKA_PYTHON, ids=lambda key: API[key].name)
def test_kafka_python(api_key: int) -> None:
    api = API[api_key]
    for ours in (api.request, api.response):
        their: Any = KAFKA_PYTHON[ours.__name__]
        for version in range(api.min_version, min(api.max_version, their.max_version) + 1):
            for seed in range(SAMPLES):
                message: Any = sample(ours, version, random.Random(f"{api_key} {version} {seed}"))
                if ours.__name__ == "ApiVersionsResponse":
                    message.error_code = 0  # else they read the body as version 0, as KIP-511 has it
                data = encode_message(message, version)
                entity = their.decode(data, version=version)
                entity._header = None  # left unset where only a message was decoded
                assert bytes(entity.encode(version=version)) == data, (ours, version, seed)
                assert_alike(message, entity, version)


def assert_alike(ours: Any, theirs: Any, version: int) -> None:
    if isinstance(ours, Message):
        fields = [field for field in fields_of(type(ours)) if version in field.versions]
        names = [field.name for field in theirs._struct._fields if field.for_version_q(version)]
        assert len(fields) == len(names)
        for field, name in zip(fields, names, strict=True):
            value = getattr(ours, field.name)
            if not (field.is_tagged(version) and value in (field.default, None)):
                assert_alike(value, getattr(theirs, name), version)
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            assert_alike(one, other, version)
    elif isinstance(theirs, set):  # of bits
        assert sum(1 << bit for bit in theirs) == ours % 2**32
    elif theirs is None and isinstance(ours, int):
        assert ours == -(2**31)  # authorized operations that nobody asked for
    else:
        assert (UUID(int=0) if theirs is None and isinstance(ours, UUID) else theirs) == ours
