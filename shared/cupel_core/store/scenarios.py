"""A definition's scenarios: immutable pages in the bucket, and one manifest item that lists the current pages.

All pages but the last are full, so that a definition has at most about a hundred. Pages that the manifest no longer
lists are not deleted, because runs that started earlier still read them.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace as replace_fields
from functools import lru_cache
from itertools import batched, chain

from pynamodb.attributes import JSONAttribute, NumberAttribute
from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition

from cupel_core.domain.definitions.required_models import needs_models
from cupel_core.domain.definitions.scenarios import (
    MAX_SCENARIOS,
    PAGE_SIZE,
    Manifest,
    Scenario,
    ScenarioPage,
    ordinal_of,
    persona_spans,
    scenario_id,
)
from cupel_core.domain.scoring.selections import select_best_assertions
from cupel_core.errors import Conflict, Invalid
from cupel_core.ids import new_id
from cupel_core.store import blobs, keys
from cupel_core.store.table import Item, error_code

_WRITERS = 8
_CACHED_PAGES = 32


class ManifestItem(Item):
    revision = NumberAttribute()
    manifest = JSONAttribute()


def get_manifest(workspace: str, definition_id: str) -> Manifest:
    """The current manifest; an empty one if the definition has no scenarios yet."""
    try:
        item = ManifestItem.get(keys.definition(workspace, definition_id), "scenarios", consistent_read=True)
    except ManifestItem.DoesNotExist:
        return Manifest()
    return Manifest.from_json(item.manifest)


def read_persona_ids(key: str) -> list[tuple[str, ...]]:
    """The persona ids of each scenario of a page, without parsing the scenarios."""
    return [tuple(data.get("personaIds") or ()) for data in blobs.get_json(key)]


@lru_cache(maxsize=_CACHED_PAGES)
def read_page(key: str) -> tuple[Scenario, ...]:
    """The scenarios of a page. Pages never change, so recently read ones are cached."""
    return tuple(Scenario.from_json(data) for data in blobs.get_json(key))


def get_scenario(manifest: Manifest, position: int) -> Scenario:
    """The scenario at `position`, 0 … total - 1; raises IndexError outside."""
    page_position = manifest.locate(position)
    return read_page(page_position.page.key)[page_position.offset]


def find_positions(manifest: Manifest, scenario_ids: Iterable[str]) -> dict[str, int]:
    """Positions of scenarios in the manifest, by id; unknown ids are left out. Reads each page once."""
    ordinals = ((scenario_id, ordinal_of(scenario_id)) for scenario_id in scenario_ids)
    expected = {name: manifest.position_of(ordinal) for name, ordinal in ordinals if ordinal is not None}
    candidates = sorted((position, name) for name, position in expected.items() if position is not None)
    return {name: position for position, name in candidates if get_scenario(manifest, position).id == name}


def iterate_with_models(manifest: Manifest, positions: Sequence[int]) -> Iterator[Scenario]:
    """Of the scenarios at these positions, those whose grading needs a configured model. Reads only their pages."""
    for place in map(manifest.locate, positions):
        if place.page.needs_models is not False:
            scenario = read_page(place.page.key)[place.offset]
            if needs_models(scenario):
                yield scenario


def append(workspace: str, definition_id: str, scenarios: Iterable[Scenario], *, replace: bool = False) -> Manifest:
    """Add scenarios, giving each a new id; the new ones have the last ordinals of the returned manifest.

    Raises Conflict if the scenarios were changed at the same time, and Invalid above 100,000 scenarios.
    """
    current = get_manifest(workspace, definition_id)
    new_manifest = write_pages(workspace, definition_id, current, scenarios, replace=replace)
    commit_manifest(workspace, definition_id, new_manifest)
    return new_manifest


def write_pages(
    workspace: str, definition_id: str, current: Manifest, scenarios: Iterable[Scenario], *, replace: bool = False
) -> Manifest:
    """Write pages and return the manifest that includes them, not yet committed. Keeps only a few pages in memory."""
    full, tail = ((), ()) if replace else _full_pages_and_tail(current)
    capacity = MAX_SCENARIOS - sum(page.count for page in full) - len(tail)
    numbered = _numbered(definition_id, current.next_ordinal, _at_most(capacity, scenarios))
    pages = _put_pages(f"scenarios/{workspace}/{definition_id}", chain(tail, numbered))
    added = sum(page.count for page in pages) - len(tail)
    return Manifest(current.revision + 1, (*full, *pages), current.next_ordinal + added)


def commit_manifest(workspace: str, definition_id: str, new_manifest: Manifest) -> None:
    """Make `new_manifest` the manifest; raises Conflict if it was changed since `new_manifest` was built."""
    try:
        manifest_item(workspace, definition_id, new_manifest).save(condition=is_next_revision(new_manifest))
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        raise Conflict("the scenarios of this definition were changed at the same time; try again") from None


def manifest_item(workspace: str, definition_id: str, manifest: Manifest) -> ManifestItem:
    """The item of a manifest, to be saved if `is_next_revision`."""
    pk = keys.definition(workspace, definition_id)
    return ManifestItem(pk, "scenarios", revision=manifest.revision, manifest=manifest.to_json())


def is_next_revision(new_manifest: Manifest) -> Condition:
    """The write condition that the stored manifest is still the one `new_manifest` was built from."""
    if new_manifest.revision == 1:
        return ManifestItem.revision.does_not_exist()
    return ManifestItem.revision == new_manifest.revision - 1


def _full_pages_and_tail(current: Manifest) -> tuple[tuple[ScenarioPage, ...], tuple[Scenario, ...]]:
    """The full pages, and the scenarios of the last one if it is not full."""
    if not current.pages or current.pages[-1].count == PAGE_SIZE:
        return current.pages, ()
    return current.pages[:-1], read_page(current.pages[-1].key)


def _at_most(capacity: int, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    for count, scenario in enumerate(scenarios, start=1):
        if count > capacity:
            raise Invalid(f"a definition has at most {MAX_SCENARIOS:,} scenarios")
        yield scenario


def _numbered(definition_id: str, first: int, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    for ordinal, scenario in enumerate(scenarios, start=first):
        name = scenario.name or f"Scenario {ordinal}"
        yield replace_fields(scenario, id=scenario_id(definition_id, ordinal), name=name)


def _put_pages(folder: str, scenarios: Iterable[Scenario]) -> tuple[ScenarioPage, ...]:
    pages: list[ScenarioPage] = []
    with ThreadPoolExecutor(_WRITERS) as pool:
        pending: deque[Future[ScenarioPage]] = deque()
        for batch in batched(scenarios, PAGE_SIZE, strict=False):
            pending.append(pool.submit(_put_page, f"{folder}/{new_id('page')}.json.gz", batch))
            if len(pending) >= 2 * _WRITERS:
                pages.append(pending.popleft().result())
        pages.extend(future.result() for future in pending)
    return tuple(pages)


def _put_page(key: str, scenarios: tuple[Scenario, ...]) -> ScenarioPage:
    blobs.put_json(key, [scenario.to_json() for scenario in scenarios])
    return ScenarioPage(
        key,
        len(scenarios),
        personas=persona_spans(scenarios),
        needs_selection=any(select_best_assertions(scenario.assertions) for scenario in scenarios),
        needs_models=any(map(needs_models, scenarios)),
    )
