"""Labels of transcripts, in one partition for each thousand probes of a run."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pynamodb.attributes import JSONAttribute, NumberAttribute, NumberSetAttribute

from cupel_core.base.deferred import replace
from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import parse_index
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.labelling.labels import Label
from cupel_core.store import keys, partitions
from cupel_core.store.batches import get_batch, put_batch
from cupel_core.store.table import Item, updated

_MAX_ATTEMPTS = 6


class LabelItem(Item):
    body = JSONAttribute()
    revision = NumberAttribute()


class LabelledBlocksItem(Item):
    blocks = NumberSetAttribute(null=True)


class LabelKey(NamedTuple):
    """Identifies the label that one person gave to one transcript for one criterion."""

    probe_index: int
    retry_round: int
    criterion: str
    labeller: str

    @classmethod
    def of(cls, label: Label) -> "LabelKey":
        return cls(label.probe_index, label.retry_round, label.criterion, label.labeller)

    @property
    def block(self) -> int:
        return self.probe_index // keys.PROBES_PER_BLOCK

    @property
    def sort_key(self) -> str:
        digest = hashlib.sha256(f"{self.criterion}\0{self.labeller}".encode()).hexdigest()
        return f"{_prefix(self.probe_index)}{self.retry_round:06d}#{digest[:32]}"


def _prefix(index: int) -> str:
    return f"{keys.probe(index)}#"


def save(ref: RunRef, label: Label) -> Label:
    """Store what a labeller says now, and return it with what the earlier label of the same key keeps."""
    key = LabelKey.of(label)
    _note_blocks(ref, {key.block})
    for _ in range(_MAX_ATTEMPTS):
        before = _find_item(ref, key)
        after = label if before is None else _label(before).changed(label)
        if _write(ref, key, after, before):
            return after
    raise RetryableError("the label is being changed at the same time; try again")


def reveal(ref: RunRef, key: LabelKey) -> Label | None:
    """Note that the judge's verdict is shown to the labeller. Return None if there is no such label."""
    for _ in range(_MAX_ATTEMPTS):
        before = _find_item(ref, key)
        if before is None:
            return None
        label = _label(before)
        after = replace(label, is_revealed=True)
        if label.is_revealed or _write(ref, key, after, before):
            return after
    raise RetryableError("the label is being changed at the same time; try again")


def delete(ref: RunRef, key: LabelKey) -> None:
    LabelItem(keys.labels(ref, key.block), key.sort_key).delete()


def may_exist(ref: RunRef) -> bool:
    """Return False for a run that never had a label. This reads one item."""
    return bool(_blocks(ref))


def list_of_run(ref: RunRef, start: str = "") -> Iterator[Label]:
    """Yield the labels of a run by probe index, from a sort key on. The reads are strongly consistent."""
    first = parse_index(start.partition("#")[0]) // keys.PROBES_PER_BLOCK if start else 0
    condition = LabelItem.sk >= start if start else None
    for block in _blocks(ref):
        if block >= first:
            yield from map(_label, LabelItem.query(keys.labels(ref, block), condition, consistent_read=True))


def list_of_probe(ref: RunRef, index: int) -> Iterator[Label]:
    partition = keys.labels(ref, index // keys.PROBES_PER_BLOCK)
    items = LabelItem.query(partition, LabelItem.sk.startswith(_prefix(index)), consistent_read=True)
    return map(_label, items)


def read_many(ref: RunRef, wanted: Collection[LabelKey]) -> dict[LabelKey, Label]:
    """Return the labels that exist."""
    raw = get_batch({"pk": {"S": keys.labels(ref, key.block)}, "sk": {"S": key.sort_key}} for key in wanted)
    found = (_label(LabelItem.from_raw_data(item)) for item in raw)
    return {LabelKey.of(label): label for label in found}


def write_many(ref: RunRef, labels: Sequence[Label], before: Mapping[LabelKey, Label]) -> None:
    """Store labels. One that replaces another, in `before`, keeps what that one keeps. After an error, some of them may
    be stored."""
    by_key = {LabelKey.of(label): label for label in labels}
    _note_blocks(ref, {key.block for key in by_key})
    put_batch(_item(ref, key, label, 1).serialize() for key, label in by_key.items() if key not in before)
    for key in by_key.keys() & before.keys():
        save(ref, by_key[key])


def erase_probe(ref: RunRef, index: int) -> None:
    partitions.erase(keys.labels(ref, index // keys.PROBES_PER_BLOCK), prefix=_prefix(index))


def erase_expired_notes(ref: RunRef, block: int, now: datetime) -> None:
    """Erase the notes of a block that may quote a conversation whose retention period has ended."""
    for item in list(LabelItem.query(keys.labels(ref, block), consistent_read=True)):
        label = _label(item)
        if (readable := label.readable_at(now)) != label:
            _write(ref, LabelKey.of(label), readable, item)  # A label that was changed meanwhile is left for later.


def _note_blocks(ref: RunRef, blocks: Collection[int]) -> None:
    """List the blocks before they have a label: an empty one that is listed does no harm."""
    if new := set(blocks) - set(_blocks(ref)):
        LabelledBlocksItem(keys.run(ref), keys.LABELLED).update(actions=[LabelledBlocksItem.blocks.add(new)])


def _blocks(ref: RunRef) -> list[int]:
    try:
        item = LabelledBlocksItem.get(keys.run(ref), keys.LABELLED, consistent_read=True)
    except LabelledBlocksItem.DoesNotExist:
        return []
    return sorted(map(int, item.blocks or ()))


def _find_item(ref: RunRef, key: LabelKey) -> LabelItem | None:
    try:
        return LabelItem.get(keys.labels(ref, key.block), key.sort_key, consistent_read=True)
    except LabelItem.DoesNotExist:
        return None


def _item(ref: RunRef, key: LabelKey, label: Label, revision: int) -> LabelItem:
    return LabelItem(keys.labels(ref, key.block), key.sort_key, body=encode(label), revision=revision)


def _write(ref: RunRef, key: LabelKey, label: Label, before: LabelItem | None) -> bool:
    """Write a label unless it was changed since it was read. Return whether it was written."""
    item = _item(ref, key, label, int(before.revision) + 1 if before else 1)
    unchanged = LabelItem.pk.does_not_exist() if before is None else LabelItem.revision == before.revision
    return updated(item, [LabelItem.body.set(item.body), LabelItem.revision.set(item.revision)], unchanged)


def _label(item: LabelItem) -> Label:
    return decode(Label, item.body)
