"""Errors of probes that were retried: a probe's history, beside the outcome that counts."""

from collections.abc import Iterable, Iterator

from shared.domain.transcripts import ProbeError
from shared.messages import RunRef
from shared.store import keys, outcomes
from shared.store.outcome_items import OutcomeItem, from_item


def keep(ref: RunRef, indexes: Iterable[int]) -> None:
    """Copies the errors of probes that are about to be run again. Copying twice is copying once."""
    with OutcomeItem.batch_write() as batch:
        for item in outcomes.errors(ref, indexes):
            item.pk, item.sk = keys.attempts(ref, item.index), keys.at(item.index, int(item.epoch))
            batch.save(item)


def of(ref: RunRef, index: int) -> Iterator[ProbeError]:
    """The earlier errors of a probe, oldest first."""
    first, last = keys.at(index, 0), keys.at(index, 999_999)
    for item in OutcomeItem.query(keys.attempts(ref, index), OutcomeItem.sk.between(first, last)):
        outcome = from_item(item)
        if isinstance(outcome, ProbeError):
            yield outcome
