"""Finds the command's API. No other module of this package reads environment variables."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from cupel.errors import UsageError

LOCAL_FILE = Path(".cupel") / "local.json"


class Address(NamedTuple):
    api_url: str
    token: str
    source: str
    """Describes for display where both came from: a file or the environment."""


def read_variable(name: str) -> str | None:
    return os.environ.get(name)


def read_variables() -> dict[str, str]:
    return dict(os.environ)


def set_variables(values: dict[str, str]) -> None:
    """Set variables for cupel_core.store.settings, which reads a function's environment."""
    os.environ.update(values)


def find_address(start: Path | None = None) -> Address:
    """Return CUPEL_API_URL and CUPEL_TOKEN, else the local stack's file in `start` (the current folder) or a parent."""
    api_url, token = read_variable("CUPEL_API_URL"), read_variable("CUPEL_TOKEN")
    if api_url and token:
        return Address(api_url, token, "CUPEL_API_URL and CUPEL_TOKEN")
    if api_url or token:
        missing = "CUPEL_TOKEN" if api_url else "CUPEL_API_URL"
        raise UsageError(f"{missing} is not set; set both CUPEL_API_URL and CUPEL_TOKEN")
    directory = (start or Path.cwd()).resolve()
    for parent in (directory, *directory.parents):
        if (parent / LOCAL_FILE).is_file():
            return _read_local(parent / LOCAL_FILE)
    raise UsageError("no stack found: start one with `cupel up`, or set CUPEL_API_URL and CUPEL_TOKEN")


def _read_local(path: Path) -> Address:
    try:
        content = json.loads(path.read_text())
        return Address(str(content["apiUrl"]), str(content["token"]), str(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not a valid local stack file; run `cupel up` to write it again") from error
