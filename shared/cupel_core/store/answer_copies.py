"""The definitions that have copies of a run's answers: one item of the run per definition, written before the
copies."""

from collections.abc import Iterable, Iterator

from cupel_core.base.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.batches import put_batch
from cupel_core.store.table import Item

_PREFIX = "copies#"


class AnswerCopiesItem(Item):
    pass


def add(refs: Iterable[RunRef], definition_id: str) -> None:
    put_batch(AnswerCopiesItem(keys.run(ref), f"{_PREFIX}{definition_id}").serialize() for ref in refs)


def list_definition_ids(ref: RunRef) -> Iterator[str]:
    """Yield the ids, also of definitions that were erased or never created. The read is strongly consistent."""
    items = AnswerCopiesItem.query(keys.run(ref), AnswerCopiesItem.sk.startswith(_PREFIX), consistent_read=True)
    return (item.sk.removeprefix(_PREFIX) for item in items)
