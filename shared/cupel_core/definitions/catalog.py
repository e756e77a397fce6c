"""Definitions: create, read, list, update, delete."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from cupel_core.definitions.resolution import content_of, inherited_content
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import (
    Content,
    Definition,
    DefinitionHead,
    DefinitionVersion,
    Labels,
    merge_overrides,
)
from cupel_core.ids import new_id
from cupel_core.paging import Page
from cupel_core.store import definitions, scenarios


def create(workspace: str, labels: Labels, content: Mapping[str, Any], now: datetime) -> Definition:
    """Raises Invalid, naming the invalid fields of `content`."""
    checked = validate_content(merge_overrides({}, content))
    head = labels.apply_to(DefinitionHead(id=new_id("def"), name="", created_at=now, updated_at=now))
    definitions.create(workspace, head, checked.to_json())
    return Definition(head, head.version, checked, scenario_count=0)


def get(workspace: str, definition_id: str, version: int | None = None) -> Definition:
    """At this version, by default the latest. NotFound for an unknown version, and an unknown or deleted definition."""
    head = definitions.get(workspace, definition_id)
    number = head.version if version is None else version
    content = Content.from_json(content_of(workspace, head, number))
    return Definition(head, number, content, scenarios.get_manifest(workspace, definition_id).total)


def list_definitions(
    workspace: str,
    *,
    folder: str | None = None,
    search: str | None = None,
    tag: str | None = None,
    limit: int,
    cursor: str | None = None,
) -> Page[DefinitionHead]:
    """Newest first; `search` is a part of the name, case-insensitive."""
    return definitions.list_definitions(workspace, folder=folder, search=search, tag=tag, limit=limit, cursor=cursor)


def update(
    workspace: str, definition_id: str, labels: Labels, overrides: Mapping[str, Any] | None, now: datetime
) -> Definition:
    """Content fields in `overrides` replace the stored ones and create the next version; null unsets a field.

    A fork that unsets a field does not inherit it any more. Conflict if the definition was changed concurrently.
    """
    before = definitions.get(workspace, definition_id)
    after = replace(labels.apply_to(before), updated_at=now)
    if overrides is not None:
        after = replace(after, version=before.version + 1)
        own = {**definitions.get_content(workspace, DefinitionVersion(before.id, before.version)), **overrides}
        validate_content(merge_overrides(inherited_content(workspace, before), own))
        definitions.update(workspace, before, after, own)
    else:
        definitions.update(workspace, before, after)
    return get(workspace, definition_id)


def delete(workspace: str, definition_id: str, now: datetime) -> None:
    """Hide the definition; its runs and its forks keep their content."""
    definitions.delete(workspace, definition_id, now)
