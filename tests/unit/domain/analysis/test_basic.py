"""The basic analysis: what its figures mean, what it does with few data, and what it does not depend on."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cupel_core.domain.analysis.agreement import agreement, krippendorff_alpha, rating
from cupel_core.domain.analysis.basic import AnalysisInput, BasicAnalysis, analyze, win_rates
from cupel_core.domain.analysis.cautions import CautionCode
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.analysis.counts import Cell, RunCounts, count, scenario_cases, total_counts
from cupel_core.domain.analysis.estimates import median
from cupel_core.domain.analysis.extrapolation import RunSample
from cupel_core.domain.analysis.insights import insights
from cupel_core.domain.analysis.matrix import ScenarioRow, cell_matrix, dimension_names
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.outlier_causes import OutlierCause
from cupel_core.domain.analysis.variability import ContestedScenario
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets

ONES, FIVES, MIXED = Cell(code_1=1), Cell(code_5=1), Cell(code_1=1, code_5=1)
RULES = {"steady": lambda x: x, "bold": lambda x: min(5, x + 1), "contrarian": lambda x: 6 - x}
WHOLE = RunSample(12, 12, seed=1, is_drawn=False)


def run(
    outcomes: list[CountedOutcome], plan: Plan, personas: int = 1, borders: tuple[int, ...] = (), **more: object
) -> BasicAnalysis:
    """Scenarios have the scores 1-5 in `stakes`."""
    ends = sorted({0, plan.total, *borders})
    parts = [
        count(plan, range(*part), [each for each in outcomes if part[0] <= each.probe_index < part[1]])
        for part in pairwise(ends)
    ]
    cases = scenario_cases([case // personas for case in range(plan.cases)])
    counts = RunCounts(plan, cases, total_counts(plan, parts))
    rows = [ScenarioRow(f"scn_{each.position:03d}", f"case {each.position}", (score(each.position),)) for each in cases]
    matrix = cell_matrix(counts, rows, ("stakes",))
    totals = [counts.totals.column(number) for number in range(len(plan.columns))]
    names = tuple(column.name for column in plan.columns)
    fields = {"sample": WHOLE, "has_decision_rule": True, "personas": personas, **more}
    return analyze(AnalysisInput(matrix, totals, names, plan.total, **fields))  # type: ignore[arg-type]


def score(position: int) -> float:
    return float(position % 5 + 1)


def answers(plan: Plan, code: object) -> list[CountedOutcome]:
    """`code` is a function of the column's name and the scenario's number."""
    made = []
    for index in range(plan.total):
        case, column, _ = plan.probe(index)
        given = code(plan.columns[column].target.id, case)  # type: ignore[operator]
        made.append(CountedOutcome(index, is_completed=given is not None, code=given, error_code="timeout"))
    return made


def ruled(plan: Plan) -> list[CountedOutcome]:
    return answers(plan, lambda name, case: str(RULES[name.partition("/")[2]](int(score(case)))))


PLAN = Plan(plain_targets("sim/steady", "sim/bold", "sim/contrarian"), (30,))


def test_the_target_that_answers_unlike_the_others_is_the_outlier() -> None:
    found = run(ruled(PLAN), PLAN)
    assert found.agreement is not None
    assert found.agreement.outliers == (2,)
    assert found.columns[2].is_outlier
    gain = found.agreement.without[2].gain
    assert gain is not None
    assert gain > 0.5


@pytest.mark.parametrize(
    ("cause", "words"),
    [(OutlierCause.OPINION, "It is of another opinion"), (OutlierCause.NOISE, "It is less consistent")],
)
def test_an_outlier_is_of_another_opinion_or_less_consistent(cause: OutlierCause, words: str) -> None:
    """Two targets give the score of the scenario, more or less; the third has an answer of its own in each repeat."""
    plan = Plan(plain_targets("sim/a", "sim/b", "sim/c"), (30,), repeats=3)
    made = []
    for index in range(plan.total):
        case, column, repeat = plan.probe(index)
        name, usual = plan.columns[column].target.id, int(score(case))
        if name != "sim/c":
            code = usual
        elif cause is OutlierCause.OPINION:
            code = 6 - usual
        else:
            code = (usual + (0, 2, 4)[repeat] - 1) % 5 + 1
        made.append(CountedOutcome(index, is_completed=True, code=str(code)))
    found = run(made, plan)
    assert [each.outlier_cause for each in found.columns] == [None, None, cause]
    texts = [each.text for each in insights(found, ("A", "B", "C"))]
    assert any(text.startswith("C agrees less") and words in text for text in texts)


def test_trends_have_the_signs_of_the_targets_rules() -> None:
    (stakes,) = run(ruled(PLAN), PLAN).dimensions
    slopes = [figures.trend.slope if figures.trend else None for figures in stakes.columns]
    assert slopes == [pytest.approx(1.0), pytest.approx(0.8), pytest.approx(-1.0)]
    assert [level.decision.mean for level in stakes.columns[0].levels] == [1, 2, 3, 4, 5]


def test_two_targets_are_never_outliers() -> None:
    plan = Plan(plain_targets("sim/steady", "sim/contrarian"), (30,))
    found = run(ruled(plan), plan).agreement
    assert found is not None
    assert (found.outliers, [each.alpha for each in found.without]) == ((), [None, None])


def test_alpha_without_a_column_is_that_of_the_others() -> None:
    source = Random(1)
    columns = [[Cell(*(source.choice([0, 0, 1, 2]) for _ in range(5))) for _ in range(40)] for _ in range(4)]
    found = agreement(columns, Metric.DECISION)
    assert found is not None
    for each in found.without:
        others = [column for number, column in enumerate(columns) if number != each.column]
        units = [[rating(cell, Metric.DECISION) for cell in row] for row in zip(*others, strict=True)]
        assert each.alpha == pytest.approx(krippendorff_alpha(units))


def test_one_point_more_throughout_keeps_the_order_and_loses_agreement() -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (20,))
    shifted = answers(plan, lambda name, case: str(case % 4 + (1 if name == "sim/a" else 2)))
    found = run(shifted, plan).agreement
    assert found is not None
    (pair,) = found.pairs
    assert (pair.spearman, pair.equal_share, pair.difference) == (pytest.approx(1), 0, pytest.approx(1))
    assert pair.kappa is not None
    assert pair.kappa < 0.75


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 180), max_size=3), st.randoms())
def test_figures_do_not_depend_on_slices_and_order(seed: int, borders: list[int], order: Random) -> None:
    plan = Plan(plain_targets("sim/a", "sim/b", "sim/c"), (20,), repeats=3)
    source = Random(seed)
    outcomes = answers(plan, lambda *_: source.choice(["1", "2", "3", "4", "5", "other", None]))
    whole = run(outcomes, plan)
    order.shuffle(outcomes)
    assert run(outcomes, plan, borders=tuple(borders)) == whole


def test_equal_repeats_change_no_figure_but_the_counts() -> None:
    once, thrice = PLAN, Plan(PLAN.targets, PLAN.segments, repeats=3)
    first, second = run(ruled(once), once), run(ruled(thrice), thrice)
    assert first.agreement is not None
    assert second.agreement is not None
    assert second.agreement.alpha == pytest.approx(first.agreement.alpha)
    for before, after in zip(first.estimates, second.estimates, strict=True):
        assert after.decision.standard_error == pytest.approx(before.decision.standard_error)
        assert after.decision.answers == 3 * before.decision.answers
    assert second.variability is not None
    assert second.variability.consistency == (1.0, 1.0, 1.0)
    assert first.variability is None


def test_personas_of_a_scenario_are_one_unit() -> None:
    plan = Plan(plain_targets("sim/steady"), (12,))
    found = run(ruled(plan), plan, personas=2)
    assert (found.overall.decision.scenarios, found.overall.decision.answers) == (6, 12)


def test_variation_is_that_of_repeats_not_of_personas() -> None:
    plan = Plan(plain_targets("sim/steady"), (4,), repeats=2)
    found = run(answers(plan, lambda _, case: "15"[case % 2]), plan, personas=2)
    assert found.variability is not None
    assert found.variability.consistency == (1.0,)


def test_the_most_contested_scenario_comes_first() -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (3,))
    codes = {("sim/a", 0): "3", ("sim/b", 0): "3", ("sim/a", 1): "1", ("sim/b", 1): "5", ("sim/a", 2): "2"}
    found = run(answers(plan, lambda name, case: codes.get((name, case))), plan)
    assert [(each.scenario, each.variance, each.range) for each in found.contested] == [(1, 8.0, 4.0), (0, 0.0, 0.0)]


def test_scenarios_are_contested_by_what_repeats_do_not_explain() -> None:
    """The targets are equally far apart in both scenarios; in the first, either of them has answered once."""
    plan = Plan(plain_targets("sim/a", "sim/b"), (3,), repeats=4)
    codes = {("sim/a", 0): "2", ("sim/b", 0): "4", ("sim/a", 1): "2222", ("sim/b", 1): "4444"}

    def contested() -> tuple[ContestedScenario, ...]:
        given = {
            index: codes.get((plan.column_of(index).target.id, plan.probe(index).case), "")[plan.probe(index).repeat :]
            for index in range(plan.total)
        }
        made = [CountedOutcome(index, is_completed=True, code=each[0]) for index, each in given.items() if each]
        return run(made, plan).contested

    assert [(each.scenario, each.noise) for each in contested()] == [(0, 0.0), (1, 0.0)]
    codes["sim/a", 2] = "1551"  # The repeats of another scenario say how much single answers of this target vary.
    first, second = contested()
    assert (first.scenario, first.variance, second.scenario, second.variance) == (1, 2.0, 0, 2.0)
    # 16 / 6 is the variance of an answer of the first target, and the other one has none.
    assert (first.noise, second.noise) == (pytest.approx(16 / 6 / 8), pytest.approx(16 / 6 / 2))


@pytest.mark.parametrize(
    ("scenarios", "code", "has_error", "has_interval"),
    [
        (2, CautionCode.FEW_SCENARIOS, True, False),
        (4, CautionCode.FEW_SCENARIOS, True, False),
        (5, CautionCode.SMALL_SAMPLE, True, True),
        (10, CautionCode.MODERATE_SAMPLE, True, True),
    ],
)
def test_few_scenarios_have_few_figures(scenarios: int, code: CautionCode, has_error: bool, has_interval: bool) -> None:
    plan = Plan(plain_targets("sim/steady"), (scenarios,))
    found = run(ruled(plan), plan)
    decision = found.overall.decision
    assert (decision.standard_error is not None, decision.interval is not None) == (has_error, has_interval)
    assert code in [each.code for each in found.cautions]
    assert (found.dimensions[0].overall.effect.p is not None) == has_interval


def test_answers_are_the_units_of_a_single_scenario() -> None:
    plan = Plan(plain_targets("sim/a"), (1,), repeats=10)
    found = run([CountedOutcome(index, True, "24"[index % 2], success=index < 8) for index in range(10)], plan)
    assert [each.code for each in found.cautions] == [CautionCode.ONE_SCENARIO]
    assert found.overall.decision.standard_error == pytest.approx(10**0.5 / 9**0.5 / 10**0.5)
    assert found.overall.decision.interval is not None
    assert found.overall.pass_rate.interval == pytest.approx((0.4902, 0.9433), abs=0.0001)


def test_what_is_undefined_is_none() -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (12,))
    found = run(answers(plan, lambda *_: "3"), plan)
    assert found.agreement is not None
    assert (found.agreement.alpha, found.agreement.pairs[0].kappa, found.agreement.pairs[0].spearman) == (None,) * 3
    assert found.dimensions[0].overall.effect.eta_squared is None


def test_errors_and_other_are_in_no_mean() -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (20,))
    found = run(
        answers(plan, lambda name, case: None if name == "sim/a" and case < 4 else ("other", "5")[case % 2]), plan
    )
    assert found.estimates[0].errored == 4
    codes = [each.code for each in found.cautions]
    assert CautionCode.HIGH_OTHER in codes
    assert CautionCode.UNEVEN_ERRORS in codes
    assert found.overall.decision.mean == 5.0


def test_missing_probes_are_a_caution() -> None:
    outcomes = ruled(PLAN)[:-3]
    assert [each.code for each in run(outcomes, PLAN).cautions] == [CautionCode.PARTIAL]


def test_a_run_without_decisions_is_analyzed_by_pass_rates() -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (30,))
    outcomes = [
        CountedOutcome(index, True, None, success=(index + (index >= 30)) % 3 > 0) for index in range(plan.total)
    ]
    found = run(outcomes, plan)
    assert found.metric is Metric.PASS_RATE
    assert [each.value(found.metric) for each in found.estimates] == [pytest.approx(2 / 3)] * 2
    assert found.agreement is not None
    assert found.agreement.alpha is not None


def test_a_win_rate_counts_each_scenario_once() -> None:
    five, one = win_rates({"1": "self", "5": "others"}, {FIVES: 3, ONES: 1, MIXED: 2, Cell(code_3=1): 2, Cell(): 9})
    assert (five.dimension, five.rate, five.scenarios) == ("others", 0.5, 8)
    assert (one.dimension, one.rate, one.prioritized, one.opposed, one.neutral) == ("self", 0.25, 3, 5, 2)


def test_without_answers_a_win_rate_is_none() -> None:
    assert [each.rate for each in win_rates({"1": "a", "5": "b"}, {Cell(other=2): 3})] == [None, None]
    assert win_rates({}, {FIVES: 1}) == ()


@pytest.mark.parametrize(
    ("counts", "expected"), [((1, 0, 0, 0, 1), 3.0), ((0, 2, 1, 0, 0), 2.0), ((0, 0, 0, 0, 0), None)]
)
def test_the_median_of_codes(counts: tuple[int, ...], expected: float | None) -> None:
    assert median(counts) == expected


def test_dimensions_have_the_order_of_the_definition() -> None:
    assert dimension_names(["b", "a", "unused"], [{"a": 1.0, "z": 1.0}, {"b": 2.0}]) == ("b", "a", "z")


def test_insights_name_what_stands_out() -> None:
    found = run(ruled(PLAN), PLAN, sample=RunSample(30, 300, 7))
    texts = [each.text for each in insights(found, ("Steady", "Bold", "Contrarian"))]
    assert texts[0] == "Based on 10% of the scenarios (30 of 300, seed 7)."
    assert "Bold has the highest mean (3.80), Steady, Contrarian the lowest (3.00)." in texts
    (outlier,) = (text for text in texts if text.startswith("Contrarian agrees less with the others than they do: "))
    assert outlier.endswith("Without repeats, it is unknown whether it is of another opinion or less consistent.")
    assert any(text.startswith("The most contested scenario is “case ") for text in texts)
    assert any(text.startswith("Agreement between the targets is low (alpha ") for text in texts)


def test_a_dimension_that_divides_the_targets_is_the_strongest_by_its_effect_on_one_of_them() -> None:
    """Together they show no effect: what one target gives, the other takes."""
    opposed = {"steady": lambda x: x, "contrarian": lambda x: 6 - x}
    plan = Plan(plain_targets("sim/steady", "sim/contrarian"), (30,))
    made = answers(plan, lambda name, case: str(opposed[name.partition("/")[2]](int(score(case)))))
    found = run(made, plan)
    texts = [each.text for each in insights(found, ("steady", "contrarian"))]
    assert any(text.startswith("stakes matters most: for steady, its levels explain 100.0%") for text in texts)
    assert not any(text.startswith("No effect") for text in texts)


def test_alpha_of_few_rare_answers_is_a_caution() -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (20,))
    rare = answers(plan, lambda name, case: "1" if case == 3 and name == "sim/a" else "5")
    (caution,) = (each for each in run(rare, plan).cautions if each.code is CautionCode.RARE_ANSWERS)
    assert caution.text == "agreement depends on 1 scenario: in all others, all targets give the most frequent answer"
    varied = answers(plan, lambda _, case: str(case % 5 + 1))
    assert CautionCode.RARE_ANSWERS not in {each.code for each in run(varied, plan).cautions}


@pytest.mark.parametrize(
    ("personas", "told"), [(1, None), (4, "not for users like them"), (5, "has intervals for those")]
)
def test_a_run_with_personas_says_that_its_intervals_are_for_these(personas: int, told: str | None) -> None:
    plan = Plan(plain_targets("sim/a", "sim/b"), (30 * personas,))
    found = run(answers(plan, lambda _, case: str(1 + case % 5)), plan, personas)
    texts = [each.text for each in found.cautions if each.code is CautionCode.PERSONAS]
    assert [text.endswith(told or "") for text in texts] == [True] * (personas > 1)
