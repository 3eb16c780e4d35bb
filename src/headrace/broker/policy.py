"""What a topic's settings mean for its data path, worked out once per change and not per request."""

from __future__ import annotations

from headrace.base.limits import INFLATED_SIZE_MAX
from headrace.base.topic_settings import TopicSettings
from headrace.log.settings import LogSettings

PRODUCER_CODEC = -1  # compression.type=producer: batches stay as they were sent
CODECS = {"producer": PRODUCER_CODEC, "uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}


class TopicPolicy:
    """The effective settings of one topic, in the data path's words."""

    __slots__ = (
        "after_ms_max",
        "append_time",
        "batch_size_max",
        "before_ms_max",
        "codec",
        "codec_level",
        "compact",
        "fsynced",
        "in_sync_min",
        "inflated_size_max",
        "log",
        "walk",
    )

    def __init__(self, settings: TopicSettings, *, producer_expiry_ms: int) -> None:
        self.fsynced = settings.fsynced
        self.walk = settings.validate_records
        self.batch_size_max = settings.batch_size_max
        self.append_time = settings.append_time
        self.after_ms_max = settings.timestamp_after_ms_max
        self.before_ms_max = settings.timestamp_before_ms_max
        self.codec = CODECS[settings.compression]
        levels = {
            1: settings.compression_level_gzip,
            3: settings.compression_level_lz4,
            4: settings.compression_level_zstd,
        }
        self.codec_level = levels.get(self.codec)
        self.compact = settings.compact
        self.in_sync_min = settings.insync_replicas_min
        self.inflated_size_max = INFLATED_SIZE_MAX
        self.log = LogSettings(
            segment_bytes=settings.segment_size_bytes,
            segment_ms=settings.segment_ms,
            index_interval_bytes=settings.index_interval_bytes,
            index_size_max=settings.index_size_bytes_max,
            retention_ms=settings.retention_ms,
            retention_bytes=settings.retention_bytes,
            delete=settings.delete,
            compact=settings.compact,
            max_message_bytes=settings.batch_size_max,
            producer_expiry_ms=producer_expiry_ms,
            file_delete_delay_ms=settings.file_delete_delay_ms,
        )
