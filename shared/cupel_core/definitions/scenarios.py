"""The scenarios of a definition: added one by one, imported from a file, read page by page."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from cupel_core.contract.scenarios import ScenarioItem
from cupel_core.definitions import assertions
from cupel_core.definitions.resolution import resolve
from cupel_core.domain.definitions import scenario_files
from cupel_core.domain.definitions.scenarios import Manifest, Scenario, scenario_id
from cupel_core.errors import FieldError, Invalid
from cupel_core.paging import Page, decode_index, encode_cursor
from cupel_core.store import definitions, resources
from cupel_core.store import scenarios as store
from cupel_core.store.resources import Kind

MAX_PROBLEMS = 100
"""More are not listed: whoever mixed up two columns need not read about each of 1,000 lines."""


class Added(NamedTuple):
    """The ids of the new scenarios in order, and how many the definition has now."""

    ids: tuple[str, ...]
    total: int


def add(workspace: str, definition_id: str, items: Sequence[ScenarioItem]) -> Added:
    """Invalid names each assertion that is wrong (`items.2.assertions.0.value`), and each persona that is not there."""
    definitions.get(workspace, definition_id)
    wrong = [error for number, item in enumerate(items) for error in _assertion_errors(item, f"items.{number}.")]
    if wrong:
        raise Invalid("; ".join(f"{error.field}: {error.message}" for error in wrong[:5]), tuple(wrong[:MAX_PROBLEMS]))
    added = [item.to_scenario() for item in items]
    _check_personas(workspace, [(f"items.{number}.personaIds", each) for number, each in enumerate(added)])
    return _append(workspace, definition_id, added, replace=False)


def import_text(
    workspace: str, definition_id: str, text_format: scenario_files.Format, text: str, *, replace: bool = False
) -> Added:
    """All of the text's scenarios or none: Invalid names each line (`lines.<n>`) that is wrong."""
    definition = resolve(workspace, definition_id)
    names = [dimension.name for dimension in definition.content.dimensions]
    found: list[tuple[str, Scenario]] = []
    problems: list[FieldError] = []
    for line in scenario_files.lines(text, text_format, names):
        scenario, why = _read(line)
        if scenario:
            found.append((f"lines.{line.number}", scenario))
        if why:
            problems.append(FieldError(f"lines.{line.number}", why))
        if len(problems) == MAX_PROBLEMS:
            break
    if problems:
        raise Invalid("; ".join(f"line {p.field[6:]}: {p.message}" for p in problems[:5]), tuple(problems))
    if not found:
        raise Invalid.field("content", "has no scenarios")
    _check_personas(workspace, found)
    return _append(workspace, definition_id, [scenario for _, scenario in found], replace=replace)


def listed(workspace: str, definition_id: str, *, limit: int, cursor: str | None = None) -> Page[Scenario]:
    definitions.get(workspace, definition_id)
    manifest = store.manifest(workspace, definition_id)
    start = decode_index(cursor)
    end = min(start + limit, manifest.total)
    items = tuple(store.at(manifest, position) for position in range(start, end))
    return Page(items, encode_cursor(str(end)) if end < manifest.total else None)


def _read(line: scenario_files.Line) -> tuple[Scenario | None, str | None]:
    if line.item is None:
        return None, line.problem
    try:
        item = ScenarioItem.model_validate(line.item)
    except ValidationError as error:
        return None, "; ".join(_told(wrong["loc"], wrong["msg"]) for wrong in error.errors(include_url=False))
    if wrong := tuple(_assertion_errors(item)):
        return None, "; ".join(f"{error.field}: {error.message}" for error in wrong[:5])
    return item.to_scenario(), None


def _assertion_errors(item: ScenarioItem, path: str = "") -> tuple[FieldError, ...]:
    return assertions.errors_of(item.assertions, f"{path}assertions")


def _check_personas(workspace: str, scenarios: Iterable[tuple[str, Scenario]]) -> None:
    """Invalid names, by the field given with it, each scenario whose persona is not there."""
    named = [(field, each) for field, scenario in scenarios for each in scenario.persona_ids]
    known = resources.get_many(workspace, Kind.PERSONA, (each for _, each in named))
    missing = [FieldError(field, f"there is no persona {each}") for field, each in named if each not in known]
    if missing:
        raise Invalid("; ".join(f"{p.field}: {p.message}" for p in missing[:5]), tuple(missing[:MAX_PROBLEMS]))


def _told(location: tuple[int | str, ...], message: str) -> str:
    field = ".".join(map(str, location))
    text = message.removeprefix("Value error, ")
    return f"{field}: {text}" if field else text


def _append(workspace: str, definition_id: str, scenarios: Sequence[Scenario], *, replace: bool) -> Added:
    grown: Manifest = store.append(workspace, definition_id, scenarios, replace=replace)
    ordinals = range(grown.next_ordinal - len(scenarios), grown.next_ordinal)
    return Added(tuple(scenario_id(definition_id, ordinal) for ordinal in ordinals), grown.total)
