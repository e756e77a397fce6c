"""Where the command finds its API, and the one place of this package that reads the environment of the process."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from cupel.errors import WrongUse

LOCAL_FILE = Path(".cupel") / "local.json"


class Address(NamedTuple):
    api_url: str
    token: str
    source: str
    """Where both came from, for people: a file or the environment."""


def variable(name: str) -> str | None:
    return os.environ.get(name)


def variables() -> dict[str, str]:
    return dict(os.environ)


def set_variables(values: dict[str, str]) -> None:
    """For shared/cupel_core/settings.py, which reads a function's environment."""
    os.environ.update(values)


def find_address(start: Path | None = None) -> Address:
    """CUPEL_API_URL and CUPEL_TOKEN, else the local stack's file in `start` (the current directory) or above it."""
    api_url, token = variable("CUPEL_API_URL"), variable("CUPEL_TOKEN")
    if api_url and token:
        return Address(api_url, token, "CUPEL_API_URL and CUPEL_TOKEN")
    if api_url or token:
        missing = "CUPEL_TOKEN" if api_url else "CUPEL_API_URL"
        raise WrongUse(f"{missing} is not set; CUPEL_API_URL and CUPEL_TOKEN go together")
    directory = (start or Path.cwd()).resolve()
    for parent in (directory, *directory.parents):
        if (parent / LOCAL_FILE).is_file():
            return _read_local(parent / LOCAL_FILE)
    raise WrongUse("no stack found: start one with `cupel up`, or set CUPEL_API_URL and CUPEL_TOKEN")


def _read_local(path: Path) -> Address:
    try:
        content = json.loads(path.read_text())
        return Address(str(content["apiUrl"]), str(content["token"]), str(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WrongUse(f"{path} is not readable as the local stack's file; `cupel up` writes it anew") from error
