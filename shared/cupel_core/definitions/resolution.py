"""A definition's content at a version, put together from what it and its ancestors store."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from cupel_core.definitions.validation import as_field as as_field
from cupel_core.definitions.validation import check as check
from cupel_core.domain.definitions.definitions import Content, Head, Version, merge
from cupel_core.errors import NotFound
from cupel_core.store import definitions


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
