"""The command line itself: help is quick, mistakes are named, every failure becomes words and a status."""

from __future__ import annotations

import io
import subprocess
import sys
import time

import pytest

from headrace.cli.commands import COMMANDS, NOUNS
from headrace.cli.main import find_code, join_signed, main
from tests.support.fake_kafka import FakeKafka, FakeTerminal, run

WORDS = [list(command.words) for command in COMMANDS]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_command_has_help_and_code(words, capsys):
    assert main([*words, "--help"]) == 0
    assert "usage: headrace " + " ".join(words) in capsys.readouterr().out
    command = next(command for command in COMMANDS if list(command.words) == words)
    assert callable(find_code(command))


def test_every_noun_has_commands():
    assert {command.words[0] for command in COMMANDS} == set(NOUNS)


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom headrace.cli.main import main\n"
        "main(['--help']); main(['topic', 'create', '--help']); main(['serve', '--help'])\n"
        "heavy = {'asyncio', 'uvloop', 'msgspec', 'rich', 'socket', 'structlog', 'headrace.protocols'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    began = time.perf_counter()
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert time.perf_counter() - began < 2


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("headrace ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["topc"], "did you mean 'topic'?"),
        (["topic", "creat"], "did you mean 'create'?"),
        (["zzz"], "there are serve"),
        (["topic", "create"], "TOPIC"),
        (["topic", "create", "x", "--partition", "3"], "--partition"),
        (["topic", "list", "-o", "yaml"], "yaml"),
    ],
)
def test_mistakes_are_named(words, said, capsys):
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_no_words_show_the_help(capsys):
    assert main([]) == 0
    assert "commands:" in capsys.readouterr().out


def test_a_noun_alone_shows_its_verbs(capsys):
    assert main(["topic"]) == 0
    assert "describe" in capsys.readouterr().out


def test_a_minus_may_begin_a_value():
    by = next(command for command in COMMANDS if command.words == ("group", "reset")).arguments
    assert join_signed(["g", "--by", "-5h", "--plan"], by) == ["g", "--by=-5h", "--plan"]
    assert join_signed(["--by"], by) == ["--by"]
    assert join_signed(["--", "--by", "-5h"], by) == ["--", "--by", "-5h"]


def test_nothing_listening_is_status_3_with_all_parts():
    ran = run("topic list")
    assert ran.status == 3
    lines = ran.err.splitlines()
    assert lines[0] == "error no-broker: no broker answers at 127.0.0.1:9092"
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["evidence", "likely", "next", "more"]
    assert lines[-1].endswith("docs/errors.md#no-broker")


@pytest.mark.parametrize("server", ["localhost", "localhost:x", ":9092", "h:0", "h:99999"])
def test_a_server_is_host_and_port(server):
    assert run(["topic", "list", "--server", server], FakeKafka()).status == 2


def test_a_reader_that_has_gone_is_no_failure():
    class Gone(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    terminal = FakeTerminal(FakeKafka())
    terminal.out = Gone()
    ran = run("topic list", terminal=terminal)
    assert (ran.status, ran.err) == (0, "")


def test_ctrl_c_is_130():
    class Interrupted(FakeKafka):
        def answer(self, frame):
            raise KeyboardInterrupt

    assert run("topic list", Interrupted()).status == 130
