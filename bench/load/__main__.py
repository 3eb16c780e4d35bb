"""`python -m bench.load produce|fetch …`: one load against one broker; prints one JSON object."""

import argparse
import gc
import json
import sys

from bench.load import engine, frames
from tests.support.wire import Wire


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.load", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind in ("produce", "fetch"):
        sub = kinds.add_parser(kind)
        sub.add_argument("address", metavar="HOST:PORT")
        sub.add_argument("--topic", default="bench")
        sub.add_argument("--connections", type=int, default=4)
        sub.add_argument("--seconds", type=float, default=3.0)
        sub.add_argument("--warm", type=float, default=0.5, help="seconds before the clock starts")
        sub.add_argument("--server-pid", type=int, default=0, help="read this process's CPU time around the load")
        sub.add_argument("--batch", type=int, default=16384, help="bytes of a batch at most; 0: one record")
        sub.add_argument("--record", type=int, default=100, help="bytes of a record's value")
        sub.add_argument("--codec", choices=list(frames.CODECS), default="none")
        if kind == "produce":
            sub.add_argument("--in-flight", type=int, default=5)
            sub.add_argument("--acks", type=int, choices=(1, -1), default=1)
            sub.add_argument("--partitions", type=int, default=1)
            sub.add_argument("--create", action="append", metavar="KEY=VALUE", help="make the topic first, with these settings")
            sub.add_argument("--bytes-max", type=int, default=0, help="end early when so much was acknowledged")
        else:
            sub.add_argument("--size", type=int, default=1 << 20, help="bytes asked for in a request")
            sub.add_argument("--batches", type=int, required=True, help="how many equal batches the topic holds")
    o = parser.parse_args()
    gc.disable()  # nothing here makes cycles, and a pause of ours would look like one of the broker's
    batch = frames.Batch(o.batch, o.record, o.codec)
    window = engine.Window(o.warm, o.seconds, o.server_pid)
    if o.kind == "produce":
        if o.create is not None:
            with Wire(o.address, frames.CLIENT_ID) as wire:
                frames.create_topic(wire, o.topic, o.partitions, dict(pair.split("=", 1) for pair in o.create if pair))
        result = engine.produce(
            o.address,
            o.topic,
            batch,
            connections=o.connections,
            in_flight=o.in_flight,
            acks=o.acks,
            partitions=o.partitions,
            window=window,
            bytes_max=o.bytes_max,
        )
    else:
        result = engine.fetch(
            o.address,
            o.topic,
            size_max=o.size,
            connections=o.connections,
            batch_bytes=len(batch.bytes),
            batch_records=batch.count,
            batches=o.batches,
            window=window,
        )
    json.dump(result, sys.stdout)
    print()


main()
