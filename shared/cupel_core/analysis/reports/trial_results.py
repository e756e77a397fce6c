from collections import Counter
from contextlib import suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from cupel_core.analysis import comparisons
from cupel_core.analysis.tabulate import counted_inputs, read_counts
from cupel_core.base.errors import ClientError
from cupel_core.base.messages import RunRef
from cupel_core.contract.compared_figures import ComparisonFiguresResponse, ComparisonRowResponse
from cupel_core.contract.trials import TrialResponse, TrialResultResponse, TrialTagResponse
from cupel_core.domain.analysis.comparison_requests import ComparisonOptions, ComparisonRecord, ComparisonSpec, SideSpec
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.reports.records import ReportRecord
from cupel_core.domain.reports.trials import ALPHA, Trial, TrialResult, verdict_of
from cupel_core.domain.runs.run import TERMINAL, Run, RunStatus
from cupel_core.domain.text.counts import count_of
from cupel_core.store import comparisons as stored_comparisons
from cupel_core.store import runs

MAX_TAGS = 20
COMPARED_WITHIN = timedelta(minutes=10)
_NO_COMPARISON = "the comparison of its runs was deleted; starting the trial again compares them anew"
_OUTDATED = "Results have changed since the runs were compared; starting the trial again compares them anew."


class TagCounts(NamedTuple):
    tag: str
    original: int
    revised: int


class TrialView(NamedTuple):
    trial: Trial
    status: JobStatus
    failure: str | None = None
    comparison_id: str | None = None
    result: TrialResult | None = None
    row: ComparisonRowResponse | None = None
    tags: tuple[TagCounts, ...] = ()
    notes: tuple[str, ...] = ()


def view(record: ReportRecord, now: datetime) -> TrialView | None:
    trial = record.trial
    if trial is None:
        return None
    arms = [runs.find(RunRef(record.workspace, run_id)) for run_id in trial.run_ids]
    if failure := _failure(trial, arms):
        return TrialView(trial, JobStatus.FAILED, failure)
    original, revised = (arm for arm in arms if arm is not None)
    if not {original.status, revised.status} <= TERMINAL:
        return TrialView(trial, JobStatus.RUNNING)
    current = comparisons.find_current(record.workspace, _spec(trial))
    found = current or _newest_comparison(record.workspace, trial)
    if found is None:
        ended_at = max(arm.completed_at or now for arm in (original, revised))
        is_missing = now - ended_at > COMPARED_WITHIN
        return TrialView(trial, JobStatus.FAILED, _NO_COMPARISON) if is_missing else TrialView(trial, JobStatus.RUNNING)
    if not found.status.is_over:
        return TrialView(trial, JobStatus.RUNNING, comparison_id=found.id)
    if found.failure is not None:
        return TrialView(trial, JobStatus.FAILED, f"the comparison failed: {found.failure.why}", found.id)
    return _completed(record, trial, found, original, revised, is_current=current is not None)


def to_response(view: TrialView) -> TrialResponse:
    trial, result, row = view.trial, view.result, view.row
    figures = None
    if result is not None and row is not None:
        figures = TrialResultResponse(
            **{**result._asdict(), "interval": row.interval},
            sentence=result.sentence,
            operations=row.operations,
            cost_ratio=row.cost_ratio,
            time_ratio=row.time_ratio,
            tags=[TrialTagResponse(**each._asdict()) for each in view.tags],
            notes=list(view.notes),
        )
    own = {name: value for name, value in vars(trial).items() if name in TrialResponse.model_fields}
    return TrialResponse(
        **own, status=view.status, failure=view.failure, comparison_id=view.comparison_id, result=figures
    )


def request_comparison(workspace: str, trial: Trial, now: datetime) -> None:
    """Request the comparison of the arms. Their end does so too as long as they belong to the trial's experiment."""
    with suppress(ClientError):  # An arm goes on or was deleted.
        comparisons.request(workspace, _spec(trial), now)


def _spec(trial: Trial) -> ComparisonSpec:
    options = ComparisonOptions(Metric.PASS_RATE, ALPHA)
    return ComparisonSpec(SideSpec(trial.original_run_id), SideSpec(trial.revised_run_id), options, trial.experiment_id)


def _newest_comparison(workspace: str, trial: Trial) -> ComparisonRecord | None:
    """Return the newest finished comparison; corrections or a rescore of an arm may have changed outcomes since."""
    ids = stored_comparisons.list_ids_of_run(RunRef(workspace, trial.original_run_id))
    found = (stored_comparisons.find(workspace, each) for each in ids)
    of_trial = (each for each in found if each is not None and each.spec == _spec(trial) and each.status.is_over)
    return max(of_trial, key=lambda each: each.created_at, default=None)


def _failure(trial: Trial, arms: list[Run | None]) -> str | None:
    for run_id, arm in zip(trial.run_ids, arms, strict=True):
        if arm is None:
            return f"the run {run_id} was deleted"
        if arm.status in TERMINAL and arm.status is not RunStatus.COMPLETED:
            return f"the run {run_id} is {arm.status}"
    return None


def _completed(
    record: ReportRecord, trial: Trial, found: ComparisonRecord, original: Run, revised: Run, *, is_current: bool
) -> TrialView:
    figures = ComparisonFiguresResponse.model_validate(stored_comparisons.get_figures(record.workspace, found.id))
    row = figures.overall or figures.rows[0]
    result = TrialResult(
        verdict=verdict_of(row.verdict if row.p is not None else None, [each.verdict for each in figures.rows]),
        original_rate=row.baseline_mean,
        revised_rate=row.comparison_mean,
        difference=row.difference,
        interval=row.interval,
        p=row.p,
        detectable_difference=row.minimum_detectable_effect or trial.detectable_difference,
    )
    before, after = _tags(original), _tags(revised)
    listed = sorted((before + after).items(), key=lambda each: (-each[1], each[0]))[:MAX_TAGS]
    return TrialView(
        trial,
        JobStatus.COMPLETED,
        comparison_id=found.id,
        result=result,
        row=row,
        tags=tuple(TagCounts(tag, before[tag], after[tag]) for tag, _ in listed),
        notes=(*([] if is_current else [_OUTDATED]), *_notes(record, trial, original)),
    )


def _tags(run: Run) -> Counter[str]:
    counts, tags = read_counts(counted_inputs(run)), Counter[str]()
    for number in range(len(run.plan.columns)):
        tags.update(counts.totals.column(number).tags)
    return tags


def _notes(record: ReportRecord, trial: Trial, original: Run) -> list[str]:
    notes = []
    if record.summarizer_model == original.grader_config.judge_model:
        notes.append("The model that revised the prompt is also the judge, and may prefer what it asked for.")
    if seen := trial.scenarios - trial.unseen_scenarios:
        of_all = f"{seen} of {count_of(trial.scenarios, 'scenario')}"
        read = f"The model that revised the prompt had read conversations of {of_all}"
        notes.append(f"{read}, which the revision may fit better than others.")
    if trial.scenarios == 1:
        notes.append("A single scenario: nothing is said about others.")
    return notes
