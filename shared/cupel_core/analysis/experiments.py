"""Compares the runs of an experiment with its baseline, and summarizes what that says about its hypothesis.

Each run of an experiment has an item in the experiment's partition, written in the transaction that starts or moves the
run. When a run ends, the finishing task queues its comparison with the baseline; when the baseline ends, or another run
becomes it, those of all runs. The ids of comparisons follow from their inputs, so doing this twice changes nothing.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from cupel_core.analysis import comparisons
from cupel_core.analysis.corrected_comparisons import CorrectedComparisons
from cupel_core.base.errors import ClientError, Conflict, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.preconditions import Precondition
from cupel_core.domain.analysis.comparison_requests import ComparisonRecord, ComparisonSpec, SideSpec
from cupel_core.domain.analysis.experiments import (
    Conclusion,
    Experiment,
    ExperimentRow,
    experiment_rows,
    suggested_conclusion,
)
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.runs.run import TERMINAL, Run
from cupel_core.resources import experiments
from cupel_core.store import comparisons as stored_comparisons
from cupel_core.store import experiment_runs, resources, runs
from cupel_core.store.resources import ResourceKind

MAX_RUNS = 100
"""An experiment has at most so many runs because a summary reads them all."""


_MAX_EXPLAINED = 10
"""The scenarios of at most so many runs are read to say why they have no comparison."""


_QUEUED_WITHIN = timedelta(minutes=5)
"""The end of both runs queues their comparison within this time; after that, it is queued only on request."""


class PendingRun(NamedTuple):
    run_id: str
    reason: str
    can_be_requested: bool = False
    is_in_progress: bool = False
    """True while waiting helps: the run goes on, or its comparison is about to be queued, queued or computed."""


class ExperimentSummary(NamedTuple):
    experiment: Experiment
    runs: list[Run]
    rows: list[ExperimentRow]
    pending: list[PendingRun]
    varied: list[str]
    suggestion: Conclusion | None


def summary(workspace: str, experiment_id: str, now: datetime) -> ExperimentSummary:
    """Summarize an experiment. Raises NotFound if it is unknown or deleted."""
    experiment = experiments.get(workspace, experiment_id)
    members = list(_members(workspace, experiment_id))
    compared, varied = list[tuple[str, str, dict[str, Any]]](), dict[str, None]()
    pending = list[tuple[Run, ComparisonSpec, ComparisonRecord | None]]()
    baseline, corrected = _baseline(workspace, experiment), CorrectedComparisons()
    for run in members:
        if (spec := _spec(experiment, run)) is None:
            continue
        found = _find_current(workspace, spec, run)
        if found is None or found.status is not JobStatus.COMPLETED:
            pending.append((run, spec, found))
            continue
        figures = stored_comparisons.get_figures(workspace, found.id)
        if baseline is not None:
            figures = corrected.add(figures, spec, (baseline, run))
        compared.append((run.id, found.id, figures))
        varied |= dict.fromkeys(figures["whatChanged"]["causes"])
    rows = experiment_rows(compared, experiment.design.alpha)
    suggestion = suggested_conclusion(experiment.design, rows)
    explained = list(_explained(workspace, pending, baseline, now))
    return ExperimentSummary(experiment, members, rows, explained, list(varied), suggestion)


def _explained(
    workspace: str,
    pending: Iterable[tuple[Run, ComparisonSpec, ComparisonRecord | None]],
    baseline: Run | None,
    now: datetime,
) -> Iterator[PendingRun]:
    explained = 0
    for run, spec, found in pending:
        can_be_requested, is_in_progress = False, False
        if run.status not in TERMINAL:
            reason, is_in_progress = f"the run is {run.status}", True
        elif found is None:
            explained += 1
            refused = comparisons.refusal(workspace, spec) if explained <= _MAX_EXPLAINED else None
            reason = refused or "its comparison with the baseline was not requested"
            can_be_requested = refused is None
            is_in_progress = baseline is not None and _may_be_queued(
                baseline, run, now, is_refused=not can_be_requested
            )
        elif found.failure is not None:
            reason = f"its comparison failed in {found.failure.where}: {found.failure.why}"
        else:
            reason, is_in_progress = "it is being compared", True
        yield PendingRun(run.id, reason, can_be_requested, is_in_progress)


def _may_be_queued(baseline: Run, run: Run, now: datetime, *, is_refused: bool) -> bool:
    if baseline.status not in TERMINAL:
        return True
    ends = [each.completed_at for each in (baseline, run) if each.completed_at is not None]
    return not is_refused and bool(ends) and now - max(ends) < _QUEUED_WITHIN


def _baseline(workspace: str, experiment: Experiment) -> Run | None:
    run_id = experiment.design.baseline_run_id
    return None if run_id is None else runs.find(RunRef(workspace, run_id))


def has_runs(workspace: str, experiment_id: str) -> bool:
    return next(experiment_runs.list_run_ids(workspace, experiment_id), None) is not None


def update(
    workspace: str, experiment_id: str, fields: dict[str, Any], now: datetime, precondition: Precondition
) -> Experiment:
    """Update an experiment. Another baseline or other options of the comparisons queue the comparisons anew."""
    before = experiments.get(workspace, experiment_id)
    updated = experiments.update(workspace, experiment_id, fields, now, precondition)
    if (before.design.baseline_run_id, before.design.options) != (
        updated.design.baseline_run_id,
        updated.design.options,
    ):
        compare_all(workspace, updated, now)
    return updated


def add_run(workspace: str, experiment_id: str, run_id: str, now: datetime) -> None:
    """Add a run, which leaves the experiment that it belonged to. Raises Conflict if the experiment is full."""
    experiment = experiments.get(workspace, experiment_id)
    ref = RunRef(workspace, run_id)
    if runs.get(ref).experiment_id == experiment_id:
        return
    if sum(1 for _ in experiment_runs.list_run_ids(workspace, experiment_id)) >= MAX_RUNS:
        raise Conflict(f"an experiment has at most {MAX_RUNS} runs")
    run = runs.set_experiment(ref, experiment_id, now)
    _compare(workspace, experiment, run, now)


def remove_run(workspace: str, experiment_id: str, run_id: str, now: datetime) -> None:
    """Remove a run from the experiment without deleting it. Repeating this changes nothing."""
    experiments.get(workspace, experiment_id)
    ref = RunRef(workspace, run_id)
    if runs.get(ref).experiment_id == experiment_id:
        runs.set_experiment(ref, None, now)


def compare_all(workspace: str, experiment: Experiment, now: datetime) -> None:
    """Queue the missing comparisons with the baseline, as after another run became the baseline."""
    for run in _members(workspace, experiment.id):
        _compare(workspace, experiment, run, now)


def compare_finished(ref: RunRef, now: datetime) -> None:
    """Queue the comparison of a run that has ended with the baseline, or those of all runs if it is the baseline."""
    run = runs.find(ref)
    if run is None or run.experiment_id is None:
        return
    if not resources.exists(ref.workspace, ResourceKind.EXPERIMENT, run.experiment_id):
        return
    experiment = experiments.get(ref.workspace, run.experiment_id)
    if run.id == experiment.design.baseline_run_id:
        compare_all(ref.workspace, experiment, now)
    else:
        _compare(ref.workspace, experiment, run, now)


def _find_current(workspace: str, spec: ComparisonSpec, run: Run) -> ComparisonRecord | None:
    if run.status not in TERMINAL:
        return None
    try:
        return comparisons.find_current(workspace, spec)
    except NotFound:
        return None


def _compare(workspace: str, experiment: Experiment, run: Run, now: datetime) -> None:
    spec = _spec(experiment, run)
    if spec is not None and run.status in TERMINAL:
        with suppress(ClientError):
            comparisons.request(workspace, spec, now)


def _spec(experiment: Experiment, run: Run) -> ComparisonSpec | None:
    baseline = experiment.design.baseline_run_id
    if baseline is None or run.id == baseline:
        return None
    return ComparisonSpec(SideSpec(baseline), SideSpec(run.id), experiment.design.options, experiment.id)


def _members(workspace: str, experiment_id: str) -> Iterator[Run]:
    for run_id in list(experiment_runs.list_run_ids(workspace, experiment_id))[:MAX_RUNS]:
        run = runs.find(RunRef(workspace, run_id))
        if run is not None and run.experiment_id == experiment_id:
            yield run
