"""Fits a linear regression of answers on scores, with errors clustered by scenario.

A regression of single answers needs only the scores of a scenario and the number, sum and sum of squares of its
answers. Errors are those of the sandwich estimator with the small-sample correction CR1 (Cameron and Miller 2015).
Tests that CR1 makes too often wrong use the jackknife, CR3, which repeats the estimates without each scenario.
"""

import numpy as np

from cupel_core.analysis.deep.answer_sums import Flags, Floats
from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.distributions import t_two_sided_p

_MAX_CONDITION = 1e8
_EXACT = 1e-10
"""A fit counts as exact if at most this share of the variance is left; rounding explains no more."""
_NO_ERROR = 1e-9


@dataclass(frozen=True)
class Fit:
    coefficients: Floats
    influences: Floats
    """An array of (scenarios, coefficients): the contribution of each scenario's residuals to each coefficient."""
    leverages: Floats
    """The share of its residuals that each scenario itself takes away."""
    residuals: Floats
    """The sum of each scenario's answers less their expected sum."""
    inverse: Floats
    correction: float
    """The small-sample correction CR1."""
    residual_squares: float
    total_squares: float
    answers: int
    answered: Flags

    @property
    def scenarios(self) -> int:
        return int(self.answered.sum())

    @property
    def is_exact(self) -> bool:
        """Return whether all answers are the same or follow the regression exactly, so that errors cannot be
        estimated."""
        return self.residual_squares <= _EXACT * max(self.total_squares, _EXACT * self.answers)

    @property
    def r_squared(self) -> float | None:
        if self.total_squares <= _EXACT * self.answers:
            return None
        return float(np.clip(1 - self.residual_squares / self.total_squares, 0, 1))

    @property
    def standard_errors(self) -> Floats:
        """Return the standard errors; they are zero for an exact fit."""
        errors: Floats = np.sqrt(self.correction * (self.influences**2).sum(axis=0))
        return np.where((errors > _NO_ERROR) & (not self.is_exact), errors, 0.0)


def fit(design: Floats, counts: Floats, totals: Floats, squares: Floats) -> Fit | None:
    """Fit one column; the first column of the design is the intercept.

    The result is None if the answered scenarios cannot tell the dimensions apart, or are too few for an error.
    """
    is_answered: Flags = counts > 0
    answered = design[is_answered]
    number, coefficients = answered.shape
    if number <= coefficients:
        return None
    weighted = answered * counts[is_answered, None]
    products = answered.T @ weighted
    if np.linalg.cond(products) > _MAX_CONDITION:
        return None
    inverse = np.linalg.inv(products)
    sums = answered.T @ totals[is_answered]
    estimated = inverse @ sums
    residuals = np.where(is_answered, totals - counts * (design @ estimated), 0.0)
    answers, total = float(counts.sum()), float(totals.sum())
    return Fit(
        coefficients=estimated,
        influences=(design * residuals[:, None]) @ inverse,
        leverages=counts * ((design @ inverse) * design).sum(axis=1),
        residuals=residuals,
        inverse=inverse,
        correction=number / (number - 1) * (answers - 1) / (answers - coefficients),
        residual_squares=max(0.0, float(squares.sum() - estimated @ sums)),
        total_squares=max(0.0, float(squares.sum() - total**2 / answers)),
        answers=int(answers),
        answered=is_answered,
    )


def without_each(influences: Floats, leverages: Floats) -> Floats:
    """Return how much higher each estimate is than without the scenario; 0 if it cannot be estimated without it."""
    left = 1 - leverages
    result: Floats = np.divide(influences, left, out=np.zeros_like(influences), where=left > _EXACT)
    return result


def jackknife_correction(scenarios: int) -> float:
    """Return the factor of the sum of squared changes (Efron and Stein 1981)."""
    return (scenarios - 1) / scenarios


def slope_p(slope: float, error: float, scenarios: int) -> float | None:
    """Return the p-value of a zero slope, or None for a nonzero slope without an error."""
    if error > 0:
        return t_two_sided_p(slope / error, scenarios - 1)
    return None if abs(slope) > _EXACT else 1.0
