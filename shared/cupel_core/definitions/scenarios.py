from collections.abc import Iterable, Sequence
from dataclasses import replace as replace_fields
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from cupel_core.base.errors import FieldError, Invalid, NotFound
from cupel_core.base.paging import Entry, Page, decode_index, encode_cursor, fill_page
from cupel_core.base.preconditions import UNCONDITIONAL, Precondition, content_etag
from cupel_core.contract.scenarios import CreateScenario, UpdateScenario
from cupel_core.definitions import assertions
from cupel_core.definitions.files.attachments import attach_to_scenarios
from cupel_core.definitions.resolution import resolve
from cupel_core.domain.definitions import scenario_files
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.domain.definitions.scenarios import scenario_id as build_scenario_id
from cupel_core.domain.text.validation_messages import error_message
from cupel_core.store import definition_scenarios, definitions, resources
from cupel_core.store import scenarios as store
from cupel_core.store.resources import ResourceKind

MAX_ERRORS = 100
"""Further errors are not reported: a user who has swapped two columns need not read 1,000 of them."""


class AddedScenarios(NamedTuple):
    ids: tuple[str, ...]
    total: int
    version: int


class ScenarioInVersion(NamedTuple):
    scenario: Scenario
    definition_id: str
    version: int

    @property
    def etag(self) -> str:
        """Return the ETag of the scenario alone, so that changes of other scenarios do not matter."""
        return _etag(self.scenario)


def add_scenarios(workspace: str, definition_id: str, items: Sequence[CreateScenario], now: datetime) -> AddedScenarios:
    """Add scenarios. Raise Invalid, naming each invalid assertion (`items.2.assertions.0.value`) or unknown persona."""
    definitions.get(workspace, definition_id)
    return _append(workspace, definition_id, checked_scenarios(workspace, items, "items", now), now, replace=False)


def checked_scenarios(workspace: str, items: Sequence[CreateScenario], field: str, now: datetime) -> list[Scenario]:
    """Return the items as scenarios without ids. Raise Invalid as `add_scenarios` does; `field` is the list's name."""
    errors = [error for number, item in enumerate(items) for error in _assertion_errors(item, f"{field}.{number}.")]
    if errors:
        raise Invalid.fields(errors[:MAX_ERRORS])
    scenarios = [item.to_scenario() for item in items]
    _check_personas(workspace, [(f"{field}.{number}.personaIds", each) for number, each in enumerate(scenarios)])
    return attach_to_scenarios(workspace, [(f"{field}.{number}", each) for number, each in enumerate(scenarios)], now)


def import_scenarios(
    workspace: str,
    definition_id: str,
    text_format: scenario_files.ImportFormat,
    text: str,
    now: datetime,
    *,
    replace: bool = False,
) -> AddedScenarios:
    """Add all scenarios of the text, or none. Raise Invalid, naming each invalid line (`lines.<n>`)."""
    definition = resolve(workspace, definition_id)
    names = [dimension.name for dimension in definition.content.dimensions]
    scenarios: list[tuple[str, Scenario]] = []
    errors: list[FieldError] = []
    for line in scenario_files.parse_lines(text, text_format, names):
        scenario, problem = _parse(line)
        if scenario:
            scenarios.append((f"lines.{line.number}", scenario))
        if problem:
            errors.append(FieldError(f"lines.{line.number}", problem))
        if len(errors) == MAX_ERRORS:
            break
    if errors:
        raise Invalid.fields(errors)
    if not scenarios:
        raise Invalid.field("content", "has no scenarios")
    _check_personas(workspace, scenarios)
    return _append(workspace, definition_id, attach_to_scenarios(workspace, scenarios, now), now, replace=replace)


def list_scenarios(
    workspace: str, definition_id: str, *, version: int | None = None, limit: int, cursor: str | None = None
) -> Page[Scenario]:
    """Return scenarios of a version, by default the latest, in order. Raise NotFound for an unknown one."""
    head = definitions.get(workspace, definition_id)
    manifest = definition_scenarios.get_manifest(workspace, definition_id, version or head.version)
    positions = range(decode_index(cursor), manifest.total)
    entries = (Entry(encode_cursor(str(each)), store.get_scenario(manifest, each)) for each in positions)
    return fill_page(entries, limit)


def get(workspace: str, definition_id: str, scenario_id: str, version: int | None = None) -> ScenarioInVersion:
    """Return a scenario in a version, by default the latest. Raise NotFound for an unknown scenario or version."""
    head = definitions.get(workspace, definition_id)
    number = version or head.version
    manifest = definition_scenarios.get_manifest(workspace, definition_id, number)
    position = _position(manifest, definition_id, number, scenario_id)
    return ScenarioInVersion(store.get_scenario(manifest, position), definition_id, number)


def update(
    workspace: str,
    definition_id: str,
    scenario_id: str,
    changes: UpdateScenario,
    now: datetime,
    precondition: Precondition = UNCONDITIONAL,
) -> ScenarioInVersion:
    """Change a scenario in the definition's next version. Earlier versions do not change. Raise Invalid, naming each
    invalid field, and Conflict if the definition was changed concurrently."""
    current = definition_scenarios.get_current(workspace, definition_id)
    position = _position(current.manifest, definition_id, current.version.number, scenario_id)
    before = store.get_scenario(current.manifest, position)
    precondition.check(_etag(before))
    changed = _changed(before, changes)
    _check_personas(workspace, [("personaIds", changed)])
    (changed,) = attach_to_scenarios(workspace, [("", changed)], now)
    if changed == before:
        return ScenarioInVersion(before, definition_id, current.version.number)
    manifest = store.replace_scenario(workspace, definition_id, current.manifest, position, changed)
    with precondition.guard_write():
        written = definition_scenarios.commit(workspace, current, manifest, now)
    return ScenarioInVersion(changed, definition_id, written.version.number)


def delete(
    workspace: str, definition_id: str, scenario_id: str, now: datetime, precondition: Precondition = UNCONDITIONAL
) -> None:
    """Remove a scenario in the definition's next version. Earlier versions keep it. Raise Conflict as `update` does."""
    current = definition_scenarios.get_current(workspace, definition_id)
    position = _position(current.manifest, definition_id, current.version.number, scenario_id)
    precondition.check(_etag(store.get_scenario(current.manifest, position)))
    manifest = store.remove_scenario(workspace, definition_id, current.manifest, position)
    with precondition.guard_write():
        definition_scenarios.commit(workspace, current, manifest, now)


def _etag(scenario: Scenario) -> str:
    return content_etag(scenario.to_json())


def _position(manifest: Manifest, definition_id: str, version: int, scenario_id: str) -> int:
    position = store.find_positions(manifest, [scenario_id]).get(scenario_id)
    if position is None:
        raise NotFound(f"there is no scenario {scenario_id} in version {version} of definition {definition_id}")
    return position


def _changed(before: Scenario, changes: UpdateScenario) -> Scenario:
    try:
        item = CreateScenario.model_validate(changes.apply_to(before))
    except ValidationError as error:
        raise Invalid.fields(
            FieldError(".".join(map(str, each["loc"])) or "body", error_message(each))
            for each in error.errors(include_url=False)
        ) from None
    if errors := _assertion_errors(item):
        raise Invalid.fields(errors)
    changed = item.to_scenario()
    return replace_fields(changed, id=before.id, name=changed.name or before.name)


def _parse(line: scenario_files.ImportLine) -> tuple[Scenario | None, str | None]:
    if line.item is None:
        return None, line.problem
    try:
        item = CreateScenario.model_validate(line.item)
    except ValidationError as error:
        return None, "; ".join(_describe(each) for each in error.errors(include_url=False))
    if errors := _assertion_errors(item):
        return None, Invalid.fields(errors).detail
    return item.to_scenario(), None


def _assertion_errors(item: CreateScenario, path: str = "") -> tuple[FieldError, ...]:
    return assertions.assertion_errors(item.assertions, f"{path}assertions")


def _check_personas(workspace: str, scenarios: Iterable[tuple[str, Scenario]]) -> None:
    named = [(field, persona_id) for field, scenario in scenarios for persona_id in scenario.persona_ids]
    known = resources.get_many(workspace, ResourceKind.PERSONA, (persona_id for _, persona_id in named))
    unknown = [(field, persona_id) for field, persona_id in named if persona_id not in known]
    if unknown:
        errors = [FieldError(field, f"there is no persona {persona_id}") for field, persona_id in unknown]
        raise Invalid.fields(errors[:MAX_ERRORS])


def _describe(error: ErrorDetails) -> str:
    field = ".".join(map(str, error["loc"]))
    text = error_message(error)
    return f"{field}: {text}" if field else text


def _append(
    workspace: str, definition_id: str, scenarios: Sequence[Scenario], now: datetime, *, replace: bool
) -> AddedScenarios:
    _, version, manifest = definition_scenarios.append(workspace, definition_id, scenarios, now, replace_all=replace)
    ordinals = range(manifest.next_ordinal - len(scenarios), manifest.next_ordinal)
    ids = tuple(build_scenario_id(definition_id, ordinal) for ordinal in ordinals)
    return AddedScenarios(ids, manifest.total, version.number)
