import json
from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

import pytest

from cupel_core.domain.analysis.comparison import ComparisonFigures, compare
from cupel_core.domain.analysis.comparison_document import figures_json
from cupel_core.domain.analysis.counted_outcomes import CountedCost, CountedOutcome
from cupel_core.domain.analysis.matching import ComparisonSide
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.paired import PairedValues
from cupel_core.domain.analysis.significance import SignificanceTest
from cupel_core.domain.analysis.target_usage import CACHED, TargetUsage
from cupel_core.domain.analysis.usage_ratios import UsageRatio, ratio_estimate
from cupel_core.domain.analysis.usage_samples import LeftOut, UsageMeasure
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from tests.compared_sides import scenario, side
from tests.oracles import FROZEN_FOLDER

FACTORS = (1.0, 30.0, 4.0, 11.0, 2.0, 7.0)
NOISE = (1.01, 0.98, 1.03, 0.99, 1.02, 0.97)
PICO = 10**12


CASES = json.loads((FROZEN_FOLDER / "usage_ratios.json").read_text())


def used(usd: float | None = 0.01, ms: float | None = 500.0, completed: int = 1) -> TargetUsage:
    def total(value: float | None) -> int:
        return -1 if value is None else round(value * completed * PICO)

    return TargetUsage(
        completed, total(usd), total(log(usd * PICO) if usd else None), total(None if ms is None else log(ms))
    )


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
        "In the typical conversation, m costs 50.0% more than in the baseline "
        "(95% CI +46.3% to +53.7%, adjusted p < 0.001, 6 scenarios)."
    )


def test_times_of_two_runs_have_an_interval_and_no_verdict() -> None:
    time = time_of(BEFORE, AFTER)
    assert (time.verdict, time.estimate.ratio) == (None, pytest.approx(0.8, rel=0.01))
    assert time.estimate.interval is not None
    assert time.estimate.p is not None
    assert time.sentence.startswith("In the typical conversation, m takes 20.0% less time than in the baseline (95% CI")
    assert time.sentence.endswith(" Both are different runs, so the provider's load may be the reason.")


def test_times_of_one_run_have_a_verdict() -> None:
    of_run = compare(usage_side(BEFORE, names=["a"]), usage_side(AFTER, names=["b"]))
    time = of_run.rows[0].usage[UsageMeasure.TIME]
    assert time.verdict is ComparisonVerdict.LOWER
    assert time.sentence.startswith("In the typical conversation, b takes 20.0% less time than a (95% CI")
    assert time.sentence.endswith("This holds at the time of this run, and the load may differ between models too.")


def test_two_gradings_of_the_same_conversations_are_not_tested() -> None:
    figures = compare(usage_side(BEFORE), usage_side(BEFORE, run_id="run_a/rsc_1"))
    for ratio in figures.rows[0].usage.values():
        assert (ratio.verdict, ratio.estimate.ratio, ratio.estimate.p, ratio.adjusted_p) == (None, 1.0, None, None)
        assert ratio.sentence == "Both sides are the same conversations."


def test_a_difference_by_chance_is_inconclusive() -> None:
    after = [used(0.001 * each * noise) for each, noise in zip(FACTORS, NOISE, strict=True)]
    cost = cost_of(BEFORE, after)
    assert cost.verdict is ComparisonVerdict.INCONCLUSIVE
    assert cost.sentence.startswith(
        "Not enough data: in the typical conversation, m costs about the same as in the baseline (95% CI −2.5%"
    )


def test_fewer_than_five_scenarios_cannot_be_compared() -> None:
    cost = cost_of(BEFORE[:4], AFTER[:4])
    assert (cost.verdict, cost.estimate.p) == (ComparisonVerdict.NOT_COMPARABLE, None)
    assert cost.estimate.ratio == pytest.approx(1.5, rel=0.01)
    assert cost.sentence == "Too few scenarios have a known cost above $0 on both sides: 4 of at least 5."
    time = time_of(BEFORE[:4], AFTER[:4])
    assert (time.verdict, time.sentence) == (
        None,
        "Too few scenarios have a known time on both sides: 4 of at least 5.",
    )


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
        "In all 6 scenarios, m costs 50.0% less than in the baseline (adjusted p 0.016). "
        "Nearly all scenarios have the same ratio, so there is no interval."
    )


def test_equal_costs_are_said_to_be_the_same() -> None:
    cost = cost_of(BEFORE, BEFORE)
    assert (cost.verdict, cost.adjusted_p) == (ComparisonVerdict.INCONCLUSIVE, None)
    assert cost.sentence == "m costs the same as in the baseline in all 6 scenarios."


def test_a_few_other_ratios_neither_carry_nor_turn_the_verdict_of_most() -> None:
    before = [used(0.001)] * 20
    more = cost_of(before, [used(0.00101)] * 19 + [used(0.05)])
    assert more.verdict is ComparisonVerdict.HIGHER
    assert more.sentence.startswith("In 19 of 20 scenarios, m costs 1.0% more than in the baseline (adjusted p < 0.001")
    turned = cost_of(before, [used(0.00099)] * 19 + [used(0.05)])
    assert (turned.verdict, turned.adjusted_p) == (ComparisonVerdict.INCONCLUSIVE, None)
    assert turned.sentence.startswith("Not enough data: in 19 of 20 scenarios, m costs 1.0% less than in the baseline.")
    same = cost_of(before, [used(0.001)] * 18 + [used(0.05)] * 2)
    assert same.verdict is ComparisonVerdict.INCONCLUSIVE
    assert same.sentence == "m costs the same as in the baseline in 18 of 20 scenarios."


def test_a_mean_cost_of_the_other_sign_is_said() -> None:
    before = [used(0.001 * each) for each in (1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000)]
    ratios = (1.5, 1.6, 1.7, 1.4, 1.5, 1.6, 1.5, 1.7, 1.5, 0.4)
    after = [used(0.001 * each * ratio) for each, ratio in zip((1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000), ratios, strict=True)]
    sentence = cost_of(before, after).sentence
    assert "in the typical conversation, m costs 35.6% more than in the baseline (95% CI" in sentence
    note = "On average over these scenarios it costs 2.2 times less: a few expensive scenarios decide."
    assert sentence.endswith(note)
    assert "On average" not in cost_of(BEFORE, AFTER).sentence


def test_large_changes_are_factors() -> None:
    noisy = [used(0.001 * each * noise, 100 * each) for each, noise in zip(FACTORS, NOISE, strict=True)]
    cheap = [used(0.000_000_2 * each, 200_000 * each) for each in FACTORS]
    less = cost_of(noisy, cheap).sentence
    assert "m costs 4,999 times less than in the baseline (95% CI ×0.00020 to ×0.00021, " in less
    assert "m costs 4,999 times as much as in the baseline (95% CI ×4,876 to ×5,125, " in cost_of(cheap, noisy).sentence
    assert "m takes 2,000 times as much time as in the baseline" in time_of(noisy, cheap).sentence


def test_the_spread_of_answers_does_not_make_the_typical_one_more_expensive() -> None:
    """Both sides have the same mean logarithm, and the second one a far greater mean."""
    before = [TargetUsage.of([outcome_of(0.01 * each)] * 2) for each in FACTORS]
    after = [TargetUsage.of([outcome_of(0.001 * each), outcome_of(0.1 * each)]) for each in FACTORS]
    cost = cost_of(before, after)
    assert (cost.estimate.ratio, cost.ratio_of_means) == (pytest.approx(1.0), pytest.approx(5.05))
    assert cost.sentence == "m costs the same as in the baseline in all 6 scenarios."


def outcome_of(usd: float) -> CountedOutcome:
    return CountedOutcome(0, is_completed=True, duration_ms=1, costs=[CountedCost("target", 1, usd)])


def test_a_scenario_with_an_unknown_case_is_left_out() -> None:
    listed = [scenario(f"s{number}", {"x": 2 * number, "y": 2 * number + 1}) for number in range(6)]
    before = replace(usage_side([used(0.001)] * 12), scenarios=listed)
    after = replace(usage_side([used(0.002), used(None)] + [used(0.002)] * 10, run_id="run_b"), scenarios=listed)
    cost = compare(before, after).rows[0].usage[UsageMeasure.COST]
    assert (cost.estimate.scenarios, cost.left_out) == (5, {LeftOut.UNKNOWN: 1})


def test_times_of_answers_from_a_cache_are_not_compared() -> None:
    cached = [each._replace(pico_log_ms=CACHED) for each in AFTER]
    time = time_of(BEFORE, cached)
    assert (time.estimate.scenarios, time.left_out) == (0, {LeftOut.CACHED: 6})


def test_all_pairs_together_have_the_scenarios_that_every_pair_has() -> None:
    names = ["a", "b"]
    some = [used(None), *AFTER[1:]]
    figures = compare(usage_side(BEFORE, BEFORE, names=names), usage_side(AFTER, some, run_id="run_b", names=names))
    assert figures.overall is not None
    cost = figures.overall.usage[UsageMeasure.COST]
    assert (cost.estimate.scenarios, cost.left_out) == (5, {LeftOut.UNKNOWN: 1})
    none = usage_side(AFTER, [used(None)] * 6, run_id="run_b", names=names)
    without = compare(usage_side(BEFORE, BEFORE, names=names), none)
    assert without.overall is not None
    assert without.overall.usage[UsageMeasure.COST].estimate.ratio is None


def test_pairs_of_the_same_conversations_count_for_no_other_test() -> None:
    before = usage_side(BEFORE, BEFORE, names=["a", "b"])
    after = usage_side(BEFORE, AFTER, run_id="run_a/scr_1", names=["a", "c"])
    columns = (after.columns[0], after.columns[1]._replace(number=2))
    numbered = replace(after, columns=columns, cell=lambda _, case: before.cell(0, case))
    compared_again = compare(before, replace(numbered, usage=lambda column, case: (BEFORE, [], AFTER)[column][case]))
    assert compared_again.overall is not None
    same, tested = (row.usage[UsageMeasure.COST] for row in compared_again.rows)
    overall = compared_again.overall.usage[UsageMeasure.COST]
    assert (same.verdict, same.adjusted_p) == (None, None)
    assert overall.estimate == tested.estimate
    assert tested.estimate.p is not None
    assert tested.adjusted_p == pytest.approx(2 * tested.estimate.p)


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


def pairs(*ratios: float) -> list[PairedValues]:
    """Scenarios that differ by factors of ten, with these ratios of their sides."""
    return [PairedValues(log(10.0**number), log(10.0**number * ratio)) for number, ratio in enumerate(ratios)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{len(case['amounts'])} scenarios")
def test_figures_agree_with_scipy(case):
    estimate = ratio_estimate([PairedValues(log(before), log(after)) for before, after in case["amounts"]], 0.05)
    assert estimate.interval is not None
    found = {
        "baseline": estimate.baseline,
        "comparison": estimate.comparison,
        "ratio": estimate.ratio,
        "low": estimate.interval.low,
        "high": estimate.interval.high,
        "p": estimate.p,
    }
    assert found == pytest.approx({name: case[name] for name in found}, rel=1e-9)
    assert estimate.test is SignificanceTest.PAIRED_T


def test_the_published_figures_of_student_are_those_of_logarithms():
    gains = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    estimate = ratio_estimate([PairedValues(3.0, 3.0 + gain) for gain in gains], 0.05)
    assert (estimate.ratio, estimate.p) == (pytest.approx(exp(1.58)), pytest.approx(0.00283289, rel=1e-6))


def test_swapped_sides_have_the_inverse_ratio_and_the_same_p():
    scenarios = pairs(1.2, 0.9, 2.0, 1.1, 1.4, 1.3)
    there = ratio_estimate(scenarios, 0.05)
    back = ratio_estimate([PairedValues(pair.comparison, pair.baseline) for pair in scenarios], 0.05)
    assert there.interval is not None
    assert back.interval is not None
    assert (back.ratio, back.p) == (pytest.approx(1 / there.ratio), pytest.approx(there.p))
    assert back.interval == (pytest.approx(1 / there.interval.high), pytest.approx(1 / there.interval.low))


def test_fewer_than_five_scenarios_have_neither_interval_nor_p():
    estimate = ratio_estimate(pairs(1.2, 0.9, 2.0, 1.1), 0.05)
    assert estimate.ratio == pytest.approx((1.2 * 0.9 * 2.0 * 1.1) ** 0.25)
    assert (estimate.scenarios, estimate.interval, estimate.p) == (4, None, None)


def test_nothing_is_known_without_scenarios():
    estimate = ratio_estimate([], 0.05)
    assert (estimate.scenarios, estimate.baseline, estimate.ratio, estimate.p) == (0, None, None, None)


def test_scenarios_with_the_same_ratio_have_a_sign_test_and_no_interval():
    estimate = ratio_estimate(pairs(*[0.8] * 8), 0.05)
    assert estimate.test is SignificanceTest.SIGN
    assert (estimate.ratio, estimate.interval, estimate.p) == (pytest.approx(0.8), None, pytest.approx(0.5**8))


def test_equal_sides_have_no_direction_to_test():
    estimate = ratio_estimate(pairs(*[1.0] * 8), 0.05)
    assert (estimate.ratio, estimate.usual, estimate.interval, estimate.p) == (1.0, 1.0, None, None)


def test_a_few_scenarios_without_the_usual_ratio_are_counted():
    estimate = ratio_estimate(pairs(*[1.01] * 19, 50.0), 0.05)
    assert (estimate.usual, estimate.usual_scenarios) == (pytest.approx(1.01), 19)
    assert estimate.p == pytest.approx(0.5**20)


def test_a_few_scenarios_that_turn_the_mean_leave_no_p():
    estimate = ratio_estimate(pairs(*[0.99] * 19, 100.0), 0.05)
    assert estimate.ratio is not None
    assert estimate.ratio > 1
    assert (estimate.interval, estimate.p) == (None, None)
