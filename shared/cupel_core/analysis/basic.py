from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from cupel_core.analysis.run_rates import save_rates
from cupel_core.analysis.tabulate import CountedInputs, read_hashed_counts
from cupel_core.base.ids import new_id
from cupel_core.contract.analysis import AnalysisFigures
from cupel_core.domain.analysis import deep
from cupel_core.domain.analysis.basic import ALGORITHM_VERSION, AnalysisInput, BasicAnalysis, analyze
from cupel_core.domain.analysis.counts import RunCounts, ScenarioCases
from cupel_core.domain.analysis.extrapolation import RunSample, drawn_sample
from cupel_core.domain.analysis.matrix import CellMatrix, DimensionScores, ScenarioRow, cell_matrix, dimension_names
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord, AnalysisStatus
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.runs.run import Run, RunFailure
from cupel_core.store import analyses, scenarios, snapshots
from cupel_core.store.scenarios import ScenarioSummary

ALGORITHM_VERSIONS = {AnalysisKind.BASIC: ALGORITHM_VERSION, AnalysisKind.DEEP: deep.ALGORITHM_VERSION}


def analyze_run(inputs: CountedInputs, now: datetime, *, force: bool = False) -> AnalysisRecord:
    """Return the stored analysis if nothing has changed since, or analyze again; `force` always analyzes again."""
    newest = analyses.find_newest(inputs.ref, inputs.rescore_id)
    if newest is not None and not force and is_current(newest, inputs):
        return newest
    counts, inputs_hash = read_hashed_counts(inputs)
    if inputs.rescore_id is None:
        save_rates(inputs, counts)
    if newest is not None and not force and _has_same_figures(newest, inputs_hash):
        same = newest.with_revision(inputs.revision)
        analyses.save(same)
        return same
    figures = AnalysisFigures.of(analyze_counts(inputs.run, counts), inputs.run.plan.columns)
    record = _record(inputs, AnalysisStatus.COMPLETED, now, inputs_hash=inputs_hash)
    analyses.save(record, figures.to_json())
    return record


def _has_same_figures(record: AnalysisRecord, inputs_hash: str) -> bool:
    """Return whether a new analysis would have the same figures, as after a correction that was removed again."""
    return record.inputs_hash == inputs_hash and record.algorithm_version == ALGORITHM_VERSION


def is_current(record: AnalysisRecord, inputs: CountedInputs) -> bool:
    """Return whether the analysis is completed and its outcomes and algorithm have not changed since."""
    is_stale = record.stale_reason(inputs.revision, ALGORITHM_VERSIONS[record.kind]) is not None
    return record.status is AnalysisStatus.COMPLETED and not is_stale


def record_failure(inputs: CountedInputs, where: str, why: str, now: datetime) -> AnalysisRecord:
    newest = analyses.find_newest(inputs.ref, inputs.rescore_id)
    if newest is not None and is_current(newest, inputs):
        return newest
    record = _record(inputs, AnalysisStatus.FAILED, now, failure=RunFailure(where, why))
    analyses.save(record)
    return record


def analyze_counts(run: Run, counts: RunCounts) -> BasicAnalysis:
    content = Content.from_json(snapshots.get(run.snapshot_key).definition)
    matrix = read_matrix(run, counts, content)
    return analyze(AnalysisInput.of(counts, matrix, run.plan.columns, content, read_sample(run)))


def read_rows(run: Run, counts: RunCounts) -> list[ScenarioRow]:
    return list(read_matrix(run, counts).scenarios)


def read_matrix(run: Run, counts: RunCounts, content: Content | None = None) -> CellMatrix:
    """Return the cells with the names and scores of their scenarios. Each page of scenarios is read once."""
    snapshot = snapshots.get(run.snapshot_key)
    content = content or Content.from_json(snapshot.definition)
    found = dict(scenarios.read_summaries(snapshot.manifest, [each.position for each in counts.scenarios]))
    defined = [dimension.name for dimension in content.dimensions]
    dimensions = dimension_names(defined, (each.scores for each in found.values()))
    return cell_matrix(counts, list(_rows(counts.scenarios, found, dimensions)), dimensions)


def _rows(
    listed: Sequence[ScenarioCases], found: Mapping[int, ScenarioSummary], dimensions: Sequence[str]
) -> Iterator[ScenarioRow]:
    """Yield the rows. Equal scores share one object because many scenarios have the same."""
    known: dict[DimensionScores, DimensionScores] = {}
    for scenario in listed:
        summary = found[scenario.position]
        scores = tuple(summary.scores.get(name) for name in dimensions)
        yield ScenarioRow(summary.id, summary.name, known.setdefault(scores, scores))


def read_sample(run: Run) -> RunSample:
    """Return which part of the scenarios the run has.

    A run has no sample if it includes all scenarios or those that an eval names.
    """
    if run.sample_percentage == 100:
        return RunSample(run.scenario_count, run.scenario_total, run.sample_seed, is_drawn=False)
    manifest = snapshots.get(run.snapshot_key).manifest
    return drawn_sample(run.scenario_count, run.scenario_total, run.sample_seed, run.plan, manifest.case_count)


def _record(
    inputs: CountedInputs,
    status: AnalysisStatus,
    now: datetime,
    *,
    inputs_hash: str | None = None,
    failure: RunFailure | None = None,
) -> AnalysisRecord:
    return AnalysisRecord(
        id=new_id("ana"),
        workspace=inputs.run.workspace,
        run_id=inputs.run.id,
        kind=AnalysisKind.BASIC,
        status=status,
        revision=inputs.revision,
        algorithm_version=ALGORITHM_VERSION,
        created_at=now,
        rescore_id=inputs.rescore_id,
        inputs_hash=inputs_hash,
        failure=failure,
    )
