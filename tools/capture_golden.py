#!/usr/bin/env python3
"""Record what real clients and a real broker say to each other, for `tests/golden/kafka`.

    tools/capture_golden.py record --listen 19392 --peer 127.0.0.1:19292 --client NAME -- COMMAND...
    tools/capture_golden.py exercise kafka-python|aiokafka|confluent-kafka ADDRESS

`record` is a proxy that copies bytes, runs the command, and keeps the last request and its answer of every API and
version it saw, one file each. The peer must send its clients back through the proxy (its advertised port is ours; with the peer
of the benchmarks: `kafka start --port 19292 --advertise 19392`). `exercise` is such a command: it lets a library do what
it can. A file holds one line a frame, `request` or `response` and the frame in hex, without its four bytes of length.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import struct
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headrace.protocols.kafka.messages import API  # noqa: E402

FRAME_SIZE_KEPT_MAX = 2500


class Recorder:
    """One run: the frames that are worth keeping, by API and version."""

    def __init__(self) -> None:
        self.found: dict[tuple[int, int], tuple[bytes, bytes | None]] = {}

    def keep(self, request: bytes, response: bytes | None) -> None:
        key, version = struct.unpack_from(">hh", request)
        if len(request) + len(response or b"") <= FRAME_SIZE_KEPT_MAX and key in API:
            # The last one is kept, not the first: the first answers are often empty or "not yet".
            self.found[key, version] = request, response

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for (key, version), (request, response) in sorted(self.found.items()):
            name = API[key].module.rpartition(".")[2]
            text = f"request {request.hex()}\n"
            if response is not None:
                text += f"response {response.hex()}\n"
            (folder / f"{name}-{version}.txt").write_text(text)


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(size)


async def serve(recorder: Recorder, peer: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    host, _, port = peer.rpartition(":")
    peer_reader, peer_writer = await asyncio.open_connection(host, int(port))
    waiting: dict[int, bytes] = {}

    async def requests() -> None:
        while True:
            frame = await read_frame(reader)
            (correlation_id,) = struct.unpack_from(">i", frame, 4)
            waiting[correlation_id] = frame
            peer_writer.write(struct.pack(">i", len(frame)) + frame)

    async def responses() -> None:
        while True:
            frame = await read_frame(peer_reader)
            request = waiting.pop(struct.unpack_from(">i", frame)[0], None)
            if request is not None:
                recorder.keep(request, frame)
            writer.write(struct.pack(">i", len(frame)) + frame)

    tasks = [asyncio.create_task(requests()), asyncio.create_task(responses())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError, asyncio.IncompleteReadError, ConnectionError):
            await task
    writer.close()
    peer_writer.close()


async def record(arguments: argparse.Namespace) -> int:
    recorder = Recorder()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await serve(recorder, arguments.peer, reader, writer)

    server = await asyncio.start_server(accept, "127.0.0.1", arguments.listen)
    process = await asyncio.create_subprocess_exec(*arguments.command)
    code = await process.wait()
    server.close()
    recorder.write(arguments.out / arguments.client)
    print(f"{arguments.client}: {len(recorder.found)} kinds of requests, exit code {code}")
    return code


def exercise_kafka_python(address: str) -> None:
    import kafka
    from kafka.admin import ConfigResource, ConfigResourceType, NewPartitions, NewTopic

    topic = "golden-kafka-python"
    admin: Any = kafka.KafkaAdminClient(bootstrap_servers=address)

    def attempt(name: str, *args: Any, **kwargs: Any) -> None:
        try:
            getattr(admin, name)(*args, **kwargs)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}"[:150])

    admin.create_topics([NewTopic(topic, 2, 1)])
    time.sleep(1)
    attempt("create_partitions", {topic: NewPartitions(3)})
    for acks in (1, "all"):
        producer = kafka.KafkaProducer(bootstrap_servers=address, acks=acks, compression_type="gzip")
        for number in range(5):
            producer.send(topic, key=b"k%d" % number, value=b"value", headers=[("label", b"x")])
        producer.flush()
        producer.close()
    consumer = kafka.KafkaConsumer(
        topic, bootstrap_servers=address, group_id="golden-group", auto_offset_reset="earliest", consumer_timeout_ms=4000
    )
    print(topic, len(list(consumer)))
    consumer.commit()
    partition = kafka.TopicPartition(topic, 0)
    consumer.offsets_for_times({partition: 1})
    consumer.committed(partition)
    attempt("describe_groups", ["golden-group"])
    consumer.close()
    attempt("list_groups")
    attempt("list_group_offsets", ["golden-group"])
    attempt("describe_configs", [ConfigResource(ConfigResourceType.TOPIC, topic)])
    attempt("alter_configs", [ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": "100000"})])
    attempt("describe_cluster")
    attempt("describe_topics", [topic])
    attempt("describe_log_dirs")
    attempt("list_partition_reassignments")
    attempt("delete_records", {partition: 2})
    attempt("delete_groups", ["golden-group"])
    attempt("delete_topics", [topic])
    admin.close()


def exercise_aiokafka(address: str) -> None:
    import aiokafka
    from aiokafka.admin import AIOKafkaAdminClient, NewTopic

    async def run() -> None:
        topic = "golden-aiokafka"
        admin = AIOKafkaAdminClient(bootstrap_servers=address)
        await admin.start()
        await admin.create_topics([NewTopic(topic, 1, 1)])
        await asyncio.sleep(1)
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=address, enable_idempotence=True)
        await producer.start()
        for number in range(3):
            await producer.send_and_wait(topic, b"value", key=b"k%d" % number)
        await producer.stop()
        consumer = aiokafka.AIOKafkaConsumer(
            topic, bootstrap_servers=address, group_id="golden-aio", auto_offset_reset="earliest", enable_auto_commit=False
        )
        await consumer.start()
        for _ in range(3):
            await consumer.getone()
        await consumer.commit()
        await consumer.offsets_for_times({aiokafka.TopicPartition(topic, 0): 1})
        await asyncio.sleep(4)  # a heartbeat
        await consumer.stop()
        await admin.list_consumer_groups()
        await admin.describe_consumer_groups(["golden-aio"])
        await admin.delete_topics([topic])
        await admin.close()

    asyncio.run(run())


def exercise_confluent_kafka(address: str) -> None:
    import confluent_kafka as ck
    from confluent_kafka import admin as ca

    topic = "golden-confluent-topic"
    admin = ca.AdminClient({"bootstrap.servers": address})

    def attempt(name: str, *args: Any, **kwargs: Any) -> None:
        try:
            result = getattr(admin, name)(*args, **kwargs)
            for future in result.values() if isinstance(result, dict) else [result]:
                future.result(10)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}"[:150])

    attempt("create_topics", [ca.NewTopic(topic, 2, 1)])
    time.sleep(1)
    attempt("create_partitions", [ca.NewPartitions(topic, 3)])
    for extra in ({}, {"enable.idempotence": True, "compression.type": "lz4"}):
        producer = ck.Producer({"bootstrap.servers": address, "linger.ms": 50, **extra})
        for number in range(5):
            producer.produce(topic, key=f"k{number}", value="value", headers={"label": "x"})
        producer.flush(10)
    consumer = ck.Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "golden-confluent",
            "auto.offset.reset": "earliest",
            "heartbeat.interval.ms": 500,
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    end = time.monotonic() + 6
    while time.monotonic() < end:
        consumer.poll(0.5)
    consumer.commit(asynchronous=False)
    consumer.offsets_for_times([ck.TopicPartition(topic, 0, 1)], timeout=5)
    consumer.committed([ck.TopicPartition(topic, 0)], timeout=5)
    attempt("describe_consumer_groups", ["golden-confluent"])
    consumer.close()
    attempt("list_consumer_groups")
    attempt("list_consumer_group_offsets", [ck.ConsumerGroupTopicPartitions("golden-confluent")])
    attempt("describe_cluster")
    attempt("describe_topics", ck.TopicCollection([topic]))
    resource = ca.ConfigResource(ca.ResourceType.TOPIC, topic)
    attempt("describe_configs", [resource])
    entry = ca.ConfigEntry("retention.ms", "100000", incremental_operation=ca.AlterConfigOpType.SET)
    attempt("incremental_alter_configs", [ca.ConfigResource(ca.ResourceType.TOPIC, topic, incremental_configs=[entry])])
    attempt("list_offsets", {ck.TopicPartition(topic, 0): ca.OffsetSpec.latest()})
    attempt("delete_records", [ck.TopicPartition(topic, 0, 1)])
    attempt("delete_consumer_groups", ["golden-confluent"])
    attempt("delete_topics", [topic])


EXERCISES = {"kafka-python": exercise_kafka_python, "aiokafka": exercise_aiokafka, "confluent-kafka": exercise_confluent_kafka}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="verb", required=True)
    one = commands.add_parser("record")
    one.add_argument("--listen", type=int, default=19392)
    one.add_argument("--peer", default="127.0.0.1:19292")
    one.add_argument("--client", required=True)
    one.add_argument("--out", type=Path, default=ROOT / "tests/golden/kafka")
    one.add_argument("command", nargs="+")
    two = commands.add_parser("exercise")
    two.add_argument("client", choices=sorted(EXERCISES))
    two.add_argument("address")
    arguments = parser.parse_args()
    if arguments.verb == "exercise":
        EXERCISES[arguments.client](arguments.address)
        return 0
    return asyncio.run(record(arguments))


if __name__ == "__main__":
    sys.exit(main())
