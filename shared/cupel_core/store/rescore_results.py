"""Results of rescores, one per transcript. Long ones are stored in the bucket."""

import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import orjson
from pynamodb.attributes import BinaryAttribute, JSONAttribute, UnicodeAttribute
from pynamodb.expressions.update import Action

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import NotFound
from cupel_core.base.ids import new_id
from cupel_core.base.messages import RunRef
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.rescores import RescoreResult
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store import blobs, keys, object_names
from cupel_core.store.table import Item, updated

_MAX_INLINE_BYTES = 8_192


class RescoreResultItem(Item):
    body = JSONAttribute()
    packed = BinaryAttribute(null=True, legacy_encoding=False)
    content_key = UnicodeAttribute(attr_name="contentKey", null=True)

    @property
    def index(self) -> int:
        return int(self.sk)

    @property
    def has_content(self) -> bool:
        return self.packed is not None or self.content_key is not None

    @property
    def expires_at(self) -> datetime | None:
        expires = dict(self.body).get("expiresAt")
        return from_iso(expires) if expires else None


def record(ref: RunRef, rescore_id: str, results: Sequence[RescoreResult]) -> None:
    with RescoreResultItem.batch_write() as batch:
        for result in results:
            batch.save(_to_item(ref, rescore_id, result))


def list_range(
    ref: RunRef, rescore_id: str, indexes: range, *, consistent: bool = False, page_size: int | None = None
) -> Iterator[RescoreResult]:
    """Yield the results of a range of indexes, ascending and lazily, `page_size` at a time (by default 1 MB)."""
    items = _items(ref, rescore_id, indexes, consistent=consistent, page_size=page_size)
    return (_from_item(item) for item in items)


def find(ref: RunRef, rescore_id: str, index: int) -> RescoreResult | None:
    item = _get(ref, rescore_id, index)
    return None if item is None else _from_item(item)


def list_bodies(ref: RunRef, rescore_id: str, indexes: range) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the index and body of each result of a range, ascending, without the judges' comments."""
    for item in _items(ref, rescore_id, indexes, attributes=["sk", "body"]):
        yield item.index, item.body


def erase_content(ref: RunRef, rescore_id: str, index: int) -> None:
    """Erase the judges' comments on a conversation. Success and score remain."""
    item = _get(ref, rescore_id, index)
    if item is not None:
        erase_item(item)


def erase_item(item: RescoreResultItem) -> None:
    """Erase the judges' comments of a result. A result is only replaced by one of the same conversation."""
    actions: list[Action] = [RescoreResultItem.packed.remove(), RescoreResultItem.content_key.remove()]
    updated(item, actions, RescoreResultItem.pk.exists())
    if item.content_key is not None:
        blobs.delete(item.content_key)


def amend(ref: RunRef, rescore_id: str, index: int, change: Callable[[Scoring], Scoring]) -> None:
    """Rewrite the scoring of a result with `change`, unless that changes nothing or it was erased."""
    item = _get(ref, rescore_id, index)
    before = _scoring(item) if item is not None else None
    if item is None or before is None or (after := change(before)) == before:
        return
    changed = RescoreResultItem(item.pk, item.sk)
    _fill(ref, changed, index, after)
    actions = [
        RescoreResultItem.packed.remove() if changed.packed is None else RescoreResultItem.packed.set(changed.packed),
        RescoreResultItem.content_key.remove()
        if changed.content_key is None
        else RescoreResultItem.content_key.set(changed.content_key),
    ]
    has_content = RescoreResultItem.packed.exists() | RescoreResultItem.content_key.exists()
    obsolete = item.content_key if updated(item, actions, has_content) else changed.content_key
    if obsolete is not None:
        blobs.delete(obsolete)


def list_items(ref: RunRef, rescore_id: str, block: int) -> Iterator[RescoreResultItem]:
    partition = keys.rescore_results(ref, rescore_id, block * keys.PROBES_PER_BLOCK)
    return iter(RescoreResultItem.query(partition, consistent_read=True))


def _get(ref: RunRef, rescore_id: str, index: int) -> RescoreResultItem | None:
    try:
        return RescoreResultItem.get(
            keys.rescore_results(ref, rescore_id, index), keys.probe(index), consistent_read=True
        )
    except RescoreResultItem.DoesNotExist:
        return None


def _items(
    ref: RunRef,
    rescore_id: str,
    indexes: range,
    *,
    consistent: bool = False,
    attributes: list[str] | None = None,
    page_size: int | None = None,
) -> Iterator[RescoreResultItem]:
    for block in keys.blocks(indexes):
        yield from RescoreResultItem.query(
            keys.rescore_results(ref, rescore_id, block.start),
            RescoreResultItem.sk.between(keys.probe(block.start), keys.probe(block.stop - 1)),
            consistent_read=consistent,
            attributes_to_get=attributes,
            page_size=page_size,
        )


def _to_item(ref: RunRef, rescore_id: str, result: RescoreResult) -> RescoreResultItem:
    scoring, expires = result.scoring, result.expires_at
    body = {
        "scenarioId": result.scenario_id,
        "modelId": result.model_id,
        "personaId": result.persona_id,
        "unscored": result.unscored or None,
        "judge": encode(result.judge) if result.judge is not None else None,
        "expiresAt": expires and to_iso(expires),
        **(scoring.digest() if scoring else {}),
    }
    item = RescoreResultItem(
        keys.rescore_results(ref, rescore_id, result.index),
        keys.probe(result.index),
        body={name: value for name, value in body.items() if value is not None},
    )
    if scoring is not None:
        _fill(ref, item, result.index, scoring)
    return item


def _fill(ref: RunRef, item: RescoreResultItem, index: int, scoring: Scoring) -> None:
    content = encode(scoring)
    packed = zlib.compress(orjson.dumps(content))
    if len(packed) <= _MAX_INLINE_BYTES:
        item.packed = packed
    else:
        item.content_key = object_names.score_blob(ref, index, new_id("score"))
        blobs.put_json(item.content_key, content)


def _from_item(item: RescoreResultItem) -> RescoreResult:
    body: dict[str, Any] = item.body
    return RescoreResult(
        index=item.index,
        scenario_id=body["scenarioId"],
        model_id=body["modelId"],
        persona_id=body.get("personaId"),
        success=body.get("success"),
        score=body.get("score"),
        unscored=body.get("unscored", False),
        scoring=_scoring(item),
        judge=decode(Spend, body["judge"]) if "judge" in body else Spend(),
        expires_at=item.expires_at,
    )


def _scoring(item: RescoreResultItem) -> Scoring | None:
    if item.packed is not None:
        return decode(Scoring, orjson.loads(zlib.decompress(item.packed)))
    try:
        return decode(Scoring, blobs.get_json(item.content_key)) if item.content_key else None
    except NotFound:
        return None
