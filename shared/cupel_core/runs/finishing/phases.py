"""The transitions of the finishing execution: settle → summarize → tabulate → analyze → complete, or fail.

Counting and analyzing are in `cupel_core.analysis.workflow`.

Step Functions repeats a task whose reply was lost, so each phase may be repeated, and then finds its work done.

Each phase is a conditional transition under the run's fencing token. A task of an execution that was aborted may still
be running when the next execution starts; whichever comes second finds the transition made. While a probe has no
outcome, settling raises an error that Step Functions retries. A run of which no probe completed becomes FAILED, with
its most frequent error. A failed count or analysis is recorded, and the run completes anyway.
"""

from collections import Counter
from datetime import datetime

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.leaf_ranges import LeafRange, leaf_ranges
from cupel_core.domain.runs.run import Action, IllegalTransition, Progress, Run, RunFailure, RunStatus
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.text.counts import count_of
from cupel_core.scoring.selections import needs_selection
from cupel_core.store import barrier, outcomes, runs, snapshots
from cupel_core.store.barrier import Tree

DELETED = "DELETED"
"""In place of a status, for a run that was deleted meanwhile: its execution ends without a failure."""
_FINISHABLE = frozenset({RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SUMMARIZING})
_MAX_EXAMINED = 1_000
"""Errored probes that are examined to explain why a run failed."""


@dataclass(frozen=True)
class SettleResult:
    """The run's status after settling, or DELETED; and its slices if a judge is needed."""

    status: str
    slices: tuple[LeafRange, ...] = ()
    total: int = 0
    """Probes of the run."""


def settle(ref: RunRef, fencing_token: int, now: datetime) -> SettleResult:
    """Settle the run's counts: SUMMARIZING if a probe completed, otherwise FAILED.

    Leaves a run that is paused or cancelled, or whose fencing token has advanced. Raises Conflict while probes have no
    outcome.
    """
    try:
        run = runs.get(ref)
        if run.fencing_token != fencing_token or run.status not in _FINISHABLE:
            return SettleResult(run.status, total=run.plan.total)
        if run.status is not RunStatus.SUMMARIZING:
            run = _settle(ref, run, now)
    except NotFound:
        return SettleResult(DELETED)
    except IllegalTransition:  # Another execution, or a user, has changed the run since it was read.
        return settle(ref, fencing_token, now)
    return SettleResult(run.status, _slices(run) if run.status is RunStatus.SUMMARIZING else (), run.plan.total)


def complete(ref: RunRef, fencing_token: int, now: datetime) -> str:
    """Complete the run, unless it has moved on; returns its status afterwards, or DELETED."""
    try:
        spend = barrier.get_state(Tree.for_run(runs.get(ref))).spend
        return runs.transition(
            ref, Action.COMPLETE, now, fencing_token=fencing_token, completed_at=now, spend=spend
        ).status
    except (IllegalTransition, Conflict):
        return _status(ref)
    except NotFound:
        return DELETED


def _status(ref: RunRef) -> str:
    try:
        return runs.get(ref).status
    except NotFound:
        return DELETED


def fail(ref: RunRef, fencing_token: int, where: str, why: str, now: datetime) -> str:
    """Fail a settled run, because its workflow gave up; returns its status afterwards, or DELETED.

    A run that is not settled stays unchanged: the sweeper starts another execution for it.
    """
    try:
        return _fail(ref, fencing_token, RunFailure(where, why), now)
    except (IllegalTransition, Conflict):
        return _status(ref)
    except NotFound:
        return DELETED


def _fail(ref: RunRef, fencing_token: int, failure: RunFailure, now: datetime) -> RunStatus:
    run = runs.get(ref)
    if run.status is not RunStatus.SUMMARIZING or run.fencing_token != fencing_token:
        return run.status
    data: dict[str, object] = {"failure": failure.to_event()}
    return runs.transition(
        ref,
        Action.FAIL,
        now,
        fencing_token=fencing_token,
        event_data=data,
        completed_at=now,
        failure=failure,
        spend=barrier.get_state(Tree.for_run(run)).spend,
    ).status


def _settle(ref: RunRef, run: Run, now: datetime) -> Run:
    counts, spend, _ = barrier.get_state(Tree.for_run(run))
    if not counts.finished:
        missing = counts.total - counts.completed - counts.failed
        raise Conflict(f"{count_of(missing, 'probe')} without an outcome yet")
    data: dict[str, object] = {"completed": counts.completed, "failed": counts.failed}
    if not counts.completed:
        failure = _failure(ref, counts)
        data["failure"] = failure.to_event()
        return runs.transition(
            ref,
            Action.FAIL,
            now,
            fencing_token=run.fencing_token,
            event_data=data,
            settled=counts,
            spend=spend,
            completed_at=now,
            failure=failure,
        )
    if run.status is RunStatus.PENDING:
        runs.transition(ref, Action.START, now, fencing_token=run.fencing_token, started_at=now)
    return runs.transition(ref, Action.SUMMARIZE, now, fencing_token=run.fencing_token, event_data=data, settled=counts)


def _failure(ref: RunRef, counts: Progress) -> RunFailure:
    """The most frequent error of a run without transcripts."""
    stored = outcomes.list_outcomes(ref, range(min(counts.total, _MAX_EXAMINED)))
    errors = [outcome for outcome in stored if isinstance(outcome, ProbeError)]
    if not errors:
        return RunFailure("probing", "no probe completed")
    code, count = Counter(error.code for error in errors).most_common(1)[0]
    example = next(error.probe_index for error in errors if error.code == code)
    why = f"no probe completed; most often {code} ({count} of {len(errors)} examined)"
    return RunFailure("probing", why, example)


def _slices(run: Run) -> tuple[LeafRange, ...]:
    snapshot = snapshots.get(run.snapshot_key)
    rules = Content.from_json(snapshot.definition).decision
    has_judge = rules is not None and rules.judged_by(run.grader_config.judge_model) is not None
    return leaf_ranges(run.plan.total) if has_judge or needs_selection(snapshot) else ()
