from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.base.errors import Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.paging import ANY_TIME, Creation, Page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, etag
from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions.files.attachments import attach_to_content
from cupel_core.definitions.resolution import ResolvedDefinition, inherited_content
from cupel_core.definitions.scenarios import checked_scenarios
from cupel_core.definitions.validation import validate_content
from cupel_core.domain.definitions.definitions import (
    Content,
    Definition,
    DefinitionHead,
    DefinitionVersion,
    Labels,
    StoredVersion,
    merge_overrides,
)
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.store import definitions
from cupel_core.store import scenarios as pages
from cupel_core.store.table import ExtraWrite

MAX_TAGGED = 1_000
"""Tags are counted in this many of the newest definitions."""


class NewDefinition(NamedTuple):
    """A definition that was checked and is not stored yet. Its pages of scenarios are stored, but nothing names
    them."""

    workspace: str
    head: DefinitionHead
    content: Content
    manifest: Manifest

    @property
    def resolved(self) -> ResolvedDefinition:
        return ResolvedDefinition(self.head.id, self.head.version, self.head.name, self.content, self.manifest)

    def store(self, extra: ExtraWrite | None = None) -> None:
        """Create the definition, together with `extra`. Raise Conflict if its id is taken."""
        inherited = self.manifest if self.manifest.total else None
        definitions.create(self.workspace, self.head, self.content.to_json(), inherited, extra)


def create(
    workspace: str,
    labels: Labels,
    content: Mapping[str, Any],
    now: datetime,
    items: Sequence[CreateScenario] = (),
    definition_id: str | None = None,
    extra: ExtraWrite | None = None,
) -> Definition:
    new = prepare(workspace, labels, content, now, items, definition_id)
    new.store(extra)
    return Definition(new.head, new.head.version, new.content, scenario_count=new.manifest.total)


def prepare(
    workspace: str,
    labels: Labels,
    content: Mapping[str, Any],
    now: datetime,
    items: Sequence[CreateScenario] = (),
    definition_id: str | None = None,
) -> NewDefinition:
    """Check a definition with the scenarios `items`, under a new id unless one is given, which must be free. Raise
    Invalid, naming the invalid fields of `content` and `scenarios`."""
    attached = attach_to_content(workspace, merge_overrides({}, content), now)
    checked, scenarios = _validate(workspace, attached, items, now, has_scenarios=bool(items))
    unnamed = DefinitionHead(definition_id or new_id("def"), "", now, now, version_label=labels.version_label or None)
    head = labels.apply_to(unnamed)
    manifest = pages.write_pages(workspace, head.id, Manifest(), scenarios) if scenarios else Manifest()
    return NewDefinition(workspace, head, checked, manifest)


def get(workspace: str, definition_id: str, version: int | None = None) -> Definition:
    """Return this version, by default the latest. Raise NotFound for an unknown version or definition."""
    head = definitions.get(workspace, definition_id)
    stored = definitions.get_version(workspace, DefinitionVersion(head.id, version or head.version))
    content = Content.from_json(merge_overrides(inherited_content(workspace, head), stored.content))
    manifest = definitions.get_manifest(workspace, definition_id, stored.scenarios_revision)
    return Definition(replace(head, version_label=stored.label), stored.number, content, manifest.total)


def list_definitions(
    workspace: str,
    *,
    folder: str | None = None,
    include_children: bool = False,
    search: str | None = None,
    tag: str | None = None,
    limit: int,
    cursor: str | None = None,
    created: Creation = ANY_TIME,
) -> Page[DefinitionHead]:
    """Return a page of definitions, newest first unless `created` says otherwise. `search` is a part of the name,
    case-insensitive. `include_children` adds folders below."""
    return definitions.list_definitions(
        workspace,
        folder=folder,
        include_children=include_children,
        search=search,
        tag=tag,
        limit=limit,
        cursor=cursor,
        created=created,
    )


class Tag(NamedTuple):
    name: str
    definition_count: int


def list_tags(workspace: str) -> list[Tag]:
    """Return the tags of the newest definitions, the most frequent first."""
    newest = list_definitions(workspace, limit=MAX_TAGGED)
    counted = Counter(tag for head in newest.items for tag in head.tags)
    return [Tag(name, count) for name, count in sorted(counted.items(), key=lambda each: (-each[1], each[0]))]


def update(
    workspace: str,
    definition_id: str,
    labels: Labels,
    overrides: Mapping[str, Any] | None,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
    items: Sequence[CreateScenario] | None = None,
) -> Definition:
    """Update a definition. New content or scenarios create the next version. Content fields in `overrides` replace the
    stored ones, null unsets a field, and `items` replace all scenarios. A fork that unsets a field does not inherit it
    any more. Raise Conflict if the definition was changed concurrently."""
    before = definitions.get(workspace, definition_id)
    precondition.check(etag(before.revision))
    after = replace(labels.apply_to(before), updated_at=now)
    version = manifest = None
    if overrides is not None or items is not None:
        version, manifest = _next_version(workspace, before, labels, overrides, items, now)
        after = replace(after, version=version.number, version_label=version.label)
    elif labels.version_label is not None:
        latest = definitions.get_version(workspace, DefinitionVersion(before.id, before.version))
        version = replace(latest, label=labels.version_label or None)
        after = replace(after, version_label=version.label)
    with precondition.guard_write():
        definitions.update(workspace, before, after, version, manifest)
    return get(workspace, definition_id)


def delete(workspace: str, definition_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL) -> None:
    """Hide the definition. Its runs and its forks keep their content."""
    before = definitions.get(workspace, definition_id)
    precondition.check(etag(before.revision))
    with precondition.guard_write():
        definitions.delete(workspace, before, now)


def _next_version(
    workspace: str,
    before: DefinitionHead,
    labels: Labels,
    overrides: Mapping[str, Any] | None,
    items: Sequence[CreateScenario] | None,
    now: datetime,
) -> tuple[StoredVersion, Manifest | None]:
    latest = definitions.get_version(workspace, DefinitionVersion(before.id, before.version))
    own = {**latest.content, **attach_to_content(workspace, overrides or {}, now)}
    content, has_scenarios = merge_overrides(inherited_content(workspace, before), own), items is None or bool(items)
    _, scenarios = _validate(workspace, content, items or (), now, has_scenarios=has_scenarios)
    manifest, revision = None, latest.scenarios_revision
    if items is not None:
        current = definitions.get_manifest(workspace, before.id, revision)
        manifest = pages.write_pages(workspace, before.id, current, scenarios, replace=True)
        revision = manifest.revision
    number = before.version + 1
    content_version = latest.content_version if overrides is None else number
    return StoredVersion(number, now, own, content_version, revision, labels.version_label or None), manifest


def _validate(
    workspace: str, content: Mapping[str, Any], items: Sequence[CreateScenario], now: datetime, *, has_scenarios: bool
) -> tuple[Content, list[Scenario]]:
    try:
        checked = validate_content(content, has_scenarios=has_scenarios)
    except Invalid as content_error:
        try:
            checked_scenarios(workspace, items, "scenarios", now)
        except Invalid as scenario_error:
            raise Invalid.fields((*content_error.errors, *scenario_error.errors)) from None
        raise
    return checked, checked_scenarios(workspace, items, "scenarios", now)
