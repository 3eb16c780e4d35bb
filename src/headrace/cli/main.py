"""The `headrace` command: finds the command in the table, parses, runs it, and turns every failure into words and a status.

Only what the words on the command line ask for is imported or built: `headrace --help` loads the table and argparse.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from headrace.cli import commands
from headrace.cli.commands import NOUNS, Argument, Command

if TYPE_CHECKING:
    from headrace.server.terminal import Terminal

EPILOG = "Documentation: docs/cli.md. Exit statuses: 0 done, 1 failed, 2 wrong usage, 3 no broker, 4 log damaged, 130 interrupted."


class Parser(argparse.ArgumentParser):
    """Says what would have been right."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"error bad-value: {message}\n  {'next:':<10}{self.prog} --help\n")


def main(argv: Sequence[str] | None = None, terminal: Terminal | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        args, command = parse(words)
    except SystemExit as stop:  # argparse's way to end: help, version, wrong usage
        return stop.code if isinstance(stop.code, int) else 2
    return run(command, args, terminal)


def run(command: Command, args: argparse.Namespace, terminal: Terminal | None) -> int:
    from headrace.cli.errors import FAILED, INTERRUPTED, CliError, error_text
    from headrace.server.start_errors import StartRefused

    if terminal is None:
        from headrace.server.terminal import Terminal

        terminal = Terminal()
        terminal.catch_interrupts()
    try:
        code = find_code(command)
        status = code(args, terminal)
        terminal.out.flush()
        return status
    except CliError as error:
        text, status = error_text(error.code, error.what, error.evidence, error.likely, error.next), error.status
    except StartRefused as refused:
        text, status = error_text(refused.code, refused.what, refused.evidence, refused.likely, refused.next), FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone (`| head`): not a failure, and Python must not complain at exit.
        terminal.abandon_output()
        return 0
    try:
        terminal.out.flush()
    except BrokenPipeError:
        terminal.abandon_output()
    terminal.err.write(text)
    return status


def find_code(command: Command) -> Callable[[argparse.Namespace, Terminal], int]:
    import importlib

    module, _, name = command.code.partition(":")
    code: Callable[[argparse.Namespace, Terminal], int] = getattr(importlib.import_module(f"headrace.cli.{module}"), name)
    return code


def parse(words: list[str]) -> tuple[argparse.Namespace, Command]:
    """The command and its arguments; SystemExit for help, version and wrong usage."""
    if not words or words[0].startswith("-"):
        parser = Parser(prog="headrace", description="One log, every client.", epilog=EPILOG, formatter_class=Formatter)
        if words[:1] == ["--version"]:
            from headrace import __version__

            sys.stdout.write(f"headrace {__version__}\n")
            parser.exit(0)
        parser.add_argument("--version", action="store_true", help="print the version")
        list_words(parser, NOUNS)
        parser.parse_args(words or ["--help"])
        parser.error("which command?")
    noun = words[0]
    found = commands.find((noun,))
    if not found:
        Parser(prog="headrace").error(unknown(noun, NOUNS))
    if len(found) == 1 and len(found[0].words) == 1:
        return parse_command(found[0], words[1:]), found[0]
    verbs = {command.words[1]: command.help for command in found}
    if len(words) < 2 or words[1].startswith("-"):
        parser = Parser(prog=f"headrace {noun}", description=NOUNS[noun], epilog=EPILOG, formatter_class=Formatter)
        list_words(parser, verbs)
        parser.parse_args(words[1:] or ["--help"])
        parser.error("which verb?")
    if words[1] not in verbs:
        Parser(prog=f"headrace {noun}").error(unknown(words[1], verbs))
    command = next(command for command in found if command.words[1] == words[1])
    return parse_command(command, words[2:]), command


def unknown(word: str, known: dict[str, str]) -> str:
    import difflib

    near = difflib.get_close_matches(word, known, 1)
    return f"{word!r} is no command" + (f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(known)}")


def list_words(parser: argparse.ArgumentParser, words: dict[str, str]) -> None:
    places = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for word, help in words.items():
        places.add_parser(word, help=help, add_help=False)


class Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=110)


def all_arguments(command: Command) -> list[Argument]:
    return command.arguments + (command.more() if command.more is not None else [])


def parse_command(command: Command, words: list[str]) -> argparse.Namespace:
    parser = Parser(
        prog="headrace " + " ".join(command.words),
        description=command.help,
        epilog=command.long or None,
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    arguments = all_arguments(command)
    for argument in arguments:
        add(parser, argument)
    return parser.parse_args(join_signed(words, arguments))


def join_signed(words: list[str], arguments: list[Argument]) -> list[str]:
    """argparse takes the value in `--by -5h` for a flag; `--by=-5h` it understands."""
    takes_value = {argument.name for argument in arguments if argument.value and not argument.bare}
    joined: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return [*joined, word, *rest]
        following = next(rest, None) if word in takes_value else None
        joined.append(word if following is None else f"{word}={following}")
    return joined


def add(parser: argparse.ArgumentParser, argument: Argument) -> None:
    help = argument.help.replace("%", "%%")
    if argument.is_place:
        nargs = "+" if argument.many else ("?" if argument.optional else None)
        choices = argument.choices or None
        parser.add_argument(argument.key, metavar=argument.name, help=help, nargs=nargs, choices=choices)
        return
    names = [argument.short, argument.name] if argument.short else [argument.name]
    if not argument.value:
        parser.add_argument(*names, dest=argument.key, help=help, action="store_true")
    elif argument.many:
        parser.add_argument(*names, dest=argument.key, help=help, metavar=argument.value, action="append", default=[])
    else:
        parser.add_argument(
            *names,
            dest=argument.key,
            help=help,
            nargs="?" if argument.bare else None,
            const=argument.bare or None,
            metavar="{" + ",".join(argument.choices) + "}" if argument.choices else argument.value,
            choices=argument.choices or None,
            default=argument.default,
        )
