"""Benchmarks: Headrace and Apache Kafka side by side in one run. `make bench` is `python -m bench`."""
