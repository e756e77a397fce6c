"""Estimates the effect of each dimension on each target's answers, other dimensions being equal.

The regression is linear and not logistic because deterministic models give perfectly separated answers, for which a
logit has no finite estimate.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from cupel_core.analysis.deep.answer_sums import AnswerSums, Floats, to_float
from cupel_core.analysis.deep.design import ScoredScenarios
from cupel_core.analysis.deep.regression import Fit, fit, jackknife_correction, slope_p, without_each
from cupel_core.domain.analysis.deep import Effects, Regression, Slope, SlopeEquality
from cupel_core.domain.analysis.distributions import f_upper_tail, t_quantile
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.statistics import Interval

MIN_SCENARIOS = 5
SCENARIOS_PER_CONTRAST = 8
"""For each target but one, a comparison of slopes needs this many scenarios. With fewer, more than a tenth of equal
slopes would be called different."""
_CONFIDENCE = 0.975
_SAME_DIRECTION = 1e-10
"""Contrasts whose variance is below this share of the largest variance count as known exactly."""
_EQUAL = 1e-9


class ColumnFit(NamedTuple):
    column: int
    fit: Fit


def why_unavailable(scored: ScoredScenarios) -> str | None:
    if not scored.names:
        return "needs a dimension in which the scores of the scenarios vary"
    needed = max(MIN_SCENARIOS, len(scored.names) + 3)
    if len(scored.rows) < needed:
        return f"needs at least {needed} scenarios for {len(scored.names)} dimensions"
    return None


def column_fits(answers: AnswerSums, scored: ScoredScenarios) -> list[ColumnFit]:
    """Fit each column that answered enough scenarios. Slopes are per standard deviation of the scores."""
    design, rows = np.column_stack([np.ones(len(scored.rows)), scored.standardized]), scored.rows
    columns = ((answers.counts[n, rows], answers.totals[n, rows], answers.squares[n, rows]) for n in _range(answers))
    found = ((number, fit(design, *column)) for number, column in enumerate(columns))
    return [ColumnFit(number, each) for number, each in found if each is not None]


def _range(answers: AnswerSums) -> range:
    return range(len(answers.counts))


def effects(fits: Sequence[ColumnFit], scored: ScoredScenarios) -> Effects:
    deviations, steps = scored.scores.std(axis=0), scored.steps
    equality = _slope_equality(fits, scored, steps / deviations) if len(fits) > 1 else []
    return Effects(
        dimensions=scored.names,
        regressions=tuple(_regression(each, scored.names, deviations, steps) for each in fits),
        equality=tuple(sorted(equality, key=lambda each: (-each.spread, each.dimension))),
    )


def _regression(fitted: ColumnFit, names: Sequence[str], deviations: Floats, steps: Floats) -> Regression:
    found = fitted.fit
    slopes, errors = found.coefficients[1:] / deviations, found.standard_errors[1:] / deviations
    slopes = np.where((errors == 0) & (np.abs(slopes * deviations) < _EQUAL), 0.0, slopes)
    spread = sqrt(found.total_squares / found.answers) if found.r_squared is not None else 0.0
    p_values = [slope_p(*each, found.scenarios) for each in zip(slopes.tolist(), errors.tolist(), strict=True)]
    reach = t_quantile(_CONFIDENCE, found.scenarios - 1)
    return Regression(
        column=fitted.column,
        scenarios=found.scenarios,
        answers=found.answers,
        intercept=to_float(found.coefficients[0]),
        r_squared=None if found.r_squared is None else to_float(found.r_squared),
        slopes=tuple(
            Slope(
                dimension=name,
                slope=to_float(slope),
                per_step=to_float(slope * step),
                standardized=to_float(slope * deviation / spread) if spread else None,
                standard_error=to_float(error),
                interval=Interval(to_float(slope - reach * error), to_float(slope + reach * error)),
                p=None if p is None else to_float(p),
                adjusted_p=None if adjusted is None else to_float(adjusted),
            )
            for name, slope, error, deviation, step, p, adjusted in zip(
                names, slopes, errors, deviations, steps, p_values, holm(p_values), strict=True
            )
        ),
    )


class EqualityTest(NamedTuple):
    statistic: float
    df: tuple[int, int]
    p: float


def _slope_equality(fits: Sequence[ColumnFit], scored: ScoredScenarios, per_step: Floats) -> list[SlopeEquality]:
    tests = [equality_test([each.fit for each in fits], position + 1) for position in range(len(scored.names))]
    p_values = [test.p if test else None for test in tests]
    slopes = np.array([each.fit.coefficients[1:] for each in fits]) * per_step
    return [
        SlopeEquality(
            dimension=name,
            spread=to_float(spread),
            statistic=to_float(test.statistic) if test else None,
            df=test.df if test else None,
            p=None if p is None else to_float(p),
            adjusted_p=None if adjusted is None else to_float(adjusted),
        )
        for name, spread, test, p, adjusted in zip(
            scored.names, slopes.std(axis=0, ddof=1), tests, p_values, holm(p_values), strict=True
        )
    ]


def equality_test(fits: Sequence[Fit], coefficient: int) -> EqualityTest | None:
    """Test by Wald's test whether all fits have the same value of this coefficient.

    The fits depend on each other because they share scenarios. Their joint covariance is therefore estimated from how
    all estimates change when each scenario is left out. Wald's F is too large for few scenarios; as Hotelling's T
    squared it has the right level. The result is None if there are too few scenarios even for that, or if slopes differ
    that are known exactly.
    """
    scenarios = int(np.any([each.answered for each in fits], axis=0).sum())
    changes = np.array([without_each(each.influences[:, coefficient], each.leverages) for each in fits])
    contrasts = _contrasts(len(fits))
    differences = contrasts @ np.array([each.coefficients[coefficient] for each in fits])
    covariance = jackknife_correction(scenarios) * (contrasts @ changes) @ (contrasts @ changes).T
    variances, directions = np.linalg.eigh(covariance)
    varies = variances > max(_SAME_DIRECTION * variances[-1], _EQUAL**2)
    along = directions.T @ differences
    if np.abs(along[~varies]).max(initial=0.0) > _EQUAL:
        return None
    rank = int(varies.sum())
    if not rank:
        return EqualityTest(0.0, (len(fits) - 1, scenarios - 1), 1.0)
    if scenarios < SCENARIOS_PER_CONTRAST * rank:
        return None
    df = (rank, scenarios - rank)
    wald = float((along[varies] ** 2 / variances[varies]).sum())
    statistic = wald / rank * df[1] / (scenarios - 1)
    return EqualityTest(statistic, df, f_upper_tail(statistic, *df))


def _contrasts(number: int) -> Floats:
    centering = np.eye(number) - 1 / number
    vectors: Floats = np.linalg.eigh(centering)[1][:, 1:].T
    return vectors
