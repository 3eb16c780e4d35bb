"""`headrace completion SHELL`: scripts made from the table of commands.

All three work alike: the words so far choose a command, its flags and fixed values are offered, places that are paths complete
to files. Nothing is asked of a broker.
"""

from __future__ import annotations

from argparse import Namespace

from headrace.cli.commands import COMMANDS, NOUNS, Argument, Command, find
from headrace.cli.errors import DONE
from headrace.server.terminal import Terminal


def completion(args: Namespace, terminal: Terminal) -> int:
    terminal.out.write({"bash": bash, "zsh": zsh, "fish": fish}[args.shell]())
    return DONE


def arguments_of(command: Command) -> list[Argument]:
    return command.arguments + (command.more() if command.more is not None else [])


def verbs(noun: str) -> list[Command]:
    return [command for command in find((noun,)) if len(command.words) > 1]


def bash() -> str:
    flags, values = [], []
    for command in COMMANDS:
        words = " ".join(command.words)
        arguments = arguments_of(command)
        offered = [a.name for a in arguments if not a.is_place] + ["--help"]
        offered += [choice for a in arguments if a.is_place for choice in a.choices]
        files = "; files=1" if any(a.is_place and a.files for a in arguments) else ""
        flags.append(f'    "{words}") words="{" ".join(offered)}"{files} ;;')
        for a in arguments:
            names = "|".join(f'"{words} {name}"' for name in (a.name, a.short) if name)
            if a.choices and not a.is_place:
                values.append(f'    {names}) COMPREPLY=($(compgen -W "{" ".join(a.choices)}" -- "$now")); return ;;')
            elif a.files and not a.is_place:
                values.append(f'    {names}) COMPREPLY=($(compgen -f -- "$now")); return ;;')
            elif a.value and not a.bare:
                values.append(f"    {names}) return ;;")
    nouns = "\n".join(f'    {noun}) verbs="{" ".join(c.words[1] for c in verbs(noun))}" ;;' for noun in NOUNS if verbs(noun))
    return f"""\
_headrace() {{
  local now="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
  local verbs="" words="" files=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{" ".join(NOUNS)} --help --version" -- "$now")); return
  fi
  case "$command" in
{nouns}
  esac
  if [ -n "$verbs" ]; then
    if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "$verbs --help" -- "$now")); return; fi
    command="$command ${{COMP_WORDS[2]}}"
  fi
  case "$command $before" in
{chr(10).join(values)}
  esac
  case "$command" in
{chr(10).join(flags)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$now"))
  if [ -n "$files" ] && [[ "$now" != -* ]]; then COMPREPLY+=($(compgen -f -- "$now")); fi
}}
complete -o filenames -F _headrace headrace
"""


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def zsh() -> str:
    """zsh speaks bash's completion functions through bashcompinit; descriptions of nouns and verbs are its own."""
    return "autoload -Uz compinit bashcompinit\n(( $+functions[compdef] )) || compinit\nbashcompinit\n" + bash()


def fish() -> str:
    lines = ["complete -c headrace -f"]
    lines += [f"complete -c headrace -n __fish_use_subcommand -a {noun} -d {quoted(help)}" for noun, help in NOUNS.items()]
    for command in COMMANDS:
        seen = f"__fish_seen_subcommand_from {command.words[0]}"
        if len(command.words) > 1:
            others = " ".join(c.words[1] for c in verbs(command.words[0]))
            first = f"{seen}; and not __fish_seen_subcommand_from {others}"
            lines.append(f"complete -c headrace -n {quoted(first)} -a {command.words[1]} -d {quoted(command.help)}")
            seen += f"; and __fish_seen_subcommand_from {command.words[1]}"
        for a in arguments_of(command):
            where = f"complete -c headrace -n {quoted(seen)}"
            if a.is_place:
                if a.files:
                    lines.append(f"{where} -F")
                elif a.choices:
                    lines.append(f"{where} -a {quoted(' '.join(a.choices))}")
                continue
            short = f" -s {a.short[1:]}" if a.short else ""
            if a.choices:
                takes = f" -x -a {quoted(' '.join(a.choices))}"
            elif a.files:
                takes = " -r -F"
            else:
                takes = " -x" if a.value and not a.bare else ""
            lines.append(f"{where} -l {a.name[2:]}{short}{takes} -d {quoted(a.help)}")
    return "\n".join(lines) + "\n"
