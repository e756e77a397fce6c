"""Outcomes of probes: a transcript or an error. Of several outcomes of a probe, the leaf's log decides which counts.

Outcomes are stored in pages (see outcome_pages.py). One that changes later, because it is summarized, compared,
corrected or read, gets an item of its own, which refers to the page's text until its content changes. The leaf knows
which probes may have such an item. Outcomes of earlier releases have only their own items.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from itertools import batched, chain, groupby
from typing import Any, NamedTuple, cast

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from cupel_core.clock import from_iso, to_iso
from cupel_core.domain.runs.barrier import FANOUT, Node, leaf_of
from cupel_core.domain.runs.leaf_log import OutcomePage, OutcomePlace, page_of_item
from cupel_core.domain.runs.run_spend import Cost, encode
from cupel_core.domain.runs.transcripts import (
    Outcome,
    ProbeError,
    Summary,
    Transcript,
    TranscriptFilter,
    TranscriptResult,
    unstorable,
)
from cupel_core.errors import Conflict, RetryableError
from cupel_core.messages import RunRef
from cupel_core.paging import Entry, encode_cursor
from cupel_core.settings import settings
from cupel_core.store import barrier, blobs, keys, outcome_pages
from cupel_core.store.barrier import LeafItem
from cupel_core.store.batches import get_batch
from cupel_core.store.clients import dynamodb
from cupel_core.store.listing import MAX_EXAMINED
from cupel_core.store.outcome_items import (
    OutcomeItem,
    digest,
    encode_content,
    erased_item,
    from_item,
    spending_of,
    summary_to_json,
    to_item,
)
from cupel_core.store.outcome_pages import NewOutcome, PageRef
from cupel_core.store.table import updated

_PROBES_PER_READ = 1_000
_MAX_PROBES_PER_READ = 10_000
_WRITERS = 8
_MAX_ATTEMPTS = 6


def write(ref: RunRef, fencing_token: int, outcomes: Sequence[Outcome]) -> dict[int, list[OutcomePage]]:
    """Write outcomes into new pages; returns these by leaf. They count once the leaf's log names them.

    An outcome that can never be stored, for example because it is too large, becomes an error of its probe.
    """
    encoded = [_encode(ref, fencing_token, outcome) for outcome in outcomes]
    if large := [each for each in encoded if each.item.content_key is not None]:
        with ThreadPoolExecutor(_WRITERS) as threads:
            list(threads.map(_put_text, large))
    return outcome_pages.write(ref, fencing_token, encoded)


def _encode(ref: RunRef, fencing_token: int, outcome: Outcome) -> NewOutcome:
    """A text that cannot be encoded, for example half of a surrogate pair, cannot be stored either."""
    try:
        return outcome_pages.encode(ref, to_item(ref, fencing_token, outcome), _text_of(outcome))
    except (TypeError, ValueError) as error:
        stored = unstorable(outcome, f"{type(error).__name__}: {error}")
        return outcome_pages.encode(ref, to_item(ref, fencing_token, stored), None)


def _text_of(outcome: Outcome) -> bytes | None:
    return encode_content(outcome) if isinstance(outcome, Transcript) else None


def _put_text(outcome: NewOutcome) -> None:
    if outcome.item.content_key is not None and outcome.text is not None:
        blobs.put_text(outcome.item.content_key, outcome.text)


def list_unreported(ref: RunRef, leaf: LeafItem, indexes: Iterable[int]) -> list[OutcomePage]:
    """The pages of these probes' leaf that its log does not name; and what stands for their outcomes that a worker of
    an earlier release has stored without reporting them."""
    probes = list(indexes)
    number = leaf_of(probes[0]).number
    pages = [page.logged() for page in outcome_pages.list_complete(ref, number, leaf.log.page_ids)]
    unknown = [index for index in probes if index % FANOUT not in leaf.leaf.recorded | leaf.log.places.keys()]
    # Errors of before the last retry, which the earlier release has taken out, are run again.
    items = [item for item in _get_own(ref, unknown) if item.completed or item.fencing_token >= leaf.reopened_in_round]
    return pages + [
        page_of_item(item.index % FANOUT, int(item.fencing_token), outcome_pages.logged_outcome(item)) for item in items
    ]


def list_own_costs(ref: RunRef, node: Node, leaf: LeafItem) -> list[int]:
    """What those outcomes of a leaf have cost by now that have items of their own, as members."""
    items = _get_own(ref, (node.first_index + offset for offset in leaf.own))
    return [
        encode(int(item.fencing_token) * FANOUT + item.index % FANOUT, Cost.of(spending_of(item))) for item in items
    ]


def list_error_items(ref: RunRef, indexes: Iterable[int]) -> Iterator[OutcomeItem]:
    """The outcomes of these probes that are errors, as items."""
    return (item for item in list_items(ref, sorted(indexes)) if not item.completed)


def get(ref: RunRef, index: int) -> Outcome | None:
    """The outcome of a probe; None if it has none yet."""
    return get_many(ref, [index]).get(index)


def get_many(ref: RunRef, indexes: Sequence[int]) -> dict[int, Outcome]:
    """Outcomes by index; probes without one are left out."""
    return {outcome.probe_index: outcome for outcome in _with_content(ref, list_items(ref, sorted(indexes)))}


def list_digests(ref: RunRef, indexes: Iterable[int]) -> Iterator[Outcome]:
    """The outcomes of these probes that have one, without what was said and without reading the bucket."""
    return map(digest, list_items(ref, sorted(indexes)))


def list_items(ref: RunRef, indexes: Iterable[int], per_read: int = _PROBES_PER_READ) -> Iterator[OutcomeItem]:
    """The outcomes of these ascending probes as items; read lazily, about `per_read` probes at a time."""
    return (found.item for found in _read(ref, indexes, per_read))


def list_range(ref: RunRef, indexes: range) -> Iterator[Outcome]:
    """The outcomes of a range of indexes, ascending; read lazily, a leaf at a time."""
    for batch in batched(list_items(ref, indexes), FANOUT):
        yield from _with_content(ref, batch)


def list_matching(
    ref: RunRef, ranges: Sequence[range], wanted: TranscriptFilter, *, page_size: int
) -> Iterator[Entry[Transcript]]:
    """The matching transcripts of these indexes, ascending; an entry without one once MAX_EXAMINED were examined.

    Content is read of matching transcripts only, about as many at a time as a page has.
    """
    examined, last, found = 0, 0, list[OutcomeItem]()
    per_read = _PROBES_PER_READ if wanted.is_set else page_size
    for item in list_items(ref, chain.from_iterable(ranges), per_read):
        examined, last, outcome = examined + 1, item.index, digest(item)
        if isinstance(outcome, Transcript) and wanted.matches(outcome):
            found.append(item)
            if len(found) >= min(page_size, FANOUT):
                yield from _entries(ref, found)
                found = []
        elif examined >= MAX_EXAMINED:
            yield from _entries(ref, found)
            yield Entry(encode_cursor(str(last + 1)), None)
            return
    yield from _entries(ref, found)


def _entries(ref: RunRef, items: Iterable[OutcomeItem]) -> Iterator[Entry[Transcript]]:
    for outcome in _with_content(ref, items):
        yield Entry(encode_cursor(str(outcome.probe_index)), cast("Transcript", outcome))


def set_summary(ref: RunRef, index: int, summary: Summary) -> bool:
    """Set a transcript's final summary, without its text if the content was erased meanwhile; False if it has one."""
    item = own_item(ref, index)
    return item is not None and (
        _set_summary(item, summary, OutcomeItem.erased_at.does_not_exist())
        or _set_summary(item, summary.without_content(), OutcomeItem.erased_at.exists())
    )


def _set_summary(item: OutcomeItem, summary: Summary, condition: Condition) -> bool:
    is_open = OutcomeItem.summary.does_not_exist() | OutcomeItem.is_summary_provisional.exists()
    actions = [OutcomeItem.summary.set(summary_to_json(summary)), OutcomeItem.is_summary_provisional.remove()]
    return updated(item, actions, OutcomeItem.pk.exists() & is_open & condition)


def set_correction(ref: RunRef, index: int, result: TranscriptResult | None, before: Transcript | None = None) -> None:
    """Set a user's correction of a completed probe's result; None removes it.

    With `before`, raises Conflict if there is another correction now.
    """
    item = own_item(ref, index) or OutcomeItem(keys.probes(ref, index), keys.probe(index))
    action = OutcomeItem.correction.remove() if result is None else OutcomeItem.correction.set(asdict(result))
    condition = OutcomeItem.pk.exists()
    if before is not None:
        condition &= _is_same(OutcomeItem.correction, before.correction and asdict(before.correction))
    if not updated(item, [action], condition):
        raise Conflict("the result was corrected, or its run deleted, at the same time; read it and try again")


def read_content(ref: RunRef, item: OutcomeItem) -> Outcome:
    """The outcome of an item, with what was said."""
    return next(_with_content(ref, [item]))


def own_item(ref: RunRef, index: int) -> OutcomeItem | None:
    """The outcome's own item, which is made now if the outcome is only in a page; None if there is no outcome."""
    return own_items(ref, [index]).get(index)


def own_items(ref: RunRef, indexes: Iterable[int]) -> dict[int, OutcomeItem]:
    """The own items of these outcomes by index; made now for those that are only in a page."""
    found = list(_read(ref, sorted(indexes)))
    in_pages = {each.item.index: each.page for each in found if each.page is not None}
    for number, group in groupby(in_pages, key=lambda index: index // FANOUT):
        barrier.add_own(ref, Node(0, number), [index % FANOUT for index in group])
    with ThreadPoolExecutor(_WRITERS) as threads:
        made = list(threads.map(_put_own, (each.item for each in found if each.page is not None)))
    _erase_again(ref, made, in_pages)
    return {item.index: item for item in (*(each.item for each in found if each.page is None), *made)}


def _erase_again(ref: RunRef, made: Iterable[OutcomeItem], in_pages: Mapping[int, PageRef]) -> None:
    """Erase what was copied from an entry of a page that was erased at the same time."""
    pages = outcome_pages.read(ref, set(in_pages.values()))
    for item in made:
        page = pages.get(in_pages[item.index])
        erased_at = page.entries[item.index % FANOUT].get("erasedAt") if page is not None else None
        if erased_at is not None and item.erased_at is None:
            _erase_own(item, from_iso(erased_at))


def _put_own(item: OutcomeItem) -> OutcomeItem:
    """Write the own item of an outcome in a page, unless another has done so; only an earlier error is replaced."""
    client = dynamodb()
    try:
        client.put_item(
            TableName=settings().table_name,
            Item=item.serialize(),
            ConditionExpression="attribute_not_exists(pk) OR (completed = :no AND epoch < :token)",
            ExpressionAttributeValues={":no": {"BOOL": False}, ":token": {"N": str(item.fencing_token)}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except client.exceptions.ConditionalCheckFailedException as error:
        response: dict[str, Any] = dict(error.response)
        return OutcomeItem.from_raw_data(response["Item"])
    return item


def erase_content(ref: RunRef, index: int, now: datetime) -> None:
    """Erase the content of all outcomes of a probe, also of those that do not count; what `without_content` leaves
    stays."""
    outcome_pages.erase(ref, leaf_of(index).number, index % FANOUT, now)  # First: own items are made of pages.
    for item in _get_own(ref, [index]):
        _erase_own(item, now)


def _erase_own(item: OutcomeItem, now: datetime) -> None:
    for _ in range(_MAX_ATTEMPTS):
        if erase_item(item, now):
            return
        item.refresh(consistent_read=True)
    raise RetryableError("the outcome is being changed by others; try again")


def erase_item(item: OutcomeItem, now: datetime) -> bool:
    """Erase the content of an outcome, or of an earlier attempt, as it was read; False if it has changed since."""
    if item.erased_at is not None:
        return True
    before, after, key = digest(item), erased_item(item, now), item.content_key
    content = (OutcomeItem.content, OutcomeItem.packed, OutcomeItem.content_key, OutcomeItem.page)
    actions: list[Action] = [OutcomeItem.erased_at.set(after.erased_at), *(each.remove() for each in content)]
    unchanged = (OutcomeItem.completed == item.completed) & (OutcomeItem.fencing_token == item.fencing_token)
    if isinstance(before, ProbeError):
        actions.append(OutcomeItem.body.set(after.body))
    else:
        unchanged &= _is_same(OutcomeItem.summary, item.summary) & _is_same(OutcomeItem.correction, item.correction)
        unchanged &= _is_same(OutcomeItem.content_key, key)
        if after.summary is not None:
            actions.append(OutcomeItem.summary.set(after.summary))
        if before.correction is not None:
            actions.append(OutcomeItem.correction.set(asdict(before.correction.without_content())))
    if not updated(item, actions, unchanged):
        return False
    if key is not None:
        blobs.delete(key)
    return True


def list_own_items(ref: RunRef, block: int, *, of_attempts: bool = False) -> Iterator[OutcomeItem]:
    """The items of their own of a block of probes, or those of their earlier attempts."""
    partition = (keys.attempts if of_attempts else keys.probes)(ref, block * keys.PROBES_PER_BLOCK)
    return iter(OutcomeItem.query(partition, consistent_read=True))


def list_erased(ref: RunRef, indexes: Iterable[int]) -> frozenset[int]:
    """Those of the probes whose content was erased. Strongly consistent."""
    return frozenset(item.index for item in list_items(ref, sorted(indexes)) if item.erased_at is not None)


def _is_same(attribute: Attribute[Any], value: object) -> Condition:
    condition: Condition = attribute.does_not_exist() if value is None else attribute == value
    return condition


def note_access(ref: RunRef, index: int, now: datetime) -> None:
    """Note that the transcript was read."""
    item = own_item(ref, index)
    if item is not None:
        item.update(actions=[OutcomeItem.last_accessed_at.set(to_iso(now))], condition=OutcomeItem.pk.exists())


# ---- reading


class _Found(NamedTuple):
    item: OutcomeItem
    page: PageRef | None
    """Of which the item is an entry; None for an own item."""


def _read(ref: RunRef, indexes: Iterable[int], per_read: int = _PROBES_PER_READ) -> Iterator[_Found]:
    """The outcomes of these ascending probes that have one; of whole leaves, about `per_read` probes at a time."""
    by_leaf = ((number, list(group)) for number, group in groupby(indexes, key=lambda index: index // FANOUT))
    while batch := _next_batch(by_leaf, per_read):
        found = list(_read_batch(ref, batch))
        yield from found
        if not found:  # Nothing was recorded there; look further ahead.
            per_read = min(2 * per_read, _MAX_PROBES_PER_READ)


def _next_batch(by_leaf: Iterable[tuple[int, list[int]]], min_probes: int) -> list[int]:
    """What is read together: many leaves if little is wanted of each."""
    batch: list[int] = []
    for _, indexes in by_leaf:
        batch += indexes
        if len(batch) >= min_probes:
            break
    return batch


def _read_batch(ref: RunRef, indexes: Sequence[int]) -> Iterator[_Found]:
    leaves = barrier.get_leaves(ref, sorted({index // FANOUT for index in indexes}))
    may_be_own = (index for index in indexes if index % FANOUT in leaves[index // FANOUT].own)
    own = {item.index: item for item in _get_own(ref, may_be_own)}
    in_pages: dict[int, PageRef] = {}
    for index in indexes:
        place = leaves[index // FANOUT].log.places.get(index % FANOUT)
        if place is not None and not _is_own(own.get(index), place):
            in_pages[index] = PageRef(index // FANOUT, place.page_id)
    pages = outcome_pages.read(ref, set(in_pages.values()))
    for index in indexes:
        if index in in_pages and in_pages[index] in pages:
            yield _Found(pages[in_pages[index]].item(index % FANOUT), in_pages[index])
        elif index in own:
            yield _Found(own[index], None)


def _is_own(item: OutcomeItem | None, place: OutcomePlace) -> bool:
    """Whether an item counts instead of the probe's entry in a page: an error of an earlier retry round does not."""
    return item is not None and (item.completed or item.fencing_token >= place.fencing_token)


def _get_own(ref: RunRef, indexes: Iterable[int]) -> Iterator[OutcomeItem]:
    """The own items of these probes that are stored."""
    wanted = ({"pk": {"S": keys.probes(ref, index)}, "sk": {"S": keys.probe(index)}} for index in indexes)
    return map(OutcomeItem.from_raw_data, get_batch(wanted))


def _with_content(ref: RunRef, items: Iterable[OutcomeItem]) -> Iterator[Outcome]:
    """The outcomes of these items; the pages of all of them are in memory at the same time."""
    listed = list(items)
    pages = {PageRef(item.index // FANOUT, item.page) for item in listed if item.page is not None}
    texts = outcome_pages.read_texts(ref, pages)
    for item in listed:
        page = texts.get(PageRef(item.index // FANOUT, item.page), {}) if item.page is not None else {}
        yield from_item(item, page.get(item.index % FANOUT))
