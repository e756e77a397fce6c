"""The scenarios of a definition: added one by one, imported from a file, listed in pages."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from cupel_core.contract.scenarios import CreateScenario
from cupel_core.definitions import assertions
from cupel_core.definitions.resolution import resolve
from cupel_core.domain.definitions import scenario_files
from cupel_core.domain.definitions.scenarios import Manifest, Scenario, scenario_id
from cupel_core.errors import FieldError, Invalid
from cupel_core.paging import Page, decode_index, encode_cursor
from cupel_core.store import definitions, resources
from cupel_core.store import scenarios as store
from cupel_core.store.resources import ResourceKind

MAX_ERRORS = 100
"""Further errors are not reported: a user who has swapped two columns need not read 1,000 of them."""


class AddedScenarios(NamedTuple):
    ids: tuple[str, ...]
    """Of the new scenarios, in order."""
    total: int
    """How many scenarios the definition has now."""


def add_scenarios(workspace: str, definition_id: str, items: Sequence[CreateScenario]) -> AddedScenarios:
    """Raises Invalid, naming each invalid assertion (`items.2.assertions.0.value`) or each unknown persona."""
    definitions.get(workspace, definition_id)
    errors = [error for number, item in enumerate(items) for error in _assertion_errors(item, f"items.{number}.")]
    if errors:
        raise Invalid.fields(errors[:MAX_ERRORS])
    scenarios = [item.to_scenario() for item in items]
    _check_personas(workspace, [(f"items.{number}.personaIds", each) for number, each in enumerate(scenarios)])
    return _append(workspace, definition_id, scenarios, replace=False)


def import_scenarios(
    workspace: str, definition_id: str, text_format: scenario_files.ImportFormat, text: str, *, replace: bool = False
) -> AddedScenarios:
    """Add all scenarios of the text, or none: raises Invalid, naming each invalid line (`lines.<n>`)."""
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
    return _append(workspace, definition_id, [scenario for _, scenario in scenarios], replace=replace)


def list_scenarios(workspace: str, definition_id: str, *, limit: int, cursor: str | None = None) -> Page[Scenario]:
    """In the definition's order. NotFound for an unknown or deleted definition."""
    definitions.get(workspace, definition_id)
    manifest = store.get_manifest(workspace, definition_id)
    start = decode_index(cursor)
    end = min(start + limit, manifest.total)
    items = tuple(store.get_scenario(manifest, position) for position in range(start, end))
    return Page(items, encode_cursor(str(end)) if end < manifest.total else None)


def _parse(line: scenario_files.ImportLine) -> tuple[Scenario | None, str | None]:
    """The scenario, or what is wrong with the line."""
    if line.item is None:
        return None, line.problem
    try:
        item = CreateScenario.model_validate(line.item)
    except ValidationError as error:
        return None, "; ".join(_describe(each["loc"], each["msg"]) for each in error.errors(include_url=False))
    if errors := _assertion_errors(item):
        return None, Invalid.fields(errors).detail
    return item.to_scenario(), None


def _assertion_errors(item: CreateScenario, path: str = "") -> tuple[FieldError, ...]:
    return assertions.assertion_errors(item.assertions, f"{path}assertions")


def _check_personas(workspace: str, scenarios: Iterable[tuple[str, Scenario]]) -> None:
    """Raises Invalid, naming the field of each scenario with an unknown persona."""
    named = [(field, persona_id) for field, scenario in scenarios for persona_id in scenario.persona_ids]
    known = resources.get_many(workspace, ResourceKind.PERSONA, (persona_id for _, persona_id in named))
    unknown = [(field, persona_id) for field, persona_id in named if persona_id not in known]
    if unknown:
        errors = [FieldError(field, f"there is no persona {persona_id}") for field, persona_id in unknown]
        raise Invalid.fields(errors[:MAX_ERRORS])


def _describe(location: tuple[int | str, ...], message: str) -> str:
    field = ".".join(map(str, location))
    text = message.removeprefix("Value error, ")
    return f"{field}: {text}" if field else text


def _append(workspace: str, definition_id: str, scenarios: Sequence[Scenario], *, replace: bool) -> AddedScenarios:
    manifest: Manifest = store.append(workspace, definition_id, scenarios, replace=replace)
    ordinals = range(manifest.next_ordinal - len(scenarios), manifest.next_ordinal)
    return AddedScenarios(tuple(scenario_id(definition_id, ordinal) for ordinal in ordinals), manifest.total)
