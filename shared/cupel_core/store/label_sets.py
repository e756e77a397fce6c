"""Label sets of runs. They are items of the run's partition and never change."""

from collections.abc import Iterator

from pynamodb.attributes import JSONAttribute

from cupel_core.base.errors import NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.labelling.label_sets import LabelSet
from cupel_core.store import keys
from cupel_core.store.table import Item


class StoredLabelSet(Item):
    body = JSONAttribute()


def create(ref: RunRef, label_set: LabelSet) -> None:
    StoredLabelSet(keys.run(ref), keys.label_set(label_set.id), body=encode(label_set)).save(
        StoredLabelSet.pk.does_not_exist()
    )


def get(ref: RunRef, label_set_id: str) -> LabelSet:
    try:
        item = StoredLabelSet.get(keys.run(ref), keys.label_set(label_set_id), consistent_read=True)
    except StoredLabelSet.DoesNotExist:
        raise NotFound(f"there is no label set {label_set_id} of the run {ref.run_id}") from None
    return decode(LabelSet, item.body)


def list_of_run(ref: RunRef) -> Iterator[LabelSet]:
    """Yield the label sets of a run, oldest first."""
    items = StoredLabelSet.query(keys.run(ref), StoredLabelSet.sk.startswith(keys.LABEL_SETS), consistent_read=True)
    return (decode(LabelSet, item.body) for item in items)


def delete(ref: RunRef, label_set_id: str) -> None:
    StoredLabelSet(keys.run(ref), keys.label_set(label_set_id)).delete()
