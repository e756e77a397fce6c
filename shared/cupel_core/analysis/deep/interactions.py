"""Tests whether the effect of one dimension depends on another. Each pair is added to the regression by itself."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from cupel_core.analysis.deep.answer_sums import AnswerSums, Floats, Numbers, to_float
from cupel_core.analysis.deep.design import ScoredScenarios
from cupel_core.analysis.deep.effects import ColumnFit
from cupel_core.analysis.deep.regression import Fit, jackknife_correction, slope_p, without_each
from cupel_core.domain.analysis.deep import Interaction, Interactions
from cupel_core.domain.analysis.multiple_testing import holm

MAX_DIMENSIONS = 10
MAX_LEVELS = 12
"""A dimension with more levels gets no table of means."""
_LARGEST = 10
_INDEPENDENT = 1e-8
_NO_ERROR = 1e-9


def why_unavailable(scored: ScoredScenarios) -> str | None:
    if len(scored.names) < 2:
        return "needs at least 2 dimensions in which the scores of the scenarios vary"
    needed = len(scored.names) + 4
    if len(scored.rows) < needed:
        return f"needs at least {needed} scenarios for pairs of {len(scored.names)} dimensions"
    return None


def strongest_dimensions(fits: Sequence[ColumnFit]) -> Numbers:
    """Return at most MAX_DIMENSIONS dimensions, in their order, whose slope in any column is the largest."""
    largest: Floats = np.abs([each.fit.coefficients[1:] for each in fits]).max(axis=0)
    chosen: Numbers = np.sort(np.argsort(-largest, kind="stable")[:MAX_DIMENSIONS])
    return chosen


class PairEstimate(NamedTuple):
    column: int
    pair: tuple[int, int]
    coefficient: float
    error: float
    p: float | None
    r_squared_gain: float


def interactions(fits: Sequence[ColumnFit], answers: AnswerSums, scored: ScoredScenarios) -> Interactions:
    pairs = list(combinations(strongest_dimensions(fits).tolist(), 2))
    estimates = [each for fitted in fits for each in _estimates(fitted, pairs, answers, scored)]
    adjusted = holm([each.p for each in estimates])
    order = sorted(range(len(estimates)), key=lambda number: -estimates[number].r_squared_gain)
    largest = tuple(_interaction(estimates[number], adjusted[number], answers, scored) for number in order[:_LARGEST])
    return Interactions(len(estimates), largest)


def _estimates(
    fitted: ColumnFit, pairs: Sequence[tuple[int, int]], answers: AnswerSums, scored: ScoredScenarios
) -> Iterator[PairEstimate]:
    found, deviations = fitted.fit, scored.scores.std(axis=0)
    if found.r_squared is None or found.scenarios < len(found.coefficients) + 2:
        return
    added = _added(found, answers.counts[fitted.column, scored.rows], scored.standardized, pairs)
    for pair, coefficient, error, gain in zip(pairs, *(each.tolist() for each in added), strict=True):
        if np.isnan(coefficient):
            continue
        scale = float(deviations[pair[0]] * deviations[pair[1]])
        is_exact = error < _NO_ERROR or found.residual_squares - gain <= _NO_ERROR * found.total_squares
        if is_exact:
            coefficient, error = (coefficient if abs(coefficient) > _NO_ERROR else 0.0), 0.0
        yield PairEstimate(
            column=fitted.column,
            pair=pair,
            coefficient=coefficient / scale,
            error=error / scale,
            p=slope_p(coefficient, error, found.scenarios),
            r_squared_gain=min(1.0, gain / found.total_squares),
        )


class AddedProducts(NamedTuple):
    """Holds the estimates of each pair. The coefficient is NaN if the dimensions determine the product."""

    coefficients: Floats
    errors: Floats
    gains: Floats


def _added(found: Fit, counts: Floats, standardized: Floats, pairs: Sequence[tuple[int, int]]) -> AddedProducts:
    """Add the products of pairs to a regression, one at a time.

    The part of a product that the regression does not explain determines its coefficient (Frisch and Waugh).
    """
    design, weights = np.column_stack([np.ones(len(standardized)), standardized]), counts[:, None]
    products = np.column_stack([standardized[:, first] * standardized[:, second] for first, second in pairs])
    left = products - design @ (found.inverse @ (design.T @ (weights * products)))
    variations = (weights * left**2).sum(axis=0)
    varies = variations > _INDEPENDENT * np.maximum((weights * products**2).sum(axis=0), 1.0)
    coefficients = np.divide(left.T @ found.residuals, variations, out=np.full(len(pairs), np.nan), where=varies)
    known = np.where(varies, variations, 1.0)
    residuals = np.where(found.answered[:, None], found.residuals[:, None] - weights * left * coefficients, 0.0)
    changes = without_each(left * residuals / known, found.leverages[:, None] + weights * left**2 / known)
    errors = np.sqrt(jackknife_correction(found.scenarios) * (changes**2).sum(axis=0))
    return AddedProducts(coefficients, errors, coefficients**2 * variations)


def _interaction(
    estimate: PairEstimate, adjusted_p: float | None, answers: AnswerSums, scored: ScoredScenarios
) -> Interaction:
    first, second = estimate.pair
    levels = [np.unique(scored.scores[:, each]) for each in estimate.pair]
    is_listed = max(map(len, levels)) <= MAX_LEVELS
    means = _means(estimate, answers, scored, levels) if is_listed else ()
    return Interaction(
        column=estimate.column,
        first=scored.names[first],
        second=scored.names[second],
        coefficient=to_float(estimate.coefficient),
        standard_error=to_float(estimate.error),
        p=None if estimate.p is None else to_float(estimate.p),
        adjusted_p=None if adjusted_p is None else to_float(adjusted_p),
        r_squared_gain=to_float(estimate.r_squared_gain),
        first_levels=tuple(map(to_float, levels[0])) if is_listed else (),
        second_levels=tuple(map(to_float, levels[1])) if is_listed else (),
        means=means,
    )


def _means(
    estimate: PairEstimate, answers: AnswerSums, scored: ScoredScenarios, levels: Sequence[Floats]
) -> tuple[tuple[float | None, ...], ...]:
    counts = answers.counts[estimate.column, scored.rows]
    totals = answers.totals[estimate.column, scored.rows]
    rows, columns = (
        np.searchsorted(found, scored.scores[:, each]) for found, each in zip(levels, estimate.pair, strict=True)
    )
    shape = (len(levels[0]), len(levels[1]))
    sums, numbers = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (rows, columns), totals)
    np.add.at(numbers, (rows, columns), counts)
    return tuple(
        tuple(to_float(total / number) if number else None for total, number in zip(*row, strict=True))
        for row in zip(sums.tolist(), numbers.tolist(), strict=True)
    )
