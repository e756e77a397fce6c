"""Where the differences between answers come from: variance components of targets, scenarios, and both together.

A two-way random model of the targets' means of scenarios; estimated from mean squares, with the harmonic mean of the
answers per mean (unweighted means, Searle, Casella and McCulloch 1992). A negative estimate counts as zero.
"""

from typing import NamedTuple

import numpy as np

from cupel_core.analysis.deep.answer_sums import AnswerSums, Floats, to_float
from cupel_core.domain.analysis.deep import VarianceShares

MIN_COLUMNS, MIN_SCENARIOS = 2, 2
_TINY = 1e-12


class VarianceComponents(NamedTuple):
    target: float
    scenario: float
    target_by_scenario: float
    repeat: float | None


def variance_components(means: Floats, repeat: float | None, answers_per_mean: float) -> VarianceComponents:
    """Of a matrix of means by target and scenario. `repeat` is the variance within them; without it, it is part of
    what belongs to target and scenario together."""
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
    """The shares, or why there are none."""
    columns = np.flatnonzero((answers.counts > 0).any(axis=1))
    if len(columns) < MIN_COLUMNS:
        return f"needs at least {MIN_COLUMNS} targets with answers"
    rows = np.flatnonzero((answers.counts[columns] > 0).all(axis=0))
    if len(rows) < MIN_SCENARIOS:
        return f"needs at least {MIN_SCENARIOS} scenarios that all targets have answered"
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
