"""A definition's content at a version, put together from what it and its ancestors store; the check of a new one."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from shared.definitions import assertions
from shared.domain.connectors import PROVIDER as CONNECTOR
from shared.domain.definitions import Content, Finding, Head, Version, errors_of, merge
from shared.errors import FieldError, Invalid, NotFound
from shared.providers import PROVIDERS
from shared.store import definitions

_OF_MODELS = tuple(name for name in PROVIDERS if name != CONNECTOR)
MAX_CONTENT_BYTES = 256 * 1024
"""As it is stored, in ASCII. An item of the table holds 400 KB."""


class Resolved(NamedTuple):
    """What a run evaluates."""

    definition_id: str
    version: int
    name: str
    content: Content


def resolve(workspace: str, definition_id: str, version: int | None = None) -> Resolved:
    """The latest version unless told. NotFound when there is none, or the definition is deleted."""
    head = definitions.get(workspace, definition_id)
    number = head.version if version is None else version
    content = Content.from_json(content_of(workspace, head, number))
    return Resolved(definition_id, number, head.name, content)


def content_of(workspace: str, head: Head, number: int) -> dict[str, Any]:
    """The content at this version in JSON, with all that it inherits."""
    own = definitions.content(workspace, Version(head.id, number))
    return merge(inherited(workspace, head), own)


def inherited(workspace: str, head: Head) -> dict[str, Any]:
    """What a fork's content is before its own overrides; nothing for a definition that is no fork."""
    overrides: list[Mapping[str, Any]] = []
    while head.parent:
        overrides.append(definitions.content(workspace, head.parent))
        head = parent_of(workspace, head.parent)
    content: dict[str, Any] = {}
    for own in reversed(overrides):
        content = merge(content, own)
    return content


def parent_of(workspace: str, parent: Version) -> Head:
    """Also a deleted one: its forks go on inheriting from it."""
    head = definitions.find(workspace, parent.definition_id)
    if head is None:
        raise NotFound(f"there is no definition {parent.definition_id}")
    return head


def check(data: Mapping[str, Any]) -> Content:
    """The content that this JSON is; Invalid names each field below `content` that breaks a rule."""
    if len(json.dumps(data)) > MAX_CONTENT_BYTES:
        raise Invalid.field("content", f"must have at most {MAX_CONTENT_BYTES // 1024} KB")
    _refuse(assertions.errors_of(data.get("assertions") or (), "content.assertions"))
    content = Content.from_json(data)
    _refuse(tuple(map(as_field, errors_of(content, _OF_MODELS))))
    return content


def _refuse(errors: tuple[FieldError, ...]) -> None:
    if errors:
        raise Invalid("; ".join(f"{error.field}: {error.message}" for error in errors[:5]), errors)


def as_field(finding: Finding) -> FieldError:
    return FieldError(f"content.{finding.field}".rstrip("."), finding.message)
