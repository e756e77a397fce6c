from collections import Counter

from cupel_core.domain.analysis.counts import RunCounts
from cupel_core.domain.analysis.estimates import GroupEstimate, group_estimate
from cupel_core.domain.runs.run_rates import MAX_COLUMNS, ColumnRate, RunRates


def column_estimate(counts: RunCounts, column: int) -> GroupEstimate:
    return group_estimate(Counter(counts.column_cells(column)))


def run_rates(counts: RunCounts) -> RunRates:
    estimates = [column_estimate(counts, column) for column in range(len(counts.plan.columns))]
    passed = sum(each.pass_rate.successes for each in estimates)
    judged = sum(each.pass_rate.trials for each in estimates)
    return RunRates(
        passed=passed,
        failed=judged - passed,
        unscored=sum(each.completed for each in estimates) - judged,
        errored=sum(each.errored for each in estimates),
        columns=tuple(map(_column_rate, estimates[:MAX_COLUMNS])),
    )


def _column_rate(estimate: GroupEstimate) -> ColumnRate:
    rate = estimate.pass_rate
    return ColumnRate(rate.successes, rate.trials, rate.share, rate.interval)
