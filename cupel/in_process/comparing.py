"""Compares evaluations in this process, and plans comparisons, by the same rules as on a stack."""

from collections import Counter, defaultdict
from collections.abc import Iterable

from cupel.errors import UsageError
from cupel.in_process.evaluation import Evaluation
from cupel.in_process.probes import ProbeResult
from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.comparison import ComparisonFigures, compare
from cupel_core.domain.analysis.comparison_plans import ComparisonPlan, PlanRequest
from cupel_core.domain.analysis.comparison_requests import ComparisonOptions
from cupel_core.domain.analysis.counted_outcomes import counted_outcome
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matching import ComparisonSide, NotMatchable, SideColumn, SideScenario
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.target_usage import TargetUsage
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.statistics import DECISION_CODES

_Answers = dict[tuple[int, int], list[ProbeResult]]


def compare_results(
    baseline: Evaluation,
    comparison: Evaluation,
    *,
    metric: str | None = None,
    margin: float | None = None,
    alpha: float = 0.05,
) -> ComparisonFigures:
    """Compare two evaluations: paired by scenario name, then by dimension scores; targets by name.

    `metric` is DECISION, PASS_RATE, PASS_RATE_ERRORS_FAIL (an errored probe is a failure) or OTHER_RATE; by default
    decisions if both have any, else PASS_RATE. Differences below `margin` do not matter. Raises UsageError for
    the same evaluation twice, and if the evaluations have no scenario in common.
    """
    try:
        options = ComparisonOptions(Metric(metric.upper()) if metric else None, alpha, margin)
    except ValueError:
        raise UsageError(f"metric: {metric!r} is not one of {', '.join(Metric)}") from None
    if issue := options.alpha_issue:
        raise UsageError(f"alpha: {issue}")
    if issue := options.margin_issue:
        raise UsageError(f"margin: {issue}")
    if baseline.id == comparison.id:
        raise UsageError("comparison: is the same as the baseline")
    try:
        return compare(_side(baseline), _side(comparison), options)
    except NotMatchable:
        raise UsageError("the evaluations share neither names nor dimension scores of scenarios") from None


def _side(evaluation: Evaluation) -> ComparisonSide:
    scenarios, answers = _read(evaluation)
    columns = tuple(SideColumn(number, column) for number, column in enumerate(evaluation.columns))
    return ComparisonSide(
        source=evaluation.id,
        columns=columns,
        scenarios=scenarios,
        cell=lambda column, case: _cell(answers[column, case]),
        totals=lambda column: _totals(evaluation, column),
        usage=lambda column, case: _usage(answers[column, case]),
    )


def _totals(evaluation: Evaluation, column: int) -> ColumnTotals:
    totals = ColumnTotals()
    for result in evaluation.results:
        if result.probe.column == evaluation.columns[column]:
            totals.add(counted_outcome(result.outcome))
    return totals


def _usage(results: Iterable[ProbeResult]) -> TargetUsage:
    return TargetUsage.of(counted_outcome(result.outcome) for result in results)


def _read(evaluation: Evaluation) -> tuple[list[SideScenario], _Answers]:
    """Read the answers by scenario name, because ids count the scenarios of a file, and would shift with an edit of
    it."""
    columns: dict[Column, int] = {column: number for number, column in enumerate(evaluation.columns)}
    cases: dict[str, dict[str | None, int]] = {}
    answers: _Answers = defaultdict(list)
    dimensions, names = {}, {}
    for result in evaluation.results:
        scenario, persona = result.probe.scenario, result.probe.persona
        numbers = cases.setdefault(scenario.id, {})
        case = numbers.setdefault(persona.id if persona else None, len(answers))
        answers[columns[result.probe.column], case].append(result)
        dimensions[scenario.id], names[scenario.id] = scenario.dimensions, scenario.name
    keys = _unique(names)
    return [SideScenario(keys[each], names[each], dimensions[each], cases[each]) for each in cases], answers


def _unique(names: dict[str, str]) -> dict[str, str]:
    seen = Counter[str]()
    keys = {}
    for scenario_id, name in names.items():
        seen[name] += 1
        keys[scenario_id] = name if seen[name] == 1 else f"{name} #{seen[name]}"
    return keys


def _cell(results: Iterable[ProbeResult]) -> Cell:
    counts = Counter[str]()
    for result in results:
        if result.transcript is None:
            counts["errored"] += 1
            continue
        summary = result.transcript.summary
        code = summary.decision_code if summary else None
        counts["undecided" if code is None else code if code in DECISION_CODES else "other"] += 1
        counts["judged"] += result.success is not None
        counts["passed"] += bool(result.success)
    codes = (counts[code] for code in DECISION_CODES)
    return Cell(*codes, *(counts[name] for name in ("other", "errored", "judged", "passed", "undecided")))


def plan_comparison(
    effect: float,
    *,
    metric: str | None = None,
    rate: float | None = None,
    spread: float | None = None,
    pilot_scenarios: int | None = None,
    targets: int = 1,
) -> ComparisonPlan:
    """Plan a comparison: its `runs` say how many scenarios and repeats detect `effect` with a chance of 80 %.

    The spread of the scenarios' differences follows from `rate`, the pass rate of one side, or is `spread`, a standard
    deviation; with `pilot_scenarios`, from which it was estimated, its upper 80 % bound counts. Raises UsageError.
    """
    try:
        chosen = Metric(metric.upper()) if metric else None
    except ValueError:
        raise UsageError(f"metric: {metric!r} is not one of {', '.join(Metric)}") from None
    request = PlanRequest(effect, chosen, rate, spread, pilot_scenarios, targets)
    for field, why in request.violations:
        raise UsageError(f"{'pilot_scenarios' if field == 'pilotScenarios' else field}: {why}")
    return request.plan()
