"""The scenarios of a definition's versions. Every accepted change is one transaction that makes a version.

The first scenarios complete an existing version that has none. It has not been run, because a run needs scenarios.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from cupel_core.domain.definitions.definitions import DefinitionHead, DefinitionVersion, StoredVersion
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.store import definitions, scenarios
from cupel_core.store.table import ExtraWrite


class CurrentScenarios(NamedTuple):
    head: DefinitionHead
    version: StoredVersion
    manifest: Manifest


def get_current(workspace: str, definition_id: str) -> CurrentScenarios:
    """Return the latest scenarios. Raise NotFound for an unknown or deleted definition."""
    head = definitions.get(workspace, definition_id)
    version = definitions.get_version(workspace, DefinitionVersion(definition_id, head.version))
    return CurrentScenarios(head, version, definitions.get_manifest(workspace, head.id, version.scenarios_revision))


def get_manifest(workspace: str, definition_id: str, version: int) -> Manifest:
    """Return the scenarios of a version, even of a deleted definition. Raise NotFound if there is no such version."""
    stored = definitions.get_version(workspace, DefinitionVersion(definition_id, version))
    return definitions.get_manifest(workspace, definition_id, stored.scenarios_revision)


def append(
    workspace: str, definition_id: str, added: Iterable[Scenario], now: datetime, *, replace_all: bool = False
) -> CurrentScenarios:
    """Add scenarios and give each a new id. The new ones have the last ordinals of the returned manifest. Raise
    Conflict if the definition was changed at the same time, and Invalid above 100,000 scenarios or MAX_PAGES."""
    current = get_current(workspace, definition_id)
    manifest = scenarios.write_pages(workspace, definition_id, current.manifest, added, replace=replace_all)
    return commit(workspace, current, manifest, now)


def commit(
    workspace: str, current: CurrentScenarios, manifest: Manifest, now: datetime, extra: ExtraWrite | None = None
) -> CurrentScenarios:
    """Make `manifest`, built from the current one, that of the latest version. Raise Conflict if the definition was
    changed since `current` was read, or the condition of `extra` does not hold."""
    head, version = current.head, current.version
    after = replace(head, updated_at=now)
    completed = replace(version, scenarios_revision=manifest.revision)
    if current.manifest.total:
        after = replace(after, version=head.version + 1, version_label=None)
        completed = replace(completed, number=after.version, created_at=now, label=None)
    written = definitions.update(workspace, head, after, completed, manifest, extra)
    return CurrentScenarios(written, completed, manifest)
