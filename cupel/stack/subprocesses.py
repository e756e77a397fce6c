"""Runs the programs that a local stack needs: uv, SAM, Python. None of them can reach the user's AWS account."""

import shutil
import subprocess
import sys
from pathlib import Path

from cupel.environment import read_variables
from cupel.errors import CupelError
from cupel.stack.access.cloud import CloudAccess
from cupel.stack.paths import REGION, StackPaths
from cupel.whole_files import replace_file

_NOT_INHERITED = (
    *("AWS_", "SAM_", "CUPEL_", "POWERTOOLS_"),
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UV_PROJECT", "UV_PYTHON"),
    *("MAKE", "MFLAGS"),  # would be read as flags by the make of the layer
    "PYTHONDONTWRITEBYTECODE",  # would compile the embedded cloud again with each start; container images set it
)
_SHOWN_LINES = 15
_HINTS = dict.fromkeys(("sam", "uv"), "`make run` installs it in a clone, the extra `stack` elsewhere")


def child_environment(paths: StackPaths, access: CloudAccess | None = None) -> dict[str, str]:
    """This process's variables without those that would select an AWS account or interpreter or slow down each start,
    plus our own."""
    inherited = {name: value for name, value in read_variables().items() if not name.startswith(_NOT_INHERITED)}
    # SAM looks for a Python of the functions' version, which that of this process need not be.
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
        "SAM_CLI_POLL_DELAY": "0.3",  # seconds between polls of a deployment; default: 5
    }
    return inherited | own | (access.variables(REGION) if access else {})


def run(arguments: list[str], paths: StackPaths, environment: dict[str, str], log: Path | None = None) -> str:
    """Run a program and return its standard output. CupelError with the last lines of its output if it fails."""
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
