"""Definitions: create, read, list, change, delete."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from cupel_core.definitions.resolution import as_field, check, content_of, inherited
from cupel_core.domain.definitions.definitions import Content, Head, Version, merge, warnings_of
from cupel_core.errors import FieldError
from cupel_core.ids import new_id
from cupel_core.paging import Page
from cupel_core.store import definitions, scenarios


@dataclass(frozen=True)
class Definition:
    """A definition at its latest version, or at the one that was asked for."""

    head: Head
    version: int
    content: Content
    scenario_count: int

    @property
    def warnings(self) -> tuple[FieldError, ...]:
        return tuple(map(as_field, warnings_of(self.content)))


@dataclass(frozen=True)
class Labels:
    """What a definition is found by. In a change, None stays as it is; an empty folder is none."""

    name: str | None = None
    folder: str | None = None
    tags: tuple[str, ...] | None = None

    def on(self, head: Head) -> Head:
        return replace(
            head,
            name=head.name if self.name is None else self.name,
            folder=head.folder if self.folder is None else self.folder or None,
            tags=head.tags if self.tags is None else tuple(sorted(set(self.tags))),
        )


def create(workspace: str, labels: Labels, content: Mapping[str, Any], now: datetime) -> Definition:
    """Invalid names the fields of `content` that break a rule."""
    checked = check(merge({}, content))
    head = labels.on(Head(id=new_id("def"), name="", created_at=now, updated_at=now))
    definitions.create(workspace, head, checked.to_json())
    return Definition(head, head.version, checked, scenario_count=0)


def get(workspace: str, definition_id: str, version: int | None = None) -> Definition:
    head = definitions.get(workspace, definition_id)
    number = head.version if version is None else version
    content = Content.from_json(content_of(workspace, head, number))
    return Definition(head, number, content, scenarios.manifest(workspace, definition_id).total)


def listed(
    workspace: str,
    *,
    folder: str | None = None,
    search: str | None = None,
    tag: str | None = None,
    limit: int,
    cursor: str | None = None,
) -> Page[Head]:
    """Newest first; `search` is a part of the name in any case."""
    return definitions.listed(workspace, folder=folder, search=search, tag=tag, limit=limit, cursor=cursor)


def change(
    workspace: str, definition_id: str, labels: Labels, overrides: Mapping[str, Any] | None, now: datetime
) -> Definition:
    """Content fields in `overrides` replace the stored ones and make the next version; null unsets one.

    A fork that unsets a field overrides what it inherits with nothing. Conflict when it was changed at the same time.
    """
    before = definitions.get(workspace, definition_id)
    after = replace(labels.on(before), updated_at=now)
    if overrides is not None:
        after = replace(after, version=before.version + 1)
        own = {**definitions.content(workspace, Version(before.id, before.version)), **overrides}
        check(merge(inherited(workspace, before), own))
        definitions.change(workspace, before, after, own)
    else:
        definitions.change(workspace, before, after)
    return get(workspace, definition_id)


def delete(workspace: str, definition_id: str, now: datetime) -> None:
    """Hides it; runs, and forks of it, keep what they came from."""
    definitions.delete(workspace, definition_id, now)
