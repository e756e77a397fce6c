"""Finds the Python of the embedded cloud on this machine, so that none is downloaded.

uv searches too, but neither the interpreter that a virtual environment is made of, nor those behind the shims of
version managers.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from cupel.stack.paths import PYTHON_VERSION

_NAME = f"python{PYTHON_VERSION}"
_PRINT_BASE = "import sys; print(sys.base_prefix)"
_SECONDS = 20.0


def find_python(environment: Mapping[str, str], own_prefix: str = sys.base_prefix) -> str:
    """The path of an interpreter of the functions' version; else the version, with which uv searches and downloads.

    `own_prefix` is where the interpreter of this process is installed.
    """
    for prefix in chain([Path(own_prefix)], _prefixes_of(environment)):
        if (interpreter := prefix / "bin" / _NAME).is_file():
            return str(interpreter)
    return PYTHON_VERSION


def _prefixes_of(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the installation prefixes of the interpreters that are found through PATH."""
    for folder in dict.fromkeys(environment.get("PATH", "").split(":")):
        if folder and (found := shutil.which(_NAME, path=folder)) and (prefix := _ask_for_prefix(found, environment)):
            yield Path(prefix)


def _ask_for_prefix(program: str, environment: Mapping[str, str]) -> str | None:
    """Return the prefix of the interpreter, or of the one that a shim starts; None if it cannot be started, as with
    an unset shim."""
    try:
        answer = subprocess.run(
            [program, "-I", "-c", _PRINT_BASE],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
