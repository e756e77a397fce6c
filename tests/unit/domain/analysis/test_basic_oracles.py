"""Figures of an analysis against published values and reference implementations (tests/oracles/analysis.json)."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from cupel_core.domain.analysis.agreement import krippendorff_alpha, rating
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.dimensions import analyze_dimensions
from cupel_core.domain.analysis.estimates import group_estimate
from cupel_core.domain.analysis.matrix import CellMatrix, ScenarioRow
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.pairs import CodeShares, pair_agreements
from cupel_core.domain.analysis.ranks import kruskal_wallis
from tests.oracles import FROZEN_FOLDER

FROZEN: dict[str, list[dict[str, Any]]] = json.loads((FROZEN_FOLDER / "analysis.json").read_text())

# Krippendorff's example of three coders and 15 units, as in the reference implementation's documentation.
KRIPPENDORFF = [
    [None, None, None, None, None, 3, 4, 1, 2, 1, 1, 3, 3, None, 3],
    [1, None, 2, 1, 3, 3, 4, 3, None, None, None, None, None, None, None],
    [None, None, 2, 1, 3, 4, 4, None, 2, 1, 1, 3, 3, None, 4],
]


def cell(*answers: int | None) -> Cell:
    counts = Counter(answer for answer in answers if answer is not None)
    return Cell(*(counts[code] for code in range(1, 6)))


def ratings(codes: Sequence[int | None]) -> list[CodeShares | None]:
    return [rating(cell(code), Metric.DECISION) for code in codes]


def alpha_of(coders: Sequence[Sequence[int | None]]) -> float | None:
    return krippendorff_alpha(list(zip(*map(ratings, coders), strict=True)))


def test_alpha_of_krippendorffs_example() -> None:
    assert alpha_of(KRIPPENDORFF) == pytest.approx(0.807, abs=0.0005)


@pytest.mark.parametrize("case", FROZEN["alpha"])
def test_alpha_is_that_of_the_reference_implementation(case: dict[str, Any]) -> None:
    assert alpha_of(case["ratings"]) == pytest.approx(case["alpha"], rel=1e-9)


@pytest.mark.parametrize("case", FROZEN["pairs"])
def test_figures_of_a_pair(case: dict[str, Any]) -> None:
    (pair,) = pair_agreements([ratings(case["first"]), ratings(case["second"])], Metric.DECISION)
    assert pair.kappa == pytest.approx(case["kappa"], rel=1e-9)
    assert pair.spearman == pytest.approx(case["rho"], rel=1e-9)
    assert pair.spearman_p == pytest.approx(case["p"], rel=1e-6)
    assert pair.interval == pytest.approx(case["interval"], rel=1e-9)
    equal = sum(a == b for a, b in zip(case["first"], case["second"], strict=True))
    assert pair.equal_share == pytest.approx(equal / len(case["first"]))


@pytest.mark.parametrize("case", FROZEN["groups"])
def test_the_effect_of_levels(case: dict[str, Any]) -> None:
    test = kruskal_wallis([Counter(map(float, group)) for group in case["groups"]])
    assert test is not None
    assert (test.statistic, test.p) == (pytest.approx(case["statistic"], rel=1e-9), pytest.approx(case["p"], rel=1e-9))
    (dimension,) = analyze_dimensions(
        matrix([(float(n), [a]) for n, group in enumerate(case["groups"]) for a in group])
    )
    assert dimension.overall.effect.eta_squared == pytest.approx(case["etaSquared"], rel=1e-9)
    assert dimension.overall.effect.p == pytest.approx(case["p"], rel=1e-9)


def matrix(scenarios: Sequence[tuple[float, Sequence[int]]]) -> CellMatrix:
    """One column, one dimension."""
    rows = [ScenarioRow(f"scn_{number}", "", (score,)) for number, (score, _) in enumerate(scenarios)]
    return CellMatrix(rows, ("stakes",), [[cell(*answers) for _, answers in scenarios]], None, Metric.DECISION)


@pytest.mark.parametrize("case", FROZEN["trends"])
def test_a_trend_is_a_regression_clustered_by_scenario(case: dict[str, Any]) -> None:
    (dimension,) = analyze_dimensions(matrix(list(zip(case["scores"], case["answers"], strict=True))))
    trend = dimension.columns[0].trend
    assert trend is not None
    assert trend.slope == pytest.approx(case["slope"], rel=1e-9)
    assert trend.standard_error == pytest.approx(case["standardError"], rel=1e-9)
    assert trend.interval == pytest.approx(case["interval"], rel=1e-9)
    assert (trend.p, trend.correlation) == (pytest.approx(case["p"], rel=1e-6), pytest.approx(case["r"], rel=1e-9))


@pytest.mark.parametrize("case", FROZEN["means"])
def test_the_mean_of_clustered_answers(case: dict[str, Any]) -> None:
    decision = group_estimate(Counter(cell(*answers) for answers in case["answers"])).decision
    assert (decision.mean, decision.sd) == (pytest.approx(case["mean"]), pytest.approx(case["sd"]))
    assert (decision.median, decision.answers) == (case["median"], sum(map(len, case["answers"])))
    assert decision.standard_error == pytest.approx(case["standardError"], rel=1e-9)
    low, high = case["interval"]
    assert decision.interval == (pytest.approx(max(1, low), rel=1e-9), pytest.approx(min(5, high), rel=1e-9))
