"""Scenarios in immutable pages in the bucket, listed by a manifest. A change writes new pages and another manifest.

Only the changed pages are written. Earlier pages are not deleted, because earlier versions and their runs read them.
The pages are written first. Then one transaction writes the manifest, the next version and the head, on condition that
the head is the one that was read. Of two concurrent changes the second is refused, and a crash in between leaves pages
that no manifest names. A scenario is found by its position, or by its id, because the ordinals in ids ascend with the
positions and are never reused. Deleting merges a page with its neighbor if both fit into one.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace as replace_fields
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple

import orjson

from cupel_core.base.errors import Invalid
from cupel_core.base.ids import new_id
from cupel_core.domain.calibration.fingerprints import ScenarioRubric
from cupel_core.domain.definitions.required_models import named_models, needs_models
from cupel_core.domain.definitions.scenarios import (
    MAX_PAGE_BYTES,
    MAX_PAGES,
    MAX_SCENARIOS,
    PAGE_SIZE,
    Manifest,
    NumberedPage,
    Scenario,
    ScenarioPage,
    largest_files_of,
    ordinal_of,
    page_models,
    persona_spans,
    scenario_id,
)
from cupel_core.domain.runs.case_texts import CaseTexts
from cupel_core.domain.scoring.selections import comparisons
from cupel_core.store import blobs, object_names
from cupel_core.store.document_cache import DocumentCache

_READERS = 8
_WRITERS = 8
_CONTENT_FIELDS = ("messages", "messagesByPrompt", "followUps", "instructions", "toolResults", "metadata")
MAX_CACHED_BYTES = 16_000_000
"""The cache holds this much JSON, about 50 ordinary pages."""


def read_persona_ids(key: str) -> list[tuple[str, ...]]:
    """Return the persona ids of each scenario of a page, without parsing the scenarios."""
    return [tuple(data.get("personaIds") or ()) for data in blobs.get_json(key)]


class ScenarioSummary(NamedTuple):
    id: str
    name: str
    scores: Mapping[str, float]
    """The scenario's score per dimension."""


class ScenarioIdentity(NamedTuple):
    """The properties by which scenarios of several versions are matched."""

    summary: ScenarioSummary
    content: str
    """Digest of the texts and files of the conversation, without what groups or grades it."""
    has_own_name: bool
    """True if an author chose the name."""


class ScenarioProperties(NamedTuple):
    """The properties by which a scenario's cases can be grouped."""

    scores: Mapping[str, float]
    """The scenario's score per dimension."""
    metadata: Mapping[str, object]


def read_summaries(manifest: Manifest, positions: Iterable[int]) -> Iterator[tuple[int, ScenarioSummary]]:
    return _read_parts(manifest, positions, _summary)


def read_identities(manifest: Manifest, positions: Iterable[int]) -> Iterator[tuple[int, ScenarioIdentity]]:
    return _read_parts(manifest, positions, _identity)


def read_properties(manifest: Manifest, positions: Iterable[int]) -> Iterator[tuple[int, ScenarioProperties]]:
    return _read_parts(manifest, positions, lambda data: ScenarioProperties(data["dimensions"], data["metadata"]))


def read_texts(manifest: Manifest, positions: Iterable[int]) -> Iterator[tuple[int, CaseTexts]]:
    return _read_parts(manifest, positions, CaseTexts.of_json)


def read_rubrics(manifest: Manifest, positions: Iterable[int]) -> Iterator[tuple[int, ScenarioRubric]]:
    return _read_parts(manifest, positions, ScenarioRubric.of_json)


def _summary(data: Mapping[str, Any]) -> ScenarioSummary:
    return ScenarioSummary(data["id"], data["name"], data["dimensions"])


def _identity(data: Mapping[str, Any]) -> ScenarioIdentity:
    content = orjson.dumps([data.get(name) for name in _CONTENT_FIELDS], option=orjson.OPT_SORT_KEYS)
    has_own_name = data["name"] != _default_name(ordinal_of(data["id"]))
    return ScenarioIdentity(_summary(data), blake2b(content, digest_size=16).hexdigest(), has_own_name)


def _default_name(ordinal: int | None) -> str:
    return f"Scenario {ordinal}"


def _read_parts[T](
    manifest: Manifest, positions: Iterable[int], part_of: Callable[[Mapping[str, Any]], T]
) -> Iterator[tuple[int, T]]:
    by_page: defaultdict[int, list[int]] = defaultdict(list)
    for position in positions:
        by_page[manifest.page_number_at(position)].append(position)

    def read(number: int) -> list[tuple[int, T]]:
        page, start = blobs.get_json(manifest.pages[number].key), manifest.start_of(number)
        return [(position, part_of(page[position - start])) for position in by_page[number]]

    with ThreadPoolExecutor(_READERS) as threads:
        for parts in threads.map(read, sorted(by_page)):
            yield from parts


def _page_from_json(body: list[dict[str, Any]]) -> tuple[Scenario, ...]:
    return tuple(map(Scenario.from_json, body))


read_page = DocumentCache(lambda text: _page_from_json(orjson.loads(text)), MAX_CACHED_BYTES)
"""Return the scenarios of a page. Pages never change, so recently read ones are cached."""


def get_scenario(manifest: Manifest, position: int) -> Scenario:
    """Return the scenario at `position`, 0 … total - 1. Raise IndexError outside."""
    page_position = manifest.locate(position)
    return read_page(page_position.page.key)[page_position.offset]


def find_positions(manifest: Manifest, scenario_ids: Iterable[str]) -> dict[str, int]:
    """Return positions in the manifest by scenario id. Unknown ids are left out. Each page is read once."""
    wanted = set(scenario_ids)
    ordinals = {ordinal for name in wanted if (ordinal := ordinal_of(name)) is not None}
    numbers = {number for ordinal in ordinals if (number := manifest.page_number_of(ordinal)) is not None}
    return {
        scenario.id: position
        for number in sorted(numbers)
        for position, scenario in enumerate(read_page(manifest.pages[number].key), start=manifest.start_of(number))
        if scenario.id in wanted
    }


def iterate_with_models(manifest: Manifest, positions: Sequence[int]) -> Iterator[Scenario]:
    """Yield the scenarios at these positions whose grading needs a configured model. Only their pages are read."""
    pages = {page.key for page in manifest.pages if page.needs_models}
    for place in map(manifest.locate, positions) if pages else ():
        if place.page.key in pages:
            scenario = read_page(place.page.key)[place.offset]
            if needs_models(scenario):
                yield scenario


def iterate_naming(
    manifest: Manifest, positions: Sequence[int], is_wanted: Callable[[str], bool]
) -> Iterator[Scenario]:
    """Yield the scenarios at these positions whose assertions name a wanted model. Only pages that have one are
    read."""
    pages = {page.key for page in manifest.pages if page.models is None or any(map(is_wanted, page.models))}
    for place in map(manifest.locate, positions) if pages else ():
        if place.page.key in pages:
            scenario = read_page(place.page.key)[place.offset]
            if any(map(is_wanted, named_models(scenario.assertions))):
                yield scenario


def list_with_files(manifest: Manifest, positions: Sequence[int]) -> list[Scenario]:
    """Return the scenarios at these positions whose messages have files. Only their pages are read."""
    if not any(page.largest_files for page in manifest.pages):
        return []
    places = (place for place in map(manifest.locate, positions) if place.page.largest_files)
    return [scenario for place in places if (scenario := read_page(place.page.key)[place.offset]).has_files]


def read_within(manifest: Manifest, positions: Sequence[int], max_bytes: int) -> list[tuple[int, Scenario]]:
    """Return the scenarios at these ascending positions, each with its position, from as many pages as fit `max_bytes`.
    The first page is read whatever its size."""
    found: list[tuple[int, Scenario]] = []
    read, left = set[str](), max_bytes
    for position in positions:
        page, offset = manifest.locate(position)
        if page.key not in read:
            left -= page.size
            if read and left < 0:
                break
            read.add(page.key)
        found.append((position, read_page(page.key)[offset]))
    return found


def write_pages(
    workspace: str, definition_id: str, current: Manifest, scenarios: Iterable[Scenario], *, replace: bool = False
) -> Manifest:
    """Write further scenarios, each with a new id, and return the manifest that includes them, not yet committed. Only
    a few pages are in memory at a time. The new scenarios have the last ordinals. Raise Invalid above 100,000 scenarios
    or MAX_PAGES."""
    unchanged, tail = ((), ()) if replace else _unchanged_pages_and_tail(current)
    capacity = MAX_SCENARIOS - sum(each.page.count for each in unchanged) - len(tail)
    numbered = _numbered(definition_id, current.next_ordinal, _at_most(capacity, scenarios))
    pages = _put_pages(_folder(workspace, definition_id), chain(tail, numbered), MAX_PAGES - len(unchanged))
    added = sum(each.page.count for each in pages) - len(tail)
    return Manifest.of(current.revision + 1, (*unchanged, *pages), current.next_ordinal + added)


def replace_scenario(
    workspace: str, definition_id: str, current: Manifest, position: int, scenario: Scenario
) -> Manifest:
    """Write the page with another scenario at this position, and return its manifest, not yet committed. Raise Invalid
    if that takes more than MAX_PAGES, unless there are no more pages than before."""
    number = current.page_number_at(position)
    content = list(read_page(current.pages[number].key))
    content[position - current.start_of(number)] = scenario
    return _replace_page(workspace, definition_id, current, number, content, max(MAX_PAGES, len(current.pages)))


def remove_scenario(workspace: str, definition_id: str, current: Manifest, position: int) -> Manifest:
    """Write the page without the scenario at this position, and return its manifest, not yet committed."""
    number = current.page_number_at(position)
    content = list(read_page(current.pages[number].key))
    del content[position - current.start_of(number)]
    return _replace_page(workspace, definition_id, current, number, content)


def _replace_page(
    workspace: str,
    definition_id: str,
    current: Manifest,
    number: int,
    content: Sequence[Scenario],
    max_pages: int | None = None,
) -> Manifest:
    """Write a page's new content, together with a neighbor's if both fit into one page."""
    replaced, size = range(number, number + 1), sum(len(_Encoded.of(each).json) for each in content)
    if number + 1 < len(current.pages) and _fits(current.pages[number + 1], len(content), size):
        content, replaced = (*content, *read_page(current.pages[number + 1].key)), range(number, number + 2)
    elif number > 0 and _fits(current.pages[number - 1], len(content), size):
        content, replaced = (*read_page(current.pages[number - 1].key), *content), range(number - 1, number + 1)
    pages = current.numbered_pages
    before, after = pages[: replaced.start], pages[replaced.stop :]
    pages_left = None if max_pages is None else max_pages - len(before) - len(after)
    written = _put_pages(_folder(workspace, definition_id), content, pages_left)
    return Manifest.of(current.revision + 1, (*before, *written, *after), current.next_ordinal)


def _fits(page: ScenarioPage, count: int, size: int) -> bool:
    return page.count + count <= PAGE_SIZE and page.size + size <= MAX_PAGE_BYTES


def _folder(workspace: str, definition_id: str) -> str:
    return object_names.scenario_blobs(workspace, definition_id).removesuffix("/")


def _unchanged_pages_and_tail(current: Manifest) -> tuple[tuple[NumberedPage, ...], tuple[Scenario, ...]]:
    """Return all pages but the last if that is not full, and its scenarios."""
    pages = current.numbered_pages
    if not pages or pages[-1].page.count == PAGE_SIZE:
        return pages, ()
    return pages[:-1], read_page(pages[-1].page.key)


def _at_most(capacity: int, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    for count, scenario in enumerate(scenarios, start=1):
        if count > capacity:
            raise Invalid(f"a definition has at most {MAX_SCENARIOS:,} scenarios")
        yield scenario


def _numbered(definition_id: str, first: int, scenarios: Iterable[Scenario]) -> Iterator[Scenario]:
    for ordinal, scenario in enumerate(scenarios, start=first):
        name = scenario.name or _default_name(ordinal)
        yield replace_fields(scenario, id=scenario_id(definition_id, ordinal), name=name)


class _Encoded(NamedTuple):
    scenario: Scenario
    json: bytes

    @classmethod
    def of(cls, scenario: Scenario) -> "_Encoded":
        return cls(scenario, orjson.dumps(scenario.to_json()))


def _put_pages(folder: str, scenarios: Iterable[Scenario], pages_left: int | None = None) -> tuple[NumberedPage, ...]:
    """Write pages. Raise Invalid if they exceed `pages_left`; pages written by then belong to no manifest."""
    pages: list[NumberedPage] = []
    with ThreadPoolExecutor(_WRITERS) as pool:
        pending: deque[Future[NumberedPage]] = deque()
        for content in _page_contents(scenarios):
            if pages_left is not None and len(pages) + len(pending) >= pages_left:
                raise Invalid(
                    f"the scenarios of a definition take at most {MAX_PAGES} pages of {MAX_PAGE_BYTES // 1_000_000} MB,"
                    " and these would take more: remove some or shorten them"
                )
            pending.append(pool.submit(_put_page, f"{folder}/{new_id('page')}.json.gz", content))
            if len(pending) >= _WRITERS:
                pages.append(pending.popleft().result())
        pages.extend(future.result() for future in pending)
    return tuple(pages)


def _page_contents(scenarios: Iterable[Scenario]) -> Iterator[list[_Encoded]]:
    """Yield groups of scenarios that fit into a page, each of at least one scenario."""
    content, size = list[_Encoded](), 0
    for each in map(_Encoded.of, scenarios):
        if content and (len(content) == PAGE_SIZE or size + len(each.json) > MAX_PAGE_BYTES):
            yield content
            content, size = [], 0
        content.append(each)
        size += len(each.json)
    if content:
        yield content


def _put_page(key: str, content: Sequence[_Encoded]) -> NumberedPage:
    blobs.put_text(key, b"[" + b",".join(each.json for each in content) + b"]")
    scenarios = [each.scenario for each in content]
    page = ScenarioPage(
        key,
        len(scenarios),
        personas=persona_spans(scenarios),
        needs_selection=any(comparisons(scenario.assertions) for scenario in scenarios),
        needs_models=any(map(needs_models, scenarios)),
        models=page_models(name for scenario in scenarios for name in named_models(scenario.assertions)),
        largest_files=tuple((str(each), size) for each, size in sorted(largest_files_of(scenarios).items())),
        size=sum(len(each.json) for each in content),
    )
    return NumberedPage(page, ordinal_of(scenarios[0].id) or 0)
