"""How often a basic analysis finds what is not there, by simulation. The figures are in docs/statistics.md."""

from collections.abc import Callable, Sequence
from random import Random

import pytest

from cupel_core.domain.analysis.agreement import OUTLIER_GAIN, agreement
from cupel_core.domain.analysis.dimensions import DimensionAnalysis, analyze_dimensions
from cupel_core.domain.analysis.metrics import Metric
from tests.answer_matrices import matrix
from tests.statistics.test_deep_levels import Alike, matrices

TRIALS = 1_000
"""Of three dimensions each; the standard error of a share of 0.05 is about 0.004."""
SIZES = [(9, 1), (18, 1), (36, 1), (36, 3), (108, 1)]
SLOPE, NOISE, LEVELS = 0.5, 0.7, (1.0, 2.0, 3.0)


def share(setting: Alike, p_of: Callable[[DimensionAnalysis], float | None]) -> float:
    """The share of dimensions without effect whose p is below 0.05."""
    found = [each for drawn in matrices(setting, TRIALS) for each in analyze_dimensions(drawn)]
    return sum((p_of(each) or 1.0) < 0.05 for each in found) / len(found)


@pytest.mark.parametrize(("scenarios", "repeats"), SIZES)
def test_levels_without_effect_are_rarely_called_different(scenarios: int, repeats: int) -> None:
    wrong = share(Alike(1, scenarios, repeats), lambda each: each.columns[0].effect.p)
    print(f"false positives, level effects: {scenarios} scenarios, {repeats} repeats: {wrong:.3f}")
    assert wrong <= 0.065


@pytest.mark.parametrize(("scenarios", "repeats"), SIZES)
def test_trends_without_effect_are_rarely_called_significant(scenarios: int, repeats: int) -> None:
    def p_of(found: DimensionAnalysis) -> float | None:
        trend = found.columns[0].trend
        return trend and trend.p

    wrong = share(Alike(1, scenarios, repeats), p_of)
    print(f"false positives, trends: {scenarios} scenarios, {repeats} repeats: {wrong:.3f}")
    assert wrong <= 0.07


@pytest.mark.parametrize("scenarios", [12, 36, 99])
def test_the_interval_of_a_trend_covers_the_slope(scenarios: int) -> None:
    source = Random(2)
    covered = 0
    for _ in range(TRIALS):
        scores = [(LEVELS[number % 3],) for number in range(scenarios)]
        drawn = matrix([[_answers(score, source) for (score,) in scores]], scores)
        trend = analyze_dimensions(drawn)[0].columns[0].trend
        assert trend is not None
        covered += trend.interval.low <= SLOPE <= trend.interval.high
    print(f"coverage, trends: {scenarios} scenarios: {covered / TRIALS:.3f}")
    assert (0.90 if scenarios < 30 else 0.93) <= covered / TRIALS <= 0.97


def _answers(score: float, source: Random) -> Sequence[int]:
    """In the middle of the scale, so that its ends hardly ever matter."""
    return [max(1, min(5, round(source.gauss(2 + SLOPE * score, NOISE))))]


@pytest.mark.parametrize(
    ("targets", "scenarios", "noise"),
    [(3, 12, 0.7), (3, 36, 0.7), (3, 120, 0.7), (3, 12, 1.2), (3, 36, 1.2), (6, 12, 0.7), (6, 36, 0.7), (10, 36, 0.7)],
)
def test_targets_alike_are_rarely_outliers(targets: int, scenarios: int, noise: float) -> None:
    """However noisy they are: alpha rises by 0.1 by chance, but its interval says so."""
    drawn = matrices(Alike(targets, scenarios, noise=noise), 400)
    found = [each for cells in drawn if (each := agreement(cells.columns, Metric.DECISION))]
    wrong = sum(bool(each.outliers) for each in found) / len(found)
    gains = sum(any((left.gain or 0.0) >= OUTLIER_GAIN for left in each.without) for each in found) / len(found)
    print(f"runs with an outlier: {targets} targets, {scenarios} scenarios, noise {noise}: {wrong:.3f} ({gains:.3f})")
    assert wrong <= 0.075


@pytest.mark.parametrize(("targets", "scenarios", "limit"), [(3, 12, 0.65), (3, 36, 0.95), (6, 36, 0.95)])
def test_a_target_that_answers_the_opposite_is_found(targets: int, scenarios: int, limit: float) -> None:
    source, hits = Random(3), 0

    def codes(position: float) -> list[int]:
        return [max(1, min(5, round(source.gauss(position, NOISE))))]

    for _ in range(200):
        positions = [source.gauss(3, 0.9) for _ in range(scenarios)]
        alike = [list(map(codes, positions)) for _ in range(targets - 1)]
        opposite = [codes(6 - position) for position in positions]
        found = agreement(matrix([*alike, opposite], [(0.0,)] * scenarios).columns, Metric.DECISION)
        hits += found is not None and targets - 1 in found.outliers
    print(f"opposite target found: {targets} targets, {scenarios} scenarios: {hits / 200:.3f}")
    assert hits / 200 >= limit
