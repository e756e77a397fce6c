"""A definition's scenarios: immutable pages in the bucket, and one manifest item that says which pages count.

All pages but the last are full, so that a definition never has more than about a hundred of them. A page that the
manifest no longer names stays: a run that started earlier reads it still.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace as changed
from functools import lru_cache
from itertools import batched, chain

from pynamodb.attributes import JSONAttribute, NumberAttribute
from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition

from cupel_core.domain.definitions.scenarios import (
    MAX_SCENARIOS,
    PAGE_SIZE,
    Manifest,
    Scenario,
    ScenarioPage,
    cast_of,
    ordinal_of,
    scenario_id,
)
from cupel_core.domain.scoring.selections import contested
from cupel_core.errors import Conflict, Invalid
from cupel_core.ids import new_id
from cupel_core.store import blobs, keys
from cupel_core.store.table import Item, code_of

_WRITERS = 8
_CACHED_PAGES = 32


class ManifestItem(Item):
    revision = NumberAttribute()
    manifest = JSONAttribute()


def manifest(workspace: str, definition_id: str) -> Manifest:
    """An empty manifest when the definition has no scenarios yet."""
    try:
        item = ManifestItem.get(keys.definition(workspace, definition_id), "scenarios", consistent_read=True)
    except ManifestItem.DoesNotExist:
        return Manifest()
    return Manifest.from_json(item.manifest)


def read_cast(key: str) -> list[tuple[str, ...]]:
    """Who speaks in each scenario of a page, without making scenarios of them."""
    return [tuple(data.get("personaIds") or ()) for data in blobs.get_json(key)]


@lru_cache(maxsize=_CACHED_PAGES)
def read_page(key: str) -> tuple[Scenario, ...]:
    return tuple(Scenario.from_json(data) for data in blobs.get_json(key))


def at(manifest: Manifest, position: int) -> Scenario:
    """The scenario at `position` 0 … total-1; IndexError elsewhere."""
    place = manifest.place(position)
    return read_page(place.page.key)[place.offset]


def positions(manifest: Manifest, scenario_ids: Iterable[str]) -> dict[str, int]:
    """Where the manifest has these scenarios; those it does not have are left out. Reads a page once."""
    ordinals = ((each, ordinal_of(each)) for each in scenario_ids)
    places = {each: manifest.position_of(ordinal) for each, ordinal in ordinals if ordinal is not None}
    likely = sorted((position, each) for each, position in places.items() if position is not None)
    return {each: position for position, each in likely if at(manifest, position).id == each}


def append(workspace: str, definition_id: str, scenarios: Iterable[Scenario], *, replace: bool = False) -> Manifest:
    """Adds scenarios, each numbered here whatever its id was; the new ones hold the last ordinals of the answer.

    Conflict when others were added at the same time, Invalid above 100,000.
    """
    current = manifest(workspace, definition_id)
    grown = write_pages(workspace, definition_id, current, scenarios, replace=replace)
    commit(workspace, definition_id, grown)
    return grown


def write_pages(
    workspace: str, definition_id: str, current: Manifest, scenarios: Iterable[Scenario], *, replace: bool = False
) -> Manifest:
    """Writes pages and answers the manifest that would make them count. Holds a few pages in memory, not all."""
    kept, rest = ((), ()) if replace else _full_pages_and_rest(current)
    room = MAX_SCENARIOS - sum(page.count for page in kept) - len(rest)
    numbered = _numbered(definition_id, current.next_ordinal, _at_most(room, scenarios))
    pages = _put_pages(f"scenarios/{workspace}/{definition_id}", chain(rest, numbered))
    added = sum(page.count for page in pages) - len(rest)
    return Manifest(current.revision + 1, (*kept, *pages), current.next_ordinal + added)


def commit(workspace: str, definition_id: str, grown: Manifest) -> None:
    """Makes `grown` the manifest if nobody changed it since; Conflict else."""
    try:
        item(workspace, definition_id, grown).save(condition=unchanged_before(grown))
    except PutError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise
        raise Conflict("the scenarios of this definition were changed at the same time; try again") from None


def item(workspace: str, definition_id: str, manifest: Manifest) -> ManifestItem:
    pk = keys.definition(workspace, definition_id)
    return ManifestItem(pk, "scenarios", revision=manifest.revision, manifest=manifest.to_json())


def unchanged_before(grown: Manifest) -> Condition:
    if grown.revision == 1:
        return ManifestItem.revision.does_not_exist()
    return ManifestItem.revision == grown.revision - 1


def _full_pages_and_rest(current: Manifest) -> tuple[tuple[ScenarioPage, ...], tuple[Scenario, ...]]:
    if not current.pages or current.pages[-1].count == PAGE_SIZE:
        return current.pages, ()
    return current.pages[:-1], read_page(current.pages[-1].key)


def _at_most(room: int, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    for count, scenario in enumerate(scenarios, start=1):
        if count > room:
            raise Invalid(f"a definition has at most {MAX_SCENARIOS:,} scenarios")
        yield scenario


def _numbered(definition_id: str, first: int, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    for ordinal, scenario in enumerate(scenarios, start=first):
        name = scenario.name or f"Scenario {ordinal}"
        yield changed(scenario, id=scenario_id(definition_id, ordinal), name=name)


def _put_pages(folder: str, scenarios: Iterable[Scenario]) -> tuple[ScenarioPage, ...]:
    pages: list[ScenarioPage] = []
    with ThreadPoolExecutor(_WRITERS) as pool:
        writing: deque[Future[ScenarioPage]] = deque()
        for batch in batched(scenarios, PAGE_SIZE, strict=False):
            writing.append(pool.submit(_put_page, f"{folder}/{new_id('page')}.json.gz", batch))
            if len(writing) >= 2 * _WRITERS:
                pages.append(writing.popleft().result())
        pages.extend(future.result() for future in writing)
    return tuple(pages)


def _put_page(key: str, scenarios: tuple[Scenario, ...]) -> ScenarioPage:
    blobs.put_json(key, [scenario.to_json() for scenario in scenarios])
    return ScenarioPage(
        key,
        len(scenarios),
        cast=cast_of(scenarios),
        contested=any(contested(scenario.assertions) for scenario in scenarios),
    )
