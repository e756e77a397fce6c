"""The scenarios of a definition: added one by one, imported from a file, read page by page."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from shared.definitions.contents import resolve
from shared.definitions.items import ScenarioItem
from shared.domain import imports
from shared.domain.scenarios import Manifest, Scenario, scenario_id
from shared.errors import FieldError, Invalid
from shared.paging import Page, decode_index, encode_cursor
from shared.store import definitions
from shared.store import scenarios as store

MAX_PROBLEMS = 100
"""More are not listed: whoever mixed up two columns need not read about each of 1,000 lines."""


class Added(NamedTuple):
    """The ids of the new scenarios in order, and how many the definition has now."""

    ids: tuple[str, ...]
    total: int


def add(workspace: str, definition_id: str, items: Sequence[ScenarioItem]) -> Added:
    definitions.get(workspace, definition_id)
    return _append(workspace, definition_id, [item.to_scenario() for item in items], replace=False)


def import_text(
    workspace: str, definition_id: str, text_format: imports.Format, text: str, *, replace: bool = False
) -> Added:
    """All of the text's scenarios or none: Invalid names each line (`lines.<n>`) that is wrong."""
    definition = resolve(workspace, definition_id)
    names = [dimension.name for dimension in definition.content.dimensions]
    found: list[Scenario] = []
    problems: list[FieldError] = []
    for line in imports.lines(text, text_format, names):
        scenario, why = _read(line)
        if scenario:
            found.append(scenario)
        if why:
            problems.append(FieldError(f"lines.{line.number}", why))
        if len(problems) == MAX_PROBLEMS:
            break
    if problems:
        raise Invalid("; ".join(f"line {p.field[6:]}: {p.message}" for p in problems[:5]), tuple(problems))
    if not found:
        raise Invalid.field("content", "has no scenarios")
    return _append(workspace, definition_id, found, replace=replace)


def listed(workspace: str, definition_id: str, *, limit: int, cursor: str | None = None) -> Page[Scenario]:
    definitions.get(workspace, definition_id)
    manifest = store.manifest(workspace, definition_id)
    start = decode_index(cursor)
    end = min(start + limit, manifest.total)
    items = tuple(store.at(manifest, position) for position in range(start, end))
    return Page(items, encode_cursor(str(end)) if end < manifest.total else None)


def _read(line: imports.Line) -> tuple[Scenario | None, str | None]:
    if line.item is None:
        return None, line.problem
    try:
        return ScenarioItem.model_validate(line.item).to_scenario(), None
    except ValidationError as error:
        return None, "; ".join(_told(wrong["loc"], wrong["msg"]) for wrong in error.errors(include_url=False))


def _told(location: tuple[int | str, ...], message: str) -> str:
    field = ".".join(map(str, location))
    text = message.removeprefix("Value error, ")
    return f"{field}: {text}" if field else text


def _append(workspace: str, definition_id: str, scenarios: Sequence[Scenario], *, replace: bool) -> Added:
    grown: Manifest = store.append(workspace, definition_id, scenarios, replace=replace)
    ordinals = range(grown.next_ordinal - len(scenarios), grown.next_ordinal)
    return Added(tuple(scenario_id(definition_id, ordinal) for ordinal in ordinals), grown.total)
