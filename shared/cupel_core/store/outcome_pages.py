"""Pages of outcomes. Those of one commit and leaf are first stored together, compressed, in two items.

The digest page has what lists and statistics read; the text page has the conversations. Texts of one definition are
alike, so a page of twenty takes a third of the space of twenty items, and one write. Pages are written without a
condition: the leaf's log decides which of them has the outcome of a probe (see domain/runs/leaf_log.py). If a worker
died before the log named its page, the next claimant of its probes reads the page.

A page changes only when content is erased, under the condition that it is still the one that was read.
"""

import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import RetryableError
from cupel_core.base.ids import new_short_id
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.leaf_log import OutcomePage
from cupel_core.store import blobs, keys
from cupel_core.store.batches import get_batch, put_batch, query
from cupel_core.store.clients import dynamodb
from cupel_core.store.outcome_items import (
    MAX_INLINE_BYTES,
    OutcomeEntry,
    OutcomeItem,
    StoredOutcome,
    erased_entry,
    logged_outcome,
    new_content_key,
)
from cupel_core.store.settings import settings

MAX_ENTRY_BYTES = 100_000
"""An outcome with a larger digest cannot be stored."""
_MAX_PAGE_BYTES = 250_000
"""The limit of a page before compression, so that it stays below 400 KB whatever it contains."""
_MAX_ATTEMPTS = 6

type Texts = Mapping[int, dict[str, Any]]


class NewOutcome(NamedTuple):
    item: OutcomeItem
    digest: bytes
    text: bytes | None

    @property
    def text_in_page(self) -> bytes | None:
        """Return None if the text is in the bucket."""
        return self.text if self.item.content_key is None else None


class PageRef(NamedTuple):
    leaf: int
    page_id: str


@dataclass(frozen=True)
class DigestPage:
    ref: RunRef
    leaf: int
    page_id: str
    fencing_token: int
    has_texts: bool
    revision: int
    expires_at: datetime | None
    """The time when the last of its texts expires. It is None if they are erased or never expire."""
    entries: Mapping[int, dict[str, Any]]

    @property
    def page_ref(self) -> PageRef:
        return PageRef(self.leaf, self.page_id)

    def outcomes(self) -> Iterator[OutcomeEntry]:
        return (self.outcome(offset) for offset in self.entries)

    def outcome(self, offset: int) -> OutcomeEntry:
        entry = self.entries[offset]
        return OutcomeEntry(
            index=self.leaf * FANOUT + offset,
            completed=entry["completed"],
            fencing_token=self.fencing_token,
            body=entry["body"],
            content_key=entry.get("contentKey"),
            page=self.page_id if entry.get("hasText") else None,
            summary=entry.get("summary"),
            is_summary_provisional=entry.get("provisional"),
            erased_at=entry.get("erasedAt"),
        )

    def logged(self) -> OutcomePage:
        outcomes = {outcome.index % FANOUT: logged_outcome(outcome) for outcome in self.outcomes()}
        return OutcomePage(self.page_id, self.fencing_token, outcomes)


def encode(ref: RunRef, item: OutcomeItem, text: bytes | None) -> NewOutcome:
    """Encode an outcome. A long text goes to the bucket. Raise ValueError if the outcome is too large without it."""
    if text is not None and len(text) > MAX_INLINE_BYTES:
        item.content_key = new_content_key(ref, item.index)
    encoded = orjson.dumps(_entry(item, has_text=text is not None and item.content_key is None))
    if len(encoded) > MAX_ENTRY_BYTES:
        raise ValueError(f"it takes {len(encoded):,} bytes without its texts; at most {MAX_ENTRY_BYTES:,}")
    return NewOutcome(item, encoded, text)


def write(ref: RunRef, fencing_token: int, outcomes: Iterable[NewOutcome]) -> dict[int, list[OutcomePage]]:
    """Write the outcomes, those of one leaf together. Return the pages by leaf, for its log."""
    by_leaf = defaultdict[int, list[NewOutcome]](list)
    for outcome in outcomes:
        by_leaf[outcome.item.index // FANOUT].append(outcome)
    pages, items = defaultdict[int, list[OutcomePage]](list), list[dict[str, Any]]()
    for leaf, group in by_leaf.items():
        for part in _parts(group):
            page_id = new_short_id()
            pages[leaf].append(
                OutcomePage(page_id, fencing_token, {_offset(each): logged_outcome(each.item) for each in part})
            )
            items += _page_items(ref, PageRef(leaf, page_id), fencing_token, part)
    put_batch(items)
    return pages


def digest_key(ref: RunRef, page: PageRef) -> dict[str, Any]:
    return _key(ref, page.leaf, keys.digest_page(*page))


def text_key(ref: RunRef, page: PageRef) -> dict[str, Any]:
    return _key(ref, page.leaf, keys.text_page(*page))


def decode_digests(ref: RunRef, items: Iterable[Mapping[str, Any]]) -> dict[PageRef, DigestPage]:
    pages = (decode(ref, item) for item in items if item["sk"]["S"].startswith(keys.DIGEST_PAGES))
    return {page.page_ref: page for page in pages}


def decode_texts(items: Iterable[Mapping[str, Any]]) -> dict[PageRef, Texts]:
    return {_page_ref(item): _decode_texts(item) for item in items if item["sk"]["S"].startswith(keys.TEXT_PAGES)}


def read(ref: RunRef, wanted: Iterable[PageRef]) -> dict[PageRef, DigestPage]:
    """Read the digest pages that exist. The reads are strongly consistent."""
    return decode_digests(ref, get_batch(digest_key(ref, page) for page in wanted))


def read_texts(ref: RunRef, wanted: Iterable[PageRef]) -> dict[PageRef, Texts]:
    """Read the text pages that exist. The reads are strongly consistent."""
    return decode_texts(get_batch(text_key(ref, page) for page in wanted))


def list_of_leaf(ref: RunRef, leaf: int) -> Iterator[DigestPage]:
    """Yield all digest pages of a leaf, even if its log does not name them. The reads are strongly consistent."""
    return (decode(ref, item) for item in _query(ref, leaf, keys.digest_page(leaf)))


def list_of_block(ref: RunRef, block: int) -> Iterator[DigestPage]:
    return (decode(ref, item) for item in _query(ref, _first_leaf(block), keys.DIGEST_PAGES))


def erase(ref: RunRef, leaf: int, offset: int, now: datetime) -> None:
    """Erase the text of a probe in all pages of its leaf, and what quotes it in their digests. Texts without a digest
    are erased too. They exist if their worker died while it wrote them."""
    for item in _query(ref, leaf, keys.text_page(leaf)):
        if offset in _decode_texts(item):
            _erase_text(ref, _page_ref(item), offset)
    for page in list_of_leaf(ref, leaf):
        if offset in page.entries:
            erase_digests(page, [offset], now)


def erase_expired_texts(ref: RunRef, block: int, now: datetime) -> None:
    """Delete the text pages of a block whose texts have all expired, also those without a digest."""
    for item in _query(ref, _first_leaf(block), keys.TEXT_PAGES):
        if "contentExpiresAt" in item and from_iso(item["contentExpiresAt"]["S"]) <= now:
            dynamodb().delete_item(TableName=settings().table_name, Key={"pk": item["pk"], "sk": item["sk"]})


def erase_digests(page: DigestPage, offsets: Collection[int], now: datetime) -> None:
    """Erase what quotes these probes in their digests, and their texts in the bucket. The text page is erased
    before."""
    for offset in offsets:
        if (key := page.entries[offset].get("contentKey")) is not None:
            blobs.delete(key)
    for _ in range(_MAX_ATTEMPTS):
        if _erase_digests(page, offsets, now):
            return
        found = read(page.ref, [page.page_ref])
        if not found:
            return  # The run is being erased.
        page = found[page.page_ref]
    raise RetryableError("the page is being changed by others; try again")


def _erase_digests(page: DigestPage, offsets: Iterable[int], now: datetime) -> bool:
    """Erase it once. Return False if the page has changed meanwhile."""
    erased = {
        offset: _entry(erased_entry(page.outcome(offset), now), has_text=False)
        for offset in offsets
        if "erasedAt" not in page.entries[offset]
    }
    if not erased:
        return True
    entries = [*{**page.entries, **erased}.values()]
    is_all_erased = all("erasedAt" in entry for entry in entries)
    item = _digest_item(
        page.ref,
        page.page_ref,
        page.fencing_token,
        map(orjson.dumps, entries),
        has_texts=page.has_texts,
        expires_at=None if is_all_erased else page.expires_at,
    )
    return _replace(item, page.revision)


def _erase_text(ref: RunRef, page: PageRef, offset: int) -> None:
    key = text_key(ref, page)
    for _ in range(_MAX_ATTEMPTS):
        response = dynamodb().get_item(TableName=settings().table_name, Key=key, ConsistentRead=True)
        item: dict[str, Any] = dict(response.get("Item", {}))
        texts = _decode_texts(item) if item else {}
        left = {str(each): text for each, text in texts.items() if each != offset}
        if len(left) == len(texts):
            return
        changed = {**item, "body": {"B": zlib.compress(orjson.dumps(left))}}
        if _replace(changed, _revision(item)):
            return
    raise RetryableError("the page is being changed by others; try again")


def _replace(item: dict[str, Any], revision: int) -> bool:
    """Write a changed page. Return False if the stored page is not the one that was read."""
    client = dynamodb()
    condition = "revision = :revision" if revision else "attribute_exists(pk) AND attribute_not_exists(revision)"
    values: dict[str, Any] = {"ExpressionAttributeValues": {":revision": {"N": str(revision)}}} if revision else {}
    try:
        client.put_item(
            TableName=settings().table_name,
            Item={**item, "revision": {"N": str(revision + 1)}},
            ConditionExpression=condition,
            **values,
        )
    except client.exceptions.ConditionalCheckFailedException:
        return False
    return True


def _parts(outcomes: Sequence[NewOutcome]) -> Iterator[list[NewOutcome]]:
    part, size = list[NewOutcome](), 0
    for outcome in outcomes:
        added = len(outcome.digest) + len(outcome.text_in_page or b"")
        if part and size + added > _MAX_PAGE_BYTES:
            yield part
            part, size = [], 0
        part.append(outcome)
        size += added
    if part:
        yield part


def _page_items(
    ref: RunRef, page: PageRef, fencing_token: int, outcomes: Sequence[NewOutcome]
) -> Iterator[dict[str, Any]]:
    texts = {
        str(_offset(outcome)): orjson.Fragment(outcome.text_in_page)
        for outcome in outcomes
        if outcome.text_in_page is not None
    }
    expiries = [outcome.item.body.get("contentExpiresAt") for outcome in outcomes]
    expires = max(filter(None, expiries), default=None)
    expires_at = from_iso(expires) if expires else None
    yield _digest_item(
        ref,
        page,
        fencing_token,
        [outcome.digest for outcome in outcomes],
        has_texts=bool(texts),
        expires_at=expires_at,
    )
    if texts:
        text_page = {
            **text_key(ref, page),
            "body": {"B": zlib.compress(orjson.dumps(texts))},
        }
        yield text_page | _expiry(expires_at)


def _digest_item(
    ref: RunRef,
    page: PageRef,
    fencing_token: int,
    entries: Iterable[bytes],
    *,
    has_texts: bool,
    expires_at: datetime | None,
) -> dict[str, Any]:
    body = orjson.dumps([orjson.Fragment(entry) for entry in entries])
    item: dict[str, Any] = {
        **digest_key(ref, page),
        "token": {"N": str(fencing_token)},
        "body": {"B": zlib.compress(body)},
    }
    if has_texts:
        item["hasTexts"] = {"BOOL": True}
    return item | _expiry(expires_at)


def _expiry(expires_at: datetime | None) -> dict[str, Any]:
    return {} if expires_at is None else {"contentExpiresAt": {"S": to_iso(expires_at)}}


def _entry(item: StoredOutcome, *, has_text: bool) -> dict[str, Any]:
    fields = {
        "offset": item.index % FANOUT,
        "completed": item.completed,
        "body": item.body,
        "summary": item.summary,
        "provisional": item.is_summary_provisional,
        "contentKey": item.content_key,
        "hasText": has_text or None,
        "erasedAt": item.erased_at,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _query(ref: RunRef, leaf: int, prefix: str) -> Iterator[dict[str, Any]]:
    return query(
        "pk = :pk AND begins_with(sk, :prefix)", {":pk": {"S": keys.pages(ref, leaf)}, ":prefix": {"S": prefix}}
    )


def decode(ref: RunRef, item: Mapping[str, Any]) -> DigestPage:
    page = _page_ref(item)
    entries = orjson.loads(zlib.decompress(item["body"]["B"]))
    return DigestPage(
        ref,
        page.leaf,
        page.page_id,
        fencing_token=int(item["token"]["N"]),
        has_texts="hasTexts" in item,
        revision=_revision(item),
        expires_at=from_iso(item["contentExpiresAt"]["S"]) if "contentExpiresAt" in item else None,
        entries={entry["offset"]: entry for entry in entries},
    )


def _decode_texts(item: Mapping[str, Any]) -> Texts:
    return {int(offset): text for offset, text in orjson.loads(zlib.decompress(item["body"]["B"])).items()}


def _page_ref(item: Mapping[str, Any]) -> PageRef:
    _, leaf, page_id = item["sk"]["S"].split("#", 2)
    return PageRef(int(leaf), page_id)


def _revision(item: Mapping[str, Any]) -> int:
    return int(item["revision"]["N"]) if "revision" in item else 0


def _offset(outcome: NewOutcome) -> int:
    return outcome.item.index % FANOUT


def _first_leaf(block: int) -> int:
    return block * keys.PROBES_PER_BLOCK // FANOUT


def _key(ref: RunRef, leaf: int, sort_key: str) -> dict[str, Any]:
    return {"pk": {"S": keys.pages(ref, leaf)}, "sk": {"S": sort_key}}
