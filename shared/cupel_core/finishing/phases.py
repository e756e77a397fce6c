"""The phases of the finishing execution: settle → judge (by slices of leaves) → complete, or fail.

Step Functions repeats a task whose reply was lost, so each phase may come again and then finds itself done.
"""

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime

from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.leaf_ranges import LeafRange, leaf_ranges
from cupel_core.domain.runs.run import Action, Failure, IllegalMove, Progress, Run, RunStatus
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.errors import Conflict
from cupel_core.finishing.compare import has_contests
from cupel_core.messages import RunRef
from cupel_core.store import barrier, outcomes, runs, snapshots
from cupel_core.store.barrier import Tree

_EXAMINED = 1_000
"""Errored probes that are looked at to say why a run failed."""


@dataclass(frozen=True)
class Settled:
    """Where the run stands after settling; slices only when a judge is needed."""

    status: RunStatus
    slices: tuple[LeafRange, ...] = ()


def settle(ref: RunRef, epoch: int, now: datetime) -> Settled:
    """SUMMARIZING when a probe completed, else FAILED. A run that is paused, cancelled or of another epoch is left."""
    run = runs.get(ref)
    if run.epoch != epoch or run.status not in (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SUMMARIZING):
        return Settled(run.status)
    if run.status is not RunStatus.SUMMARIZING:
        run = _settle(ref, run, now)
    return Settled(run.status, _slices(run) if run.status is RunStatus.SUMMARIZING else ())


def complete(ref: RunRef, epoch: int, now: datetime) -> RunStatus:
    """The run's status afterwards, also when it was not ours to complete any more."""
    try:
        return runs.move(ref, Action.COMPLETE, now, epoch=epoch, completed_at=now).status
    except (IllegalMove, Conflict):
        return runs.get(ref).status


def fail(ref: RunRef, epoch: int, where: str, why: str, now: datetime) -> RunStatus:
    """The workflow gave up. A run that was not settled stays as it is: the sweeper starts its finish again."""
    run = runs.get(ref)
    if run.status is not RunStatus.SUMMARIZING or run.epoch != epoch:
        return run.status
    failure = Failure(where, why)
    data: dict[str, object] = {"failure": asdict(failure)}
    return runs.move(ref, Action.FAIL, now, epoch=epoch, data=data, completed_at=now, failure=failure).status


def _settle(ref: RunRef, run: Run, now: datetime) -> Run:
    counts = barrier.progress(Tree.of(run))
    if not counts.finished:
        raise Conflict(f"{counts.total - counts.completed - counts.failed} probes have no outcome yet")
    data: dict[str, object] = {"completed": counts.completed, "failed": counts.failed}
    if not counts.completed:
        failure = Failure("probing", _why(ref, counts))
        data["failure"] = asdict(failure)
        return runs.move(
            ref, Action.FAIL, now, epoch=run.epoch, data=data, settled=counts, completed_at=now, failure=failure
        )
    if run.status is RunStatus.PENDING:
        runs.move(ref, Action.START, now, epoch=run.epoch, started_at=now)
    return runs.move(ref, Action.SUMMARIZE, now, epoch=run.epoch, data=data, settled=counts)


def _why(ref: RunRef, counts: Progress) -> str:
    """The most frequent error of a run without a transcript."""
    errors = [
        each for each in outcomes.in_range(ref, range(min(counts.total, _EXAMINED))) if isinstance(each, ProbeError)
    ]
    if not errors:
        return "no probe completed"
    code, count = Counter(error.code for error in errors).most_common(1)[0]
    example = next(error.message for error in errors if error.code == code)
    return f"no probe completed; most often {code} ({count} of {len(errors)} looked at): {example}"


def _slices(run: Run) -> tuple[LeafRange, ...]:
    snapshot = snapshots.get(run.snapshot_key)
    rules = Content.from_json(snapshot.definition).decision
    summarized_by_judge = rules is not None and bool(rules.rubric and rules.judge_model)
    return leaf_ranges(run.plan.total) if summarized_by_judge or has_contests(snapshot) else ()
