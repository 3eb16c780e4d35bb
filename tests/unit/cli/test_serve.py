"""What `serve` checks before it begins and prints when it is ready."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from headrace.base.settings import Address, Settings
from headrace.cli.serve import RecoveryProgress, is_loopback, ready_line, refuse_open_listeners, start_block
from tests.support.fake_kafka import FakeTerminal, run

FACTS = SimpleNamespace(
    kafka="127.0.0.1:9092", http="127.0.0.1:9644", data="/tmp/with space", cluster_id="abc", node_id=0, seconds=0.3124
)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST"])
def test_addresses_of_this_machine_alone(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "127.0.0.1.example.org", ""])
def test_addresses_that_others_can_reach(host):
    assert not is_loopback(host)


def test_an_open_listener_is_refused_with_the_reason():
    refused = refuse_open_listeners(Settings(kafka=Address("0.0.0.0", 9092), http=Address("::", 9644)))
    assert refused is not None and refused.code == "open-to-the-network"
    assert "--kafka 0.0.0.0:9092 and --http [::]:9644" in refused.evidence
    assert "--insecure" in refused.next


def test_insecure_allows_it():
    assert refuse_open_listeners(Settings(kafka=Address("0.0.0.0", 9092), insecure=True)) is None
    assert refuse_open_listeners(Settings()) is None


def test_serve_refuses_before_it_touches_anything():
    ran = run("serve --http 10.0.0.1:1")
    assert ran.status == 1 and "error open-to-the-network" in ran.err


def test_wrong_settings_are_all_named():
    ran = run(["serve", "--retention", "5", "--kafka", "x"])
    assert ran.status == 2 and "--retention" in ran.err and "--kafka" in ran.err


def test_the_block_has_lines_to_copy():
    block = start_block(FACTS, "headrace")
    assert "  echo hello | headrace produce greetings\n" in block
    assert "  headrace consume greetings --from earliest --max 1\n" in block
    assert "http://127.0.0.1:9644/healthz" in block


def test_the_lines_name_the_server_when_it_is_not_the_usual_one():
    facts = SimpleNamespace(**{**vars(FACTS), "kafka": "127.0.0.1:4711"})
    assert "produce greetings --server 127.0.0.1:4711\n" in start_block(facts, ".venv/bin/headrace")


def test_recovery_is_told_when_it_takes_long():
    terminal = FakeTerminal()
    recovery = RecoveryProgress(terminal)  # type: ignore[arg-type]
    recovery.end()
    for done in range(5):
        terminal.sleep(1)
        recovery.show(done, 10, done * 5_000_000)
    recovery.end()
    lines = terminal.err.getvalue().splitlines()
    assert len(lines) >= 2 and "of 10 logs)" in lines[0] and "MB read" in lines[0]


def test_the_ready_line_is_for_programs():
    assert ready_line(FACTS) == (
        "ready kafka=127.0.0.1:9092 http=127.0.0.1:9644 node=0 cluster=abc seconds=0.312 data='/tmp/with space'"
    )
