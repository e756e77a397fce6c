"""Computes a comparison: reads both sides, compares them, and stores figures and changed scenarios."""

from collections.abc import Callable

from cupel_core.analysis.sides import LoadedSide, not_matchable, read_side
from cupel_core.analysis.tabulate import counted_inputs
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import Invalid
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.changes import what_changed
from cupel_core.domain.analysis.comparison import ComparisonFigures, compare
from cupel_core.domain.analysis.comparison_document import (
    all_changes_json,
    changes_json,
    figures_json,
    what_changed_json,
)
from cupel_core.domain.analysis.comparison_requests import ComparisonRecord, SideSpec
from cupel_core.domain.analysis.jobs import Job, JobStatus
from cupel_core.domain.analysis.matching import NotMatchable
from cupel_core.domain.runs.run import RunEventType, RunFailure
from cupel_core.store import comparisons, definitions, runs

_MAX_GENERATIONS = 100
"""Forks of forks that are followed."""


STAGES = ("reading", "comparing", "storing")


def compute(job: Job, note_stage: Callable[[str], None]) -> None:
    """Raises NotFound if a run was deleted, and Invalid if the sides cannot be compared.

    Repeating it computes and stores the same, as long as the runs have the same outcomes.
    """
    workspace, comparison_id = job.workspace, job.result_id
    comparison = comparisons.get(workspace, comparison_id)
    if comparison.status is JobStatus.COMPLETED:  # The worker before was interrupted after this.
        _announce(comparison)
        return
    note_stage("reading")
    before, after = (_load(workspace, side) for side in (comparison.spec.baseline, comparison.spec.comparison))
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
    """Before the job is ended: a crash in between repeats the event instead of losing it."""
    data: dict[str, object] = {"comparisonId": comparison.id, "verdict": comparison.verdict}
    ref = RunRef(comparison.workspace, comparison.spec.comparison.run_id)
    runs.append_event(ref, RunEventType.COMPARISON_FINISHED, utc_now(), data)


def _load(workspace: str, spec: SideSpec) -> LoadedSide:
    run = runs.get(RunRef(workspace, spec.run_id))
    return LoadedSide(spec.run_id, spec, counted_inputs(run, spec.rescore_id))


def _path(workspace: str, first: str, second: str) -> tuple[str, ...]:
    """From one definition up to the common ancestor and down to the other; empty if there is none."""
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
