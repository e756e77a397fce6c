"""The conversion of scenarios to cases: one case for each persona of a scenario, or one without a persona.

The manifest records for each page which personas its scenarios have, as spans of equal personas. A start reads a page
only if its personas change too often to be listed there.
"""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from cupel_core.base.errors import Invalid
from cupel_core.domain.definitions.scenarios import Manifest, ScenarioPage
from cupel_core.domain.resources.personas import Persona
from cupel_core.resources import personas as persona_resources
from cupel_core.store import scenarios

_READER_THREADS = 8


class RunCases(NamedTuple):
    scenario_positions: tuple[int, ...]
    personas: tuple[Persona, ...] = ()
    case_personas: tuple[int | None, ...] = ()
    """The index in `personas` of each case. It is empty if no case has a persona."""

    @property
    def scenario_count(self) -> int:
        return len(set(self.scenario_positions))


def build_cases(
    workspace: str,
    manifest: Manifest,
    positions: Sequence[int],
    persona_ids: tuple[str, ...] | None = None,
    existing: RunCases = RunCases(()),  # noqa: B008 - immutable
) -> RunCases:
    """Return the `existing` cases followed by those of the scenarios at these ascending positions. `persona_ids`
    replaces the scenarios' own personas. Raise Invalid if a persona no longer exists. Only pages that name personas are
    read."""
    if persona_ids is not None:
        personas_by_scenario: list[tuple[str, ...]] = [persona_ids] * len(positions)
    else:
        personas_by_scenario = _scenario_personas(manifest, positions)
    if not any(personas_by_scenario) and not existing.case_personas:
        return RunCases((*existing.scenario_positions, *positions))
    source = "; a scenario of this run names it" if persona_ids is None else ""
    personas = _load_personas(workspace, existing.personas, personas_by_scenario, source)
    numbers = {persona_id: number for number, persona_id in enumerate(personas)}
    added = [
        (position, None if persona_id is None else numbers[persona_id])
        for position, scenario_personas in zip(positions, personas_by_scenario, strict=True)
        for persona_id in scenario_personas or (None,)
    ]
    existing_numbers = existing.case_personas or (None,) * len(existing.scenario_positions)
    return RunCases(
        scenario_positions=(*existing.scenario_positions, *(position for position, _ in added)),
        personas=tuple(personas.values()),
        case_personas=(*existing_numbers, *(number for _, number in added)),
    )


def _scenario_personas(manifest: Manifest, positions: Sequence[int]) -> list[tuple[str, ...]]:
    if not any(page.personas != () for page in manifest.pages):
        return [()] * len(positions)
    places = [manifest.locate(position) for position in positions]
    by_page = _personas_by_page({place.page for place in places})
    return [by_page[place.page.key][place.offset] for place in places]


def _personas_by_page(pages: Iterable[ScenarioPage]) -> dict[str, Sequence[tuple[str, ...]]]:
    page_list = list(pages)
    with ThreadPoolExecutor(_READER_THREADS) as threads:
        return dict(zip((page.key for page in page_list), threads.map(_page_personas, page_list), strict=True))


def _page_personas(page: ScenarioPage) -> Sequence[tuple[str, ...]]:
    """Return the persona ids from the manifest, or from the page if personas change with nearly every scenario."""
    if page.personas is None:
        return scenarios.read_persona_ids(page.key)
    return [span.persona_ids for span in page.personas for _ in range(span.length)] or [()] * page.count


def _load_personas(
    workspace: str, existing: Iterable[Persona], personas_by_scenario: Iterable[tuple[str, ...]], source: str
) -> Mapping[str, Persona]:
    """Return every persona of the cases by id, existing ones first. `source` names where the ids are from."""
    known = {persona.id: persona for persona in existing}
    named = dict.fromkeys(persona_id for persona_ids in personas_by_scenario for persona_id in persona_ids)
    missing = [persona_id for persona_id in named if persona_id not in known]
    loaded = persona_resources.get_many(workspace, missing)
    for persona_id in missing:
        if persona_id not in loaded:
            raise Invalid.field("personaIds", f"there is no persona {persona_id}{source}")
    return known | {persona_id: loaded[persona_id] for persona_id in missing}
