"""Header values are secrets: they lie in Secrets Manager, one secret for all of an owner's, and are read by version."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import orjson

from cupel_core.errors import Invalid, NotFound
from cupel_core.store import secrets

NONE: Mapping[str, str] = MappingProxyType({})


def keep(workspace: str, owner: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Stores the values, and answers what may be told: their names, and under which version they lie."""
    if not headers:
        return {"headerNames": [], "headersVersion": None}
    version = secrets.put(workspace, owner, orjson.dumps(dict(headers)).decode())
    return {"headerNames": list(headers), "headersVersion": version}


@lru_cache(maxsize=256)
def read(workspace: str, owner: str, version: str | None) -> Mapping[str, str]:
    """A version's values never change, so a process asks for each once."""
    if version is None:
        return NONE
    text = secrets.get(workspace, owner, version)
    if text is None:
        raise NotFound(f"the header values of {owner} are gone: set them again")
    return MappingProxyType(orjson.loads(text))


def forget(workspace: str, owner: str) -> None:
    """Deletes the values, at once."""
    secrets.delete(workspace, owner)


def check_move(field: str, before: str, after: str) -> None:
    """Values were given for one server; who may change its address must not learn them at another."""
    if _origin(before) != _origin(after):
        raise Invalid.field(field, "must be given anew, or be null: those that are stored are for another server")


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
