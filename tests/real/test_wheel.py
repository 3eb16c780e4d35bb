"""The wheel, installed into an empty environment of each supported Python, gives a broker that serves."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ("3.11", "3.12", "3.13")


def interpreter(version: str) -> str | None:
    """A Python of this version: on the path, or kept by pyenv."""
    candidates = [shutil.which(f"python{version}")]
    pyenv = shutil.which("pyenv")
    if pyenv:
        known = subprocess.run([pyenv, "versions", "--bare"], capture_output=True, text=True, check=False).stdout.split()
        root = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=False).stdout.strip()
        candidates += [f"{root}/versions/{name}/bin/python" for name in known if name.startswith(f"{version}.")]
    if sys.version.startswith(f"{version}."):
        candidates.append(sys.executable)
    code = f"import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"
    for candidate in candidates:
        if candidate and os.path.exists(candidate) and subprocess.run([candidate, "-c", code], capture_output=True).returncode == 0:
            return candidate
    return None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("wheel")
    # From a copy of what the wheel is made of: a build leaves folders beside its sources.
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(source)],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("headrace-*.whl")
    yield built


def test_the_wheel_has_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "headrace/cli/main.py" in names and "headrace/py.typed" in names
    assert {name.split("/")[0] for name in names} <= {"headrace", *(n.split("/")[0] for n in names if ".dist-info/" in n)}


@pytest.mark.timeout(180)
@pytest.mark.parametrize("version", VERSIONS)
def test_an_empty_environment_serves(wheel: Path, version: str, tmp_path: Path) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} on this machine")
    venv = tmp_path / "venv"
    subprocess.run([python, "-m", "venv", str(venv)], check=True)
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run([*pip, str(wheel)], check=True, timeout=150)
    command = str(venv / "bin" / "headrace")
    server = subprocess.Popen(
        [command, "serve", "--kafka", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", str(tmp_path / "data")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    )
    try:
        assert server.stdout is not None
        ready = next(line for line in server.stdout if line.startswith("ready "))
        address = dict(word.split("=", 1) for word in ready.split()[1:])["kafka"]
        sent = subprocess.run(
            [command, "produce", "greetings", "--server", address], input="hello\n", text=True, capture_output=True, timeout=30
        )
        assert sent.returncode == 0, sent.stderr
        seen = subprocess.run(
            [command, "consume", "greetings", "--from", "earliest", "--max", "1", "--server", address],
            text=True, capture_output=True, timeout=30,
        )  # fmt: skip
        assert "hello" in seen.stdout, seen.stderr
        server.send_signal(signal.SIGTERM)
        assert server.wait(5) == 0
    finally:
        server.kill()
        server.wait()
