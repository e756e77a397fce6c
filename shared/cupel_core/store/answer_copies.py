"""Which definitions have copies of a run's answers: an item of the run per definition, written before the copies."""

from collections.abc import Iterable, Iterator

from cupel_core.base.messages import RunRef
from cupel_core.store import keys
from cupel_core.store.batches import put_batch
from cupel_core.store.table import Item

_PREFIX = "copies#"


class AnswerCopiesItem(Item):
    """Its sort key has the definition's id."""


def add(refs: Iterable[RunRef], definition_id: str) -> None:
    """Of these runs."""
    put_batch(AnswerCopiesItem(keys.run(ref), f"{_PREFIX}{definition_id}").serialize() for ref in refs)


def list_definition_ids(ref: RunRef) -> Iterator[str]:
    """Even of definitions that were not created in the end, and of those that are erased. Strongly consistent."""
    items = AnswerCopiesItem.query(keys.run(ref), AnswerCopiesItem.sk.startswith(_PREFIX), consistent_read=True)
    return (item.sk.removeprefix(_PREFIX) for item in items)
