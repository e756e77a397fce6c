"""Errors of probes that were retried: a probe's history, beside the outcome that counts."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.messages import RunRef
from cupel_core.store import keys, outcomes
from cupel_core.store.outcome_items import OutcomeItem, from_item


def keep(ref: RunRef, indexes: Iterable[int]) -> None:
    """Copies the errors of probes that are about to be run again. Copying twice is copying once."""
    with OutcomeItem.batch_write() as batch:
        for item in outcomes.errors(ref, indexes):
            item.pk, item.sk = keys.attempts(ref, item.index), keys.at(item.index, int(item.epoch))
            batch.save(item)


def of(ref: RunRef, indexes: Sequence[int]) -> dict[int, list[ProbeError]]:
    """The earlier errors of probes that have any, oldest first. `indexes` ascend."""
    wanted, history = set(indexes), dict[int, list[ProbeError]]()
    for partition, group in groupby(indexes, key=lambda index: keys.attempts(ref, index)):
        block = list(group)
        first, last = keys.at(block[0], 0), keys.at(block[-1], 999_999)
        for item in OutcomeItem.query(partition, OutcomeItem.sk.between(first, last)):
            outcome = from_item(item)
            if item.index in wanted and isinstance(outcome, ProbeError):
                history.setdefault(item.index, []).append(outcome)
    return history
