"""The node's settings as flags, and the settings in force from file, environment and flags."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from headrace.base.errors import Refused
from headrace.base.settings import SETTINGS, Form, Setting, Settings, format_value, load, read_toml
from headrace.cli.commands import Argument
from headrace.cli.errors import WRONG_USAGE, CliError, Trouble

if TYPE_CHECKING:
    from headrace.server.terminal import Terminal

VALUES = {
    Form.SWITCH: "true|false",
    Form.NUMBER: "N",
    Form.SIZE: "SIZE",
    Form.DURATION: "SPAN",
    Form.TEXT: "TEXT",
    Form.ADDRESS: "HOST:PORT",
    Form.CHOICE: "CHOICE",
}


def arguments() -> list[Argument]:
    config = Argument("--config", "a settings file in TOML (default: HEADRACE_CONFIG of the environment)", "FILE", files=True)
    return [config, *map(argument, SETTINGS)]


def argument(setting: Setting) -> Argument:
    default = format_value(setting, setting.default)
    return Argument(
        setting.flag,
        setting.documentation.rstrip(".") + (f" (default: {default})" if default else ""),
        "DIR" if setting.name == "data" else VALUES[setting.form],
        choices=setting.choices,
        bare="true" if setting.form is Form.SWITCH else "",
        files=setting.name == "data",
    )


def read_settings(args: Namespace, terminal: Terminal) -> Settings:
    """Raises with every line that is wrong, if any is."""
    name = args.config or terminal.env.get("HEADRACE_CONFIG") or ""
    values: dict[str, object] = {}
    if name:
        try:
            text = terminal.read_text(name)
        except (OSError, UnicodeDecodeError) as error:
            raise wrong("the settings file cannot be read", f"{name}: {error}") from None
        found = read_toml(text, name)
        if isinstance(found, Refused):
            raise wrong("the settings file cannot be read", found.why)
        values = found
    flags = {s.name: value for s in SETTINGS if (value := getattr(args, s.name)) is not None}
    settings = load(values, terminal.env, flags, file_name=name)
    if isinstance(settings, Refused):
        raise wrong("the settings are wrong", settings.why.replace("\n", "\n            "))
    return settings


def wrong(what: str, evidence: str) -> CliError:
    return CliError(
        Trouble.BAD_SETTINGS,
        what,
        evidence=evidence,
        likely="a name or a value is misspelled",
        next="headrace serve --help; docs/settings.md lists every setting",
        status=WRONG_USAGE,
    )
