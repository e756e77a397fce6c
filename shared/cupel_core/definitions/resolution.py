from collections.abc import Mapping
from typing import Any, NamedTuple

from cupel_core.base.errors import NotFound
from cupel_core.domain.definitions.definitions import Content, DefinitionHead, DefinitionVersion, merge_overrides
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.store import definitions


class ResolvedDefinition(NamedTuple):
    definition_id: str
    version: int
    name: str
    content: Content
    manifest: Manifest


def resolve(workspace: str, definition_id: str, version: int | None = None) -> ResolvedDefinition:
    """Resolve this version, by default the latest. Raise NotFound for an unknown version or definition."""
    head = definitions.get(workspace, definition_id)
    number = head.version if version is None else version
    stored = definitions.get_version(workspace, DefinitionVersion(definition_id, number))
    content = Content.from_json(merge_overrides(inherited_content(workspace, head), stored.content))
    manifest = definitions.get_manifest(workspace, definition_id, stored.scenarios_revision)
    return ResolvedDefinition(definition_id, number, head.name, content, manifest)


def content_of(workspace: str, head: DefinitionHead, number: int) -> dict[str, Any]:
    own = definitions.get_content(workspace, DefinitionVersion(head.id, number))
    return merge_overrides(inherited_content(workspace, head), own)


def inherited_content(workspace: str, head: DefinitionHead) -> dict[str, Any]:
    """Return a fork's content without its own overrides. It is empty for a definition that is not a fork."""
    overrides: list[Mapping[str, Any]] = []
    while head.parent:
        overrides.append(definitions.get_content(workspace, head.parent))
        head = parent_of(workspace, head.parent)
    content: dict[str, Any] = {}
    for own in reversed(overrides):
        content = merge_overrides(content, own)
    return content


def parent_of(workspace: str, parent: DefinitionVersion) -> DefinitionHead:
    """Return the parent's head, even if it is deleted, because its forks still inherit from it."""
    head = definitions.find(workspace, parent.definition_id)
    if head is None:
        raise NotFound(f"there is no definition {parent.definition_id}")
    return head
