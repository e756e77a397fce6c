"""Changes to the scoring of a transcript after it was recorded."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.messages import RunRef
from cupel_core.store import blobs, keys
from cupel_core.store.outcome_items import OutcomeItem, from_item, to_item
from cupel_core.store.table import updated

_CONTENT: dict[str, Attribute[Any]] = {
    "packed": OutcomeItem.packed,
    "content": OutcomeItem.content,
    "content_key": OutcomeItem.content_key,
}


def amend(ref: RunRef, index: int, change: Callable[[Transcript], Transcript]) -> None:
    """Rewrite a transcript with `change`, unless that changes nothing or the transcript or its content was deleted."""
    try:
        item = OutcomeItem.get(keys.probes(ref, index), keys.probe(index), consistent_read=True)
    except OutcomeItem.DoesNotExist:
        return
    before = from_item(item)
    if isinstance(before, Transcript) and before.messages and (after := change(before)) != before:
        _rewrite(item, to_item(ref, int(item.fencing_token), after))


def amend_scoring(ref: RunRef, index: int, change: Callable[[Scoring], Scoring]) -> None:
    """Rewrite the scoring of a transcript with `change`, under the same conditions."""
    amend(ref, index, lambda transcript: _with_scoring(transcript, change))


def _with_scoring(transcript: Transcript, change: Callable[[Scoring], Scoring]) -> Transcript:
    return replace(transcript, scoring=change(transcript.scoring)) if transcript.scoring else transcript


def _rewrite(item: OutcomeItem, changed: OutcomeItem) -> None:
    """Write if the content is still the one that was read; delete the object that no item refers to any more."""
    before, after = item.content_key, changed.content_key
    actions: list[Action] = [OutcomeItem.body.set(changed.body)]
    for name, attribute in _CONTENT.items():
        value = getattr(changed, name)
        actions.append(attribute.remove() if value is None else attribute.set(value))
    if not updated(item, actions, _is_unchanged(item)):
        before, after = after, before
    if before is not None and before != after:
        blobs.delete(before)


def _is_unchanged(item: OutcomeItem) -> Condition:
    values = ((attribute, getattr(item, name)) for name, attribute in _CONTENT.items())
    condition: Condition = next(attribute == value for attribute, value in values if value is not None)
    return condition
