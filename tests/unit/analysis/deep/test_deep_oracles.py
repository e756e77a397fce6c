"""Deep analyses against published values, scikit-learn and statsmodels (tests/oracles/deep_analysis.json)."""

import json
from typing import Any

import numpy as np
import pytest

from cupel_core.analysis.deep import components, design, effects, interactions, regression
from cupel_core.analysis.deep.answer_sums import AnswerSums
from cupel_core.analysis.deep.components import principal_axes
from cupel_core.analysis.deep.design import ScoredScenarios
from cupel_core.analysis.deep.outliers import average_path_length, distance_p, forest_scores, mahalanobis_distances
from cupel_core.domain.analysis.distributions import f_upper_tail
from tests.answer_matrices import matrix
from tests.oracles import FROZEN_FOLDER

FROZEN: dict[str, Any] = json.loads((FROZEN_FOLDER / "deep_analysis.json").read_text())

# Montgomery, Design and Analysis of Experiments, example 13.1: 20 parts, measured twice by each of three operators.
GAUGE = """21 20 20 20 19 21|24 23 24 24 23 24|20 21 19 21 20 22|27 27 28 26 27 28|19 18 19 18 18 21|23 21 24 21 23 22
22 21 22 24 22 20|19 17 18 20 19 18|24 23 25 23 24 24|25 23 26 25 24 25|21 20 20 20 21 20|18 19 17 19 18 19
23 25 25 25 25 25|24 24 23 25 24 25|29 30 30 28 31 30|26 26 25 26 25 27|20 20 19 20 20 20|19 21 19 19 21 23
25 26 25 24 25 25|19 19 18 17 19 17"""


@pytest.mark.parametrize("case", FROZEN["components"])
def test_components_are_those_of_scikit_learn(case: dict[str, Any]) -> None:
    axes = principal_axes(np.array(case["values"]))
    shares = axes.shares[: len(case["ratios"])]
    assert shares == pytest.approx(case["ratios"][: len(shares)], abs=1e-10)
    assert np.abs(axes.coordinates[:, :2]) == pytest.approx(np.array(case["coordinates"]), abs=1e-8)


def test_components_of_irises() -> None:
    """As published for Fisher's data."""
    shares = principal_axes(np.array(FROZEN["components"][0]["values"])).shares
    assert shares[:4].round(3).tolist() == [0.925, 0.053, 0.017, 0.005]


def test_forest_scores_rank_rows_as_scikit_learn_does() -> None:
    case = FROZEN["forest"]
    scores = forest_scores(np.array(case["rows"]), np.random.default_rng(1))
    assert np.corrcoef(_ranks(scores), _ranks(np.array(case["scores"])))[0, 1] > 0.95
    assert scores == pytest.approx(np.array(case["scores"]), abs=0.05)


def _ranks(values: Any) -> Any:
    return np.argsort(np.argsort(values))


@pytest.mark.parametrize(("size", "length"), FROZEN["forest"]["lengths"].items())
def test_path_lengths_are_those_of_scikit_learn(size: str, length: float) -> None:
    assert average_path_length(int(size)) == pytest.approx(length, rel=1e-12)


def _sums(case: dict[str, Any]) -> AnswerSums:
    return AnswerSums.of(matrix(case["answers"], case["scores"]))


@pytest.mark.parametrize("case", FROZEN["regressions"])
def test_effects_are_those_of_statsmodels(case: dict[str, Any]) -> None:
    sums = _sums(case)
    scored = ScoredScenarios.of(sums)
    found = effects.effects(effects.column_fits(sums, scored), scored)
    for made, expected in zip(found.regressions, case["fits"], strict=True):
        assert [each.slope for each in made.slopes] == pytest.approx(expected["slopes"], rel=1e-8)
        assert [each.standard_error for each in made.slopes] == pytest.approx(expected["errors"], rel=1e-8)
        assert [each.p for each in made.slopes] == pytest.approx(expected["p"], rel=1e-6)
        assert [list(each.interval) for each in made.slopes] == pytest.approx(np.array(expected["intervals"]), rel=1e-7)
        assert made.r_squared == pytest.approx(expected["rSquared"], rel=1e-8)


@pytest.mark.parametrize("case", FROZEN["regressions"])
def test_the_test_of_equal_slopes_is_that_of_statsmodels_as_hotellings(case: dict[str, Any]) -> None:
    sums = _sums(case)
    scored = ScoredScenarios.of(sums)
    fits = [each.fit for each in effects.column_fits(sums, scored)]
    scenarios = len(case["scores"])
    for dimension, wald in enumerate(case["walds"], start=1):
        test = effects.equality_test(fits, dimension)
        assert test is not None
        assert test.df == (len(fits) - 1, scenarios - len(fits) + 1)
        assert test.statistic == pytest.approx(wald * test.df[1] / (scenarios - 1), rel=1e-7)
        assert test.p == pytest.approx(f_upper_tail(test.statistic, *test.df))


@pytest.mark.parametrize("case", FROZEN["regressions"])
def test_interactions_are_those_of_statsmodels(case: dict[str, Any]) -> None:
    sums = _sums(case)
    scored = ScoredScenarios.of(sums)
    found = interactions.interactions(effects.column_fits(sums, scored), sums, scored)
    for made in found.largest:
        expected = case["interactions"][made.column]
        assert made.coefficient == pytest.approx(expected["coefficient"], rel=1e-6)
        assert made.standard_error == pytest.approx(expected["error"], rel=1e-6)
        assert made.p == pytest.approx(expected["p"], rel=1e-5)
        assert made.r_squared_gain == pytest.approx(expected["gain"], rel=1e-6)


def test_longleys_regression_has_the_values_that_nist_certifies() -> None:
    x, y = np.array(FROZEN["longley"]["x"]), np.array(FROZEN["longley"]["y"])
    standardized = (x - x.mean(axis=0)) / x.std(axis=0)
    found = regression.fit(np.column_stack([np.ones(len(x)), standardized]), np.ones(len(x)), y, y**2)
    assert found is not None
    certified = FROZEN["longley"]["certified"]
    assert found.coefficients[1:] / x.std(axis=0) == pytest.approx(certified["slopes"], rel=1e-7)
    assert found.r_squared == pytest.approx(certified["rSquared"], rel=1e-9)


def test_norris_regression_has_the_values_that_nist_certifies() -> None:
    x, y = np.array(FROZEN["norris"]["x"]), np.array(FROZEN["norris"]["y"])
    found = regression.fit(np.column_stack([np.ones(len(x)), x - x.mean()]), np.ones(len(x)), y, y**2)
    assert found is not None
    certified, (mean, slope) = FROZEN["norris"]["certified"], found.coefficients
    assert slope == pytest.approx(certified["slope"], rel=1e-12)
    assert mean - slope * x.mean() == pytest.approx(certified["intercept"], rel=1e-9)
    assert found.residual_squares == pytest.approx(certified["residualSquares"], rel=1e-8)
    assert found.r_squared == pytest.approx(certified["rSquared"], rel=1e-12)


def test_inflation_factors_and_correlations_are_those_of_statsmodels() -> None:
    case = FROZEN["inflation"]
    scored = ScoredScenarios.of(AnswerSums.of(matrix([[[1]] * len(case["scores"])], case["scores"])))
    found = design.design(scored)
    assert [each.factor for each in found.inflation] == pytest.approx(case["factors"], rel=1e-8)
    assert [each.correlation for each in found.correlations] == pytest.approx(case["correlations"], rel=1e-8)


def test_variance_components_of_montgomerys_gauge() -> None:
    parts = [[int(each) for each in part.split()] for part in GAUGE.replace("\n", "|").split("|")]
    measured = np.array(parts, dtype=float).reshape(20, 3, 2)
    within = measured.var(axis=2, ddof=1).mean()
    found = components.variance_components(measured.mean(axis=2).T, float(within), 2.0)
    assert found.scenario == pytest.approx(10.28, abs=0.005)
    assert found.target == pytest.approx(0.0149, abs=0.0005)
    assert found.target_by_scenario == 0
    assert found.repeat == pytest.approx(0.99, abs=0.005)


def test_distances_of_normal_rows_follow_the_beta_law() -> None:
    drawn = np.random.default_rng(5)
    p_values = []
    for _ in range(400):
        rows = drawn.normal(0, 1, (9, 2))
        axes = principal_axes(rows, 2)
        p_values += [distance_p(each, 9, 2) for each in mahalanobis_distances(axes.coordinates).tolist()]
    for level in (0.05, 0.2, 0.5, 0.8):
        assert np.mean(np.array(p_values) < level) == pytest.approx(level, abs=0.02)


def test_chance_eigenvalues_leave_the_spread_of_scenarios_as_it_is() -> None:
    values = np.random.default_rng(2).integers(1, 6, (6, 30)).astype(float)
    chance = components.chance_eigenvalues(values, np.random.default_rng(1), 1)
    assert chance.sum() == pytest.approx(principal_axes(values).eigenvalues.sum())
