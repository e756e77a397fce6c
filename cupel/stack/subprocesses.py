"""The programs a local stack is made with: uv, SAM, Python. None of them sees the AWS account of whoever runs this."""

import shutil
import subprocess
import sys
from pathlib import Path

from cupel.environment import variables
from cupel.errors import CupelError
from cupel.stack.paths import REGION, Place

_NOT_INHERITED = (
    *("AWS_", "SAM_", "CUPEL_", "POWERTOOLS_"),
    *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "UV_PROJECT", "UV_PYTHON"),
    *("MAKE", "MFLAGS"),  # would be taken for orders to the layer's own make
)
_SHOWN_LINES = 15


def child_environment(place: Place, endpoint_url: str | None = None) -> dict[str, str]:
    """This process's variables but those that would lead a child to another account or interpreter, and our own."""
    inherited = {name: value for name, value in variables().items() if not name.startswith(_NOT_INHERITED)}
    tools = [str(place.tools / "uv" / "bin"), str(Path(sys.executable).parent)]
    loopback = "127.0.0.1,localhost"
    own = {
        "PATH": ":".join([*tools, inherited.get("PATH", "")]),
        "NO_PROXY": f"{inherited.get('NO_PROXY', '')},{loopback}".lstrip(","),
        "no_proxy": f"{inherited.get('no_proxy', '')},{loopback}".lstrip(","),
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
        "SAM_CLI_TELEMETRY": "0",
        "SAM_CLI_POLL_DELAY": "0.3",  # seconds between looks at a deployment; 5 otherwise
    }
    return inherited | own | ({"AWS_ENDPOINT_URL": endpoint_url} if endpoint_url else {})


def run(arguments: list[str], place: Place, environment: dict[str, str], log: Path | None = None) -> str:
    """Standard output of a program that succeeded; one that failed is shown by its last lines."""
    finished = subprocess.run(
        [_program(arguments[0], environment), *arguments[1:]],
        cwd=place.repository,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    told = finished.stdout + finished.stderr
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(told)
    if finished.returncode:
        ending = "\n".join(told.strip().splitlines()[-_SHOWN_LINES:])
        raise CupelError(f"{' '.join(arguments[:2])} failed ({finished.returncode})\n{ending}")
    return finished.stdout


def _program(name: str, environment: dict[str, str]) -> str:
    found = shutil.which(name, path=environment["PATH"])
    if not found:
        raise CupelError(f"{name} is not installed; `make run` installs what is missing")
    return found
