from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from cupel_core.analysis import deep_requests
from cupel_core.analysis.basic import ALGORITHM_VERSIONS, analyze_run, is_current, read_matrix
from cupel_core.analysis.tabulate import CountedInputs, counted_inputs, inputs_of, read_counts, read_inputs
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Conflict, Invalid, NotFound, named_in_body
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, Page, decode_index, encode_cursor
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matrix import CellMatrix
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord, AnalysisStatus, StaleReason
from cupel_core.domain.analysis.variability import contested
from cupel_core.domain.runs.run import TERMINAL, Run
from cupel_core.runs.probe_ranges import check_column
from cupel_core.store import analyses, corrections, executions, runs

MAX_PROBES_IN_REQUEST = 10_000
"""A Step Functions execution counts the outcomes of a larger run."""
_READERS = 8


class AnalysisView(NamedTuple):
    record: AnalysisRecord
    stale_reason: StaleReason | None
    document: bytes | None
    """The figures as JSON; None if the analysis failed."""


class NewestAnalysis(NamedTuple):
    record: AnalysisRecord
    stale_reason: StaleReason | None


def get_analysis(
    workspace: str, run_id: str, rescore_id: str | None, kind: AnalysisKind = AnalysisKind.BASIC
) -> AnalysisView:
    """Return the newest analysis of a run. Raises NotFound, with the reason, if there is none."""
    record, stale_reason = get_head(workspace, run_id, rescore_id, kind)
    return AnalysisView(record, stale_reason, read_figures(record))


def get_head(
    workspace: str, run_id: str, rescore_id: str | None, kind: AnalysisKind = AnalysisKind.BASIC
) -> NewestAnalysis:
    inputs = read_inputs(RunRef(workspace, run_id), rescore_id)
    record = analyses.find_newest(inputs.ref, rescore_id, kind)
    if record is None:
        raise NotFound(_why_there_is_none(inputs, kind))
    return NewestAnalysis(record, _stale_reason(record, inputs))


def read_figures(record: AnalysisRecord) -> bytes | None:
    return analyses.read_document(record) if record.status is AnalysisStatus.COMPLETED else None


def get_newest(found: Sequence[Run], kind: AnalysisKind = AnalysisKind.BASIC) -> list[NewestAnalysis | None]:
    """Return the newest analysis of each run's own scoring, without its figures, or None where there is none.

    An analysis is found by its time, which takes one query per run; eight run at a time. Other items are read together.
    """
    corrected = corrections.get_counts([RunRef(run.workspace, run.id) for run in found])

    def newest(run: Run) -> NewestAnalysis | None:
        ref = RunRef(run.workspace, run.id)
        record = analyses.find_newest(ref, None, kind)
        if record is None:
            return None
        return NewestAnalysis(record, _stale_reason(record, inputs_of(run, None, corrected[ref])))

    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(newest, found))


def _stale_reason(record: AnalysisRecord, inputs: CountedInputs) -> StaleReason | None:
    return record.stale_reason(inputs.revision, ALGORITHM_VERSIONS[record.kind])


def _why_there_is_none(inputs: CountedInputs, kind: AnalysisKind) -> str:
    run = inputs.run
    if kind is AnalysisKind.DEEP:
        return _why_there_is_no_deep_one(inputs)
    if run.status not in TERMINAL:
        return f"the run is {run.status}; it is analyzed when it completes"
    return f"the run {run.id} was not analyzed; POST /v1/runs/{run.id}/analysis does it"


def _why_there_is_no_deep_one(inputs: CountedInputs) -> str:
    run, job = inputs.run, deep_requests.find_job(inputs)
    if run.status not in TERMINAL:
        return f"the run is {run.status}; it can be deeply analyzed when it has ended"
    if job is not None and not job.status.is_over:
        return f"the deep analysis is {job.status}; GET /v1/jobs/{job.id} has its progress"
    request = f'POST /v1/runs/{run.id}/analysis with {{"kind": "deep"}} does it'
    return f"the run {run.id} was not deeply analyzed; {request}"


class ListedAnalysis(NamedTuple):
    record: AnalysisRecord
    is_current: bool
    stale_reason: StaleReason | None


def list_analyses(workspace: str, run_id: str, limit: int, cursor: str | None) -> Page[ListedAnalysis]:
    """Return analyses of the run's own scoring and of its rescores: deep ones first, each kind newest first."""
    run = runs.get(RunRef(workspace, run_id))
    ref = RunRef(workspace, run_id)

    def view(record: AnalysisRecord) -> ListedAnalysis:
        newest = analyses.find_newest(ref, record.rescore_id, record.kind)
        is_newest = newest is not None and newest.id == record.id
        return ListedAnalysis(record, is_newest, _stale_reason(record, counted_inputs(run, record.rescore_id)))

    return analyses.list_analyses(ref, limit, cursor).map(view)


def request_analysis(
    workspace: str, run_id: str, rescore_id: str | None, now: datetime, *, force: bool
) -> AnalysisRecord | None:
    """Return the analysis of a run that has ended, computed now unless nothing has changed since the last one.

    The result is None for a large run, which an execution analyzes. Raises Conflict while the run goes on, or if
    nothing completed.
    """
    run = runs.get(RunRef(workspace, run_id))
    if run.status not in TERMINAL:
        raise Conflict(f"the run is {run.status}; GET /v1/runs/{run.id}/results has its figures so far")
    with named_in_body("rescoreId"):
        inputs = counted_inputs(run, rescore_id)
    if not inputs.recorded:
        raise Conflict("no probe of the run has an outcome")
    newest = analyses.find_newest(inputs.ref, rescore_id)
    if newest is not None and not force and is_current(newest, inputs):
        return newest
    if run.plan.total <= MAX_PROBES_IN_REQUEST:
        return analyze_run(inputs, now, force=force)
    if rescore_id is not None:
        raise Invalid.field(
            "rescoreId",
            f"is analyzed for up to {MAX_PROBES_IN_REQUEST:,} probes; GET /v1/runs/{run.id}/scores has its rates",
        )
    if newest is not None and is_current(newest, inputs):
        # The execution computes it again, even if it is already running.
        analyses.save(newest.voided())
    executions.start_analysis(inputs.ref, run.fencing_token, inputs.revision)
    return None


class ScenarioSort(StrEnum):
    VARIANCE = "variance"
    WITHIN_VARIANCE = "withinVariance"
    MEAN = "mean"
    ID = "id"


@dataclass(frozen=True)
class ScenarioQuery:
    sort: ScenarioSort = ScenarioSort.VARIANCE
    ascending: bool = False
    model: str | None = None
    prompt_id: str | None = None
    dimension: str | None = None
    level: float | None = None
    """If set, only scenarios with this score in `dimension` are listed."""


class AnalyzedCell(NamedTuple):
    column: int
    cell: Cell
    variance: float | None


class AnalyzedScenario(NamedTuple):
    id: str
    name: str
    scores: dict[str, float]
    variance: float | None
    range: float | None
    mean: float | None
    cells: tuple[AnalyzedCell, ...]


def list_scenarios(
    workspace: str, run_id: str, rescore_id: str | None, query: ScenarioQuery, *, limit: int, cursor: str | None
) -> Iterator[Entry[AnalyzedScenario]]:
    """Yield the scenarios of a run with the results of its columns. Raises Conflict while the run goes on."""
    run = runs.get(RunRef(workspace, run_id))
    if run.status not in TERMINAL:
        raise Conflict(f"the run is {run.status}; its scenarios are listed when it has ended")
    check_column(run.plan, query.model, query.prompt_id)
    matrix = _restrict(read_matrix(run, read_counts(counted_inputs(run, rescore_id))), run, query)
    first = decode_index(cursor)
    numbers = _ordered(matrix, query)[first : first + limit + 1]
    columns = run.plan.columns_of(query.model, query.prompt_id)
    return (
        Entry(encode_cursor(str(first + offset)), _row(matrix, number, columns))
        for offset, number in enumerate(numbers)
    )


def _restrict(matrix: CellMatrix, run: Run, query: ScenarioQuery) -> CellMatrix:
    columns = run.plan.columns_of(query.model, query.prompt_id)
    variations = None if matrix.variations is None else [matrix.variations[number] for number in columns]
    return replace(matrix, columns=[matrix.columns[number] for number in columns], variations=variations)


def _ordered(matrix: CellMatrix, query: ScenarioQuery) -> list[int]:
    numbers = [number for number in range(len(matrix.scenarios)) if _matches(matrix, number, query)]
    if query.sort is ScenarioSort.ID:
        return sorted(numbers, key=lambda number: matrix.scenarios[number].id, reverse=not query.ascending)
    values = _sort_values(matrix, query.sort)
    sign = 1 if query.ascending else -1
    return sorted(
        numbers,
        key=lambda number: (values[number] is None, sign * (values[number] or 0.0), matrix.scenarios[number].id),
    )


def _matches(matrix: CellMatrix, number: int, query: ScenarioQuery) -> bool:
    if query.dimension is None:
        return True
    if query.dimension not in matrix.dimensions:
        known = ", ".join(matrix.dimensions) or "none"
        raise Invalid.field("dimension", f"must be a dimension of the run's scenarios: {known}")
    score = matrix.scenarios[number].scores[matrix.dimensions.index(query.dimension)]
    return score is not None and query.level in (None, score)


def _sort_values(matrix: CellMatrix, sort: ScenarioSort) -> list[float | None]:
    if sort is ScenarioSort.WITHIN_VARIANCE:
        return [_within(matrix, number) for number in range(len(matrix.scenarios))]
    rows = [contested(number, means) for number, means in enumerate(matrix.means_by_scenario())]
    if sort is ScenarioSort.VARIANCE:
        return [None if row is None else row.variance for row in rows]
    return [_mean(means) for means in matrix.means_by_scenario()]


def _within(matrix: CellMatrix, number: int) -> float | None:
    variances = [each for column in matrix.variations or () if (each := column[number].variance) is not None]
    return max(variances, default=None)


def _mean(means: tuple[float | None, ...]) -> float | None:
    given = [mean for mean in means if mean is not None]
    return sum(given) / len(given) if given else None


def _row(matrix: CellMatrix, number: int, columns: tuple[int, ...]) -> AnalyzedScenario:
    scenario, cells = matrix.scenarios[number], [column[number] for column in matrix.columns]
    means = tuple(matrix.means(cells))
    spread = contested(number, means)
    variations = (
        [None] * len(cells) if matrix.variations is None else [column[number].variance for column in matrix.variations]
    )
    named = zip(matrix.dimensions, scenario.scores, strict=True)
    return AnalyzedScenario(
        id=scenario.id,
        name=scenario.name,
        scores={name: score for name, score in named if score is not None},
        variance=spread.variance if spread else None,
        range=spread.range if spread else None,
        mean=_mean(means),
        cells=tuple(map(AnalyzedCell, columns, cells, variations)),
    )
