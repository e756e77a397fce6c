"""Scenarios of stored definitions, for tests that need them but do not test how they are added."""

from collections.abc import Iterable
from datetime import UTC, datetime

from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.store import definition_scenarios

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def add_scenarios(
    workspace: str, definition_id: str, added: Iterable[Scenario], *, replace_all: bool = False
) -> Manifest:
    """The manifest of the version that has them."""
    return definition_scenarios.append(workspace, definition_id, added, _NOW, replace_all=replace_all).manifest


def current_manifest(workspace: str, definition_id: str) -> Manifest:
    return definition_scenarios.get_current(workspace, definition_id).manifest
