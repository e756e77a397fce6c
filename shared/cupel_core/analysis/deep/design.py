"""Selects the dimensions for the figures, and measures how independently the run's scenarios vary them."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from cupel_core.analysis.deep.answer_sums import MIN_SHARE, AnswerSums, Floats, Numbers, to_float
from cupel_core.analysis.deep.components import correlation
from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.deep import Design, DimensionInflation, PairCorrelation

MIN_DIMENSIONS, MIN_SCENARIOS = 2, 5
COLLINEAR = 5.0
"""From this variance inflation factor on, the effects of dimensions can hardly be told apart."""
_INDEPENDENT = 1e-8
"""A dimension's effect is estimated only if the others leave at least this share of its variance unexplained."""


@dataclass(frozen=True)
class ScoredScenarios:
    rows: Numbers
    names: tuple[str, ...]
    scores: Floats
    """An array of (scenarios, dimensions)."""
    partial: tuple[str, ...]

    @classmethod
    def of(cls, answers: AnswerSums) -> "ScoredScenarios":
        is_known = ~np.isnan(answers.scores)
        is_common = is_known.mean(axis=0) >= MIN_SHARE
        is_any = is_known.any(axis=0)
        rows = np.flatnonzero(is_known[:, is_common].all(axis=1))
        scores = answers.scores[np.ix_(rows, np.flatnonzero(is_common))]
        varies = np.ptp(scores, axis=0) > 0 if len(rows) else np.zeros(scores.shape[1], np.bool_)
        common = [name for name, each in zip(answers.dimensions, is_common, strict=True) if each]
        return cls(
            rows=rows,
            names=tuple(name for name, each in zip(common, varies, strict=True) if each),
            scores=scores[:, varies],
            partial=tuple(
                name
                for name, common_, any_ in zip(answers.dimensions, is_common, is_any, strict=True)
                if any_ and not common_
            ),
        )

    def chosen(self, positions: Numbers) -> "ScoredScenarios":
        names = tuple(self.names[position] for position in positions.tolist())
        return ScoredScenarios(self.rows, names, self.scores[:, positions], self.partial)

    @property
    def steps(self) -> Floats:
        """Return the mean distance between neighboring levels of each dimension."""
        return np.array([np.ptp(column) / (len(np.unique(column)) - 1) for column in self.scores.T])

    @property
    def standardized(self) -> Floats:
        """Return the scores of shape (scenarios, dimensions), scaled to mean 0 and variance 1."""
        result: Floats = (self.scores - self.scores.mean(axis=0)) / self.scores.std(axis=0)
        return result


def why_unavailable(scored: ScoredScenarios) -> str | None:
    if len(scored.names) < MIN_DIMENSIONS:
        return f"needs at least {MIN_DIMENSIONS} dimensions in which the scores of the scenarios vary"
    if len(scored.rows) < MIN_SCENARIOS:
        return f"needs at least {MIN_SCENARIOS} scenarios with scores in all dimensions"
    return None


def design(scored: ScoredScenarios) -> Design:
    return Design(tuple(_correlations(scored)), tuple(_inflation(scored)))


def _correlations(scored: ScoredScenarios) -> Iterator[PairCorrelation]:
    for (first, name), (second, other) in combinations(enumerate(scored.names), 2):
        value = correlation(scored.scores[:, first], scored.scores[:, second])
        yield PairCorrelation(name, other, len(scored.rows), value)


def _inflation(scored: ScoredScenarios) -> Iterator[DimensionInflation]:
    left = unexplained_shares(scored.standardized)
    for name, share in zip(scored.names, left.tolist(), strict=True):
        factor = to_float(1 / share) if share > _INDEPENDENT else None
        yield DimensionInflation(name, factor, factor is None or factor >= COLLINEAR)


def unexplained_shares(standardized: Floats) -> Floats:
    """Return the share of each dimension's variance that the others do not explain; 0 if they determine it."""
    products = standardized.T @ standardized / len(standardized)
    shares = np.empty(len(products))
    for position in range(len(products)):
        others = np.delete(products[position], position)
        inner = np.delete(np.delete(products, position, 0), position, 1)
        shares[position] = products[position, position] - others @ np.linalg.pinv(inner, hermitian=True) @ others
    return np.clip(shares, 0.0, 1.0)


def independent(standardized: Floats) -> Numbers:
    chosen: list[int] = []
    for position in range(standardized.shape[1]):
        share = unexplained_shares(standardized[:, [*chosen, position]])[-1]
        if share > _INDEPENDENT:
            chosen.append(position)
    return np.array(chosen, np.intp)
