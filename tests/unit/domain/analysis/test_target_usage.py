from math import log

import pytest

from cupel_core.domain.analysis.counted_outcomes import CountedCost, CountedOutcome
from cupel_core.domain.analysis.counts import Counts, RunCounts, count, scenario_cases, total_counts
from cupel_core.domain.analysis.target_usage import CACHED, UNKNOWN, TargetUsage, add_sums
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets

PLAN = Plan(plain_targets("sim/a"), (2,), repeats=3)


def completed(index: int, usd: float | None = 0.25, duration_ms: int = 100, calls: int = 1) -> CountedOutcome:
    costs = [CountedCost("target", calls, usd), CountedCost("judge", 1, None)]
    return CountedOutcome(index, is_completed=True, duration_ms=duration_ms, costs=costs)


def errored(index: int) -> CountedOutcome:
    return CountedOutcome(index, is_completed=False, costs=[CountedCost("target", 1, None)])


def test_a_cell_has_the_mean_cost_and_the_mean_logarithm_of_its_repeats() -> None:
    usage = TargetUsage.of([completed(0, 0.25, 10), completed(1, 0.5, 1_000), completed(2, 0.0, 1)])
    assert usage.mean_usd == pytest.approx(0.25, rel=1e-12)
    assert usage.mean_log_ms == pytest.approx(log(10_000) / 3, rel=1e-12)


def test_a_cell_has_the_mean_logarithm_of_costs_unless_one_is_zero() -> None:
    costs = [completed(0, 0.25), completed(1, 4.0), completed(2, 0.000_001)]
    assert TargetUsage.of(costs).mean_log_usd == pytest.approx(log(0.000_001) / 3, rel=1e-9)
    with_a_free_one = TargetUsage.of([*costs, completed(3, 0.0)])
    assert (with_a_free_one.mean_log_usd, with_a_free_one.mean_usd is None) == (None, False)


def test_one_unknown_price_makes_the_cost_unknown_and_not_the_time() -> None:
    usage = TargetUsage.of([completed(0), completed(1, None)])
    assert (usage.mean_usd, usage.mean_log_ms) == (None, pytest.approx(log(100)))


def test_a_duration_of_zero_makes_the_time_unknown_and_not_the_cost() -> None:
    usage = TargetUsage.of([completed(0), completed(1, duration_ms=0)])
    assert (usage.mean_usd, usage.mean_log_ms) == (0.25, None)


def test_calls_that_cost_nothing_are_known_and_no_calls_are_not() -> None:
    assert TargetUsage.of([completed(0, 0.0)]).mean_usd == 0.0
    assert TargetUsage.of([completed(0, 0.0, calls=0)]).mean_usd is None


def test_answers_from_a_cache_have_the_cost_of_the_call_before_and_no_time() -> None:
    cached = completed(1)._replace(is_cached=True, costs=[CountedCost("target", 1, 0.0, cached_usd=0.75)])
    usage = TargetUsage.of([completed(0), cached])
    assert (usage.completed, usage.mean_usd, usage.mean_log_ms) == (2, 0.5, None)
    assert usage.pico_log_ms == CACHED
    unpriced = cached._replace(costs=[CountedCost("target", 1, 0.0, cached_usd=None)])
    assert TargetUsage.of([unpriced]).mean_usd is None


def test_calls_that_may_have_been_billed_make_the_cost_unknown() -> None:
    costs = [CountedCost("target", 1, 0.25), CountedCost("target", 0, 0.0, uncertain_usd=0.1)]
    usage = TargetUsage.of([completed(0), completed(1)._replace(costs=costs)])
    assert (usage.mean_usd, usage.mean_log_usd) == (None, None)


def test_unusable_answers_are_paid_for() -> None:
    costs = [CountedCost("target", 1, 0.25), CountedCost("target", 2, 0.5)]
    assert TargetUsage.of([CountedOutcome(0, is_completed=True, costs=costs)]).mean_usd == 0.75


def test_errored_probes_count_neither_for_costs_nor_for_times() -> None:
    assert TargetUsage.of([completed(0), errored(1)]) == TargetUsage.of([completed(0)])
    assert TargetUsage.of([errored(0)]).mean_usd is None


def test_a_sum_that_does_not_fit_into_a_file_is_unknown() -> None:
    assert (add_sums(2**62, 0), add_sums(2**62, 1), add_sums(UNKNOWN, 5)) == (2**62, UNKNOWN, UNKNOWN)
    assert (add_sums(CACHED, UNKNOWN), add_sums(5, CACHED)) == (CACHED, CACHED)


def test_count_files_have_the_usage_of_each_cell() -> None:
    outcomes = [completed(0), completed(1, 0.75), errored(2), completed(3, None, 7)]
    counts = Counts.decode(count(PLAN, range(6), outcomes).encode())
    run = RunCounts(PLAN, scenario_cases([0, 1]), counts)
    assert run.case_usage(0, 0) == TargetUsage.of(outcomes[:3])
    assert run.case_usage(0, 1) == TargetUsage.of(outcomes[3:])


def test_parts_that_divide_a_cell_add_up() -> None:
    outcomes = [completed(index, None if index == 5 else 0.1 * index, 1 + index) for index in range(6)]
    parts = [count(PLAN, part, [outcomes[index] for index in part]) for part in (range(2), range(2, 5), range(5, 6))]
    whole = total_counts(PLAN, reversed(parts))
    assert whole == count(PLAN, range(6), outcomes)
    assert whole.target_usage(1).mean_usd is None
