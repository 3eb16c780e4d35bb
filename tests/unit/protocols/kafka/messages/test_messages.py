"""The table of APIs, and that the generated modules are what the table says."""

from __future__ import annotations

import importlib
import inspect

import pytest

from headrace.protocols.kafka.fields import fields_of
from headrace.protocols.kafka.messages import API, Message


def test_the_apis_of_clients_are_there() -> None:
    served = {*range(4), *range(8, 17), *range(18, 24), 32, 33, 35, 37, 42, 43, 44, 47, 57, 60, 61, 74, 75}
    assert served <= set(API)


@pytest.mark.parametrize("api_key", sorted(API), ids=lambda key: API[key].name)
def test_module(api_key: int) -> None:
    api = API[api_key]
    module = importlib.import_module(api.module)
    assert api_key == module.API_KEY
    assert (api.min_version, api.max_version) == module.VERSIONS
    assert api.flexible_from == module.FLEXIBLE_FROM
    assert (api.request.__name__, api.response.__name__) == (api.name + "Request", api.name + "Response")
    for _, struct in inspect.getmembers(module, lambda value: isinstance(value, type) and issubclass(value, Message)):
        if struct is Message:
            continue
        names = [field.name for field in fields_of(struct)]
        assert sorted(struct.__slots__) == sorted(names)
        parameters = inspect.signature(struct).parameters
        assert list(parameters) == names
        made = struct()
        assert not hasattr(made, "__dict__")
        for field in fields_of(struct):
            default = parameters[field.name].default
            assert field.kind == "uuid" or field.struct is not None or default == field.default, field.name


def test_header_versions() -> None:
    assert [API[3].request_header_version(version) for version in (8, 9)] == [1, 2]
    assert [API[3].response_header_version(version) for version in (8, 9)] == [0, 1]
    assert [API[18].request_header_version(version) for version in (2, 3)] == [1, 2]
    assert [API[18].response_header_version(version) for version in (2, 3, 4)] == [0, 0, 0]
    assert [API[17].request_header_version(version) for version in (0, 1)] == [1, 1]


def test_a_version_that_is_not_stable_is_left_out() -> None:
    assert API[22].max_version == 5
