"""Compile the hot modules with mypyc: `python tools/compile.py [FOLDER]`.

Without a folder the extensions land beside their sources and are imported instead of them; `--clean` takes them away again.
With one, a tree of the compiled modules alone is made there (tests and benchmarks use that). Everything works uncompiled:
this needs mypy, setuptools and a C compiler, none of which the broker itself asks for.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src"

# Plain typed modules that mypyc compiles as they stand. They import nothing of ours that is not compiled or a leaf.
HOT_MODULES = ("headrace.records.walk",)


def has_c_compiler() -> bool:
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(str(command).split()[0]) is not None


def compile_modules(target: Path, modules: tuple[str, ...] = HOT_MODULES) -> list[Path]:
    """Compile into `target`, laid out as packages are; the extensions made."""
    from mypyc.build import mypycify
    from setuptools import Distribution  # type: ignore[import-untyped]

    target = target.resolve()
    with tempfile.TemporaryDirectory(prefix="headrace-compile-") as scratch, contextlib.chdir(SOURCE):
        # Quiet about mypy's own settings file: the sources are checked elsewhere, with it.
        options = ["--config-file=", f"--cache-dir={scratch}/mypy", "--ignore-missing-imports"]
        files = [module.replace(".", "/") + ".py" for module in modules]
        extensions = mypycify([*options, *files], opt_level="3", debug_level="0", target_dir=f"{scratch}/c")
        build = Distribution({"name": "headrace-compiled", "ext_modules": extensions}).get_command_obj("build_ext")
        build.build_lib = str(target)
        build.build_temp = f"{scratch}/o"
        build.ensure_finalized()
        build.run()
    return [target / (module.replace(".", "/") + str(sysconfig.get_config_var("EXT_SUFFIX"))) for module in modules]


def clean() -> None:
    for module in HOT_MODULES:
        source = SOURCE / (module.replace(".", "/") + ".py")
        for extension in source.parent.glob(source.stem + ".*.so"):
            extension.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description="Compile the hot modules with mypyc.")
    parser.add_argument("folder", nargs="?", type=Path, help="where to (default: beside the sources)")
    parser.add_argument("--clean", action="store_true", help="remove the extensions that lie beside the sources")
    arguments = parser.parse_args()
    if arguments.clean:
        clean()
        return 0
    if not has_c_compiler():
        print("no C compiler was found (CC, or cc on the path): the modules stay interpreted", file=sys.stderr)
        return 1
    for path in compile_modules(arguments.folder or SOURCE):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
