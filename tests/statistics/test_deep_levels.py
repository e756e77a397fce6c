"""How often a deep analysis finds what is not there, by simulation. The figures are in docs/statistics.md.

Targets answer alike: an answer is the nearest code to a scenario's position plus noise. Dimensions have no effect, and
half of the dimensions' levels make the scenarios' positions differ more than the others do.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from cupel_core.analysis.deep import components, effects, interactions, outliers
from cupel_core.analysis.deep.answer_sums import AnswerSums, CompleteMatrix
from cupel_core.analysis.deep.design import ScoredScenarios
from cupel_core.domain.analysis.agreement import leave_one_out
from cupel_core.domain.analysis.matrix import CellMatrix
from cupel_core.domain.analysis.metrics import Metric
from tests.answer_matrices import matrix

TRIALS = 1_000
"""The standard error of a share of 0.05 is 0.007."""
DIMENSIONS = 3


class Alike(NamedTuple):
    """Targets that answer alike."""

    targets: int
    scenarios: int
    repeats: int = 1
    noise: float = 0.7

    def drawn(self, source: Random) -> CellMatrix:
        scores = [tuple(float(number // 3**each % 3) for each in range(DIMENSIONS)) for number in range(self.scenarios)]
        positions = [source.gauss(3, 0.5 + 0.4 * (score[0] > 1)) for score in scores]
        return matrix([[self._codes(each, source) for each in positions] for _ in range(self.targets)], scores)

    def _codes(self, position: float, source: Random) -> list[int]:
        return [max(1, min(5, round(source.gauss(position, self.noise)))) for _ in range(self.repeats)]


def matrices(setting: Alike, trials: int = TRIALS) -> Iterator[CellMatrix]:
    source = Random(1)
    for _ in range(trials):
        yield setting.drawn(source)


def share(setting: Alike, hits: Callable[[AnswerSums, ScoredScenarios], list[bool]]) -> float:
    found = [hit for sums in map(AnswerSums.of, matrices(setting)) for hit in hits(sums, ScoredScenarios.of(sums))]
    return sum(found) / len(found)


@pytest.mark.parametrize(("scenarios", "repeats", "limit"), [(12, 1, 0.12), (36, 1, 0.07), (100, 3, 0.065)])
def test_dimensions_without_effect_are_rarely_called_significant(scenarios: int, repeats: int, limit: float) -> None:
    def hits(sums: AnswerSums, scored: ScoredScenarios) -> list[bool]:
        found = effects.effects(effects.column_fits(sums, scored), scored)
        return [(slope.p or 1) < 0.05 for each in found.regressions for slope in each.slopes]

    wrong = share(Alike(1, scenarios, repeats), hits)
    print(f"false positives, slopes: {scenarios} scenarios, {repeats} repeats: {wrong:.3f}")
    assert wrong <= limit


@pytest.mark.parametrize(("targets", "scenarios"), [(3, 16), (3, 36), (10, 72), (10, 200)])
def test_equal_slopes_are_rarely_called_different(targets: int, scenarios: int) -> None:
    def hits(sums: AnswerSums, scored: ScoredScenarios) -> list[bool]:
        found = effects.effects(effects.column_fits(sums, scored), scored)
        return [(each.p or 1) < 0.05 for each in found.equality]

    wrong = share(Alike(targets, scenarios), hits)
    print(f"false positives, equal slopes: {targets} targets, {scenarios} scenarios: {wrong:.3f}")
    assert wrong <= 0.075


@pytest.mark.parametrize("scenarios", [12, 36, 100])
def test_pairs_without_interaction_are_rarely_called_significant(scenarios: int) -> None:
    def hits(sums: AnswerSums, scored: ScoredScenarios) -> list[bool]:
        found = interactions.interactions(effects.column_fits(sums, scored), sums, scored)
        return [(each.p or 1) < 0.05 for each in found.largest]

    wrong = share(Alike(1, scenarios), hits)
    print(f"false positives, interactions: {scenarios} scenarios: {wrong:.3f}")
    assert wrong <= 0.08


@pytest.mark.parametrize(("targets", "scenarios"), [(3, 36), (6, 36), (12, 100)])
def test_targets_alike_rarely_have_a_component_above_chance(targets: int, scenarios: int) -> None:
    found = [
        components.components(CompleteMatrix.of(AnswerSums.of(drawn)), np.empty((scenarios, 0)), (), _generator(number))
        for number, drawn in enumerate(matrices(Alike(targets, scenarios), 300))
    ]
    wrong = sum(each.above_chance > 0 for each in found) / len(found)
    print(f"false positives, components: {targets} targets, {scenarios} scenarios: {wrong:.3f}")
    assert wrong <= 0.09


@pytest.mark.parametrize(("targets", "scenarios"), [(3, 120), (6, 36), (12, 100)])
def test_targets_alike_are_rarely_outliers(targets: int, scenarios: int) -> None:
    flagged = 0
    for number, drawn in enumerate(matrices(Alike(targets, scenarios), 300)):
        without = leave_one_out(drawn.columns, Metric.DECISION)
        complete = CompleteMatrix.of(AnswerSums.of(drawn))
        found = outliers.outlier_targets(complete, without, _generator(number))
        flagged += any(each.is_outlier for each in found.targets)
    wrong = flagged / 300
    print(f"runs with an outlier: {targets} targets, {scenarios} scenarios: {wrong:.3f}")
    assert wrong <= 0.12


def _generator(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
