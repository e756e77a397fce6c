"""Recomputes scenario_changes.json with numpy, scipy and statsmodels, which are not among the project's requirements.

uv run --no-project --with scipy --with statsmodels python -m tests.oracles.scenario_changes
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import statsmodels.api
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable


def tables(source: Random, strata: int, trials: int) -> list[list[int]]:
    """The trials and successes before, then those after, of each stratum."""
    made = []
    for _ in range(strata):
        before, after = source.randint(2, trials), source.randint(2, trials)
        made.append([before, source.randint(0, before), after, source.randint(0, after)])
    return made


def exact_cases() -> list[dict[str, Any]]:
    """The exact conditional test, from the convolution of scipy's hypergeometric distributions."""
    source, cases = Random(1), []
    for strata in (1, 2, 3, 5):
        for trials in (3, 8):
            made = tables(source, strata, trials)
            law, first = np.ones(1), 0
            for before, one, after, other in made:
                successes = one + other
                low, high = max(0, successes - after), min(before, successes)
                own = stats.hypergeom(before + after, successes, before).pmf(np.arange(low, high + 1))
                law, first = np.convolve(law, own), first + low
            seen = law[sum(each[1] for each in made) - first]
            cases.append({"tables": made, "p": float(min(1.0, law[law <= seen * (1 + 1e-7)].sum()))})
    return cases


def large_cases() -> list[dict[str, Any]]:
    source, cases = Random(2), []
    for strata in (2, 4):
        made = tables(source, strata, 400)
        crossed = [np.array([[a, n - a], [b, m - b]]) for n, a, m, b in made]
        cases.append({"tables": made, "p": float(StratifiedTable(crossed).test_null_odds(correction=False).pvalue)})
    return cases


def welch_cases() -> list[dict[str, Any]]:
    """One stratum is scipy's; several are statsmodels' t test of a contrast of group means with variances of groups
    (HC2, which is Welch's error), with Satterthwaite's degrees of freedom."""
    source, cases = Random(3), []
    for strata in (1, 2, 4):
        samples = [
            [[source.choice([1, 2, 3, 4, 5]) for _ in range(source.randint(3, 7))] for _ in range(2)]
            for _ in range(strata)
        ]
        if strata == 1:
            p = stats.ttest_ind(*samples[0], equal_var=False).pvalue
        else:
            groups = [side for stratum in samples for side in stratum]
            values = np.array([value for group in groups for value in group], dtype=float)
            dummies = np.zeros((len(values), len(groups)))
            dummies[np.arange(len(values)), np.repeat(np.arange(len(groups)), [len(group) for group in groups])] = 1
            fit = statsmodels.api.OLS(values, dummies).fit(cov_type="HC2")
            contrast = np.tile([-1, 1], strata)
            t = float(fit.t_test(contrast).tvalue[0][0])
            parts = [(np.var(group, ddof=1) / len(group), len(group) - 1) for group in groups]
            df = sum(part for part, _ in parts) ** 2 / sum(part**2 / freedom for part, freedom in parts)
            p = 2 * stats.t.sf(abs(t), df)
        cases.append({"samples": samples, "p": float(p)})
    return cases


if __name__ == "__main__":
    recomputed = {"exact": exact_cases(), "large": large_cases(), "welch": welch_cases()}
    Path(__file__).with_suffix(".json").write_text(json.dumps(recomputed, indent=1) + "\n")
