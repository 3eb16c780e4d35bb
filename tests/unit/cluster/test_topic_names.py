"""Topic names, as Apache Kafka 4.3.1 takes and refuses them."""

import pytest

from headrace.base.errors import Code, Refused
from headrace.cluster.topic_names import check


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "...", "_", "-", "x" * 249, "__consumer_offsets"])
def test_good_names(name):
    assert check(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a b", "a/b", "ä", "a\n", "a\x00", "@metadata", "٣"])
def test_bad_names(name):
    refused = check(name)
    assert isinstance(refused, Refused) and refused.code is Code.BAD_TOPIC_NAME


def test_a_name_too_long_is_told_the_numbers_and_not_repeated():
    refused = check("x" * 100_000)
    assert refused is not None and "249" in refused.why and "100000" in refused.why and len(refused.why) < 200
