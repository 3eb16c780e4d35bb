"""`headrace config show`"""

from __future__ import annotations

from argparse import Namespace

from headrace.base.settings import SETTINGS, format_value
from headrace.cli.errors import DONE
from headrace.cli.output import Output
from headrace.cli.settings_flags import read_settings
from headrace.server.terminal import Terminal


def show(args: Namespace, terminal: Terminal) -> int:
    """What `headrace serve` would run with, given the same flags, environment and file."""
    settings = read_settings(args, terminal)
    rows = [
        {
            "setting": setting.name,
            "value": format_value(setting, settings.value(setting.name)) or None,
            "from": settings.origins[setting.name].layer,
            "where": settings.origins[setting.name].where,
            "default": format_value(setting, setting.default) or None,
            "kafka_name": setting.kafka_name,
        }
        for setting in SETTINGS
    ]
    Output(terminal, args.output).rows(rows, columns=["setting", "value", "from", "where"])
    return DONE
