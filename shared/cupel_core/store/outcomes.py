"""Outcomes of probes: a transcript or an error. Of several outcomes of a probe, the leaf's log decides which counts.

Outcomes are stored in pages (see outcome_pages.py). One that changes later, because it is summarized, compared,
corrected or read, gets an item of its own, which refers to the page's text until its content changes. The leaf knows
which probes may have such an item.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import datetime
from itertools import chain, groupby
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.exceptions import TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import Conflict, RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, encode_cursor
from cupel_core.domain.runs.barrier import FANOUT, Node, leaf_batches, leaf_of
from cupel_core.domain.runs.leaf_log import OutcomePage
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
from cupel_core.store import barrier, blobs, corrections, keys, outcome_pages, outcome_reads
from cupel_core.store.barrier_items import LeafItem
from cupel_core.store.clients import dynamodb
from cupel_core.store.listing import MAX_EXAMINED
from cupel_core.store.outcome_items import (
    OutcomeItem,
    StoredOutcome,
    digest,
    encode_content,
    erased_entry,
    own_item_of,
    spending_of,
    summary_to_json,
    to_item,
)
from cupel_core.store.outcome_pages import NewOutcome, PageRef
from cupel_core.store.outcome_reads import PROBES_PER_READ, OutcomeLocation, get_own
from cupel_core.store.settings import settings
from cupel_core.store.table import connection, error_code, updated

MAX_PROBES = 100_000
"""One page examines at most this many probes, so that a large run with few outcomes is read within a request's time."""
_WRITERS = 8
_MAX_ATTEMPTS = 6


def write(ref: RunRef, fencing_token: int, outcomes: Sequence[Outcome]) -> dict[int, list[OutcomePage]]:
    """Write outcomes into new pages and return these by leaf. They count once the leaf's log names them. An outcome
    that can never be stored, for example because it is too large, becomes an error of its probe."""
    encoded = [_encode(ref, fencing_token, outcome) for outcome in outcomes]
    if large := [each for each in encoded if each.item.content_key is not None]:
        with ThreadPoolExecutor(_WRITERS) as threads:
            list(threads.map(_put_text, large))
    return outcome_pages.write(ref, fencing_token, encoded)


def _encode(ref: RunRef, fencing_token: int, outcome: Outcome) -> NewOutcome:
    """Encode an outcome, or an error in its place if its text cannot be encoded (half of a surrogate pair, for
    example)."""
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


def list_unreported(ref: RunRef, node: Node, leaf: LeafItem) -> list[OutcomePage]:
    """Return the pages of a leaf that its log does not name, because their worker died before it reported them."""
    return [page.logged() for page in _list_complete(ref, node.number, leaf.log.page_ids)]


def _list_complete(ref: RunRef, leaf: int, known: frozenset[str]) -> list[outcome_pages.DigestPage]:
    """Return the pages of a leaf that are not `known`, except those whose worker died before it had written their
    texts."""
    unknown = [page for page in outcome_pages.list_of_leaf(ref, leaf) if page.page_id not in known]
    texts = outcome_pages.read_texts(ref, (page.page_ref for page in unknown if page.has_texts))
    return [page for page in unknown if not page.has_texts or page.page_ref in texts]


def list_own_costs(ref: RunRef, node: Node, leaf: LeafItem) -> list[int]:
    """Return the present costs of the leaf's outcomes that have own items, as members."""
    items = get_own(ref, (node.first_index + offset for offset in leaf.own))
    return [
        encode(int(item.fencing_token) * FANOUT + item.index % FANOUT, Cost.of(spending_of(item))) for item in items
    ]


def list_error_items(ref: RunRef, indexes: Iterable[int]) -> Iterator[OutcomeItem]:
    return (own_item_of(ref, each) for each in list_stored(ref, sorted(indexes)) if not each.completed)


def get(ref: RunRef, index: int) -> Outcome | None:
    return get_many(ref, [index]).get(index)


def get_many(ref: RunRef, indexes: Iterable[int]) -> dict[int, Outcome]:
    """Return outcomes by index. Probes without one are left out."""
    return {outcome.probe_index: outcome for outcome in list_outcomes(ref, sorted(indexes))}


def read_many(wanted: Sequence[tuple[RunRef, Sequence[int]]]) -> list[list[Outcome]]:
    return outcome_reads.read_many(wanted)


def list_digests(ref: RunRef, indexes: Iterable[int]) -> Iterator[Outcome]:
    """Yield the outcomes that exist without their conversations, so without reading the bucket."""
    return map(digest, list_stored(ref, indexes))


def list_stored(ref: RunRef, indexes: Iterable[int]) -> Iterator[StoredOutcome]:
    return (found.stored for found in outcome_reads.find(ref, indexes))


def list_outcomes(ref: RunRef, indexes: Iterable[int]) -> Iterator[Outcome]:
    """Yield the outcomes that exist in this order, lazily, up to a hundred at a time."""
    for batch in leaf_batches(indexes, PROBES_PER_READ):
        yield from outcome_reads.read_at(ref, outcome_reads.locate(ref, batch))


def list_matching(
    ref: RunRef, ranges: Sequence[range], wanted: TranscriptFilter, *, page_size: int
) -> Iterator[Entry[Transcript]]:
    """Yield the matching transcripts of these indexes, ascending. An entry without one ends the page: after
    `page_size`, or once MAX_EXAMINED outcomes or MAX_PROBES were examined."""
    locations, next_index = _find_matching(ref, ranges, wanted, page_size)
    for outcome in outcome_reads.read_at(ref, locations):
        if isinstance(outcome, Transcript):
            yield Entry(encode_cursor(str(outcome.probe_index)), outcome)
    if next_index is not None:
        yield Entry(encode_cursor(str(next_index)), None)


def _find_matching(
    ref: RunRef, ranges: Sequence[range], wanted: TranscriptFilter, limit: int
) -> tuple[list[OutcomeLocation], int | None]:
    found, probes, outcomes = list[OutcomeLocation](), 0, 0
    for batch in leaf_batches(chain.from_iterable(ranges), PROBES_PER_READ if wanted.is_set else limit + 1):
        if probes >= MAX_PROBES or (wanted.is_set and outcomes >= MAX_EXAMINED):
            return found, batch[0]
        located = outcome_reads.locate(ref, batch)
        found += _matching(ref, located, wanted)
        if len(found) > limit:
            return found[:limit], found[limit].probe_index
        probes, outcomes = probes + len(batch), outcomes + len(located)
    return found, None


def _matching(ref: RunRef, located: Sequence[OutcomeLocation], wanted: TranscriptFilter) -> list[OutcomeLocation]:
    completed = [location for location in located if location.is_completed]
    if not wanted.is_set:
        return completed
    digests = (digest(found.stored) for found in outcome_reads.find_at(ref, completed))
    matching = {each.probe_index for each in wanted.transcripts(digests)}
    return [location for location in completed if location.probe_index in matching]


def set_summary(ref: RunRef, index: int, summary: Summary) -> bool:
    """Set a transcript's final summary, without its text if the content was erased meanwhile. Return False if it has
    one."""
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
    """Set a user's correction of a completed probe's result, and count it. None removes it. With `before`, raise
    Conflict if there is another correction now."""
    item = own_item(ref, index) or OutcomeItem(keys.probes(ref, index), keys.probe(index))
    action = OutcomeItem.correction.remove() if result is None else OutcomeItem.correction.set(asdict(result))
    condition = OutcomeItem.pk.exists()
    if before is not None:
        condition &= _is_same(OutcomeItem.correction, before.correction and asdict(before.correction))
    for _ in range(_MAX_ATTEMPTS):
        if _write_correction(ref, item, action, condition):
            return
    raise RetryableError("results of the run are being corrected by others; try again")


def _write_correction(ref: RunRef, item: OutcomeItem, action: Action, condition: Condition) -> bool:
    try:
        with TransactWrite(connection=connection()) as transaction:
            transaction.update(item, [action], condition)
            corrections.add(transaction, ref)
    except TransactWriteError as error:
        if error_code(error) != "TransactionCanceledException":
            raise
        if any(reason is not None and reason.code == "ConditionalCheckFailed" for reason in error.cancellation_reasons):
            raise Conflict(
                "the result was corrected, or its run deleted, at the same time; read it and try again"
            ) from None
        return False
    return True


def read_content(ref: RunRef, item: OutcomeItem) -> Outcome:
    return next(outcome_reads.with_content(ref, [item]))


def own_item(ref: RunRef, index: int) -> OutcomeItem | None:
    """Return the outcome's own item, creating it if the outcome is only in a page, or None if there is no outcome."""
    return own_items(ref, [index]).get(index)


def own_items(ref: RunRef, indexes: Iterable[int]) -> dict[int, OutcomeItem]:
    """Return the own items of these outcomes by index, creating those that are only in a page."""
    found = list(outcome_reads.find(ref, sorted(indexes)))
    in_pages = {each.stored.index: each.page for each in found if each.page is not None}
    for number, group in groupby(in_pages, key=lambda index: index // FANOUT):
        barrier.add_own(ref, Node(0, number), [index % FANOUT for index in group])
    with ThreadPoolExecutor(_WRITERS) as threads:
        made = list(threads.map(_put_own, (own_item_of(ref, each.stored) for each in found if each.page is not None)))
    _erase_again(ref, made, in_pages)
    own = (own_item_of(ref, each.stored) for each in found if each.page is None)
    return {item.index: item for item in (*own, *made)}


def _erase_again(ref: RunRef, made: Iterable[OutcomeItem], in_pages: Mapping[int, PageRef]) -> None:
    """Erase what was copied from a page's entry while that entry was being erased."""
    pages = outcome_pages.read(ref, set(in_pages.values()))
    for item in made:
        page = pages.get(in_pages[item.index])
        erased_at = page.entries[item.index % FANOUT].get("erasedAt") if page is not None else None
        if erased_at is not None and item.erased_at is None:
            _erase_own(item, from_iso(erased_at))


def _put_own(item: OutcomeItem) -> OutcomeItem:
    """Create the own item of an outcome in a page, unless it exists. Only an earlier error is replaced."""
    client = dynamodb()
    try:
        client.put_item(
            TableName=settings().table_name,
            Item=item.serialize(),
            ConditionExpression="attribute_not_exists(pk) OR (completed = :no AND fencingToken < :token)",
            ExpressionAttributeValues={":no": {"BOOL": False}, ":token": {"N": str(item.fencing_token)}},
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    except client.exceptions.ConditionalCheckFailedException as error:
        response: dict[str, Any] = dict(error.response)
        return OutcomeItem.from_raw_data(response["Item"])
    return item


def erase_content(ref: RunRef, index: int, now: datetime) -> None:
    """Erase the content of all outcomes of a probe, counted or not. What `without_content` leaves stays."""
    outcome_pages.erase(ref, leaf_of(index).number, index % FANOUT, now)  # Own items are made of pages.
    for item in get_own(ref, [index]):
        _erase_own(item, now)


def _erase_own(item: OutcomeItem, now: datetime) -> None:
    for _ in range(_MAX_ATTEMPTS):
        if erase_item(item, now):
            return
        item.refresh(consistent_read=True)
    raise RetryableError("the outcome is being changed by others; try again")


def erase_item(item: OutcomeItem, now: datetime) -> bool:
    """Erase the content of an outcome or earlier attempt. Return False if it has changed since it was read."""
    if item.erased_at is not None:
        return True
    before, after, key = digest(item), erased_entry(item, now), item.content_key
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
    partition = (keys.attempts if of_attempts else keys.probes)(ref, block * keys.PROBES_PER_BLOCK)
    return iter(OutcomeItem.query(partition, consistent_read=True))


def list_erased(ref: RunRef, indexes: Iterable[int]) -> frozenset[int]:
    """Return the probes whose content was erased. The read is strongly consistent."""
    return frozenset(each.index for each in list_stored(ref, sorted(indexes)) if each.erased_at is not None)


def _is_same(attribute: Attribute[Any], value: object) -> Condition:
    condition: Condition = attribute.does_not_exist() if value is None else attribute == value
    return condition


def note_access(ref: RunRef, index: int, now: datetime) -> None:
    item = own_item(ref, index)
    if item is not None:
        item.update(actions=[OutcomeItem.last_accessed_at.set(to_iso(now))], condition=OutcomeItem.pk.exists())
