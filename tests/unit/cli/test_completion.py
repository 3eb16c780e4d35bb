"""Completion scripts know every command and flag, and the shell agrees with them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from headrace.cli.commands import COMMANDS
from headrace.cli.completion import arguments_of, bash, fish, zsh


@pytest.mark.parametrize("script", [bash(), zsh(), fish()], ids=["bash", "zsh", "fish"])
def test_every_word_and_flag_is_known(script):
    for command in COMMANDS:
        assert all(word in script for word in command.words)
        for argument in arguments_of(command):
            if not argument.is_place:
                assert argument.name.removeprefix("--") in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("headrace t", "topic"),
        ("headrace topic d", "describe delete"),
        ("headrace topic create --p", "--partitions"),
        ("headrace topic create x --partitions ''", ""),
        ("headrace produce x --compression z", "zstd"),
        ("headrace serve --durability ''", "fsynced pagecache"),
        ("headrace topic list -o ''", "table json"),
        ("headrace completion z", "zsh"),
    ],
)
def test_bash_offers_what_fits(words, offered):
    test = f'{bash()}\nset -- {words}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _headrace; echo "${{COMPREPLY[*]}}"'
    ran = subprocess.run(["bash", "-c", test], capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.stderr) == (offered, "")
