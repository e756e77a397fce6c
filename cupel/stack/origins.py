"""The origins of web pages that may call the local stack, chosen by `cupel up --allow-origin` and remembered.

And the hosts at which it answers beside its own, chosen by `cupel up --allow-host` and not remembered.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from cupel.errors import UsageError
from cupel.stack.access.hosts import encode_hosts, is_host
from cupel.stack.paths import StackPaths
from cupel.whole_files import replace_file

DEFAULT_ORIGINS = ("http://localhost:5173", "http://127.0.0.1:5173")
_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?")


def read_origins(paths: StackPaths) -> tuple[str, ...]:
    file = _file(paths)
    return tuple(json.loads(file.read_text())) if file.is_file() else DEFAULT_ORIGINS


def choose_origins(paths: StackPaths, origins: Sequence[str]) -> None:
    """Replace the origins; raises UsageError for what browsers do not send as one."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            raise UsageError(
                f'"{origin}" is no origin: write the scheme, the host in lower case, and the port if it is not the '
                "usual one, without a path, as in http://localhost:3000"
            )
    paths.make_private()
    replace_file(_file(paths), json.dumps(list(dict.fromkeys(origins))))


def choose_hosts(paths: StackPaths, hosts: Sequence[str]) -> Sequence[str]:
    """Replace the hosts, also by none. Raises UsageError for what browsers do not send as one."""
    for host in hosts:
        if not is_host(host):
            raise UsageError(
                f'--allow-host: "{host}" is no host: write the name in lower case and the port, as in '
                "name-4566.preview.example:443"
            )
    paths.make_private()
    replace_file(paths.hosts_file, encode_hosts(hosts))
    return hosts


def _file(paths: StackPaths) -> Path:
    return paths.state / "origins.json"
