"""Further hosts at which the local stack answers, such as the public name of a forwarded port.

The file is read when a request names a host that is not the stack's own, so a change needs no restart.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?:([1-9][0-9]{0,4})")
_MAX_PORT = 65_535
_USUAL_PORTS = ("80", "443")
"""Browsers leave them out."""


def is_host(text: str) -> bool:
    """Whether this is NAME:PORT as browsers send it: a name in lower case, without a wildcard."""
    found = _HOST.fullmatch(text)
    return found is not None and int(found[2]) <= _MAX_PORT


def read_hosts(file: Path) -> frozenset[str]:
    """Read the additional allowed hosts, as the header Host has them. A missing or damaged file allows none."""
    try:
        hosts = [each for each in json.loads(file.read_text()) if is_host(each)]
    except (OSError, ValueError, TypeError):
        return frozenset()
    usual = (name for name, _, port in (each.rpartition(":") for each in hosts) if port in _USUAL_PORTS)
    return frozenset((*hosts, *usual))


def encode_hosts(hosts: Sequence[str]) -> str:
    return json.dumps(list(dict.fromkeys(hosts)))
