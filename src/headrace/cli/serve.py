"""`headrace serve`: settings, the check of who could reach us, the block that is printed once the node is ready."""

from __future__ import annotations

import shlex
from argparse import Namespace
from ipaddress import ip_address
from typing import TYPE_CHECKING

from headrace import __version__
from headrace.base.settings import Settings
from headrace.cli.commands import SERVER_DEFAULT
from headrace.cli.errors import CliError, Trouble
from headrace.cli.progress import Progress
from headrace.cli.settings_flags import read_settings
from headrace.server.terminal import Terminal

if TYPE_CHECKING:
    from headrace.server.main import Started


def serve(args: Namespace, terminal: Terminal) -> int:
    settings = read_settings(args, terminal)
    refused = refuse_open_listeners(settings)
    if refused is not None:
        raise refused
    from headrace.server.logging import set_up_logging
    from headrace.server.main import run

    set_up_logging(form=settings.log_format, level=settings.log_level)

    recovery = RecoveryProgress(terminal)

    def started(facts: Started) -> None:
        recovery.end()
        terminal.out.write(start_block(facts, terminal.command_name()) + "\n" + ready_line(facts) + "\n")
        terminal.out.flush()

    return run(settings, started=started, recovering=recovery.show)


class RecoveryProgress:
    """Shows how far the recovery of logs has come; nothing when it is over before anybody would wonder."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.progress: Progress | None = None

    def show(self, logs_done: int, logs: int, bytes_read: int) -> None:
        if self.progress is None:
            self.progress = Progress(self.terminal, "recover", logs, "logs")
        self.progress.step(logs_done - self.progress.done, f"{bytes_read // 1_000_000} MB read" if bytes_read else "")

    def end(self) -> None:
        if self.progress is not None:
            self.progress.__exit__(None)


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach it. Names other than localhost are taken for reachable."""
    if host.lower() in ("localhost", "localhost.localdomain"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_open_listeners(settings: Settings) -> CliError | None:
    open_ones = [
        f"--{name} {address}"
        for name, address in (("kafka", settings.kafka), ("http", settings.http))
        if not is_loopback(address.host)
    ]
    if not open_ones or settings.insecure:
        return None
    return CliError(
        Trouble.OPEN_TO_THE_NETWORK,
        "refusing to listen where other machines can reach it",
        evidence=f"{' and '.join(open_ones)}, and clients do not have to say who they are",
        likely="in a container or a trusted network this may be what you want; elsewhere anybody could read, write and delete",
        next="add --insecure to allow it, or listen on 127.0.0.1",
    )


def start_block(facts: Started, command: str) -> str:
    # Quoted: a shell may take [::1] for a pattern.
    server = "" if facts.kafka == SERVER_DEFAULT else f" --server {shlex.quote(facts.kafka)}"
    return f"""\
Headrace {__version__} is ready after {facts.seconds:.2f} s
  data     {facts.data} (cluster {facts.cluster_id}, node {facts.node_id})
  kafka    {facts.kafka}
  status   http://{facts.http}/healthz /readyz /metrics

In another terminal:
  echo hello | {command} produce greetings{server}
  {command} consume greetings --from earliest --max 1{server}
  {command} topic list{server}
"""


def ready_line(facts: Started) -> str:
    """For programs that start us: one line, words of the form name=value, the data folder last."""
    return (
        f"ready kafka={facts.kafka} http={facts.http} node={facts.node_id} cluster={facts.cluster_id} "
        f"seconds={facts.seconds:.3f} data={shlex.quote(facts.data)}"
    )
