"""Reading outcomes: their leaves say where they are, then one request reads their pages and own items."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import batched
from typing import Any, NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import FANOUT, leaf_batches
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.store import barrier, keys, outcome_pages
from cupel_core.store.barrier_items import LeafItem
from cupel_core.store.batches import get_batch
from cupel_core.store.outcome_items import OutcomeItem, StoredOutcome, from_item
from cupel_core.store.outcome_pages import DigestPage, PageRef, Texts

PROBES_PER_READ = 1_000


class OutcomeLocation(NamedTuple):
    probe_index: int
    is_completed: bool
    fencing_token: int
    """The fencing token of the worker that stored the outcome in the page."""
    page: PageRef
    may_be_own: bool
    """True if the outcome may have an item of its own, which then counts instead of its entry in the page."""


class LocatedOutcome(NamedTuple):
    stored: StoredOutcome
    page: PageRef | None
    """The page that has the entry, or None for an own item."""


def locate(ref: RunRef, indexes: Sequence[int]) -> list[OutcomeLocation]:
    """Return the locations of the probes that have an outcome. One request reads a hundred leaves."""
    leaves = barrier.get_leaves(ref, sorted({index // FANOUT for index in indexes}))
    return [location for index in indexes if (location := location_in(leaves[index // FANOUT], index)) is not None]


def location_in(leaf: LeafItem, index: int) -> OutcomeLocation | None:
    offset = index % FANOUT
    if (place := leaf.log.places.get(offset)) is None:
        return None
    page = PageRef(index // FANOUT, place.page_id)
    return OutcomeLocation(index, place.is_completed, place.fencing_token, page, offset in leaf.own)


def read_many(wanted: Sequence[tuple[RunRef, Sequence[int]]]) -> list[list[Outcome]]:
    """Return the probes of several runs that have an outcome, with the conversations. One request reads a hundred
    leaves, and one a hundred pages and own items. Long conversations are read one by one."""
    leaves = barrier.get_leaves_of({(ref, index // FANOUT) for ref, indexes in wanted for index in indexes})
    located = [
        [found for index in indexes if (found := location_in(leaves[ref, index // FANOUT], index)) is not None]
        for ref, indexes in wanted
    ]
    needed = [_keys(ref, locations, with_texts=True) for (ref, _), locations in zip(wanted, located, strict=True)]
    distinct = {_identity(key): key for each in needed for key in each}
    items = {_identity(item): item for item in get_batch(distinct.values())}
    parts = [[items[name] for key in each if (name := _identity(key)) in items] for each in needed]
    return [
        list(_with_texts(_ReadItems(ref, locations, part)))
        for (ref, _), locations, part in zip(wanted, located, parts, strict=True)
    ]


def find(ref: RunRef, indexes: Iterable[int]) -> Iterator[LocatedOutcome]:
    """Yield the outcomes of the probes that have one, as they are stored, lazily and in this order."""
    for batch in leaf_batches(indexes, PROBES_PER_READ):
        for locations in batched(locate(ref, batch), PROBES_PER_READ):
            yield from find_at(ref, locations)


def find_at(ref: RunRef, locations: Sequence[OutcomeLocation]) -> Iterator[LocatedOutcome]:
    return _ReadItems(ref, locations, get_batch(_keys(ref, locations, with_texts=False))).outcomes()


def read_at(ref: RunRef, locations: Iterable[OutcomeLocation]) -> Iterator[Outcome]:
    """Yield the outcomes at these locations with the conversations, lazily, the pages of a hundred at a time."""
    for part in batched(locations, FANOUT):
        yield from _with_texts(_ReadItems(ref, part, get_batch(_keys(ref, part, with_texts=True))))


def _with_texts(read: "_ReadItems") -> Iterator[Outcome]:
    return with_content(read.ref, (each.stored for each in read.outcomes()), read.texts)


def with_content(
    ref: RunRef, stored: Iterable[StoredOutcome], texts: Mapping[PageRef, Texts] | None = None
) -> Iterator[Outcome]:
    """Yield the outcomes with the conversations. `texts` are text pages that were read already."""
    listed, texts = list(stored), texts or {}
    missing = {page for each in listed if (page := _text_page(each)) is not None and page not in texts}
    pages = {**texts, **outcome_pages.read_texts(ref, missing)} if missing else texts
    for each in listed:
        page = _text_page(each)
        yield from_item(each, pages.get(page, {}).get(each.index % FANOUT) if page is not None else None)


def _text_page(stored: StoredOutcome) -> PageRef | None:
    """Return the page that has the text, or None if it is elsewhere or erased."""
    return PageRef(stored.index // FANOUT, stored.page) if stored.page is not None else None


def get_own(ref: RunRef, indexes: Iterable[int]) -> Iterator[OutcomeItem]:
    return map(OutcomeItem.from_raw_data, get_batch(_own_key(ref, index) for index in indexes))


def _own_key(ref: RunRef, index: int) -> dict[str, Any]:
    return {"pk": {"S": keys.probes(ref, index)}, "sk": {"S": keys.probe(index)}}


def _keys(ref: RunRef, locations: Collection[OutcomeLocation], *, with_texts: bool) -> list[dict[str, Any]]:
    pages = {location.page: None for location in locations}
    wanted = [outcome_pages.digest_key(ref, page) for page in pages]
    wanted += [outcome_pages.text_key(ref, page) for page in pages] if with_texts else []
    return wanted + [_own_key(ref, location.probe_index) for location in locations if location.may_be_own]


def _identity(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


class _ReadItems:
    def __init__(self, ref: RunRef, locations: Collection[OutcomeLocation], read: Iterable[Mapping[str, Any]]) -> None:
        self.ref = ref
        self._locations = locations
        items: list[Any] = list(read)
        self._pages: Mapping[PageRef, DigestPage] = outcome_pages.decode_digests(ref, items)
        self.texts: Mapping[PageRef, Texts] = outcome_pages.decode_texts(items)
        own = (item for item in items if not item["sk"]["S"].startswith((keys.DIGEST_PAGES, keys.TEXT_PAGES)))
        self._own = {item.index: item for item in map(OutcomeItem.from_raw_data, own)}

    def outcomes(self) -> Iterator[LocatedOutcome]:
        for location in self._locations:
            own, page = self._own.get(location.probe_index), self._pages.get(location.page)
            if page is not None and not _counts(own, location.fencing_token):
                yield LocatedOutcome(page.outcome(location.probe_index % FANOUT), page.page_ref)
            elif own is not None:
                yield LocatedOutcome(own, None)


def _counts(own: OutcomeItem | None, token_in_page: int) -> bool:
    """Return whether an own item counts instead of the entry in a page. An error of an earlier round does not."""
    return own is not None and (own.completed or own.fencing_token >= token_in_page)
