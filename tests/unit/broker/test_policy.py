"""A topic's settings in the data path's words."""

from __future__ import annotations

import pytest

from headrace.base.topic_settings import TopicSettings
from headrace.broker.policy import CODECS, PRODUCER_CODEC, TopicPolicy


def policy(**configs: str) -> TopicPolicy:
    return TopicPolicy(TopicSettings({key.replace("_", "."): value for key, value in configs.items()}), producer_expiry_ms=5)


def test_what_a_topic_gets_that_says_nothing():
    plain = policy()
    assert (plain.fsynced, plain.walk, plain.append_time, plain.compact, plain.codec) == (True, True, False, False, PRODUCER_CODEC)
    assert (plain.log.delete, plain.log.compact, plain.log.producer_expiry_ms, plain.in_sync_min) == (True, False, 5, 1)
    assert plain.batch_size_max == plain.log.max_message_bytes == 1024 * 1024 + 12


@pytest.mark.parametrize(("name", "codec"), CODECS.items())
def test_codecs(name: str, codec: int):
    assert policy(compression_type=name).codec == codec


def test_a_level_belongs_to_its_codec():
    levels = {"compression_gzip_level": "9", "compression_zstd_level": "7", "compression_lz4_level": "3"}
    found = {name: policy(compression_type=name, **levels).codec_level for name in CODECS}
    assert found == {"producer": None, "uncompressed": None, "gzip": 9, "snappy": None, "lz4": 3, "zstd": 7}


def test_durability_validation_and_time():
    other = policy(
        durability="pagecache", record_validation="header", message_timestamp_type="LogAppendTime", cleanup_policy="compact"
    )
    assert (other.fsynced, other.walk, other.append_time, other.compact, other.log.delete) == (False, False, True, True, False)
