"""User control of a run: pause, resume, cancel, retry its errors, expand its sample.

Each is one transition of the run's state table. Workers and the dispatcher act on the new state.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from cupel_core import workspace_budgets
from cupel_core.domain.budgets.run_budget import RunBudget
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.barrier import FANOUT, Node, leaf_of
from cupel_core.domain.runs.run import Action, IllegalTransition, PauseReason, RetryScope, Run, RunStatus
from cupel_core.domain.runs.sampling import expand as expand_sample
from cupel_core.errors import Conflict, Invalid
from cupel_core.ids import new_id
from cupel_core.messages import DispatchRequest, RunRef
from cupel_core.probe_ranges import check_target
from cupel_core.runs import dispatch, open_runs
from cupel_core.runs.cases import RunCases, build_cases
from cupel_core.runs.validation import check_files, check_size
from cupel_core.store import barrier, budgets, governor, keys, outbox, runs, scenarios, snapshots

_NOT_PAUSED: dict[str, Any] = {"pause_reason": None, "pause_cause": None, "period_pause": None}


def pause(workspace: str, run_id: str, now: datetime, reason: PauseReason = PauseReason.USER) -> Run:
    """Pause a run: no new model call starts after 5 s, conversations in flight are recorded.

    A run that Cupel has paused becomes paused by the user, so that no repair resumes it; any other paused run is
    returned unchanged. Raises Conflict for a run that is neither PENDING, RUNNING nor PAUSED.
    """
    run = runs.get(RunRef(workspace, run_id))
    is_users = PauseReason.parse(run.pause_reason) is PauseReason.USER
    if run.status is RunStatus.PAUSED and (is_users or reason is not PauseReason.USER):
        return run
    # The cause of an earlier pause remains: resuming the run closes the breaker of its model.
    return _steer(RunRef(workspace, run_id), Action.PAUSE, RunStatus.PAUSED, now, pause_reason=reason)


def resume(workspace: str, run_id: str, now: datetime, *, fencing_token: int | None = None) -> Run:
    """Resume a paused run and dispatch the probes that its barrier is missing.

    Conflict if it is not paused, or its budget or the workspace's is used up. The model that it was paused for may be
    called again. With `fencing_token`, the pause must be the one of this token.
    """
    run = runs.get(RunRef(workspace, run_id))
    check_affordable(run, run.budget, now)
    return resume_unchecked(run, now, fencing_token=fencing_token)


def resume_unchecked(
    run: Run, now: datetime, *, fencing_token: int | None = None, budget: RunBudget | None = None
) -> Run:
    """The same whatever its budgets allow: its workers pause it if they are used up. `budget` is a new one."""
    if run.pause_cause is not None:
        model = run.pause_cause.model
        governor.reset_breaker(run.workspace, model.partition("/")[0], model)
    changes: dict[str, Any] = {**_NOT_PAUSED, "fencing_token": fencing_token}
    if budget is not None:
        changes.update(budget=budget, event_data={"maxBudgetUsd": budget.max_usd})
    resumed = _steer(RunRef(run.workspace, run.id), Action.RESUME, RunStatus.RUNNING, now, **changes)
    dispatch.enqueue(resumed)
    return resumed


def check_affordable(run: Run, budget: RunBudget | None, now: datetime) -> None:
    """Raises Conflict if a budget, this one of the run or the workspace's, has too little for a paused run."""
    if run.status is not RunStatus.PAUSED:
        return
    shortage = budget and budget.shortage(budgets.get(RunRef(run.workspace, run.id)), run.needed_nano_usd)
    if shortage is None:
        shortage = workspace_budgets.shortage(run.workspace, run.needed_nano_usd, now)
    if shortage is not None:
        raise Conflict(f"the run cannot resume: {shortage}")


def cancel(workspace: str, run_id: str, now: datetime) -> Run:
    """Cancel a run; its transcripts stay. Conflict for a run that is over or being summarized."""
    return _steer(RunRef(workspace, run_id), Action.CANCEL, RunStatus.CANCELLED, now, completed_at=now, **_NOT_PAUSED)


def retry(
    workspace: str, run_id: str, now: datetime, *, model: str | None = None, probe_index: int | None = None
) -> Run:
    """Run errored probes again in a new retry round: all, those of one model, or one probe.

    While the run is RUNNING, its other probes continue where they are. A run whose finishing failed is finished again
    even without errored probes. Raises Conflict when there is nothing to retry, and for a run that is PENDING, PAUSED,
    SUMMARIZING or CANCELLED.
    """
    run = runs.get(RunRef(workspace, run_id))
    scope = RetryScope(model, probe_index)
    _check_retry(run, scope)
    if refusal := _NO_RETRY.get(run.status):
        raise Conflict(f"the run is {run.status}: {refusal}")
    finishing_failed = run.failure is not None and run.failure.where != "probing"
    if not finishing_failed and next(_errored_probes(run, scope), None) is None:
        raise Conflict(f"none of these probes has an error; the run is {run.status}")
    if run.retry is not None and _is_dispatch_pending(run):
        scope = scope.merged_with(run.retry)  # Its errors may still have to be taken out of some leaves.
    return _reopen(run, now, {"retry": {"model": model, "probeIndex": probe_index}}, retry=scope)


def expand(workspace: str, run_id: str, percentage: int, now: datetime) -> Run:
    """Add scenarios to a sampled run, up to `percentage` of the definition's; existing probes keep their indexes.

    Raises Invalid for a percentage that is no increase, and Conflict while the run is not over.
    """
    run = runs.get(RunRef(workspace, run_id))
    if run.sample_percentage == 100:
        raise Invalid.field("samplePercentage", "cannot be raised: the run has every scenario already")
    if not run.sample_percentage < percentage <= 100:
        raise Invalid.field(
            "samplePercentage", f"must be greater than the run's {run.sample_percentage} and at most 100"
        )
    _check_is_over(run)
    snapshot = snapshots.get(run.snapshot_key)
    positions = expand_sample(snapshot.manifest.total, run.sample_percentage, percentage, run.sample_seed)
    existing = RunCases(snapshot.scenario_positions, snapshot.personas, snapshot.case_personas)
    cases = build_cases(workspace, snapshot.manifest, positions, existing=existing)
    added = len(cases.scenario_positions) - len(snapshot.scenario_positions)
    plan = replace(run.plan, segments=(*run.plan.segments, added)) if added else run.plan
    check_size(plan)
    with_files = scenarios.list_with_files(snapshot.manifest, positions)
    check_files(workspace, plan, Content.from_json(snapshot.definition), with_files)
    key = keys.snapshot_blob(RunRef(workspace, run_id), new_id("snapshot"))
    snapshots.save(key, replace(snapshot, **cases._asdict()))
    data: dict[str, object] = {"samplePercentage": percentage, "total": plan.total}
    return _reopen(
        run,
        now,
        data,
        retry=None,
        plan=plan,
        sample_percentage=percentage,
        snapshot_key=key,
        scenario_count=cases.scenario_count,
        budget=run.budget and run.budget.for_more_probes(plan.total / run.plan.total),
    )


def _steer(ref: RunRef, action: Action, target: RunStatus, now: datetime, **changes: Any) -> Run:
    """The run after the transition, or unchanged if it has the target status already."""
    try:
        return runs.transition(ref, action, now, **changes)
    except IllegalTransition as refusal:
        if refusal.status is target:
            return runs.get(ref)
        raise Conflict(str(refusal)) from None


_NO_RETRY = {
    RunStatus.PENDING: "none of its probes has an error yet",
    RunStatus.PAUSED: "resume it first",
    RunStatus.SUMMARIZING: "its errors can be retried once it has ended",
    RunStatus.CANCELLED: "a cancelled run does not continue; start a new run",
}


def _is_dispatch_pending(run: Run) -> bool:
    request = DispatchRequest(workspace=run.workspace, run_id=run.id, fencing_token=run.fencing_token)
    return outbox.get(request) is not None


def _check_is_over(run: Run) -> None:
    if run.status not in (RunStatus.COMPLETED, RunStatus.FAILED):
        raise Conflict(f"the run is {run.status}: scenarios can be added once it has completed or failed")


def _check_retry(run: Run, scope: RetryScope) -> None:
    if scope.model is not None and scope.probe_index is not None:
        raise Invalid.field("probeIndex", "cannot be combined with model: a probe has one")
    check_target(run.plan, scope.model)
    if scope.probe_index is not None and not 0 <= scope.probe_index < run.plan.total:
        raise Invalid.field("probeIndex", f"must be from 0 to {run.plan.total - 1}")


def _errored_probes(run: Run, scope: RetryScope) -> Iterator[int]:
    """Reads leaf by leaf, so that the first errored probe can end the search."""
    ref = RunRef(run.workspace, run.id)
    for indexes in scope.ranges(run.plan):
        for parent in range(leaf_of(indexes.start).parent.number, leaf_of(indexes.stop - 1).parent.number + 1):
            for number, item in barrier.list_leaves(ref, Node(1, parent)).items():
                failed = (number * FANOUT + offset for offset in item.leaf.failed)
                yield from (index for index in failed if index in indexes)


def _reopen(run: Run, now: datetime, data: dict[str, object], **changes: Any) -> Run:
    """To RUNNING with a new retry round, provided the run has not changed since it was read."""
    open_runs.admit(run)
    try:
        reopened = runs.transition(
            RunRef(run.workspace, run.id),
            Action.REOPEN,
            now,
            fencing_token=run.fencing_token,
            event_data=data,
            settled=None,
            spend=None,
            completed_at=None,
            failure=None,
            **changes,
        )
    except IllegalTransition as refusal:
        raise Conflict(str(refusal)) from None
    dispatch.enqueue(reopened)
    return reopened
