"""Header values, which are secrets: all of an owner's are one secret in Secrets Manager, read by version."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import orjson

from cupel_core.base.errors import Invalid, NotFound
from cupel_core.domain.resources.addresses import is_same_address
from cupel_core.store import secrets

NOT_SET: Mapping[str, Any] = MappingProxyType({"headerNames": (), "headersVersion": None})
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def save(workspace: str, owner: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Store the values. Return the public part: their names, and the version to load them by."""
    if not headers:
        return dict(NOT_SET)
    version = secrets.put(workspace, owner, orjson.dumps(dict(headers)).decode())
    return {"headerNames": list(headers), "headersVersion": version}


@lru_cache(maxsize=256)
def load(workspace: str, owner: str, version: str | None) -> Mapping[str, str]:
    """Return the values of a version. They never change, so a process reads each once. Raise NotFound if deleted."""
    if version is None:
        return NO_HEADERS
    text = secrets.get(workspace, owner, version)
    if text is None:
        raise NotFound(f"the header values of {owner} were deleted: set them again")
    return MappingProxyType(orjson.loads(text))


def delete(workspace: str, owner: str) -> None:
    secrets.delete(workspace, owner)


def is_lost(workspace: str, owner: str, version: str | None) -> bool:
    """Return whether a removal has deleted the values while they were being set."""
    return secrets.is_lost(workspace, owner, version)


def check_same_address(field: str, before: str, after: str) -> None:
    """Raise Invalid for `field` if stored values would be sent to another address than the one they were set for. The
    path counts too, because some hosts serve many customers."""
    if not is_same_address(before, after):
        raise Invalid.field(field, "must be set again or set to null: the stored values belong to another address")
