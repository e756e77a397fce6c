"""Computes the principal components of the differences between targets' answers, and their variance components.

Principal components show in which directions the targets differ, and whether these exceed chance. Scenarios are
centered and not scaled: all codes share one scale, and dividing by a spread that few targets show would amplify noise.
With more scenarios than targets, the eigenvectors of the small matrix of inner products are enough (Jolliffe 2002,
section 3.5). The number of components above chance is found by parallel analysis (Horn 1965): the targets' answers are
shuffled within each scenario, which leaves its spread as it is and destroys what scenarios have in common.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cupel_core.analysis.deep.answer_sums import AnswerSums, CompleteMatrix, Floats, to_float
from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.deep import Component, Components, DimensionCorrelation, Loading, VarianceShares

MIN_COLUMNS, MIN_SCENARIOS = 3, 10
MAX_COMPONENTS = 5
PERMUTATIONS = 200
_CHANCE = 0.95
_MAX_LOADINGS = 20
_TINY = 1e-12
_SHUFFLED_AT_ONCE = 2_000
"""Number of scenarios that are shuffled together: few enough that their copies stay in the processor's cache."""


MIN_COLUMNS_FOR_VARIANCE, MIN_SCENARIOS_FOR_VARIANCE = 2, 2


@dataclass(frozen=True)
class PrincipalAxes:
    eigenvalues: Floats
    coordinates: Floats
    """An array of (rows, axes)."""
    loadings: Floats
    """An array of (axes, variables); each axis has length 1."""

    @property
    def shares(self) -> Floats:
        total = self.eigenvalues.sum()
        return self.eigenvalues / total if total > 0 else np.zeros_like(self.eigenvalues)


def principal_axes(values: Floats, limit: int = MAX_COMPONENTS) -> PrincipalAxes:
    centered = values - values.mean(axis=0)
    eigenvalues, vectors = np.linalg.eigh(centered @ centered.T)
    order = np.argsort(-eigenvalues, kind="stable")
    eigenvalues, vectors = np.maximum(eigenvalues[order], 0.0), vectors[:, order]
    number = min(limit, len(values) - 1, int((eigenvalues > _TINY * max(1.0, eigenvalues.sum())).sum()))
    roots = np.sqrt(eigenvalues[:number])
    loadings = (vectors[:, :number].T @ centered) / roots[:, None]
    signs = np.sign(loadings[np.arange(number), np.abs(loadings).argmax(axis=1)]) if number else np.ones(0)
    return PrincipalAxes(eigenvalues, vectors[:, :number] * roots * signs, loadings * signs[:, None])


def chance_eigenvalues(values: Floats, generator: np.random.Generator, permutations: int = PERMUTATIONS) -> Floats:
    """Return the 95th percentiles of the eigenvalues after shuffling the rows' values within each variable."""
    variables = np.ascontiguousarray((values - values.mean(axis=0)).T)
    drawn = np.empty((permutations, variables.shape[1]))
    for number in range(permutations):
        drawn[number] = np.linalg.eigvalsh(_shuffled_products(variables, generator))[::-1]
    quantiles: Floats = np.quantile(drawn, _CHANCE, axis=0)
    return np.maximum(quantiles, 0.0)


def _shuffled_products(variables: Floats, generator: np.random.Generator) -> Floats:
    columns = variables.shape[1]
    products = np.zeros((columns, columns))
    for start in range(0, len(variables), _SHUFFLED_AT_ONCE):
        shuffled = generator.permuted(variables[start : start + _SHUFFLED_AT_ONCE], axis=1)
        products += shuffled.T @ shuffled
    return products


def why_unavailable(matrix: CompleteMatrix) -> str | None:
    if len(matrix.columns) < MIN_COLUMNS:
        return f"needs at least {MIN_COLUMNS} targets with answers to the same scenarios"
    if len(matrix.scenarios) < MIN_SCENARIOS:
        return f"needs at least {MIN_SCENARIOS} scenarios that most targets have decided"
    if np.ptp(matrix.values, axis=0).max() < _TINY:
        return "all targets give the same answers"
    return None


def components(
    matrix: CompleteMatrix, scores: Floats, dimensions: tuple[str, ...], generator: np.random.Generator
) -> Components:
    axes = principal_axes(matrix.values)
    total = axes.eigenvalues.sum()
    chance = chance_eigenvalues(matrix.values, generator)
    is_above = axes.eigenvalues > chance
    described = scores[matrix.scenarios]
    return Components(
        columns=tuple(matrix.columns.tolist()),
        scenarios=len(matrix.scenarios),
        imputed_share=to_float(matrix.imputed_share),
        above_chance=int(np.cumprod(is_above[: len(axes.loadings)]).sum()),
        components=tuple(
            Component(
                explained_share=to_float(axes.eigenvalues[number] / total),
                chance_share=to_float(chance[number] / total),
                is_above_chance=bool(is_above[: number + 1].all()),
                coordinates=tuple(map(to_float, axes.coordinates[:, number])),
                loadings=tuple(_largest(loadings, matrix)),
                dimensions=tuple(
                    DimensionCorrelation(name, correlation(loadings, described[:, position]))
                    for position, name in enumerate(dimensions)
                ),
            )
            for number, loadings in enumerate(axes.loadings)
        ),
    )


def _largest(loadings: Floats, matrix: CompleteMatrix) -> Iterator[Loading]:
    for position in np.argsort(-np.abs(loadings), kind="stable")[:_MAX_LOADINGS].tolist():
        yield Loading(int(matrix.scenarios[position]), to_float(loadings[position]))


def correlation(first: Floats, second: Floats) -> float | None:
    """Return Pearson's correlation over the pairs where both values are known.

    The result is None for fewer than three pairs, or if either variable is constant.
    """
    is_known = ~(np.isnan(first) | np.isnan(second))
    if is_known.sum() < 3:
        return None
    first, second = first[is_known], second[is_known]
    first, second = first - first.mean(), second - second.mean()
    scale = np.sqrt((first @ first) * (second @ second))
    varies = min(first @ first, second @ second) > _TINY * len(first)
    return to_float(min(1.0, max(-1.0, float(first @ second) / float(scale)))) if varies else None


class VarianceComponents(NamedTuple):
    target: float
    scenario: float
    target_by_scenario: float
    repeat: float | None


def variance_components(means: Floats, repeat: float | None, answers_per_mean: float) -> VarianceComponents:
    """Return the variance components of a matrix of means by target and scenario.

    The model is two-way with random effects. It is estimated from mean squares, with the harmonic mean of the answers
    per mean (unweighted means, Searle, Casella and McCulloch 1992). A negative estimate counts as zero.

    `repeat` is the variance within the means; without it, that variance is part of the interaction of target and
    scenario.
    """
    targets, scenarios = means.shape
    by_target, by_scenario, center = means.mean(axis=1), means.mean(axis=0), means.mean()
    deviations = means - by_target[:, None] - by_scenario[None, :] + center
    residual = (deviations**2).sum() / ((targets - 1) * (scenarios - 1))
    of_targets = scenarios * ((by_target - center) ** 2).sum() / (targets - 1)
    of_scenarios = targets * ((by_scenario - center) ** 2).sum() / (scenarios - 1)
    noise = 0.0 if repeat is None else repeat / answers_per_mean
    return VarianceComponents(
        target=max(0.0, float(of_targets - residual) / scenarios),
        scenario=max(0.0, float(of_scenarios - residual) / targets),
        target_by_scenario=max(0.0, float(residual - noise)),
        repeat=repeat,
    )


def variance_shares(answers: AnswerSums) -> VarianceShares | str:
    columns = np.flatnonzero((answers.counts > 0).any(axis=1))
    if len(columns) < MIN_COLUMNS_FOR_VARIANCE:
        return f"needs at least {MIN_COLUMNS_FOR_VARIANCE} targets with answers"
    rows = np.flatnonzero((answers.counts[columns] > 0).all(axis=0))
    if len(rows) < MIN_SCENARIOS_FOR_VARIANCE:
        return f"needs at least {MIN_SCENARIOS_FOR_VARIANCE} scenarios that all targets have answered"
    counts, totals, squares = (
        each[np.ix_(columns, rows)] for each in (answers.counts, answers.totals, answers.squares)
    )
    freedom = float((counts - 1).sum())
    within = float((squares - totals**2 / counts).sum()) / freedom if freedom else None
    found = variance_components(totals / counts, within, float(counts.size / (1 / counts).sum()))
    variance = sum(each for each in found if each is not None)
    if variance < _TINY:
        return "all answers are the same"
    return VarianceShares(
        columns=tuple(columns.tolist()),
        scenarios=len(rows),
        variance=to_float(variance),
        target=to_float(found.target / variance),
        scenario=to_float(found.scenario / variance),
        target_by_scenario=to_float(found.target_by_scenario / variance),
        repeat=None if found.repeat is None else to_float(found.repeat / variance),
    )
