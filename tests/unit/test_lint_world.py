"""Pure inside, world outside: clock, chance, threads, sockets, files and processes lie in `server/` and `cli/`.

The simulator can run the node from a seed only as long as nothing else reaches for the world by itself. This lint
walks the syntax trees of the package and names the line, and what to use instead.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "headrace"

# Where the windows are.
OPEN_ROOMS = ("server", "testing")
# The one more file that opens a database by itself; only the supervisor's process uses it.
SQLITE_FILE = "cluster/stores/embedded.py"

CLOCK = "time comes in as `now_ms`, or from `World.now_ms` and `World.monotonic_ms`"
CHANCE = "ids and random bytes come in, or from `World.random_bytes`"
THREADS = "there is one loop and no lock; blocking work goes through `World.offload`"
SOCKETS = "bytes come and go through the connection; sockets lie in server/"
FILES = "files come through `base.files.Files`"
PROCESSES = "processes are started in server/ and cli/ only"
LOOP = "the running loop is handed in or taken with `asyncio.get_running_loop()`; the simulator brings its own"

# Modules that must not be imported at all.
MODULES = {
    "random": CHANCE,
    "secrets": CHANCE,
    "threading": THREADS,
    "_thread": THREADS,
    "concurrent": THREADS,
    "multiprocessing": THREADS,
    "queue": THREADS,
    "signal": PROCESSES,
    "socket": SOCKETS,
    "ssl": SOCKETS,
    "select": SOCKETS,
    "selectors": SOCKETS,
    "socketserver": SOCKETS,
    "http.client": SOCKETS,
    "http.server": SOCKETS,
    "urllib.request": SOCKETS,
    "uvloop": SOCKETS,
    "subprocess": PROCESSES,
    "pathlib": FILES,
    "shutil": FILES,
    "tempfile": FILES,
    "glob": FILES,
    "fcntl": FILES,
    "mmap": FILES,
    "sqlite3": f"SQLite is opened in {SQLITE_FILE} only",
}
# Names of modules that are otherwise fine. None: the whole module but the names after it.
NAMES = {
    "time.time": CLOCK,
    "time.time_ns": CLOCK,
    "time.monotonic": CLOCK,
    "time.monotonic_ns": CLOCK,
    "time.perf_counter": CLOCK,
    "time.perf_counter_ns": CLOCK,
    "time.process_time": CLOCK,
    "time.process_time_ns": CLOCK,
    "time.thread_time": CLOCK,
    "time.clock_gettime": CLOCK,
    "time.clock_gettime_ns": CLOCK,
    "time.localtime": CLOCK,
    "time.sleep": CLOCK,
    "datetime.datetime.now": CLOCK,
    "datetime.datetime.utcnow": CLOCK,
    "datetime.datetime.today": CLOCK,
    "datetime.date.today": CLOCK,
    "uuid.uuid1": CHANCE,
    "uuid.uuid4": CHANCE,
    "uuid.getnode": CHANCE,
    "asyncio.to_thread": THREADS,
    "asyncio.run": LOOP,
    "asyncio.new_event_loop": LOOP,
    "asyncio.get_event_loop": LOOP,
    "asyncio.open_connection": SOCKETS,
    "asyncio.start_server": SOCKETS,
    "asyncio.start_unix_server": SOCKETS,
    "asyncio.open_unix_connection": SOCKETS,
    "asyncio.create_subprocess_exec": PROCESSES,
    "asyncio.create_subprocess_shell": PROCESSES,
    "io.open": FILES,
    "io.FileIO": FILES,
}
# All of `os` is the world, but for what only computes.
OS_ALLOWED = ("path", "fspath", "PathLike", "sep", "linesep", "strerror")
OS_PATH_ALLOWED = ("join", "basename", "dirname", "split", "splitext", "normpath")
BUILTINS = {"open": FILES, "input": PROCESSES}
# Methods of a loop that are a window, on whatever object they are called.
METHODS = {
    "run_in_executor": THREADS,
    "create_server": SOCKETS,
    "create_connection": SOCKETS,
    "create_unix_server": SOCKETS,
    "create_unix_connection": SOCKETS,
    "add_reader": SOCKETS,
    "add_writer": SOCKETS,
    "sendfile": SOCKETS,
    "subprocess_exec": PROCESSES,
    "add_signal_handler": PROCESSES,
}


class Finder(ast.NodeVisitor):
    def __init__(self, file: str) -> None:
        self.file = file
        self.found: list[str] = []
        self.aliases: dict[str, str] = {}  # local name -> full name of what was imported

    def refuse(self, node: ast.AST, what: str, instead: str) -> None:
        self.found.append(f"src/headrace/{self.file}:{node.lineno} uses {what}: {instead}")  # type: ignore[attr-defined]

    def check(self, node: ast.AST, full: str) -> None:
        """`full` is a dotted name that leads to an imported module, as far as it is known."""
        for module, instead in MODULES.items():
            if module == "sqlite3" and self.file == SQLITE_FILE:
                continue
            if full == module or full.startswith(module + "."):
                self.refuse(node, full, instead)
                return
        if full in NAMES:
            self.refuse(node, full, NAMES[full])
        elif full.startswith("os.path."):
            if full.split(".")[2] not in OS_PATH_ALLOWED:
                self.refuse(node, full, FILES)
        elif full.startswith("os.") and full.split(".")[1] not in OS_ALLOWED:
            self.refuse(node, full, CHANCE if full in ("os.urandom", "os.getrandom") else FILES)

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            self.check(node, name.name)
            if name.asname:
                self.aliases[name.asname] = name.name
            else:
                top = name.name.partition(".")[0]
                self.aliases[top] = top

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            return
        for name in node.names:
            full = f"{node.module}.{name.name}"
            self.aliases[name.asname or name.name] = full
            self.check(node, full)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        full = self.full_name(node)
        if full is not None:
            self.check(node, full)
            return
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Name) and function.id in BUILTINS and function.id not in self.aliases:
            self.refuse(node, f"{function.id}()", BUILTINS[function.id])
        if isinstance(function, ast.Attribute) and function.attr in METHODS:
            self.refuse(node, f".{function.attr}()", METHODS[function.attr])
        self.generic_visit(node)

    def full_name(self, node: ast.expr) -> str | None:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in self.aliases:
            return ".".join([self.aliases[node.id], *reversed(parts)])
        return None


def violations(source: str, file: str) -> list[str]:
    """What a file (`log/segment.py`) takes from the world by itself, a sentence each."""
    room = file.partition("/")[0].removesuffix(".py")
    if room in OPEN_ROOMS or room.startswith("testing"):
        return []
    finder = Finder(file)
    finder.visit(ast.parse(source))
    return finder.found


def test_nothing_but_the_world_touches_the_world():
    found = [
        text for path in sorted(SOURCE.rglob("*.py")) for text in violations(path.read_text(), path.relative_to(SOURCE).as_posix())
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "what", "instead"),
    [
        ("import time\ntime.time()", "time.time", "now_ms"),
        ("from time import monotonic", "time.monotonic", "now_ms"),
        ("import time as t\nclock = t.perf_counter_ns", "time.perf_counter_ns", "now_ms"),
        ("import time\nasync def f():\n    time.sleep(1)", "time.sleep", "now_ms"),
        ("from datetime import datetime\ndatetime.now()", "datetime.datetime.now", "now_ms"),
        ("import datetime\ndatetime.datetime.utcnow()", "datetime.datetime.utcnow", "now_ms"),
        ("import random", "random", "random_bytes"),
        ("from secrets import token_hex", "secrets.token_hex", "random_bytes"),
        ("import uuid\nuuid.uuid4()", "uuid.uuid4", "random_bytes"),
        ("from uuid import uuid4 as new_id", "uuid.uuid4", "random_bytes"),
        ("import os\nos.urandom(4)", "os.urandom", "random_bytes"),
        ("import threading", "threading", "offload"),
        ("from concurrent.futures import ThreadPoolExecutor", "concurrent.futures", "offload"),
        ("import multiprocessing", "multiprocessing", "offload"),
        ("import asyncio\nasyncio.to_thread(print)", "asyncio.to_thread", "offload"),
        ("def f(loop):\n    loop.run_in_executor(None, print)", ".run_in_executor()", "offload"),
        ("import socket", "socket", "server/"),
        ("import ssl", "ssl", "server/"),
        ("def f(loop):\n    return loop.create_server(1)", ".create_server()", "server/"),
        ("import asyncio\nasyncio.start_server(1)", "asyncio.start_server", "server/"),
        ("open('x')", "open()", "Files"),
        ("with open('x') as f: pass", "open()", "Files"),
        ("import os\nos.unlink('x')", "os.unlink", "Files"),
        ("from os import rename", "os.rename", "Files"),
        ("import os\nos.path.exists('x')", "os.path.exists", "Files"),
        ("from os.path import getsize", "os.path.getsize", "Files"),
        ("from pathlib import Path", "pathlib.Path", "Files"),
        ("import tempfile", "tempfile", "Files"),
        ("import subprocess", "subprocess", "server/"),
        ("def f():\n    import subprocess", "subprocess", "server/"),
        ("import sqlite3", "sqlite3", "embedded.py"),
        ("import asyncio\nasyncio.run(main())", "asyncio.run", "loop"),
    ],
)
def test_a_violation_is_found(source, what, instead):
    found = violations(source, "log/segment.py")
    assert len(found) == 1, found
    assert found[0].startswith(
        f"src/headrace/log/segment.py:{source[: source.rfind(what.split('.')[-1].strip('()'))].count(chr(10)) + 1}"
    )
    assert what in found[0] and instead in found[0], found


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.path.join('a', 'b')\nos.fspath('x')",
        "import time\nfrom datetime import timedelta",
        "from uuid import UUID\nUUID(int=0)",
        "import asyncio\nasyncio.get_running_loop().call_later(1, print)\nasyncio.sleep(1)",
        "def f(files):\n    return files.open('x')",
        "def f(time, random):\n    return time.time() + random.random()",
        "from headrace.base.files import Files\n",
        "class A:\n    def open(self): ...\n",
    ],
)
def test_what_is_allowed_is_not_found(source):
    assert violations(source, "log/segment.py") == []


def test_the_windows_are_where_they_belong():
    for file in ("server/disk.py", "server/terminal.py", "testing.py"):
        assert violations("import time, socket\nopen('x')\ntime.time()", file) == []
    assert violations("import sqlite3", SQLITE_FILE) == []
    assert len(violations("import sqlite3\nimport socket", SQLITE_FILE)) == 1
    assert len(violations("import sqlite3", "cluster/stores/memory.py")) == 1
