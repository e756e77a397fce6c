"""Compares the targets of a run on the same scenarios: failures by scenario, and differences and ratios with
intervals."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from cupel_core.analysis.sides import side_scenarios
from cupel_core.contract.report_content import (
    FailedCellResponse,
    FailedScenarioResponse,
    ReportConversationResponse,
    ReportDifferenceResponse,
    ReportRatioResponse,
)
from cupel_core.domain.analysis.comparison import ComparisonRow, compare
from cupel_core.domain.analysis.counts import RunCounts
from cupel_core.domain.analysis.matching import ComparisonSide, SideColumn
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.usage_samples import UsageMeasure
from cupel_core.domain.runs.plan import column_name
from cupel_core.domain.runs.run import Run
from cupel_core.store import resources, scenarios, snapshots
from cupel_core.store.resources import ResourceKind
from cupel_core.store.snapshots import Snapshot

MAX_SCENARIOS = 100
MAX_COMPARED = 6
"""At most so many targets and prompts are compared, which makes fifteen pairs."""


def column_names(run: Run) -> list[str]:
    columns = run.plan.columns
    ids = {each.target.connector_id for each in columns if each.target.connector_id}
    agents = resources.get_many(run.workspace, ResourceKind.CONNECTOR, ids) if ids else {}
    names = []
    for target, prompt_id, prompt_label in columns:
        agent = agents.get(target.connector_id or "")
        name = f"connector/{agent.name}" if agent and target.label is None else target.id
        names.append(column_name(name, prompt_label or prompt_id))
    return names


def failed_scenarios(counts: RunCounts, names: Sequence[tuple[str, str]]) -> list[FailedScenarioResponse]:
    rows = [
        (sum(cell.judged - cell.passed for cell in cells), name, cells)
        for name, cells in zip(names, counts.rows(), strict=True)
    ]
    failed = sorted((row for row in rows if row[0]), key=lambda row: (-row[0], row[1][1]))
    return [
        FailedScenarioResponse(
            scenario_id=scenario_id,
            scenario_name=name,
            cells=[FailedCellResponse(passed=cell.passed, judged=cell.judged) for cell in cells],
        )
        for _, (scenario_id, name), cells in failed[:MAX_SCENARIOS]
    ]


def differences(
    run: Run, counts: RunCounts, snapshot: Snapshot, names: Sequence[str]
) -> list[ReportDifferenceResponse]:
    columns = [SideColumn(number, column) for number, column in enumerate(run.plan.columns)]
    if not 1 < len(columns) <= MAX_COMPARED:
        return []
    compared = list(side_scenarios(snapshot, counts.scenarios))

    def side(column: SideColumn) -> ComparisonSide:
        totals = counts.totals.column
        return ComparisonSide(run.id, (column,), compared, counts.case_cell, totals, counts.case_usage)

    pairs = list(combinations(columns, 2))
    rows = [
        (figures.metric, row)
        for figures in (compare(side(second), side(first)) for first, second in pairs)
        for row in figures.rows
    ]
    adjusted = holm([row.estimate.p for _, row in rows])
    costs, times = (_ratios([row for _, row in rows], measure) for measure in (UsageMeasure.COST, UsageMeasure.TIME))
    return [
        ReportDifferenceResponse(
            first=names[first.number],
            second=names[second.number],
            metric=metric,
            scenarios=row.estimate.scenarios,
            difference=row.estimate.difference,
            interval=list(row.estimate.interval) if row.estimate.interval else None,
            adjusted_p=p,
            cost_ratio=cost,
            time_ratio=time,
        )
        for (first, second), (metric, row), p, cost, time in zip(pairs, rows, adjusted, costs, times, strict=True)
    ]


def _ratios(rows: Sequence[ComparisonRow], measure: UsageMeasure) -> list[ReportRatioResponse]:
    ratios = [row.usage[measure] for row in rows]
    adjusted = holm([ratio.estimate.p for ratio in ratios])
    return [
        ReportRatioResponse(
            scenarios=ratio.estimate.scenarios,
            left_out={str(reason): count for reason, count in ratio.left_out.items()},
            ratio=ratio.estimate.ratio,
            interval=list(ratio.estimate.interval) if ratio.estimate.interval else None,
            adjusted_p=p,
        )
        for ratio, p in zip(ratios, adjusted, strict=True)
    ]


def with_names(run: Run, listed: Sequence[ReportConversationResponse]) -> list[ReportConversationResponse]:
    snapshot = snapshots.find(run.snapshot_key)
    if snapshot is None:
        return list(listed)
    cases = [run.plan.probe(int(each.conversation_id.rpartition("-")[2])).case for each in listed]
    positions = [snapshot.scenario_positions[case] for case in cases]
    found = dict(scenarios.read_summaries(snapshot.manifest, sorted(set(positions))))
    named = []
    for each, case, position in zip(listed, cases, positions, strict=True):
        persona = snapshot.persona(case)
        names = {"scenario_name": found[position].name, "persona_name": persona.name if persona else None}
        named.append(each.model_copy(update=names))
    return named


def scenario_names(snapshot: Snapshot, counts: RunCounts) -> Iterator[tuple[str, str]]:
    return ((each.id, each.name) for each in side_scenarios(snapshot, counts.scenarios))
