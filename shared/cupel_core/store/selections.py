"""Results of select-best assertions, which compare several targets' answers. In a retry round the first writer wins."""

from collections.abc import Iterator
from datetime import UTC, datetime

from pynamodb.attributes import JSONAttribute, NumberAttribute
from pynamodb.exceptions import PutError

from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.scoring.selections import Selection
from cupel_core.store import keys
from cupel_core.store.table import Item, error_code, updated

RUN_SCORING = "run"
"""The name in place of a rescore's id for the scoring that the transcripts themselves have."""


class SelectionItem(Item):
    retry_round = NumberAttribute(attr_name="retryRound")
    body = JSONAttribute()
    ttl = NumberAttribute(null=True)
    """The earliest expiry of the answers that the reason may quote."""


@dataclass(frozen=True)
class StoredSelection:
    first_probe: int
    """The lowest index of the siblings that were compared."""
    assertion_index: int
    selection: Selection
    expires_at: datetime | None
    """The earliest expiry of the answers that the reason may quote."""


def get(ref: RunRef, scoring_id: str, index: int, assertion_index: int) -> Selection | None:
    """Return a recorded selection. `index` is the lowest sibling's; `assertion_index` counts select-best assertions."""
    try:
        item = SelectionItem.get(
            keys.selections(ref, scoring_id, index), keys.numbered_probe(index, assertion_index), consistent_read=True
        )
    except SelectionItem.DoesNotExist:
        return None
    return decode(Selection, item.body)


def list_block(ref: RunRef, scoring_id: str, block: int) -> Iterator[StoredSelection]:
    partition = keys.selections(ref, scoring_id, block * keys.PROBES_PER_BLOCK)
    for item in SelectionItem.query(partition, consistent_read=True):
        index, _, assertion_index = item.sk.partition("#")
        expires = None if item.ttl is None else datetime.fromtimestamp(item.ttl, UTC)
        yield StoredSelection(int(index), int(assertion_index), decode(Selection, item.body), expires)


def list_range(ref: RunRef, scoring_id: str, indexes: range) -> Iterator[Selection]:
    """Yield the selections whose lowest sibling is one of these probes, with one request per block."""
    for block in keys.blocks(indexes):
        between = SelectionItem.sk.between(*_numbered(block[0], block[-1]))
        for item in SelectionItem.query(keys.selections(ref, scoring_id, block[0]), between, consistent_read=True):
            yield decode(Selection, item.body)


def list_of_probe(ref: RunRef, scoring_id: str, index: int) -> Iterator[int]:
    between = SelectionItem.sk.between(*_numbered(index, index))
    for item in SelectionItem.query(keys.selections(ref, scoring_id, index), between, consistent_read=True):
        yield int(item.sk.partition("#")[2])


def _numbered(first: int, last: int) -> tuple[str, str]:
    return keys.numbered_probe(first, 0), keys.numbered_probe(last, 999_999)


def erase_content(ref: RunRef, scoring_id: str, index: int, assertion_index: int) -> None:
    """Erase the reason of a selection, which quotes the answers. The winner and the cost stay."""
    selection = get(ref, scoring_id, index, assertion_index)
    if selection is None:
        return
    item = SelectionItem(keys.selections(ref, scoring_id, index), keys.numbered_probe(index, assertion_index))
    actions = [SelectionItem.body.set(encode(selection.without_content())), SelectionItem.ttl.remove()]
    updated(item, actions, SelectionItem.retry_round == selection.retry_round)


def record(
    ref: RunRef, scoring_id: str, index: int, assertion_index: int, selection: Selection, expires_at: datetime | None
) -> Selection:
    """Record a selection and return it, or return the one that was recorded first in the same retry round."""
    item = SelectionItem(
        keys.selections(ref, scoring_id, index),
        keys.numbered_probe(index, assertion_index),
        retry_round=selection.retry_round,
        body=encode(selection),
        ttl=int(expires_at.timestamp()) if expires_at else None,
    )
    try:
        item.save(condition=SelectionItem.pk.does_not_exist() | (SelectionItem.retry_round < selection.retry_round))
    except PutError as error:
        if error_code(error) != "ConditionalCheckFailedException":
            raise
        return get(ref, scoring_id, index, assertion_index) or selection
    return selection
