r"""Recomputes analysis.json with krippendorff, scikit-learn, scipy and statsmodels, which are not requirements.

uv run --no-project --with scipy --with krippendorff --with scikit-learn --with statsmodels \
    python -m tests.oracles.analysis
"""

import json
import random
from pathlib import Path

import krippendorff
import numpy as np
import scipy.stats
import statsmodels.api
from sklearn.metrics import cohen_kappa_score


def alpha_cases() -> list[dict[str, object]]:
    """Ratings of several raters, some of them missing."""
    source = random.Random(1)
    cases = []
    for raters, units in ((2, 12), (3, 20), (5, 9), (8, 40)):
        ratings = [
            [
                None if source.random() < 0.2 else max(1, min(5, round(center + source.gauss(0, 1))))
                for center in (source.uniform(1, 5) for _ in range(units))
            ]
            for _ in range(raters)
        ]
        data = np.array([[np.nan if each is None else each for each in row] for row in ratings], dtype=float)
        value = krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal", value_domain=[1, 2, 3, 4, 5])
        cases.append({"ratings": ratings, "alpha": value})
    return cases


def pair_cases() -> list[dict[str, object]]:
    source = random.Random(2)
    cases = []
    for size in (6, 15, 60):
        first = [source.randint(1, 5) for _ in range(size)]
        second = [max(1, min(5, each + source.choice([-1, 0, 0, 1, 2]))) for each in first]
        rho = scipy.stats.spearmanr(first, second)
        difference = np.subtract(second, first)
        low, high = scipy.stats.t.interval(0.95, size - 1, difference.mean(), scipy.stats.sem(difference))
        cases.append(
            {
                "first": first,
                "second": second,
                "kappa": cohen_kappa_score(first, second, weights="quadratic", labels=[1, 2, 3, 4, 5]),
                "rho": rho.statistic,
                "p": rho.pvalue,
                "interval": [low, high],
            }
        )
    return cases


def group_cases() -> list[dict[str, object]]:
    source = random.Random(3)
    cases = []
    for levels, size in ((2, 5), (3, 8), (4, 20)):
        groups = [
            [max(1, min(5, round(2 + level + source.gauss(0, 1)))) for _ in range(size)] for level in range(levels)
        ]
        test = scipy.stats.kruskal(*groups)
        values = np.concatenate(groups)
        between = sum(len(group) * (np.mean(group) - values.mean()) ** 2 for group in groups)
        cases.append(
            {
                "groups": groups,
                "statistic": test.statistic,
                "p": test.pvalue,
                "etaSquared": between / ((values - values.mean()) ** 2).sum(),
            }
        )
    return cases


def trend_cases() -> list[dict[str, object]]:
    """Answers to scenarios with a score each; several answers of a scenario are correlated."""
    source = random.Random(4)
    cases = []
    for scenarios, repeats in ((6, 1), (12, 3), (40, 4)):
        scores = [float(source.randint(1, 4)) for _ in range(scenarios)]
        answers = []
        for score in scores:
            center = 1.5 + 0.6 * score + source.gauss(0, 0.5)
            answers.append([max(1, min(5, round(center + source.gauss(0, 0.7)))) for _ in range(repeats)])
        x = np.repeat(scores, repeats)
        y = np.array(answers).ravel()
        model = statsmodels.api.OLS(y, statsmodels.api.add_constant(x))
        fit = model.fit(cov_type="cluster", cov_kwds={"groups": np.repeat(range(scenarios), repeats)}, use_t=True)
        cases.append(
            {
                "scores": scores,
                "answers": answers,
                "slope": fit.params[1],
                "standardError": fit.bse[1],
                "p": fit.pvalues[1],
                "interval": list(fit.conf_int()[1]),
                "r": scipy.stats.pearsonr(x, y).statistic,
            }
        )
    return cases


def mean_cases() -> list[dict[str, object]]:
    """The mean of scenarios' means: a regression on a constant, in which a scenario's answers share its weight."""
    source = random.Random(5)
    cases = []
    for scenarios, most in ((5, 1), (9, 4), (30, 10)):
        answers = [[source.randint(1, 5) for _ in range(source.randint(1, most))] for _ in range(scenarios)]
        y = np.array([each for group in answers for each in group])
        groups = np.repeat(range(scenarios), [len(group) for group in answers])
        weights = np.concatenate([np.full(len(group), 1 / len(group)) for group in answers])
        model = statsmodels.api.WLS(y, np.ones(len(y)), weights=weights)
        fit = model.fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
        cases.append(
            {
                "answers": answers,
                "mean": fit.params[0],
                "sd": y.std(ddof=1),
                "median": float(np.median(y)),
                "standardError": fit.bse[0],
                "interval": list(fit.conf_int()[0]),
            }
        )
    return cases


if __name__ == "__main__":
    found = {
        "alpha": alpha_cases(),
        "pairs": pair_cases(),
        "groups": group_cases(),
        "trends": trend_cases(),
        "means": mean_cases(),
    }
    Path(__file__).with_name("analysis.json").write_text(json.dumps(found, indent=1, default=float) + "\n")
