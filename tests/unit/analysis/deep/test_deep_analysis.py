"""The deep analysis: what its figures mean, what it needs, and what it does with hostile data."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cupel_core.analysis.deep.analyze import DeepInput, analyze
from cupel_core.analysis.deep.answer_sums import AnswerSums, CompleteMatrix
from cupel_core.analysis.deep.components import components
from cupel_core.analysis.deep.outliers import forest_scores, outlier_targets
from cupel_core.domain.analysis.agreement import leave_one_out
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.deep import DeepAnalysis, DeepCautionCode, DeepPart, OutlierIndicator
from cupel_core.domain.analysis.matrix import CellMatrix, ScenarioRow
from cupel_core.domain.analysis.metrics import Metric
from tests.answer_matrices import Codes, matrix, ruled

GRID = [(float(a), float(b)) for a in range(1, 6) for b in range(1, 5)] * 2
"""40 scenarios in all combinations of two dimensions."""
RULES: list[Callable[[float, float], float]] = [lambda a, _: a, lambda a, _: a + 1, lambda a, _: 6 - a]


def ignore_stage(_: str) -> None:
    """Notes nothing."""


def deep(
    answers: Sequence[Sequence[Codes]], scores: Sequence[Sequence[float | None]], seed: int = 1, **more: Any
) -> DeepAnalysis:
    return analyze(DeepInput(matrix(answers, scores), seed, **more), ignore_stage)


def noisy(targets: int, scenarios: int, noise: float = 0.7, repeats: int = 1, seed: int = 1) -> list[list[list[int]]]:
    """Targets alike, whose answers depend on the scenario."""
    source = Random(seed)
    centers = [source.uniform(1.5, 4.5) for _ in range(scenarios)]
    return [
        [[max(1, min(5, round(center + source.gauss(0, noise)))) for _ in range(repeats)] for center in centers]
        for _ in range(targets)
    ]


def reasons(found: DeepAnalysis) -> dict[DeepPart, str]:
    return dict(found.unavailable)


def codes(found: DeepAnalysis) -> set[DeepCautionCode]:
    return {each.code for each in found.cautions}


def test_a_contrarian_is_at_the_other_end_of_the_first_component() -> None:
    found = deep(ruled(RULES, GRID), GRID).components
    assert found is not None
    first = found.components[0]
    steady, bold, contrarian = first.coordinates
    assert steady * contrarian < 0 < steady * bold
    assert first.is_above_chance
    assert first.explained_share > first.chance_share


def test_the_dimension_that_divides_targets_names_the_component() -> None:
    found = deep(ruled(RULES, GRID), GRID).components
    assert found is not None
    by_name = dict(found.components[0].dimensions)
    assert abs(by_name["a"] or 0) > 0.95
    assert abs(by_name["b"] or 0) < 0.05


def test_targets_that_differ_by_chance_have_no_component_above_it() -> None:
    above = []
    for seed in range(20):
        sums = AnswerSums.of(matrix(noisy(6, 40, seed=seed), GRID))
        generator = np.random.default_rng(seed)
        above.append(components(CompleteMatrix.of(sums), sums.scores, sums.dimensions, generator).above_chance)
    assert sum(each > 0 for each in above) <= 3


def test_the_largest_loading_of_a_component_is_positive() -> None:
    found = deep(noisy(5, 40), GRID).components
    assert found is not None
    for each in found.components:
        assert each.loadings[0].value > 0
        assert [abs(loading.value) for loading in each.loadings] == sorted(
            (abs(loading.value) for loading in each.loadings), reverse=True
        )


def test_below_five_targets_the_agreement_alone_flags_an_outlier() -> None:
    found = deep(ruled(RULES, GRID), GRID).outlier_targets
    assert found is not None
    assert [each.is_outlier for each in found.targets] == [False, False, True]
    assert {each.indicator for each in found.omitted} == {OutlierIndicator.DISTANCE, OutlierIndicator.FOREST}


def test_from_five_targets_on_two_indicators_must_agree() -> None:
    answers = [*noisy(9, 40), [[6 - code for code in each] for each in noisy(1, 40)[0]]]
    found = deep(answers, GRID).outlier_targets
    assert found is not None
    assert [each.column for each in found.targets if each.is_outlier] == [9]
    assert len(found.targets[9].indicators) >= 2
    assert found.omitted == ()


def test_targets_alike_are_no_outliers() -> None:
    for seed in range(15):
        cells = matrix(noisy(8, 40, seed=seed), GRID)
        without = leave_one_out(cells.columns, cells.metric)
        found = outlier_targets(CompleteMatrix.of(AnswerSums.of(cells)), without, np.random.default_rng(seed))
        assert not any(each.is_outlier for each in found.targets)


def test_a_scenario_that_is_answered_unlike_all_others_has_the_highest_score() -> None:
    answers = noisy(6, 40, noise=0.3)
    for number, column in enumerate(answers):
        column[17] = [5 if number % 2 else 1]
    found = deep(answers, GRID).outlier_scenarios
    assert found is not None
    assert found.scenarios[0].scenario == 17
    assert len(found.scenarios) == 20


def test_slopes_are_those_of_the_rules() -> None:
    scores = [(float(a), float(b)) for a in range(1, 4) for b in range(0, 30, 10)] * 2
    found = deep(ruled([lambda a, b: a + b / 10, lambda a, _: 6 - a], scores), scores).effects
    assert found is not None
    first, second = found.regressions
    assert [each.slope for each in first.slopes] == pytest.approx([1, 0.1])
    assert [each.per_step for each in first.slopes] == pytest.approx([1, 1])
    assert [each.slope for each in second.slopes] == pytest.approx([-1, 0])
    assert first.r_squared == pytest.approx(1)


def test_answers_that_follow_the_regression_exactly_have_no_p() -> None:
    scores = [(float(a), float(b)) for a in range(1, 4) for b in range(1, 4)] * 2
    found = deep(ruled([lambda a, _: a, lambda a, _: 4 - a], scores), scores).effects
    assert found is not None
    assert [(each.p, each.standard_error) for each in found.regressions[0].slopes] == [(None, 0), (1, 0)]
    assert {each.dimension: each.p for each in found.equality} == {"a": None, "b": 1.0}


def test_the_most_divisive_dimension_comes_first() -> None:
    found = deep(ruled(RULES, GRID), GRID).effects
    assert found is not None
    assert [each.dimension for each in found.equality] == ["a", "b"]


def test_a_dimension_in_which_targets_differ_is_found() -> None:
    source = Random(4)
    answers = [
        [[max(1, min(5, round(3 + slope * (a - 3) + source.gauss(0, 0.5))))] for a, _ in GRID] for slope in (0.8, -0.8)
    ]
    found = deep(answers, GRID).effects
    assert found is not None
    p = {each.dimension: each.adjusted_p for each in found.equality}
    assert (p["a"] or 1) < 1e-6
    assert (p["b"] or 0) > 0.05


def test_an_interaction_is_found_with_its_means() -> None:
    source = Random(5)
    answers = [[[max(1, min(5, round(3 + 0.5 * (a - 3) * (b - 2.5) + source.gauss(0, 0.3))))] for a, b in GRID]]
    found = deep(answers, GRID).interactions
    assert found is not None
    (largest,) = found.largest
    assert (largest.first, largest.second, found.tested) == ("a", "b", 1)
    assert largest.coefficient == pytest.approx(0.4, abs=0.15)
    assert (largest.adjusted_p or 1) < 1e-4
    assert (len(largest.means), len(largest.means[0])) == (5, 4)
    assert largest.means[0][0] is not None


def test_a_full_design_has_no_correlations_and_no_inflation() -> None:
    found = deep(noisy(3, 40), GRID).design
    assert found is not None
    assert [each.correlation for each in found.correlations] == [0]
    assert [each.factor for each in found.inflation] == pytest.approx([1, 1])


def test_dimensions_that_hardly_vary_independently_are_collinear() -> None:
    source = Random(1)
    scores = [(a, a + source.choice([0, 0, 0, 1])) for a, _ in GRID]
    found = deep(noisy(3, 40), scores)
    assert DeepCautionCode.COLLINEAR in codes(found)
    assert found.effects is not None


def test_a_dimension_that_others_determine_is_left_out_of_effects() -> None:
    scores = [(a, b, a + b) for a, b in GRID]
    found = deep(noisy(3, 40), scores)
    assert found.effects is not None
    assert found.effects.dimensions == ("a", "b")
    assert found.design is not None
    assert [(each.factor, each.is_collinear) for each in found.design.inflation] == [(None, True)] * 3


def test_variance_is_split_into_its_sources() -> None:
    source = Random(2)
    scenarios = [source.gauss(0, 0.6) for _ in range(200)]
    answers = [
        [[max(1, min(5, round(3 + level + each + source.gauss(0, 0.4)))) for _ in range(3)] for each in scenarios]
        for level in (-0.7, 0, 0.7)
    ]
    found = deep(answers, [(1.0,)] * 200).variance
    assert found is not None
    assert found.target > found.repeat > found.target_by_scenario  # type: ignore[operator]
    shares = (found.target, found.scenario, found.target_by_scenario, found.repeat or 0)
    assert sum(shares) == pytest.approx(1)


def test_without_repeats_their_share_is_unknown() -> None:
    found = deep(noisy(3, 40), GRID).variance
    assert found is not None
    assert found.repeat is None
    assert found.target + found.scenario + found.target_by_scenario == pytest.approx(1)


def test_gaps_are_filled_and_said() -> None:
    answers = noisy(5, 40)
    for number in range(0, 40, 2):
        answers[number % 5][number] = []
    found = deep(answers, GRID)
    assert found.components is not None
    assert found.components.scenarios == 40
    assert found.components.imputed_share == pytest.approx(0.1)
    assert DeepCautionCode.IMPUTED not in codes(found)
    for number in range(1, 40, 2):
        answers[number % 5][number] = []
    assert DeepCautionCode.IMPUTED in codes(deep(answers, GRID))


def test_a_gap_is_filled_with_the_means_of_its_row_and_column() -> None:
    answers: list[list[list[int]]] = [[[1], [2]], [[2], [3]], [[3], [4]], [[4], [5]], [[2], []]]
    filled = CompleteMatrix.of(AnswerSums.of(matrix(answers, [(1.0,), (2.0,)])))
    grand = (1 + 2 + 2 + 3 + 3 + 4 + 4 + 5 + 2) / 9
    assert filled.values[4, 1] == pytest.approx(2 + (2 + 3 + 4 + 5) / 4 - grand)


def test_a_target_without_answers_is_left_out() -> None:
    found = deep([*noisy(3, 40), [[]] * 40], GRID)
    assert found.components is not None
    assert found.components.columns == (0, 1, 2)
    assert [each.columns for each in found.cautions if each.code is DeepCautionCode.EXCLUDED_TARGETS] == [(3,)]
    assert found.effects is not None
    assert [each.column for each in found.effects.regressions] == [0, 1, 2]


def test_targets_that_answered_different_scenarios_cannot_be_compared() -> None:
    answers: list[list[list[int]]] = [
        [[3] if number % 3 == target else [] for number in range(40)] for target in range(3)
    ]
    found = deep(answers, GRID)
    assert found.components is None
    assert found.variance is None


def test_two_targets_have_no_components_and_say_why() -> None:
    found = deep(noisy(2, 40), GRID)
    assert "at least 3 targets" in reasons(found)[DeepPart.COMPONENTS]
    assert "at least 3 targets" in reasons(found)[DeepPart.OUTLIER_TARGETS]
    assert found.effects is not None


def test_one_target_has_effects_without_a_test_of_equal_slopes() -> None:
    found = deep(noisy(1, 40), GRID)
    assert found.effects is not None
    assert found.effects.equality == ()
    assert "at least 2 targets" in reasons(found)[DeepPart.VARIANCE]


def test_one_scenario_has_no_part_at_all() -> None:
    found = deep(noisy(3, 1, repeats=5), [(1.0, 2.0)])
    assert set(reasons(found)) == set(DeepPart)


def test_no_dimensions_have_no_effects() -> None:
    found = deep(noisy(3, 40), [()] * 40)
    assert {DeepPart.DESIGN, DeepPart.EFFECTS, DeepPart.INTERACTIONS} <= set(reasons(found))
    assert found.components is not None
    assert found.components.components[0].dimensions == ()


def test_equal_answers_have_no_components() -> None:
    found = deep([[[3]] * 40] * 4, GRID)
    assert "same answers" in reasons(found)[DeepPart.COMPONENTS]
    assert "all answers are the same" in reasons(found)[DeepPart.VARIANCE]
    assert "same way" in reasons(found)[DeepPart.OUTLIER_SCENARIOS]
    assert found.effects is not None
    assert [(each.slope, each.p) for each in found.effects.regressions[0].slopes] == [(0, 1), (0, 1)]


def test_scores_that_few_scenarios_have_are_left_out() -> None:
    scores = [(a, b if number < 10 else None) for number, (a, b) in enumerate(GRID)]
    found = deep(noisy(3, 40), scores)
    assert found.effects is not None
    assert found.effects.dimensions == ("a",)
    assert DeepCautionCode.PARTIAL_DIMENSIONS in codes(found)


def test_many_dimensions_are_paired_by_their_slopes() -> None:
    source = Random(3)
    scores = [tuple(float(source.randint(1, 3)) for _ in range(14)) for _ in range(200)]
    found = deep(noisy(2, 200), scores)
    assert found.interactions is not None
    assert found.interactions.tested == 2 * 45
    assert len(found.interactions.largest) == 10
    assert DeepCautionCode.MANY_DIMENSIONS in codes(found)


def test_few_scenarios_per_dimension_are_said() -> None:
    assert DeepCautionCode.FEW_SCENARIOS in codes(deep(noisy(3, 12), GRID[:12]))
    assert DeepCautionCode.FEW_SCENARIOS not in codes(deep(noisy(3, 40), GRID))


def test_missing_probes_are_said() -> None:
    assert DeepCautionCode.PARTIAL in codes(deep(noisy(3, 40), GRID, missing_probes=7))


def test_pass_rates_are_analyzed_where_nothing_was_decided() -> None:
    source = Random(1)
    columns = [[Cell(other=2, judged=2, passed=source.randint(0, 2)) for _ in GRID] for _ in range(3)]
    rows = [ScenarioRow(f"scn_{number:03d}", "", scores) for number, scores in enumerate(GRID)]
    found = analyze(DeepInput(CellMatrix(rows, ("a", "b"), columns, None, Metric.PASS_RATE), 1), ignore_stage)
    assert found.components is not None
    assert found.effects is not None


def test_equal_inputs_and_seeds_give_equal_figures() -> None:
    first, second = (deep(noisy(9, 40, repeats=2), GRID, seed=5) for _ in range(2))
    assert _as_json(first) == _as_json(second)


def test_another_seed_changes_only_what_is_drawn() -> None:
    first, second = (deep(noisy(9, 40), GRID, seed=seed) for seed in (1, 2))
    assert _as_json(first) != _as_json(second)
    assert first.effects == second.effects
    assert first.variance == second.variance


def test_stages_are_noted_in_order() -> None:
    stages: list[str] = []
    analyze(DeepInput(matrix(noisy(3, 40), GRID), 1), stages.append)
    assert stages == ["components", "outliers", "effects"]


def _as_json(found: DeepAnalysis) -> str:
    """Raises ValueError for anything that is not a number."""
    return json.dumps(asdict(found), allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_answers_give_numbers(data: st.DataObject) -> None:
    targets, scenarios = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 24))
    dimensions, repeats = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 2))
    code = st.lists(st.integers(1, 5), max_size=repeats)
    score = st.none() | st.sampled_from([-1e12, -1.0, 0.0, 1e-9, 1.0, 2.0, 3.0, 1e12])
    row, column = st.tuples(*[score] * dimensions), st.lists(code, min_size=scenarios, max_size=scenarios)
    answers = data.draw(st.lists(column, min_size=targets, max_size=targets))
    scores = data.draw(st.lists(row, min_size=scenarios, max_size=scenarios))
    found = deep(answers, scores)
    _as_json(found)
    missing = {part for part, field in PARTS.items() if getattr(found, field) is None}
    assert missing == set(reasons(found))


PARTS = {
    DeepPart.COMPONENTS: "components",
    DeepPart.OUTLIER_TARGETS: "outlier_targets",
    DeepPart.OUTLIER_SCENARIOS: "outlier_scenarios",
    DeepPart.DESIGN: "design",
    DeepPart.EFFECTS: "effects",
    DeepPart.INTERACTIONS: "interactions",
    DeepPart.VARIANCE: "variance",
}


@cache
def _four_noisy_targets() -> DeepAnalysis:
    return deep(noisy(4, 40, repeats=2), GRID)


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False))
def test_figures_do_not_depend_on_the_order_of_scenarios(source: Random) -> None:
    answers, order = noisy(4, 40, repeats=2), list(range(40))
    source.shuffle(order)
    first = _four_noisy_targets()
    second = deep([[column[number] for number in order] for column in answers], [GRID[number] for number in order])
    assert first.components is not None
    assert second.components is not None
    for one, other in zip(first.components.components, second.components.components, strict=True):
        assert one.explained_share == pytest.approx(other.explained_share, rel=1e-8)
    assert first.effects is not None
    assert second.effects is not None
    for mine, its in zip(first.effects.regressions, second.effects.regressions, strict=True):
        assert [each.slope for each in mine.slopes] == pytest.approx([each.slope for each in its.slopes], rel=1e-8)
    assert first.variance is not None
    assert second.variance is not None
    assert first.variance.scenario == pytest.approx(second.variance.scenario, rel=1e-8)


def test_equal_rows_have_equal_forest_scores() -> None:
    rows = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 5.0]] * 10)
    scores = forest_scores(rows, np.random.default_rng(1))
    assert scores[0] == scores[1] == scores[27]


def test_the_forest_takes_rows_that_do_not_differ() -> None:
    assert forest_scores(np.ones((30, 3)), np.random.default_rng(1)) == pytest.approx(0.5)
