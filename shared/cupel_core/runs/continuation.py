"""Work that is added to a run after its start: a retry of its errored probes, or an expansion of its sample.

Each requires a confirmation if it is expected to cost more than is left of a budget, as the start of a run does. Both
reopen the run with a new fencing token, which is also a new retry round. A retry of a RUNNING run affects its other
probes like a pause and a resume: calls in flight are recorded, messages are sent again, and only the retried probes
start over. An error of an earlier round may be overwritten, a transcript may not. An expansion adds a segment to the
plan and writes a new snapshot with the larger sample, so no index changes its meaning.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from math import isinf
from typing import Any, NamedTuple

from cupel_core.base.errors import Conflict, Invalid
from cupel_core.base.ids import new_id
from cupel_core.base.messages import DispatchRequest, RunRef
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.estimates.run_estimate import NOTHING, RunEstimate
from cupel_core.domain.runs.barrier import FANOUT, Node, leaf_of
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Action, IllegalTransition, RetryScope, Run, RunStatus
from cupel_core.domain.runs.sampling import expand as expand_sample
from cupel_core.runs import dispatch, open_runs
from cupel_core.runs.budgets import BudgetedEstimate, check_addition, fit_of_addition
from cupel_core.runs.cases import RunCases, build_cases
from cupel_core.runs.estimates import estimate_probes
from cupel_core.runs.probe_ranges import check_target
from cupel_core.runs.validation import check_files, check_size
from cupel_core.store import barrier, object_names, outbox, runs, scenarios, snapshots
from cupel_core.store.snapshots import Snapshot


class _Expansion(NamedTuple):
    run: Run
    snapshot: Snapshot
    plan: Plan
    added: Snapshot

    @property
    def probes(self) -> tuple[int, ...]:
        return (len(self.added.scenario_positions) * self.plan.repeats,) * len(self.plan.columns)


def retry(
    workspace: str,
    run_id: str,
    now: datetime,
    *,
    model: str | None = None,
    probe_index: int | None = None,
    confirmed_usd: float | None = None,
) -> Run:
    """Run errored probes again in a new retry round: all, those of one model, or one probe.

    While the run is RUNNING, its other probes continue where they are. A run whose finishing failed is finished again
    even without errored probes. Raise Conflict when there is nothing to retry, and for a run that is PENDING, PAUSED,
    SUMMARIZING or CANCELLED. Raise ConfirmationRequired if it is expected to cost more than is left of a budget and
    `confirmed_usd` is less.
    """
    run, scope = _load_retry(workspace, run_id, model, probe_index)
    _check_cost("the retry", run, lambda: _estimate_retry(run, scope, now), confirmed_usd, now)
    if run.retry is not None and _is_dispatch_pending(run):
        scope = scope.merged_with(run.retry)  # Its errors may still be in some leaves.
    return _reopen(run, now, {"retry": {"model": model, "probeIndex": probe_index}}, retry=scope)


def estimate_retry(
    workspace: str, run_id: str, now: datetime, *, model: str | None = None, probe_index: int | None = None
) -> BudgetedEstimate:
    """Estimate what a retry would cost now. Raise what the retry would raise, except ConfirmationRequired."""
    run, scope = _load_retry(workspace, run_id, model, probe_index)
    estimate = _estimate_retry(run, scope, now)
    return BudgetedEstimate(estimate, fit_of_addition(run, estimate, now))


def expand(workspace: str, run_id: str, percentage: int, now: datetime, *, confirmed_usd: float | None = None) -> Run:
    """Add scenarios to a sampled run, up to `percentage` of the definition's. Existing probes keep their indexes. Raise
    Invalid for a percentage that is no increase, and Conflict while the run is not over. Raise ConfirmationRequired if
    the added probes are expected to cost more than is left of a budget and `confirmed_usd` is less."""
    expansion = _load_expansion(workspace, run_id, percentage)
    run, snapshot, plan = expansion.run, expansion.snapshot, expansion.plan
    _check_cost("the expansion", run, lambda: _estimate_expansion(expansion, now), confirmed_usd, now)
    key = object_names.snapshot_blob(RunRef(workspace, run_id), new_id("snapshot"))
    snapshots.save(key, snapshot)
    data: dict[str, object] = {"samplePercentage": percentage, "total": plan.total}
    return _reopen(
        run,
        now,
        data,
        retry=None,
        plan=plan,
        sample_percentage=percentage,
        snapshot_key=key,
        scenario_count=len(set(snapshot.scenario_positions)),
        budget=run.budget and run.budget.for_more_probes(plan.total / run.plan.total),
    )


def estimate_expansion(workspace: str, run_id: str, percentage: int, now: datetime) -> BudgetedEstimate:
    """Estimate what an expansion would cost now. Raise what it would raise, except ConfirmationRequired."""
    expansion = _load_expansion(workspace, run_id, percentage)
    estimate = _estimate_expansion(expansion, now)
    return BudgetedEstimate(estimate, fit_of_addition(expansion.run, estimate, now))


def _check_cost(
    what: str, run: Run, estimated: Callable[[], RunEstimate], confirmed_usd: float | None, now: datetime
) -> None:
    if confirmed_usd is None or not isinf(confirmed_usd):
        check_addition(what, run, estimated, confirmed_usd, now)


def _load_retry(workspace: str, run_id: str, model: str | None, probe_index: int | None) -> tuple[Run, RetryScope]:
    run = runs.get(RunRef(workspace, run_id))
    scope = RetryScope(model, probe_index)
    _check_retry(run, scope)
    if refusal := _NO_RETRY.get(run.status):
        raise Conflict(f"the run is {run.status}: {refusal}")
    finishing_failed = run.failure is not None and run.failure.where != "probing"
    if not finishing_failed and next(_errored_probes(run, scope), None) is None:
        raise Conflict(f"none of these probes has an error; the run is {run.status}")
    return run, scope


def _estimate_retry(run: Run, scope: RetryScope, now: datetime) -> RunEstimate:
    """Estimate a retry. Finishing alone costs nothing here, as its cost is reserved and never pauses a run."""
    probes = [0] * len(run.plan.columns)
    cases: set[int] = set()
    for probe in map(run.plan.probe, _errored_probes(run, scope)):
        probes[probe.column] += 1
        cases.add(probe.case)
    return estimate_probes(run, snapshots.get(run.snapshot_key).of_cases(cases), probes, now) if cases else NOTHING


def _load_expansion(workspace: str, run_id: str, percentage: int) -> _Expansion:
    run = runs.get(RunRef(workspace, run_id))
    if run.sample_percentage == 100:
        raise Invalid.field("samplePercentage", "cannot be raised: the run has every scenario already")
    if not run.sample_percentage < percentage <= 100:
        raise Invalid.field(
            "samplePercentage", f"must be greater than the run's {run.sample_percentage} and at most 100"
        )
    if run.status not in (RunStatus.COMPLETED, RunStatus.FAILED):
        raise Conflict(f"the run is {run.status}: scenarios can be added once it has completed or failed")
    snapshot = snapshots.get(run.snapshot_key)
    positions = expand_sample(snapshot.manifest.total, run.sample_percentage, percentage, run.sample_seed)
    existing = RunCases(snapshot.scenario_positions, snapshot.personas, snapshot.case_personas)
    cases = build_cases(workspace, snapshot.manifest, positions, existing=existing)
    before = len(snapshot.scenario_positions)
    added = len(cases.scenario_positions) - before
    plan = replace(run.plan, segments=(*run.plan.segments, added)) if added else run.plan
    check_size(plan)
    with_files = scenarios.list_with_files(snapshot.manifest, positions)
    check_files(workspace, plan, Content.from_json(snapshot.definition), with_files)
    extended = replace(snapshot, **cases._asdict())
    added_cases = replace(
        extended,
        scenario_positions=cases.scenario_positions[before:],
        case_personas=cases.case_personas[before:],
    )
    return _Expansion(run, extended, plan, added_cases)


def _estimate_expansion(expansion: _Expansion, now: datetime) -> RunEstimate:
    if not any(expansion.probes):
        return NOTHING
    return estimate_probes(expansion.run, expansion.added, expansion.probes, now)


_NO_RETRY = {
    RunStatus.PENDING: "none of its probes has an error yet",
    RunStatus.PAUSED: "resume it first",
    RunStatus.SUMMARIZING: "its errors can be retried once it has ended",
    RunStatus.CANCELLED: "a cancelled run does not continue; start a new run",
}


def _is_dispatch_pending(run: Run) -> bool:
    request = DispatchRequest(workspace=run.workspace, run_id=run.id, fencing_token=run.fencing_token)
    return outbox.get(request) is not None


def _check_retry(run: Run, scope: RetryScope) -> None:
    if scope.model is not None and scope.probe_index is not None:
        raise Invalid.field("probeIndex", "cannot be combined with model: a probe has one")
    check_target(run.plan, scope.model)
    if scope.probe_index is not None and not 0 <= scope.probe_index < run.plan.total:
        raise Invalid.field("probeIndex", f"must be from 0 to {run.plan.total - 1}")


def _errored_probes(run: Run, scope: RetryScope) -> Iterator[int]:
    """Yield errored probes, reading leaf by leaf, so that the first one can end the search."""
    ref = RunRef(run.workspace, run.id)
    for indexes in scope.ranges(run.plan):
        for parent in range(leaf_of(indexes.start).parent.number, leaf_of(indexes.stop - 1).parent.number + 1):
            for number, item in barrier.list_leaves(ref, Node(1, parent)).items():
                failed = (number * FANOUT + offset for offset in item.leaf.failed)
                yield from (index for index in failed if index in indexes)


def _reopen(run: Run, now: datetime, data: dict[str, object], **changes: Any) -> Run:
    """Set the run to RUNNING with a new retry round, provided it has not changed since it was read."""
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
