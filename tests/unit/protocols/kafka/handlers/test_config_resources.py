"""Which node a resource names."""

from __future__ import annotations

import pytest

from headrace.base.errors import Code, Refused
from headrace.protocols.kafka.handlers.config_resources import node_of


class Broker:
    node_id = 3


def test_this_node_and_all_nodes():
    assert node_of(Broker(), "3") == 3  # type: ignore[arg-type]
    assert node_of(Broker(), "") is None  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["²", "--3", "-", "3-", "9" * 5_000, "x", "4", "-1", "\0", "٤"])
def test_whatever_else_is_refused(name: str):
    # "²" counts as a digit and "--3" is digits behind dashes, but neither is a number: the exception ended the node.
    refused = node_of(Broker(), name)  # type: ignore[arg-type]
    assert isinstance(refused, Refused) and refused.code is Code.BAD_REQUEST
