from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.cautions import ComparisonCaution
from cupel_core.domain.analysis.comparison import compare
from cupel_core.domain.analysis.comparison_requests import ComparisonOptions
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.paired_samples import Incomparable
from cupel_core.domain.analysis.scenario_changes import ChangeDirection, shrunken_differences
from cupel_core.domain.analysis.significance import SignificanceTest
from cupel_core.domain.analysis.verdicts import ComparisonVerdict, EffectSize
from cupel_core.domain.text.figures import format_p
from tests.compared_sides import scenario, side

answers = st.lists(st.text("12345o", min_size=1, max_size=3), min_size=5, max_size=12)


def compare_one(before: list[str], after: list[str], **options):
    figures = compare(side({"m": before}), side({"m": after}, "run_b"), ComparisonOptions(**options))
    return figures.rows[0]


def test_repeats_are_averaged_and_each_scenario_counts_once():
    row = compare_one(["11", "2", "3", "4", "1"], ["1234", "3", "4", "5", "1"])
    assert row.estimate.difference == pytest.approx((1.5 + 1 + 1 + 1 + 0) / 5)


def test_a_case_counts_if_both_sides_have_an_answer():
    row = compare_one(["1", "e", "3", "o", "1", "2", "3"], ["2", "1", "e", "e", "3", "3", "4"])
    assert row.estimate.scenarios == 4
    assert row.incomparable == {
        Incomparable.NO_BASELINE: 1,
        Incomparable.NO_COMPARISON: 1,
        Incomparable.NO_ANSWER: 1,
    }


def test_personas_of_one_side_only_do_not_count():
    before = side({"m": ["1", "5"]}, scenarios=[scenario("a", {"p": 0, "q": 1})])
    row = compare(before, side({"m": ["3", "3"]}, "run_b", [scenario("a", {"p": 0, "r": 1})])).rows[0]
    assert (row.baseline_mean, row.comparison_mean) == (1, 3)


@pytest.mark.parametrize(("personas", "is_said"), [({"p": 0, "q": 1}, True), ({"p": 0}, False), ({None: 0}, False)])
def test_of_several_personas_the_interval_is_for_exactly_these(personas: dict[str | None, int], is_said: bool):
    sides = [side({"m": ["1"] * len(personas)}, run, [scenario("a", personas)]) for run in ("run_a", "run_b")]
    assert (ComparisonCaution.PERSONAS in compare(*sides).rows[0].cautions) is is_said


def test_a_scenario_without_a_common_persona_is_incomparable():
    before = side({"m": ["1"]}, scenarios=[scenario("a", {"p": 0})])
    row = compare(before, side({"m": ["3"]}, "run_b", [scenario("a", {None: 0})])).rows[0]
    assert row.incomparable == {Incomparable.NO_COMMON_CASE: 1}
    assert row.verdict is ComparisonVerdict.NOT_COMPARABLE


def test_a_clear_rise_is_higher():
    row = compare_one(["1", "2", "1", "2", "1", "2"], ["4", "5", "5", "5", "4", "4"])
    assert row.verdict is ComparisonVerdict.HIGHER
    assert row.sentence == (
        "m rates 3.00 points higher than in the baseline (95% CI 2.34 to 3.66, adjusted p < 0.001, 6 scenarios)."
    )


def test_a_clear_fall_is_lower():
    row = compare_one(["4", "5", "5", "5", "4", "4"], ["1", "2", "1", "2", "1", "2"])
    assert row.verdict is ComparisonVerdict.LOWER


def test_equal_answers_to_many_scenarios_are_equivalent():
    """47 scenarios rule out that more than a sixteenth of those like them differ by four points."""
    codes = ["1", "2", "3", "4", "5"] * 10
    assert compare_one(codes[:46], codes[:46]).verdict is ComparisonVerdict.INCONCLUSIVE
    row = compare_one(codes[:47], codes[:47])
    assert row.verdict is ComparisonVerdict.EQUIVALENT
    assert row.sentence == "No difference of 0.25 points or more (90% CI −0.25 to 0.25, 47 scenarios)."


@pytest.mark.parametrize(("scenarios", "verdict"), [(5, "INCONCLUSIVE"), (51, "INCONCLUSIVE"), (52, "EQUIVALENT")])
def test_passes_alone_show_equivalence_only_with_many_scenarios(scenarios: int, verdict: str):
    """Five passes on each side do not rule out that a third of the scenarios fail."""
    assert compare_one(["+"] * scenarios, ["+"] * scenarios).verdict == verdict


@pytest.mark.parametrize(("before", "after"), [("+++", "---"), ("555", "111"), ("+++", "+--"), ("5", "1")])
def test_a_total_fall_is_lower_however_equal_the_scenarios_are(before: str, after: str):
    row = compare_one([before] * 20, [after] * 20)
    assert row.verdict is ComparisonVerdict.LOWER
    assert row.estimate.p == pytest.approx(2**-20, rel=1) or row.estimate.p < 1e-4
    assert row.estimate.interval.high <= 0


def test_a_difference_within_the_margin_is_equivalent_also_if_it_is_significant():
    before = ["2222", "3333", "4444"] * 200
    after = ["2223", "3334", "4444"] * 200
    row = compare_one(before, after)
    assert row.adjusted_p < 0.001
    assert row.verdict is ComparisonVerdict.EQUIVALENT
    assert compare_one(before, after, margin=0.1).verdict is ComparisonVerdict.HIGHER


def test_few_scenarios_with_repeats_show_what_happened_to_these():
    row = compare_one(["+" * 20] * 4, ["-" * 20] * 4)
    assert row.verdict is ComparisonVerdict.NOT_COMPARABLE
    assert row.own_difference.p < 1e-40


def test_noise_is_inconclusive_and_says_what_could_have_been_detected():
    row = compare_one(["1", "5", "3", "2", "4", "3"], ["2", "3", "5", "1", "4", "4"])
    assert row.verdict is ComparisonVerdict.INCONCLUSIVE
    assert "It had an 80% chance to detect 2.10 points or more; about 423 scenarios would detect 0.25." in row.sentence


def test_of_several_rows_the_p_of_each_alone_stands_beside_the_adjusted_one():
    """Its interval excludes zero, and only the adjustment makes it inconclusive."""
    before, fallen = ["+"] * 20, ["-"] * 6 + ["+"] * 14
    figures = compare(side({"a": before, "b": before}), side({"a": fallen, "b": before}, "run_b"))
    row = figures.rows[0]
    assert row.estimate.p < row.adjusted_p
    assert (
        f"p {format_p(row.estimate.p)} for this row alone, adjusted p {format_p(row.adjusted_p)}, 20 scenarios"
        in row.sentence
    )


def test_two_to_four_scenarios_are_not_comparable():
    row = compare_one(["1", "2", "3", "4"], ["2", "4", "4", "5"])
    assert row.verdict is ComparisonVerdict.NOT_COMPARABLE
    assert row.cautions == (ComparisonCaution.FEW_SCENARIOS,)
    assert row.sentence == "Too few scenarios have results on both sides: 4 of at least 5."


def test_of_one_scenario_the_trials_are_the_units():
    row = compare_one(["+" * 9 + "-"], ["+" * 3 + "-" * 7])
    assert row.test is SignificanceTest.FISHER
    assert row.estimate.interval == pytest.approx((-0.8090, -0.1705), abs=5e-5)
    assert (row.verdict, row.cautions) == (ComparisonVerdict.LOWER, (ComparisonCaution.ONE_SCENARIO,))


def test_of_one_scenario_with_decisions_welchs_test_is_used():
    row = compare_one(["1112221112"], ["4445554445"])
    assert (row.test, row.verdict) == (SignificanceTest.WELCH_T, ComparisonVerdict.HIGHER)


def test_single_passes_and_failures_use_mcnemars_test():
    row = compare_one(["+"] * 8 + ["-"] * 2, ["-"] * 8 + ["+"] * 2)
    assert row.test is SignificanceTest.MCNEMAR
    assert row.estimate.p == pytest.approx(0.0654296875)


def test_mcnemars_test_needs_no_variation():
    row = compare_one(["-"] * 8, ["+"] * 8)
    assert (row.verdict, row.estimate.p) == (ComparisonVerdict.HIGHER, pytest.approx(2**-8))


def test_repeated_passes_and_failures_use_it_too():
    assert compare_one(["+-"] * 6, ["++"] * 5 + ["--"]).test is SignificanceTest.MCNEMAR


def test_decisions_that_all_rise_by_the_same_amount_have_a_sign_test():
    row = compare_one(["1", "2", "3", "4", "2"], ["2", "3", "4", "5", "3"])
    assert (row.estimate.p, row.verdict) == (pytest.approx(2**-5), ComparisonVerdict.HIGHER)
    assert (row.test, ComparisonCaution.NO_VARIATION in row.cautions) == (SignificanceTest.SIGN, True)


def test_the_primary_metric_is_the_decision_if_both_sides_decided():
    assert compare(side({"m": ["1", "2"]}), side({"m": ["3", "+"]}, "run_b")).metric is Metric.DECISION
    assert compare(side({"m": ["1", "2"]}), side({"m": ["+", "-"]}, "run_b")).metric is Metric.PASS_RATE


def test_the_rate_of_other_answers_can_be_compared():
    row = compare_one(["11", "12", "1o", "22", "33"], ["oo", "o2", "1o", "o2", "oo"], metric=Metric.OTHER_RATE)
    assert row.estimate.difference == pytest.approx((1 + 0.5 + 0 + 0.5 + 1) / 5)


def test_p_values_are_adjusted_over_the_pairs_and_that_of_all_together():
    before = {name: ["1", "2", "3", "2", "1", "3", "2"] for name in "mn"}
    after = {"m": ["2", "2", "5", "2", "2", "5", "3"], "n": ["1", "3", "3", "2", "2", "3", "2"]}
    figures = compare(side(before), side(after, "run_b"))
    first, second = figures.rows
    together = figures.overall
    assert together.estimate.p < first.estimate.p < second.estimate.p
    assert together.adjusted_p == pytest.approx(3 * together.estimate.p)
    assert first.adjusted_p == pytest.approx(2 * first.estimate.p)
    assert second.adjusted_p == pytest.approx(second.estimate.p)
    assert figures.overall.estimate.difference == pytest.approx(
        (first.estimate.difference + second.estimate.difference) / 2
    )


def test_a_single_pair_has_no_overall_row():
    assert compare(side({"m": ["1"]}), side({"m": ["2"]}, "run_b")).overall is None


def test_several_targets_without_a_shared_one_are_averaged():
    before = side({"m": ["1"] * 5, "n": ["3"] * 5})
    row = compare(before, side({"o": ["4"] * 5}, "run_b")).rows[0]
    assert (row.baseline_mean, row.comparison_mean) == (2, 4)
    assert row.sentence.startswith("o rates 2.00 points higher than the mean of 2 targets")
    assert ComparisonCaution.SUBSTITUTED in row.cautions


def test_targets_of_one_run_are_compared_with_each_other():
    one = side({"m": ["1", "2", "1", "2", "1"]})
    other = side({"n": ["4", "5", "5", "4", "4"]})
    assert compare(one, other).rows[0].verdict is ComparisonVerdict.HIGHER


def test_the_distribution_shift_is_the_total_variation():
    row = compare_one(["1", "1", "2", "o"], ["1", "2", "2", "5"])
    assert row.shift.total_variation == pytest.approx((1 + 1 + 1 + 1) / 4 / 2)
    assert row.shift.baseline["other"] == 1


def test_most_changed_scenarios_come_first_and_of_equal_ones_the_decreases():
    row = compare_one(["1", "2", "3", "4"], ["2", "5", "3", "3"])
    assert [(each.scenario_id, each.change) for each in row.most_changed] == [
        ("s1", ChangeDirection.INCREASED),
        ("s3", ChangeDirection.DECREASED),
        ("s0", ChangeDirection.INCREASED),
        ("s2", ChangeDirection.UNCHANGED),
    ]


def test_single_scenarios_are_tested_with_five_repeats_on_either_side():
    row = compare_one(["11122", "1", "33333"], ["44455", "5", "33334"])
    by_id = {change.scenario_id: change for change in row.most_changed}
    assert by_id["s1"].p is None
    assert by_id["s0"].q == pytest.approx(2 * by_id["s0"].p)
    assert by_id["s0"].standard_error == pytest.approx((0.3 / 5 + 0.3 / 5) ** 0.5)


def test_uneven_errors_and_many_unreadable_answers_are_cautions():
    row = compare_one(["1e", "2e", "3", "4", "5"], ["2oo", "2", "3", "4", "5"])
    assert row.cautions == (
        ComparisonCaution.SMALL_SAMPLE,
        ComparisonCaution.HIGH_OTHER,
        ComparisonCaution.UNEVEN_ERRORS,
    )


def test_errors_that_hide_failures_are_told_by_the_difference_with_errors_as_failures():
    """Each scenario lost a pass, and its two failures errored: of what was judged, all passed."""
    before, after = ["+++-", "++--", "+++-", "++--", "+++-", "++--"], ["++ee", "+eee"] * 3
    row = compare_one(before, after)
    assert row.estimate.difference == pytest.approx(0.375)
    assert row.errors_fail_difference == pytest.approx(-0.25)
    assert ComparisonCaution.ERRORS_DECIDE in row.cautions
    with_errors = compare_one(before, after, metric=Metric.PASS_RATE_ERRORS_FAIL)
    assert with_errors.estimate.difference == pytest.approx(-0.25)
    assert (with_errors.errors_fail_difference, ComparisonCaution.ERRORS_DECIDE in with_errors.cautions) == (
        None,
        False,
    )


def test_notes_say_what_follows_for_these_scenarios_and_from_errors():
    row = compare_one(["++++"] * 6, ["++--"] * 5 + ["+--e"])
    these, errors = row.notes
    assert these.startswith("If only these scenarios matter, the difference is −52.8 percentage points (95% CI −")
    assert these.endswith("p < 0.001).")
    assert errors == "With errored conversations as failures, the difference is −54.2 percentage points."
    assert compare_one(["1", "2", "3", "4", "5"], ["2", "2", "3", "4", "5"]).notes == ()


def test_a_sign_that_errors_do_not_change_is_no_caution():
    row = compare_one(["+++-"] * 6, ["++--"] * 5 + ["++-e"])
    assert row.errors_fail_difference == pytest.approx(-0.25)
    assert ComparisonCaution.ERRORS_DECIDE not in row.cautions


def test_without_errors_the_difference_with_errors_as_failures_is_not_given():
    assert compare_one(["+", "-"] * 3, ["-", "-"] * 3).errors_fail_difference is None
    assert compare_one(["1", "2", "e"] * 2, ["3", "e", "e"] * 2).errors_fail_difference is None


def test_targets_without_errors_count_in_the_difference_of_all_with_errors_as_failures():
    before = side({"m": ["++"] * 6, "n": ["++"] * 6})
    figures = compare(before, side({"m": ["+e"] * 6, "n": ["++"] * 6}, "run_b"))
    assert [row.errors_fail_difference for row in figures.rows] == [-0.5, None]
    assert figures.overall.errors_fail_difference == -0.25
    assert ComparisonCaution.ERRORS_DECIDE not in figures.overall.cautions


@pytest.mark.parametrize("answers", [["1e"] * 60, ["+"] * 30 + ["oe"] * 30])
def test_errors_are_no_failures_where_nothing_is_judged(answers: list[str]):
    """There, an answer would not have failed a check either."""
    row = compare_one(answers, answers, metric=Metric.PASS_RATE_ERRORS_FAIL)
    assert row.estimate.scenarios == sum("+" in each for each in answers)
    assert compare_one(["1e"] * 9, ["1e"] * 9, metric=Metric.PASS_RATE).notes == ()


def test_the_effect_size_has_a_word():
    assert compare_one(["1", "2", "1", "2", "1"], ["4", "5", "5", "4", "4"]).effect_size is EffectSize.LARGE


def test_a_margin_of_the_caller_replaces_the_default():
    before, after = ["1", "2", "3", "4", "5", "1", "2", "3"], ["1", "2", "3", "4", "5", "2", "2", "2"]
    assert compare_one(before, after).verdict is ComparisonVerdict.INCONCLUSIVE
    assert compare_one(before, after, margin=0.5).verdict is ComparisonVerdict.EQUIVALENT


@given(answers, st.data())
def test_the_order_of_scenarios_and_repeats_does_not_matter(before, data):
    after = data.draw(st.lists(st.text("12345o", min_size=1, max_size=3), min_size=len(before), max_size=len(before)))
    order = data.draw(st.permutations(range(len(before))))
    scenarios = [scenario(f"s{number}", {None: position}) for position, number in enumerate(order)]
    shuffled_side = side({"m": [before[number][::-1] for number in order]}, "run_a", scenarios)
    first = compare(side({"m": before}), side({"m": after}, "run_b"))
    second = compare(shuffled_side, side({"m": after}, "run_b"))
    assert second.rows[0].estimate.difference == pytest.approx(first.rows[0].estimate.difference, nan_ok=True)
    assert second.rows[0].verdict is first.rows[0].verdict


def test_differences_are_shrunken_by_the_noise_of_repeats():
    """Squares of the differences are 4 and 1, and noise is 1 in both: the true differences have a variance of 1.5."""
    assert shrunken_differences([2.0, -1.0], [1.0, 1.0]) == pytest.approx([2 * 1.5 / 2.5, -1.5 / 2.5])
    assert shrunken_differences([2.0, -1.0], [9.0, 9.0]) == [0.0, 0.0]
    assert shrunken_differences([2.0, -1.0], [0.0, 0.0]) == [2.0, -1.0]
    assert shrunken_differences([2.0, -1.0], None) == [None, None]
    assert shrunken_differences([], None) == []


def test_equal_models_have_no_most_changed_scenario_left():
    """Of fifty scenarios with three repeats, the ten largest differences are far from zero by chance alone."""
    source = Random(1)
    before, after = (["".join(source.choice("12345") for _ in range(3)) for _ in range(50)] for _ in range(2))
    largest = compare_one(before, after).most_changed[:10]
    assert min(abs(each.difference) for each in largest) > 1
    assert max(abs(each.shrunken_difference) for each in largest) < 0.7


def test_scenarios_with_more_repeats_come_before_larger_differences_by_chance():
    """The first differs by two points in a single answer, the second by 1.75 points in twelve."""
    noisy = ["34" * 6] * 6
    row = compare_one(["3", "2233" * 3, *noisy], ["5", "4445" * 3, *noisy])
    assert [each.scenario_id for each in row.most_changed[:2]] == ["s1", "s0"]
    assert row.most_changed[1].difference == 2


def test_without_repeats_nothing_is_known_of_the_noise():
    row = compare_one(["1", "2", "3"], ["2", "5", "3"])
    assert {each.shrunken_difference for each in row.most_changed} == {None}


def test_averages_of_several_targets_are_no_repeats():
    row = compare(side({"m": ["1" * 6], "n": ["2" * 6]}), side({"o": ["5" * 6]}, "run_b")).rows[0]
    assert [each.p for each in row.most_changed] == [None]
