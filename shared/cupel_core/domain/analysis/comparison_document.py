from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import islice
from typing import Any

from cupel_core.domain.analysis.changes import WhatChanged
from cupel_core.domain.analysis.comparison import ComparisonFigures, ComparisonRow
from cupel_core.domain.analysis.matching import SideColumn
from cupel_core.domain.analysis.operating_differences import SideOperations
from cupel_core.domain.analysis.scenario_changes import MAX_CHANGES, ScenarioChange, order_of
from cupel_core.domain.analysis.usage_ratios import UsageRatio
from cupel_core.domain.analysis.usage_samples import UsageMeasure
from cupel_core.domain.statistics import Interval


def figures_json(figures: ComparisonFigures) -> dict[str, Any]:
    """Return the figures without the changed scenarios, which may be many and are stored separately."""
    return {
        "metric": figures.metric,
        "alpha": figures.alpha,
        "margin": figures.margin,
        "matchedBy": figures.matched_by,
        "commonScenarios": figures.common_scenarios,
        "onlyBaseline": figures.only_baseline,
        "onlyComparison": figures.only_comparison,
        "rows": [row_json(row) for row in figures.rows],
        "overall": figures.overall and row_json(figures.overall),
        "unpairedBaseline": _columns(figures.unpaired_baseline),
        "unpairedComparison": _columns(figures.unpaired_comparison),
    }


def row_json(row: ComparisonRow) -> dict[str, Any]:
    estimate, shift = row.estimate, row.shift
    return {
        "baseline": _columns(row.baseline),
        "comparison": _columns(row.comparison),
        "isSubstituted": row.is_substituted,
        "verdict": row.verdict,
        "sentence": row.sentence,
        "notes": list(row.notes),
        "scenarios": estimate.scenarios,
        "baselineMean": row.baseline_mean,
        "comparisonMean": row.comparison_mean,
        "difference": estimate.difference,
        "standardError": estimate.standard_error,
        "interval": _interval(estimate.interval),
        "test": row.test,
        "p": estimate.p,
        "adjustedP": row.adjusted_p,
        "minimumDetectableEffect": row.detectable_effect,
        "scenariosNeeded": row.scenarios_needed,
        "equivalenceInterval": _interval(estimate.equivalence_interval),
        "equivalenceP": row.equivalence_p,
        "theseScenarios": row.own_difference
        and {
            "difference": row.own_difference.difference,
            "interval": _interval(row.own_difference.interval),
            "p": row.own_difference.p,
        },
        "errorsFailDifference": row.errors_fail_difference,
        "effectSize": estimate.effect_size,
        "effect": row.effect_size,
        "changes": {str(change): count for change, count in row.changes.items()},
        "incomparable": {str(reason): count for reason, count in row.incomparable.items()},
        "distribution": {
            "baseline": shift.baseline,
            "comparison": shift.comparison,
            "totalVariation": shift.total_variation,
        },
        "operations": {
            "baseline": _operations(row.operations.baseline),
            "comparison": _operations(row.operations.comparison),
            "difference": _operations(row.operations.difference),
        },
        "costRatio": ratio_json(row.usage[UsageMeasure.COST]),
        "timeRatio": ratio_json(row.usage[UsageMeasure.TIME]),
        "cautions": [{"code": caution, "message": caution.message} for caution in row.cautions],
    }


def ratio_json(ratio: UsageRatio) -> dict[str, Any]:
    estimate = ratio.estimate
    return {
        "verdict": ratio.verdict,
        "sentence": ratio.sentence,
        "scenarios": estimate.scenarios,
        "leftOut": {str(reason): count for reason, count in ratio.left_out.items()},
        "baseline": estimate.baseline,
        "comparison": estimate.comparison,
        "ratio": estimate.ratio,
        "interval": _interval(estimate.interval),
        "test": estimate.test,
        "p": estimate.p,
        "adjustedP": ratio.adjusted_p,
    }


def all_changes_json(rows: Sequence[Sequence[ScenarioChange]]) -> list[dict[str, Any]]:
    """Return the most changed scenarios of all rows together, each with the number of its row as `row`."""
    merged = merge(*([(order_of(each), number, each) for each in row] for number, row in enumerate(rows)))
    return [_change_json(each, number) for _, number, each in islice(merged, MAX_CHANGES)]


def changes_json(changes: Iterable[ScenarioChange], row: int) -> list[dict[str, Any]]:
    return [_change_json(each, row) for each in changes]


def _change_json(change: ScenarioChange, row: int) -> dict[str, Any]:
    return {
        "row": row,
        "scenarioId": change.scenario_id,
        "scenarioName": change.name,
        "baseline": change.baseline,
        "comparison": change.comparison,
        "difference": change.difference,
        "shrunkenDifference": change.shrunken_difference,
        "change": change.change,
        "standardError": change.standard_error,
        "p": change.p,
        "q": change.q,
    }


def what_changed_json(changed: WhatChanged) -> dict[str, Any]:
    return {
        "changes": [
            {
                "aspect": change.aspect,
                "summary": change.summary,
                "baseline": change.baseline,
                "comparison": change.comparison,
                "isCause": change.is_cause,
            }
            for change in changed.changes
        ],
        "summary": [change.summary for change in changed.changes],
        "diff": changed.diff,
        "definitionPath": list(changed.definition_path),
        "causes": list(changed.causes),
        "isConfounded": changed.is_confounded,
    }


def _columns(columns: Iterable[SideColumn]) -> list[dict[str, Any]]:
    return [
        {
            "targetId": each.column.target.id,
            "promptId": each.column.prompt_id,
            "promptLabel": each.column.prompt_label,
            "label": each.column.target.shown_label,
            "modelId": each.column.target.model,
            "connectorId": each.column.target.connector_id,
        }
        for each in columns
    ]


def _operations(operations: SideOperations) -> dict[str, float | None]:
    return {
        "costUsd": operations.cost_usd,
        "judgeCostUsd": operations.judge_cost_usd,
        "simulatedUserCostUsd": operations.simulated_user_cost_usd,
        "operationsCostUsd": operations.operations_cost_usd,
        "tokens": operations.tokens,
        "medianDurationMs": operations.median_duration_ms,
        "p95DurationMs": operations.p95_duration_ms,
        "errorRate": operations.error_rate,
        "otherRate": operations.other_rate,
    }


def _interval(interval: Interval | None) -> list[float] | None:
    return None if interval is None else list(interval)
