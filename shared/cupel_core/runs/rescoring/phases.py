"""The phases of a rescore's execution: begin → score → compare → complete, or fail. Each may be repeated."""

from datetime import datetime

from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import RunRef
from cupel_core.domain.codec import decode
from cupel_core.domain.runs.leaf_ranges import LeafRange, leaf_ranges
from cupel_core.domain.runs.run import RunFailure
from cupel_core.domain.scoring.rescores import Rescore, RescoreStatus
from cupel_core.domain.scoring.unscored import DESCRIPTIONS, UnscoredCause, UnscoredCode
from cupel_core.runs.rescoring.comparisons import comparison_ranges
from cupel_core.store import rescore_results, rescores, runs
from cupel_core.store.keys import PROBES_PER_BLOCK

DELETED = "DELETED"
"""The result in place of the status if the run was deleted meanwhile. The execution ends without a failure."""


@dataclass(frozen=True)
class BeginResult:
    """The rescore's status, or DELETED, and its work if it is RUNNING."""

    status: str
    slices: tuple[LeafRange, ...] = ()
    comparisons: tuple[LeafRange, ...] = ()


def begin(ref: RunRef, rescore_id: str) -> BeginResult:
    """Mark a pending rescore as RUNNING, unless its run was deleted."""
    run = runs.find(ref)
    if run is None:
        return BeginResult(DELETED)
    rescore = rescores.mark_running(ref, rescore_id)
    if rescore.status is not RescoreStatus.RUNNING:
        return BeginResult(rescore.status)
    ranges = leaf_ranges(rescore.probe_count)
    chosen = tuple(each for each in ranges if rescore.chosen(each.indexes(rescore.probe_count)))
    return BeginResult(rescore.status, chosen, comparison_ranges(run, rescore))


def complete(ref: RunRef, rescore_id: str, now: datetime) -> str:
    """Complete the rescore, or fail it if its own budget was used up or nothing could be scored. Return its status, or
    DELETED if its run was."""
    return _end(ref, rescore_id, now)


def fail(ref: RunRef, rescore_id: str, where: str, why: str, now: datetime) -> str:
    """Fail the rescore, because its workflow gave up. Results stored until then stay readable."""
    return _end(ref, rescore_id, now, RunFailure(where, why))


def _end(ref: RunRef, rescore_id: str, now: datetime, failure: RunFailure | None = None) -> str:
    if runs.find(ref) is None:
        return DELETED
    rescore = rescores.get(ref, rescore_id)
    if rescore.status.is_over:
        return rescore.status
    counts = rescores.get_counts(rescore)
    why = "" if counts.scored or not counts.errors else _why_unscored(ref, rescore)
    return rescores.end(rescore.finished(now, counts, failure, why)).status


def _why_unscored(ref: RunRef, rescore: Rescore) -> str:
    """Return why the first transcript could not be scored. The error itself may quote the transcript, so it is not
    copied. The cause stays when a result's content is erased."""
    bodies = rescore_results.list_bodies(ref, rescore.id, range(min(rescore.probe_count, PROBES_PER_BLOCK)))
    causes = (decode(UnscoredCause, body["cause"]) for _, body in bodies if "cause" in body)
    cause = next(causes, UnscoredCause(UnscoredCode.DELETED))
    name = f"{cause.code}{f' of {cause.model}' if cause.model else ''}"
    provider_code = f" ({cause.provider_code})" if cause.provider_code else ""
    return f"{DESCRIPTIONS[cause.code]}{provider_code}; {name}"
