"""Results of select-best assertions, which compare several targets' answers. In a retry round the first writer wins."""

from datetime import datetime

from pynamodb.attributes import JSONAttribute, NumberAttribute
from pynamodb.exceptions import PutError

from cupel_core.domain.scoring.selections import Selection
from cupel_core.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.table import Item, error_code

RUN_SCORING = "run"
"""Stands for the scoring that the transcripts themselves carry, in place of a rescore's id."""


class SelectionItem(Item):
    retry_round = NumberAttribute(attr_name="generation")
    body = JSONAttribute()
    ttl = NumberAttribute(null=True)


def get(ref: RunRef, scoring_id: str, index: int, assertion_index: int) -> Selection | None:
    """A recorded selection. `index` is the lowest sibling's; `assertion_index` counts select-best assertions."""
    try:
        item = SelectionItem.get(
            keys.selections(ref, scoring_id, index), keys.numbered_probe(index, assertion_index), consistent_read=True
        )
    except SelectionItem.DoesNotExist:
        return None
    return Selection.from_json(item.body)


def record(
    ref: RunRef, scoring_id: str, index: int, assertion_index: int, selection: Selection, expires_at: datetime | None
) -> Selection:
    """Record a selection; returns this one, or the one that was recorded first in the same retry round."""
    item = SelectionItem(
        keys.selections(ref, scoring_id, index),
        keys.numbered_probe(index, assertion_index),
        retry_round=selection.retry_round,
        body=selection.to_json(),
        ttl=int(expires_at.timestamp()) if expires_at else None,
    )
    try:
        item.save(condition=SelectionItem.pk.does_not_exist() | (SelectionItem.retry_round < selection.retry_round))
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return get(ref, scoring_id, index, assertion_index) or selection
    return selection
