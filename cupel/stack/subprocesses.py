"""Runs the programs that a local stack needs: uv, SAM and Python, which is searched on this machine before a download.

None of them can reach the user's AWS account. uv searches for a Python too, but neither the interpreter that a virtual
environment is made of, nor those behind the shims of version managers.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from cupel.environment import read_variables
from cupel.errors import CupelError
from cupel.stack.access.cloud import CloudAccess
from cupel.stack.paths import PYTHON_VERSION, REGION, StackPaths
from cupel.whole_files import replace_file

_NOT_INHERITED = (
    *("AWS_", "SAM_", "CUPEL_", "POWERTOOLS_"),
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UV_PROJECT", "UV_PYTHON"),
    *("MAKE", "MFLAGS"),  # The make of the layer would read them as flags.
    "PYTHONDONTWRITEBYTECODE",  # It would compile the embedded cloud again with each start; container images set it.
)
_SHOWN_LINES = 15
_HINTS = dict.fromkeys(("sam", "uv"), "`make run` installs it in a clone, the extra `stack` elsewhere")
_NAME = f"python{PYTHON_VERSION}"
_PRINT_BASE = "import sys; print(sys.base_prefix)"
_SECONDS = 20.0


def child_environment(paths: StackPaths, access: CloudAccess | None = None) -> dict[str, str]:
    """Return the environment for a child process.

    It lacks variables that would select an AWS account or interpreter or slow down each start, and has our own.
    """
    inherited = {name: value for name, value in read_variables().items() if not name.startswith(_NOT_INHERITED)}
    # SAM looks for a Python of the functions' version, which this process may not have.
    tools = [paths.tools / "uv" / "bin", Path(sys.executable).parent, paths.emulator_environment / "bin"]
    loopback = "127.0.0.1,localhost"
    own = {
        "PATH": ":".join([*map(str, tools), inherited.get("PATH", "")]),
        "NO_PROXY": f"{inherited.get('NO_PROXY', '')},{loopback}".lstrip(","),
        "no_proxy": f"{inherited.get('no_proxy', '')},{loopback}".lstrip(","),
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "SAM_CLI_TELEMETRY": "0",
        "SAM_CLI_POLL_DELAY": "0.3",  # It is in seconds between polls of a deployment; the default is 5.
    }
    return inherited | own | (access.variables(REGION) if access else {})


def run(arguments: list[str], paths: StackPaths, environment: dict[str, str], log: Path | None = None) -> str:
    """Run a program and return its standard output. Raises CupelError with the last lines of its output if it fails."""
    finished = subprocess.run(
        [_program(arguments[0], environment), *arguments[1:]],
        cwd=paths.repository,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    output = finished.stdout + finished.stderr
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        replace_file(log, output)
    if finished.returncode:
        last_lines = "\n".join(output.strip().splitlines()[-_SHOWN_LINES:])
        raise CupelError(f"{' '.join(arguments[:2])} failed ({finished.returncode})\n{last_lines}")
    return finished.stdout


def _program(name: str, environment: dict[str, str]) -> str:
    program = shutil.which(name, path=environment["PATH"])
    if not program:
        raise CupelError(f"{name} is not installed; {_HINTS.get(name, 'install it')}")
    return program


def find_python(environment: Mapping[str, str], own_prefix: str = sys.base_prefix) -> str:
    """Return the path of an interpreter of the functions' version, or the version, with which uv searches and
    downloads.

    `own_prefix` is where the interpreter of this process is installed.
    """
    for prefix in chain([Path(own_prefix)], _prefixes_of(environment)):
        if (interpreter := prefix / "bin" / _NAME).is_file():
            return str(interpreter)
    return PYTHON_VERSION


def _prefixes_of(environment: Mapping[str, str]) -> Iterator[Path]:
    for folder in dict.fromkeys(environment.get("PATH", "").split(":")):
        if folder and (found := shutil.which(_NAME, path=folder)) and (prefix := _ask_for_prefix(found, environment)):
            yield Path(prefix)


def _ask_for_prefix(program: str, environment: Mapping[str, str]) -> str | None:
    """Return the prefix of the interpreter, or of the one that a shim starts.

    The result is None if it cannot be started, as with an unset shim.
    """
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
