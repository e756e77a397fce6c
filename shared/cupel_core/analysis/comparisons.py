"""Requests, computes and reads comparisons. Everything is validated before anything is written.

A comparison's id is the hash of its request and of the revisions of both sides' outcomes, and the id of its job follows
from it. Asking twice therefore creates one comparison and one job. A comparison that is deleted while it is computed
leaves no figures.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from cupel_core.analysis.corrected_comparisons import CorrectedComparisons
from cupel_core.analysis.sides import LoadedSide, check_matchable, not_matchable, read_side, side_columns
from cupel_core.analysis.tabulate import counted_inputs
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import ClientError, Conflict, FieldError, Invalid, named_in_body
from cupel_core.base.messages import JobRequest, RunRef
from cupel_core.base.paging import Entry, decode_index, encode_cursor
from cupel_core.domain.analysis.changes import what_changed
from cupel_core.domain.analysis.comparison import ComparisonFigures, compare
from cupel_core.domain.analysis.comparison_document import (
    all_changes_json,
    changes_json,
    figures_json,
    what_changed_json,
)
from cupel_core.domain.analysis.comparison_requests import ComparisonRecord, ComparisonSpec, SideSpec, comparison_id
from cupel_core.domain.analysis.jobs import Job, JobKind, JobStatus
from cupel_core.domain.analysis.matching import NotMatchable
from cupel_core.domain.runs.run import TERMINAL, Run, RunEventType, RunFailure
from cupel_core.store import comparisons, definitions, jobs, queues, runs
from cupel_core.store.settings import settings

_MAX_GENERATIONS = 100
"""Limits how many forks of forks are followed."""
STAGES = ("reading", "comparing", "storing")


class ComparisonView(NamedTuple):
    comparison: ComparisonRecord
    job: Job | None
    """None once the job is over and no longer listed."""
    figures: dict[str, Any] | None
    is_stale: bool
    """True if a retry, an expansion or a correction has since changed the outcomes of a side."""


class RequestedComparison(NamedTuple):
    view: ComparisonView
    is_queued: bool


def request(workspace: str, spec: ComparisonSpec, now: datetime) -> RequestedComparison:
    """Queue a comparison, unless the same comparison of the same outcomes exists.

    Raises Invalid for unknown runs and rescores, for targets and prompts that a run does not have and for runs without
    common scenarios, and Conflict while a run is going on.
    """
    before, after = _check(workspace, spec)
    comparison = ComparisonRecord(
        workspace=workspace,
        id=comparison_id(spec, (before.inputs.revision, after.inputs.revision)),
        spec=spec,
        revisions=(before.inputs.revision, after.inputs.revision),
        created_at=now,
    )
    job = Job(workspace, comparison.job_id, JobKind.COMPARISON, comparison.id, spec.run_ids, now, now)
    is_new = comparisons.create(comparison, job)
    if is_new:
        queues.send(settings().analyze_queue_url, [JobRequest(workspace=workspace, job_id=job.id)], group=workspace)
    return RequestedComparison(get(workspace, comparison.id), is_new)


def _check(workspace: str, spec: ComparisonSpec) -> tuple[LoadedSide, LoadedSide]:
    before, after = (_load(workspace, spec, side) for side in ("baseline", "comparison"))
    _check_columns(spec, before, after)
    if issue := spec.options.margin_issue:
        raise Invalid.field("margin", issue)
    check_matchable(before, after)
    return before, after


def refusal(workspace: str, spec: ComparisonSpec) -> str | None:
    try:
        _check(workspace, spec)
    except ClientError as error:
        return error.detail
    return None


def find_current(workspace: str, spec: ComparisonSpec) -> ComparisonRecord | None:
    """Return the comparison of the present outcomes, or None if nobody requested it. Raises NotFound for unknown
    runs."""
    compared = [runs.get(RunRef(workspace, run_id)) for run_id in spec.run_ids]
    return comparisons.find(workspace, comparison_id(spec, _revisions(spec, compared)))


def get(workspace: str, comparison_id_: str) -> ComparisonView:
    """Return a comparison. Raises NotFound if it is unknown or one of its runs was deleted."""
    comparison = comparisons.get(workspace, comparison_id_)
    compared = [runs.get(RunRef(workspace, run_id)) for run_id in comparison.spec.run_ids]
    is_completed = comparison.status is JobStatus.COMPLETED
    figures = None
    if is_completed:
        stored = comparisons.get_figures(workspace, comparison.id)
        figures = CorrectedComparisons().add(stored, comparison.spec, compared)
    is_stale = is_completed and _revisions(comparison.spec, compared) != comparison.revisions
    return ComparisonView(comparison, jobs.find(comparison.workspace, comparison.job_id), figures, is_stale)


def delete(workspace: str, comparison_id_: str) -> None:
    comparisons.get(workspace, comparison_id_)
    comparisons.delete(workspace, comparison_id_)


def list_scenarios(
    workspace: str, comparison_id_: str, *, row: int | None, change: str | None, cursor: str | None
) -> Iterator[Entry[dict[str, Any]]]:
    """Yield the changed scenarios of a row, or of all rows together, most changed first.

    Raises Conflict for a comparison without figures.
    """
    comparison = comparisons.get(workspace, comparison_id_)
    if comparison.status is not JobStatus.COMPLETED:
        raise Conflict(f"the comparison is {comparison.status}")
    count = len(comparisons.get_figures(workspace, comparison_id_)["rows"])
    if row is not None and row >= count:
        raise Invalid.field("row", f"must be at most {count - 1}: the comparison has {count} row{'s' * (count > 1)}")
    start = decode_index(cursor)
    listed = comparisons.get_changes(workspace, comparison_id_, row)
    return (
        Entry(encode_cursor(str(number)) if number else "", each)
        for number, each in enumerate(listed)
        if number >= start and change in (None, each["change"])
    )


def _load(workspace: str, spec: ComparisonSpec, name: str) -> LoadedSide:
    side: SideSpec = getattr(spec, name)
    with named_in_body(f"{name}.runId"):
        run = runs.get(RunRef(workspace, side.run_id))
    with named_in_body(f"{name}.rescoreId"):
        inputs = counted_inputs(run, side.rescore_id)
    if run.status not in TERMINAL:
        raise Conflict(f"the run {run.id} is {run.status}: wait until it has ended")
    return LoadedSide(name, side, inputs)


def _check_columns(spec: ComparisonSpec, before: LoadedSide, after: LoadedSide) -> None:
    errors = [error for side in (before, after) for error in _column_errors(side)]
    if not errors and len(spec.run_ids) == 1 and spec.baseline.rescore_id == spec.comparison.rescore_id:
        first, second = side_columns(before), side_columns(after)
        if first == second:
            errors = [FieldError("comparison", "is the same as the baseline: name other targets, prompts or a rescore")]
    if errors:
        raise Invalid.fields(errors)


def _column_errors(side: LoadedSide) -> Iterator[FieldError]:
    plan = side.inputs.run.plan
    targets = sorted({column.target.id for column in plan.columns})
    for number, target in enumerate(side.spec.targets):
        if not plan.columns_of(target):
            yield FieldError(
                f"{side.name}.targets.{number}", f"the run has no such target; it has {', '.join(targets)}"
            )
    for number, prompt in enumerate(side.spec.prompts):
        if not plan.columns_of(None, prompt):
            known = ", ".join(plan.prompt_ids) or "none"
            yield FieldError(f"{side.name}.prompts.{number}", f"the run has no such prompt; it has {known}")
    if side.spec.targets and side.spec.prompts and not side_columns(side):
        yield FieldError(side.name, "the run has none of these targets with any of these prompts")


def _revisions(spec: ComparisonSpec, compared: list[Run]) -> tuple[str, str]:
    by_id = {run.id: run for run in compared}
    baseline, comparison = (
        counted_inputs(by_id[side.run_id], side.rescore_id).revision for side in (spec.baseline, spec.comparison)
    )
    return baseline, comparison


def compute(job: Job, note_stage: Callable[[str], None]) -> None:
    """Compute the comparison and store it. Repeating this stores the same as long as the outcomes are the same.

    Raises NotFound if a run was deleted, and Invalid if the sides cannot be compared.
    """
    workspace, comparison_id = job.workspace, job.result_id
    comparison = comparisons.get(workspace, comparison_id)
    if comparison.status is JobStatus.COMPLETED:  # The previous worker was interrupted after this.
        _announce(comparison)
        return
    note_stage("reading")
    before, after = (_load_side(workspace, side) for side in (comparison.spec.baseline, comparison.spec.comparison))
    baseline, compared = read_side(before), read_side(after)
    note_stage("comparing")
    try:
        figures = compare(baseline.side, compared.side, comparison.spec.options)
    except NotMatchable:
        raise Invalid(not_matchable(before.inputs.run, after.inputs.run)) from None
    path = _path(workspace, baseline.description.definition_id, compared.description.definition_id)
    changed = what_changed(baseline.description, compared.description, path)
    note_stage("storing")
    document = {**figures_json(figures), "whatChanged": what_changed_json(changed)}
    changes = [row.most_changed for row in figures.rows]
    of_rows = [changes_json(each, number) for number, each in enumerate(changes)]
    comparisons.save_figures(workspace, comparison_id, document, of_rows, all_changes_json(changes))
    _end(comparison, figures)


def fail(job: Job, failure: RunFailure) -> None:
    comparison = comparisons.find(job.workspace, job.result_id)
    if comparison is not None:
        comparisons.end(comparison.failed(failure, utc_now()))


def _end(comparison: ComparisonRecord, figures: ComparisonFigures) -> None:
    row = figures.overall or figures.rows[0]
    completed = comparison.completed(row.verdict, row.sentence, utc_now())
    if comparisons.end(completed):
        _announce(completed)
    else:
        comparisons.delete_figures(comparison.workspace, comparison.id)


def _announce(comparison: ComparisonRecord) -> None:
    """Append the event before the job is ended: a crash in between repeats the event instead of losing it."""
    data: dict[str, object] = {"comparisonId": comparison.id, "verdict": comparison.verdict}
    ref = RunRef(comparison.workspace, comparison.spec.comparison.run_id)
    runs.append_event(ref, RunEventType.COMPARISON_FINISHED, utc_now(), data)


def _load_side(workspace: str, spec: SideSpec) -> LoadedSide:
    run = runs.get(RunRef(workspace, spec.run_id))
    return LoadedSide(spec.run_id, spec, counted_inputs(run, spec.rescore_id))


def _path(workspace: str, first: str, second: str) -> tuple[str, ...]:
    """Return the path from one definition up to the common ancestor and down to the other, or an empty path."""
    up, down = _lineage(workspace, first), _lineage(workspace, second)
    common = next((each for each in up if each in down), None)
    if common is None:
        return ()
    return (*up[: up.index(common) + 1], *reversed(down[: down.index(common)]))


def _lineage(workspace: str, definition_id: str) -> list[str]:
    lineage = [definition_id]
    while len(lineage) < _MAX_GENERATIONS:
        head = definitions.find(workspace, lineage[-1])
        if head is None or head.parent is None:
            break
        lineage.append(head.parent.definition_id)
    return lineage
