from collections.abc import Sequence
from dataclasses import replace
from math import log

import pytest

from cupel_core.domain.analysis.comparison import ComparisonFigures, compare
from cupel_core.domain.analysis.comparison_document import figures_json
from cupel_core.domain.analysis.matching import ComparisonSide
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.target_usage import TargetUsage
from cupel_core.domain.analysis.usage_ratios import UsageRatio
from cupel_core.domain.analysis.usage_samples import LeftOut, UsageMeasure
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from tests.compared_sides import scenario, side

FACTORS = (1.0, 30.0, 4.0, 11.0, 2.0, 7.0)
NOISE = (1.01, 0.98, 1.03, 0.99, 1.02, 0.97)
PICO = 10**12


def used(usd: float | None = 0.01, ms: float | None = 500.0, completed: int = 1) -> TargetUsage:
    def total(value: float | None) -> int:
        return -1 if value is None else round(value * completed * PICO)

    return TargetUsage(completed, total(usd), total(None if ms is None else log(ms)))


def usage_side(*columns: Sequence[TargetUsage], run_id: str = "run_a", names: Sequence[str] = ("m",)) -> ComparisonSide:
    """A case for each usage, with one decision."""
    of_columns = dict(zip(names, columns, strict=True))
    answered = side({name: ["3"] * len(usages) for name, usages in of_columns.items()}, run_id)
    return replace(answered, usage=lambda column, case: columns[column][case])


def cost_of(before: Sequence[TargetUsage], after: Sequence[TargetUsage]) -> UsageRatio:
    return compared(before, after).rows[0].usage[UsageMeasure.COST]


def time_of(before: Sequence[TargetUsage], after: Sequence[TargetUsage]) -> UsageRatio:
    return compared(before, after).rows[0].usage[UsageMeasure.TIME]


def compared(before: Sequence[TargetUsage], after: Sequence[TargetUsage]) -> ComparisonFigures:
    return compare(usage_side(before), usage_side(after, run_id="run_b"))


BEFORE = [used(0.001 * each, 100 * each) for each in FACTORS]
AFTER = [used(0.0015 * each * noise, 80 * each * noise) for each, noise in zip(FACTORS, NOISE, strict=True)]


def test_a_cost_that_is_higher_in_each_scenario_is_higher() -> None:
    cost = cost_of(BEFORE, AFTER)
    assert cost.verdict is ComparisonVerdict.HIGHER
    assert cost.estimate.ratio == pytest.approx(1.5, rel=0.01)
    assert cost.estimate.baseline == pytest.approx(0.001 * (1 * 30 * 4 * 11 * 2 * 7) ** (1 / 6), rel=1e-9)
    assert cost.sentence == (
        "m costs 50.0% more than in the baseline (95% CI +46.3% to +53.7%, adjusted p < 0.001, 6 scenarios)."
    )


def test_times_of_two_runs_have_an_interval_and_no_verdict() -> None:
    time = time_of(BEFORE, AFTER)
    assert (time.verdict, time.estimate.ratio) == (None, pytest.approx(0.8, rel=0.01))
    assert time.estimate.interval is not None
    assert time.estimate.p is not None
    assert time.sentence.startswith("m takes 20.0% less time than in the baseline (95% CI")
    assert time.sentence.endswith("made at different times, so the provider's load may be the reason.")


def test_times_of_one_run_have_a_verdict() -> None:
    of_run = compare(usage_side(BEFORE, names=["a"]), usage_side(AFTER, names=["b"]))
    time = of_run.rows[0].usage[UsageMeasure.TIME]
    assert time.verdict is ComparisonVerdict.LOWER
    assert time.sentence.startswith("b takes 20.0% less time than a (95% CI")


def test_two_gradings_of_the_same_conversations_are_not_tested() -> None:
    figures = compare(usage_side(BEFORE), usage_side(BEFORE, run_id="run_a/rsc_1"))
    for ratio in figures.rows[0].usage.values():
        assert (ratio.verdict, ratio.estimate.ratio, ratio.estimate.p, ratio.adjusted_p) == (None, 1.0, None, None)
        assert ratio.sentence == "Both sides are the same conversations."


def test_a_difference_by_chance_is_inconclusive() -> None:
    after = [used(0.001 * each * noise) for each, noise in zip(FACTORS, NOISE, strict=True)]
    cost = cost_of(BEFORE, after)
    assert cost.verdict is ComparisonVerdict.INCONCLUSIVE
    assert cost.sentence.startswith("Not enough data: m costs 0.0% less than in the baseline (95% CI −2.5%")


def test_fewer_than_five_scenarios_cannot_be_compared() -> None:
    cost = cost_of(BEFORE[:4], AFTER[:4])
    assert (cost.verdict, cost.estimate.p) == (ComparisonVerdict.NOT_COMPARABLE, None)
    assert cost.estimate.ratio == pytest.approx(1.5, rel=0.01)
    assert cost.sentence == "Too few scenarios have a known cost above $0 on both sides: 4 of at least 5."


def test_an_unknown_cost_is_not_zero() -> None:
    cost = cost_of(BEFORE, [used(None, 10.0) for _ in AFTER])
    assert (cost.estimate.ratio, cost.verdict) == (None, ComparisonVerdict.NOT_COMPARABLE)
    assert cost.left_out == {LeftOut.UNKNOWN: 6}


def test_conversations_that_cost_nothing_have_no_ratio() -> None:
    cost = cost_of(BEFORE, [*AFTER[:5], used(0.0)])
    assert (cost.estimate.scenarios, cost.left_out) == (5, {LeftOut.FREE: 1})
    both_free = cost_of([used(0.0)] * 6, [used(0.0)] * 6)
    assert (both_free.estimate.ratio, both_free.left_out) == (None, {LeftOut.FREE: 6})


def test_a_duration_that_is_unknown_leaves_out_its_scenario() -> None:
    time = time_of([used(ms=None), *BEFORE[1:]], AFTER)
    assert (time.estimate.scenarios, time.left_out) == (5, {LeftOut.UNKNOWN: 1})


def test_scenarios_that_a_side_has_not_completed_are_left_out() -> None:
    cost = cost_of([TargetUsage(), *BEFORE[1:]], [*AFTER[:5], TargetUsage()])
    assert (cost.estimate.scenarios, cost.left_out) == (4, {LeftOut.NOT_COMPLETED: 2})


def test_a_ratio_that_all_scenarios_share_has_no_interval() -> None:
    cost = cost_of(BEFORE, [used(0.0005 * each) for each in FACTORS])
    assert (cost.verdict, cost.estimate.interval) == (ComparisonVerdict.LOWER, None)
    assert cost.sentence == (
        "m costs 50.0% less than in the baseline (adjusted p 0.016, 6 scenarios). "
        "Nearly all scenarios have the same ratio, so there is no interval."
    )


def test_personas_are_averaged_and_only_common_ones_count() -> None:
    listed = [scenario(f"s{number}", {"x": 2 * number, "y": 2 * number + 1}) for number in range(5)]
    only_x = [scenario(f"s{number}", {"x": number}) for number in range(5)]
    both = [used(0.001), used(0.004)] * 5
    before = replace(usage_side(both), scenarios=listed)
    all_after = replace(usage_side([used(0.002)] * 10, run_id="run_b"), scenarios=listed)
    some_after = replace(usage_side([used(0.002)] * 5, run_id="run_b"), scenarios=only_x)
    estimates = [compare(before, each).rows[0].usage[UsageMeasure.COST].estimate for each in (all_after, some_after)]
    assert [each.ratio for each in estimates] == [pytest.approx(1.0), pytest.approx(2.0)]


def test_all_pairs_together_average_the_logarithms_and_adjust_p() -> None:
    names = ["a", "b"]
    halved = [used(0.0005 * each * noise, 100) for each, noise in zip(FACTORS, NOISE, strict=True)]
    figures = compare(usage_side(BEFORE, BEFORE, names=names), usage_side(AFTER, halved, run_id="run_b", names=names))
    assert figures.overall is not None
    first, second = (row.usage[UsageMeasure.COST] for row in figures.rows)
    overall = figures.overall.usage[UsageMeasure.COST]
    assert overall.estimate.ratio == pytest.approx((first.estimate.ratio * second.estimate.ratio) ** 0.5)
    tests = [first, second, overall]
    assert [each.adjusted_p for each in tests] == holm([each.estimate.p for each in tests])


def test_an_average_of_several_targets_needs_all_of_them() -> None:
    before = usage_side(BEFORE, [TargetUsage(), *BEFORE[1:]], names=["a", "b"])
    after = usage_side(AFTER, AFTER, run_id="run_b", names=["c", "d"])
    cost = compare(before, after).rows[0].usage[UsageMeasure.COST]
    assert (cost.estimate.scenarios, cost.left_out) == (5, {LeftOut.NOT_COMPLETED: 1})


def test_ratios_are_part_of_the_stored_figures() -> None:
    row = figures_json(compared(BEFORE, AFTER))["rows"][0]
    assert row["costRatio"]["verdict"] == "HIGHER"
    assert row["timeRatio"]["verdict"] is None
    assert list(row["timeRatio"]["interval"]) == sorted(row["timeRatio"]["interval"])
