"""Earlier errors of retried probes. They are a probe's history beside the outcome that counts."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.store import keys, outcomes
from cupel_core.store.outcome_items import OutcomeItem, digest


def record(ref: RunRef, indexes: Iterable[int]) -> None:
    """Copy the errors of probes that are about to be retried. Copying them again changes nothing."""
    with OutcomeItem.batch_write() as batch:
        for item in outcomes.list_error_items(ref, indexes):
            item.pk, item.sk = keys.attempts(ref, item.index), keys.numbered_probe(item.index, int(item.fencing_token))
            batch.save(item)


def erase_content(ref: RunRef, index: int, now: datetime) -> None:
    """Erase the messages of a probe's earlier errors. Their codes stay."""
    first, last = keys.numbered_probe(index, 0), keys.numbered_probe(index, 999_999)
    for item in OutcomeItem.query(keys.attempts(ref, index), OutcomeItem.sk.between(first, last), consistent_read=True):
        outcomes.erase_item(item, now)


def list_attempts(ref: RunRef, indexes: Sequence[int]) -> dict[int, list[ProbeError]]:
    """Return the earlier errors by index, oldest first. Probes without any are left out."""
    requested, errors = set(indexes), dict[int, list[ProbeError]]()
    for partition, group in groupby(sorted(indexes), key=lambda index: keys.attempts(ref, index)):
        block = list(group)
        first, last = keys.numbered_probe(block[0], 0), keys.numbered_probe(block[-1], 999_999)
        for item in OutcomeItem.query(partition, OutcomeItem.sk.between(first, last)):
            outcome = digest(item)
            if item.index in requested and isinstance(outcome, ProbeError):
                errors.setdefault(item.index, []).append(outcome)
    return errors
