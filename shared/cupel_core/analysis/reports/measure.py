from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from cupel_core.analysis.basic import analyze_counts
from cupel_core.analysis.breakdowns import MAX_CELLS, case_properties
from cupel_core.analysis.judge_accuracy import judge_accuracy
from cupel_core.analysis.reports.agreement import agreement_response
from cupel_core.analysis.reports.scan import Scan
from cupel_core.analysis.reports.targets import column_names, differences, failed_scenarios, scenario_names, with_names
from cupel_core.analysis.tabulate import CountedInputs, read_counts
from cupel_core.base.errors import Invalid, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.budgets.price_checks import has_price
from cupel_core.contract.analyzed_columns import QuantilesResponse, ShareEstimateResponse
from cupel_core.contract.estimates import EstimateIntervalResponse
from cupel_core.contract.report_content import (
    CheckStatisticsResponse,
    ErrorCountResponse,
    FailureModeResponse,
    ReportBreakdownResponse,
    ReportBudgetResponse,
    ReportColumnResponse,
    ReportContentResponse,
    ReportCostResponse,
    ReportFiguresResponse,
    ReportGroupResponse,
    RoleCostResponse,
    UnpricedModelResponse,
    UnscoredCountResponse,
)
from cupel_core.domain.analysis.basic import Quantiles
from cupel_core.domain.analysis.breakdowns import groupable_fields, grouped_figures
from cupel_core.domain.analysis.column_totals import MAX_CAUSES, CheckCount, ColumnTotals
from cupel_core.domain.analysis.counts import RunCounts
from cupel_core.domain.analysis.estimates import GroupEstimate
from cupel_core.domain.calibration.judge_accuracy import JudgeAccuracy
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.estimates.intervals import EstimateInterval
from cupel_core.domain.reports.samples import MAX_TAGS, lowest_first
from cupel_core.domain.reports.unpriced import unpriced_calls
from cupel_core.domain.resources.providers import Prices
from cupel_core.domain.runs.identifiers import transcript_id
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.default_evaluators import EvaluatorStatus
from cupel_core.domain.scoring.left_out_checks import left_out_message
from cupel_core.domain.scoring.unscored import DESCRIPTIONS, UnscoredCause
from cupel_core.domain.statistics import wilson_interval
from cupel_core.domain.text.counts import count_of
from cupel_core.providers.prices import price_list_version
from cupel_core.store import budgets, snapshots
from cupel_core.store.snapshots import Snapshot

MAX_CHECKS = 100
MAX_BREAKDOWNS = 4
MAX_VALUES = 12
"""A report breaks down by fields with at most this many values; a command shows the others."""
SAMPLES_PER_TAG = 5


class Measured(NamedTuple):
    content: ReportContentResponse
    scan: Scan


def measure(inputs: CountedInputs, rescore_ids: Sequence[str], estimated: EstimateInterval | None) -> Measured:
    run, counts = inputs.run, read_counts(inputs)
    analysis = analyze_counts(run, counts)
    totals = [counts.totals.column(number) for number in range(len(run.plan.columns))]
    overall = _sum(totals)
    snapshot = snapshots.get(run.snapshot_key)
    names, columns = list(scenario_names(snapshot, counts)), column_names(run)
    accuracy = judge_accuracy(inputs)
    scan = Scan(run, frozenset(tag for tag, _ in _top_tags(overall)), rescore_ids).read()
    content = ReportContentResponse(
        run_name=run.labels.name,
        definition_id=run.definition_id,
        definition_name=run.definition_name,
        definition_version=run.definition_version,
        run_status=run.status,
        started_at=run.started_at,
        completed_at=run.completed_at,
        probes=run.plan.total,
        scenarios=run.scenario_count,
        scenario_total=run.scenario_total,
        judge_model=run.grader_config.judge_model,
        evaluators=dict(run.evaluators),
        overall=figures(analysis.overall, overall),
        columns=[
            ReportColumnResponse.from_value(
                column,
                name=name,
                figures=figures(analysed.estimate, total),
                judge_accuracy=(found := accuracy.get(number)),
                corrected_pass_rate=found and found.corrected_pass_rate,
            )
            for number, (column, name, analysed, total) in enumerate(
                zip(run.plan.columns, columns, analysis.columns, totals, strict=True)
            )
        ],
        errors=_errors(overall),
        unscored_reasons=_unscored(overall),
        cost=_cost(run, totals, overall, estimated),
        top_failure_modes=list(_failure_modes(overall, analysis.overall.completed, scan)),
        failure_tags=len(overall.tags),
        judge_stats=list(_check_statistics(overall.checks)),
        grader_agreement=[agreement_response(*names, pairs) for names, pairs in scan.pairs.items()],
        conversations=with_names(run, scan.conversations),
        failed_scenarios=failed_scenarios(counts, names),
        differences=differences(run, counts, snapshot, columns),
        breakdowns=list(_breakdowns(counts, snapshot)) if analysis.overall.pass_rate.trials else [],
        notes=[*_notes(run, analysis.overall, overall), *_judge_notes(analysis.overall, overall, accuracy)],
    )
    return Measured(content, scan)


def _breakdowns(counts: RunCounts, snapshot: Snapshot) -> Iterator[ReportBreakdownResponse]:
    if counts.plan.total // counts.plan.repeats > MAX_CELLS:
        return
    cases = case_properties(snapshot)
    names = [field.name for field in groupable_fields(cases) if field.values <= MAX_VALUES]
    for name in names[:MAX_BREAKDOWNS]:
        groups = grouped_figures(counts, [case.groups(name) for case in cases])
        yield ReportBreakdownResponse(
            by=name,
            groups=[
                ReportGroupResponse(
                    value=group.value,
                    scenarios=group.scenarios,
                    pass_rates=[ShareEstimateResponse.model_validate(each.pass_rate) for each in group.columns],
                )
                for group in groups
            ],
        )


def _sum(totals: Sequence[ColumnTotals]) -> ColumnTotals:
    overall = ColumnTotals()
    for each in totals:
        overall.merge(each)
    return overall


def figures(estimate: GroupEstimate, totals: ColumnTotals) -> ReportFiguresResponse:
    histograms = totals.histograms
    duration, turns = histograms["durations_ms"], histograms["turns"]
    return ReportFiguresResponse(
        completed=estimate.completed,
        errored=estimate.errored,
        unscored=totals.unscored,
        win_rate=ShareEstimateResponse.model_validate(estimate.pass_rate),
        turns=_quantiles(totals, "turns"),
        duration_ms=_quantiles(totals, "durations_ms"),
        mean_turn_ms=duration.total / turns.total if turns.total else None,
        turn_ms=_quantiles(totals, "turn_durations_ms"),
        input_tokens=_quantiles(totals, "input_tokens"),
        output_tokens=_quantiles(totals, "output_tokens"),
        tokens=_quantiles(totals, "tokens"),
        total_input_tokens=histograms["input_tokens"].total,
        total_output_tokens=histograms["output_tokens"].total,
        costs=_role_costs(totals),
    )


def _quantiles(totals: ColumnTotals, name: str) -> QuantilesResponse | None:
    found = Quantiles.of(totals.histograms[name])
    return None if found is None else QuantilesResponse.model_validate(found)


def _role_costs(totals: ColumnTotals) -> list[RoleCostResponse]:
    return [
        RoleCostResponse.model_validate(
            {
                "role": role,
                "calls": cost.calls,
                "usd": cost.usd,
                "priced_usd": cost.nano_usd / 1e9,
                "input_tokens": cost.input_tokens,
                "output_tokens": cost.output_tokens,
            }
        )
        for role, cost in totals.costs.items()
    ]


def _cost(
    run: Run, columns: Sequence[ColumnTotals], totals: ColumnTotals, estimated: EstimateInterval | None
) -> ReportCostResponse:
    spent, priced = totals.cost_usd, sum(cost.nano_usd for cost in totals.costs.values()) / 1e9
    expected = estimated.expected if estimated else None
    difference = None if spent is None or expected is None else spent - expected
    return ReportCostResponse(
        usd=spent,
        priced_usd=priced,
        estimated_usd=EstimateIntervalResponse.from_value(estimated) if estimated else None,
        difference_usd=difference,
        difference_share=None if difference is None or not expected else difference / expected,
        price_list=price_list_version(),
        budget=_budget(run),
        unpriced=list(_unpriced(run, columns)),
    )


def _unpriced(run: Run, columns: Sequence[ColumnTotals]) -> Iterator[UnpricedModelResponse]:
    targets = (column.target.model for column in run.plan.columns)
    has_known_price = partial(_has_price, run.workspace, cache(partial(_own_prices, run)))
    for each in unpriced_calls(zip(targets, columns, strict=True), has_known_price):
        yield UnpricedModelResponse(model=each.model, roles=list(each.roles), calls=each.calls)


def _own_prices(run: Run) -> Prices | None:
    try:
        return snapshots.get(run.snapshot_key).prices
    except NotFound:
        return None


def _has_price(workspace: str, own_prices: Callable[[], Prices | None], model: str) -> bool:
    """Return whether the model has a price, among the run's own prices.

    The result is False if the model belongs to a server of the workspace that has been removed since.
    """
    try:
        return has_price(workspace, model, own_prices())
    except (Invalid, NotFound):
        return False


def _budget(run: Run) -> ReportBudgetResponse | None:
    """Return what was spent of the run's budget, as the workers have last reported.

    It also counts calls whose answers were lost, and earlier summaries.
    """
    if run.budget is None:
        return None
    account = budgets.get(RunRef(run.workspace, run.id))
    return ReportBudgetResponse.from_value(account, max_budget_usd=run.budget.max_usd)


def _errors(totals: ColumnTotals) -> list[ErrorCountResponse]:
    counted = ((error.probes, code) for code, error in totals.errors.items())
    return [ErrorCountResponse(code=code, probes=probes) for probes, code in sorted(counted, reverse=True)]


def _unscored(totals: ColumnTotals) -> list[UnscoredCountResponse]:
    return [
        UnscoredCountResponse(code=code, model=model, provider_code=provider_code, probes=probes)
        for (code, model, provider_code), probes, _ in totals.unscored_causes[:MAX_CAUSES]
    ]


def _top_tags(totals: ColumnTotals) -> list[tuple[str, int]]:
    return sorted(totals.tags.items(), key=lambda each: (-each[1], each[0]))[:MAX_TAGS]


def _failure_modes(totals: ColumnTotals, completed: int, scan: Scan) -> Iterator[FailureModeResponse]:
    for tag, count in _top_tags(totals):
        pool = scan.candidates.get(tag)
        samples = lowest_first(pool.candidates, SAMPLES_PER_TAG) if pool else []
        yield FailureModeResponse(
            tag=tag,
            count=count,
            share=count / completed if completed else 0.0,
            sample_conversation_ids=[transcript_id(scan.run.id, sample.probe_index) for sample in samples],
        )


def _check_statistics(checks: Mapping[str, CheckCount]) -> Iterator[CheckStatisticsResponse]:
    def rate(counted: CheckCount) -> float | None:
        computed = counted.passed + counted.failed
        return counted.passed / computed if computed else None

    ordered = sorted(checks.items(), key=lambda each: (rate(each[1]) is None, rate(each[1]), each[0]))
    for name, counted in ordered[:MAX_CHECKS]:
        interval = wilson_interval(counted.passed, counted.passed + counted.failed)
        yield CheckStatisticsResponse(
            name=name,
            passed=counted.passed,
            failed=counted.failed,
            errors=counted.errors,
            pass_rate=rate(counted),
            interval=list(interval) if interval else None,
        )


_WHY_NOT = {
    EvaluatorStatus.OFF: "was switched off",
    EvaluatorStatus.NO_GOAL: "did not run: the scale run has no goal",
    EvaluatorStatus.NO_FORMAT: "did not run: no format was requested",
    EvaluatorStatus.NO_JUDGE: "did not run: the run has no judge",
}


def _notes(run: Run, overall: GroupEstimate, totals: ColumnTotals) -> Iterator[str]:
    if totals.partly_checked:
        yield f"{left_out_message(totals.partly_checked, overall.completed, totals.left_out)}."
    for name, status in run.evaluators.items():
        if status is not EvaluatorStatus.ACTIVE:
            yield f"The evaluator {name} {_WHY_NOT[status]}."
    if not overall.completed:
        yield "No conversation has completed, so there is nothing to judge."
    elif not overall.pass_rate.trials and not totals.unscored:
        yield "No conversation was judged: the run has neither criteria nor assertions that decide."
    elif overall.pass_rate.scenarios == 1:
        yield "All judged conversations are of one scenario: the interval says nothing about other scenarios."
    if totals.unscored:
        completed = count_of(overall.completed, "conversation")
        yield f"{totals.unscored:,} of {completed} could not be scored: {_why(totals)}."
        if any(each.cause.code.is_judges for each in totals.unscored_causes):
            yield "A rescore grades the stored conversations again, with the same judge or another one."
    if run.scenario_count < run.scenario_total:
        yield f"The run has {run.scenario_count:,} of {run.scenario_total:,} scenarios; these figures are about them."


def _judge_notes(overall: GroupEstimate, totals: ColumnTotals, accuracy: Mapping[int, JudgeAccuracy]) -> Iterator[str]:
    judge = totals.costs.get(ModelRole.JUDGE)
    if overall.pass_rate.trials and judge is not None and judge.calls and not accuracy:
        yield "The judge is uncalibrated: no labels of people say how often it is wrong."


def _why(totals: ColumnTotals) -> str:
    return "; ".join(f"{_name(each.cause)}: {each.probes:,}" for each in totals.unscored_causes[:3])


def _name(cause: UnscoredCause) -> str:
    return f"{DESCRIPTIONS[cause.code]} ({', '.join(filter(None, cause))})"
