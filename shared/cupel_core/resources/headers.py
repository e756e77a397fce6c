"""Header values are secrets: all of an owner's are one secret in Secrets Manager, and are read by version."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import orjson

from cupel_core.base.errors import Invalid, NotFound
from cupel_core.domain.resources.addresses import is_same_address
from cupel_core.store import secrets

NOT_SET: Mapping[str, Any] = MappingProxyType({"headerNames": (), "headersVersion": None})
"""What is stored of an owner without header values."""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def save(workspace: str, owner: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Store the values; returns what is not secret: their names, and the version to load them by."""
    if not headers:
        return dict(NOT_SET)
    version = secrets.put(workspace, owner, orjson.dumps(dict(headers)).decode())
    return {"headerNames": list(headers), "headersVersion": version}


@lru_cache(maxsize=256)
def load(workspace: str, owner: str, version: str | None) -> Mapping[str, str]:
    """The values of a version, which never change, so each is read once per process. NotFound if they were deleted."""
    if version is None:
        return NO_HEADERS
    text = secrets.get(workspace, owner, version)
    if text is None:
        raise NotFound(f"the header values of {owner} were deleted: set them again")
    return MappingProxyType(orjson.loads(text))


def delete(workspace: str, owner: str) -> None:
    """Delete the values of all versions immediately."""
    secrets.delete(workspace, owner)


def is_lost(workspace: str, owner: str, version: str | None) -> bool:
    """Whether the values were deleted by a removal at the time at which they were set."""
    return secrets.is_lost(workspace, owner, version)


def check_same_address(field: str, before: str, after: str) -> None:
    """Stored values belong to one address: changing it must not send them to another. Raises Invalid for `field`.

    The path counts too, because some hosts serve many customers.
    """
    if not is_same_address(before, after):
        raise Invalid.field(field, "must be set again or set to null: the stored values belong to another address")
