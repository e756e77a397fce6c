"""How long a model call may take on the local stack: chosen by `cupel up --call-timeout`, and remembered."""

import json
from pathlib import Path

from cupel.errors import UsageError
from cupel.stack.paths import StackPaths
from cupel.whole_files import replace_file

DEFAULT_SECONDS = 120
"""The template has the same default."""
ALLOWED_SECONDS = (5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 480, 600)
"""The template allows these values of CallTimeoutSeconds."""
_PROBE_SECONDS = (120, 300, 600, 900)
"""A local stack uses these values of ProbeTimeoutSeconds, and chooses the first that leaves enough time for calls."""
_RESERVED_SECONDS = 16
"""An invocation reserves this time for its last commit, and for new calls."""


def read_call_timeout(paths: StackPaths) -> int:
    file = _file(paths)
    return int(json.loads(file.read_text())) if file.is_file() else DEFAULT_SECONDS


def choose_call_timeout(paths: StackPaths, seconds: int) -> None:
    """Raise UsageError for a time that the template does not allow."""
    if seconds not in ALLOWED_SECONDS:
        allowed = ", ".join(map(str, ALLOWED_SECONDS))
        raise UsageError(f"--call-timeout: {seconds} is none of the times that the stack allows: {allowed}")
    paths.make_private()
    replace_file(_file(paths), json.dumps(seconds))


def probe_timeout(call_seconds: int) -> int:
    """How long an invocation takes at most in which such calls are made."""
    return next(each for each in _PROBE_SECONDS if each - _RESERVED_SECONDS >= call_seconds)


def _file(paths: StackPaths) -> Path:
    return paths.state / "call_timeout.json"
