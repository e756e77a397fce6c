"""Changes to the scoring of a transcript after it was recorded."""

from collections.abc import Callable
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.exceptions import UpdateError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.messages import RunRef
from cupel_core.store import blobs, keys
from cupel_core.store.outcome_items import OutcomeItem, from_item, to_item
from cupel_core.store.table import code_of

_CONTENT: dict[str, Attribute[Any]] = {
    "packed": OutcomeItem.packed,
    "content": OutcomeItem.content,
    "content_key": OutcomeItem.content_key,
}


def amend(ref: RunRef, index: int, change: Callable[[Transcript], Transcript]) -> None:
    """Rewrites a transcript unless `change` leaves it as it is, it is gone, or what was said in it was deleted."""
    try:
        item = OutcomeItem.get(keys.probes(ref, index), keys.probe(index), consistent_read=True)
    except OutcomeItem.DoesNotExist:
        return
    before = from_item(item)
    if isinstance(before, Transcript) and before.messages and (after := change(before)) != before:
        _rewrite(item, to_item(ref, int(item.epoch), after))


def _rewrite(item: OutcomeItem, changed: OutcomeItem) -> None:
    """On condition that the content is the one that was read; an object that nobody names any more is removed."""
    before, after = item.content_key, changed.content_key
    actions: list[Action] = [OutcomeItem.body.set(changed.body)]
    for name, attribute in _CONTENT.items():
        value = getattr(changed, name)
        actions.append(attribute.remove() if value is None else attribute.set(value))
    try:
        item.update(actions=actions, condition=_as_read(item))
    except UpdateError as error:
        if code_of(error) != "ConditionalCheckFailedException":
            raise
        before, after = after, before
    if before is not None and before != after:
        blobs.delete(before)


def _as_read(item: OutcomeItem) -> Condition:
    values = ((attribute, getattr(item, name)) for name, attribute in _CONTENT.items())
    condition: Condition = next(attribute == value for attribute, value in values if value is not None)
    return condition
