from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store import blobs, outcomes
from cupel_core.store.outcome_items import OutcomeItem, encode_content, store_content, to_item
from cupel_core.store.table import updated

_CONTENT: dict[str, Attribute[Any]] = {
    "packed": OutcomeItem.packed,
    "content": OutcomeItem.content,
    "content_key": OutcomeItem.content_key,
    "page": OutcomeItem.page,
}


def amend(ref: RunRef, index: int, change: Callable[[Transcript], Transcript]) -> None:
    """Rewrite a transcript with `change`, unless that changes nothing or the transcript or its content was deleted."""
    if not _would_change(outcomes.get(ref, index), change) or (item := outcomes.own_item(ref, index)) is None:
        return
    before = outcomes.read_content(ref, item)
    if isinstance(before, Transcript) and before.messages and (after := change(before)) != before:
        changed = to_item(ref, int(item.fencing_token), after)
        store_content(ref, changed, encode_content(after))
        _rewrite(item, changed)


def _would_change(outcome: Outcome | None, change: Callable[[Transcript], Transcript]) -> bool:
    return isinstance(outcome, Transcript) and bool(outcome.messages) and change(outcome) != outcome


def amend_scoring(ref: RunRef, index: int, change: Callable[[Scoring], Scoring]) -> None:
    """Rewrite the scoring of a transcript with `change`, under the same conditions as `amend`."""
    amend(ref, index, lambda transcript: _with_scoring(transcript, change))


def _with_scoring(transcript: Transcript, change: Callable[[Scoring], Scoring]) -> Transcript:
    return replace(transcript, scoring=change(transcript.scoring)) if transcript.scoring else transcript


def _rewrite(item: OutcomeItem, changed: OutcomeItem) -> None:
    """Write the item if its content is still the one that was read. Delete the object that no item refers to any
    more."""
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
