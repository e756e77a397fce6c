"""What an owner does with a run: pause, resume, cancel, retry its errors, expand its sample.

Each is one move of the state table; what follows from it (stopping, dispatching) is the workers' and the dispatcher's.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from cupel_core.domain.runs.barrier import FANOUT, Node, leaf_of
from cupel_core.domain.runs.plan import MAX_PROBES
from cupel_core.domain.runs.run import Action, IllegalMove, Retry, Run, RunStatus
from cupel_core.domain.runs.sampling import expand as grow
from cupel_core.errors import Conflict, Invalid
from cupel_core.ids import new_id
from cupel_core.messages import RunRef
from cupel_core.runs import dispatch
from cupel_core.runs.cases import Cases, cases
from cupel_core.store import barrier, keys, runs, snapshots


def pause(workspace: str, run_id: str, now: datetime, reason: str | None = None) -> Run:
    """No new model call starts within 5 s; conversations in flight are recorded."""
    return _steer(RunRef(workspace, run_id), Action.PAUSE, RunStatus.PAUSED, now, pause_reason=reason or "by a person")


def resume(workspace: str, run_id: str, now: datetime) -> Run:
    """What the barrier misses is dispatched again."""
    run = _steer(RunRef(workspace, run_id), Action.RESUME, RunStatus.RUNNING, now, pause_reason=None)
    dispatch.ask(run)
    return run


def cancel(workspace: str, run_id: str, now: datetime) -> Run:
    """Transcripts stay."""
    return _steer(RunRef(workspace, run_id), Action.CANCEL, RunStatus.CANCELLED, now, completed_at=now)


def retry(
    workspace: str, run_id: str, now: datetime, *, model: str | None = None, probe_index: int | None = None
) -> Run:
    """Runs errored probes again, in a new epoch; a run whose finishing gave up is finished again also without any.

    Conflict when there is nothing to do again, or while the run is not over.
    """
    run = runs.get(RunRef(workspace, run_id))
    wanted = Retry(model, probe_index)
    _check_retry(run, wanted)
    _check_move(run, Action.REOPEN)
    finish_failed = run.failure is not None and run.failure.where != "probing"
    if not finish_failed and next(_errored(run, wanted), None) is None:
        raise Conflict(f"none of these probes is errored; the run is {run.status}")
    return _reopen(run, now, {"retry": {"model": model, "probeIndex": probe_index}}, retry=wanted)


def expand(workspace: str, run_id: str, percentage: int, now: datetime) -> Run:
    """Adds scenarios to a sampled run; those it has stay, with their probes' indexes."""
    run = runs.get(RunRef(workspace, run_id))
    if not run.sample_percentage < percentage <= 100:
        raise Invalid.field("samplePercentage", f"must be more than the run's {run.sample_percentage} and at most 100")
    _check_move(run, Action.REOPEN)
    before = snapshots.get(run.snapshot_key)
    added = grow(before.manifest.total, run.sample_percentage, percentage, run.sample_seed)
    known = Cases(before.selection, before.personas, before.cast)
    grown = cases(workspace, before.manifest, added, before=known)
    more = len(grown.selection) - len(before.selection)
    plan = replace(run.plan, segments=(*run.plan.segments, more)) if more else run.plan
    if plan.total > MAX_PROBES:
        raise Invalid(f"this run would have {plan.total:,} probes; at most {MAX_PROBES:,} are possible")
    key = keys.snapshot_blob(RunRef(workspace, run_id), new_id("snapshot"))
    snapshots.put(key, replace(before, **grown._asdict()))
    data: dict[str, object] = {"samplePercentage": percentage, "total": plan.total}
    return _reopen(run, now, data, retry=None, plan=plan, sample_percentage=percentage, snapshot_key=key)


def _steer(ref: RunRef, action: Action, already: RunStatus, now: datetime, **changes: Any) -> Run:
    """The move, or the run as it is when it is already there."""
    try:
        return runs.move(ref, action, now, **changes)
    except IllegalMove as refusal:
        if refusal.status is already:
            return runs.get(ref)
        raise Conflict(str(refusal)) from None


def _check_move(run: Run, action: Action) -> None:
    if run.status not in (RunStatus.COMPLETED, RunStatus.FAILED):
        raise Conflict(str(IllegalMove(action, run.status)))


def _check_retry(run: Run, wanted: Retry) -> None:
    if wanted.model is not None and wanted.probe_index is not None:
        raise Invalid.field("probeIndex", "goes without model: a probe has one model")
    if wanted.model is not None and wanted.model not in run.models:
        raise Invalid.field("model", f"must be one of the run's models: {', '.join(run.models)}")
    if wanted.probe_index is not None and not 0 <= wanted.probe_index < run.plan.total:
        raise Invalid.field("probeIndex", f"must be from 0 to {run.plan.total - 1}")


def _errored(run: Run, wanted: Retry) -> Iterator[int]:
    """Leaf by leaf, so that the first errored probe ends the search."""
    ref = RunRef(run.workspace, run.id)
    for span in wanted.ranges(run.plan):
        for parent in range(leaf_of(span.start).parent.number, leaf_of(span.stop - 1).parent.number + 1):
            for number, item in barrier.leaves(ref, Node(1, parent)).items():
                yield from (number * FANOUT + offset for offset in item.leaf.failed if number * FANOUT + offset in span)


def _reopen(run: Run, now: datetime, data: dict[str, object], **changes: Any) -> Run:
    """From COMPLETED or FAILED back to RUNNING, as the run was when it was read."""
    try:
        reopened = runs.move(
            RunRef(run.workspace, run.id),
            Action.REOPEN,
            now,
            epoch=run.epoch,
            data=data,
            settled=None,
            completed_at=None,
            failure=None,
            **changes,
        )
    except IllegalMove as refusal:
        raise Conflict(str(refusal)) from None
    dispatch.ask(reopened)
    return reopened
