r"""Recomputes deep_analysis.json with scikit-learn and statsmodels, which are not requirements.

uv run --no-project --with scikit-learn --with statsmodels --with pandas python -m tests.oracles.deep_analysis
"""

import json
import random
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats
import statsmodels.api
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.ensemble._iforest import _average_path_length
from sklearn.preprocessing import StandardScaler
from statsmodels.stats.outliers_influence import variance_inflation_factor

NORRIS = """0.1 0.2, 338.8 337.4, 118.1 118.2, 888.0 884.6, 9.2 10.1, 228.1 226.5, 668.5 666.3, 998.5 996.3,
449.1 448.6, 778.9 777.0, 559.2 558.2, 0.3 0.4, 0.1 0.6, 778.1 775.5, 668.8 666.9, 339.3 338.0, 448.9 447.5,
10.8 11.6, 557.7 556.0, 228.3 228.1, 998.0 995.8, 888.8 887.6, 119.6 120.2, 0.3 0.3, 0.6 0.3, 557.6 556.8,
339.3 339.1, 888.0 887.2, 998.5 999.0, 778.9 779.0, 10.2 11.1, 117.6 118.3, 228.9 229.2, 668.4 669.1, 449.2 448.9,
0.2 0.5"""
"""Ozone, as measured by two instruments: y, x."""


def component_cases() -> list[dict[str, Any]]:
    cases = []
    for values in (load_iris().data, *(_answers(rows, columns) for rows, columns in ((3, 12), (8, 40)))):
        fitted = PCA().fit(values)
        cases.append(
            {
                "values": values.tolist(),
                "ratios": fitted.explained_variance_ratio_.tolist(),
                "coordinates": np.abs(fitted.transform(values)[:, :2]).tolist(),
            }
        )
    return cases


def _answers(targets: int, scenarios: int) -> Any:
    drawn = np.random.default_rng(targets)
    centers = drawn.uniform(1, 5, scenarios)
    return np.clip(np.round(centers + drawn.normal(0, 1, (targets, scenarios))), 1, 5)


def forest_case() -> dict[str, Any]:
    """Mean scores of several forests, as two of them differ."""
    drawn = np.random.default_rng(7)
    rows = np.concatenate([drawn.normal(0, 1, (300, 4)), drawn.uniform(-6, 6, (12, 4))]).round(3)
    forests = [IsolationForest(n_estimators=100, max_samples=256, random_state=seed).fit(rows) for seed in range(10)]
    return {
        "rows": rows.tolist(),
        "scores": np.mean([-forest.score_samples(rows) for forest in forests], axis=0).tolist(),
        "lengths": {str(size): float(_average_path_length([size])[0]) for size in (1, 2, 3, 10, 256)},
    }


def regression_cases() -> list[dict[str, Any]]:
    """Repeated answers of several targets to scenarios with two scores; some scenarios lack answers of a target."""
    source = random.Random(11)
    cases = []
    for scenarios, repeats, targets in ((24, 1, 3), (40, 3, 4), (60, 2, 2)):
        scores = [[float(source.randint(1, 4)), float(source.choice([0, 10, 30]))] for _ in range(scenarios)]
        answers = [
            [
                []
                if source.random() < 0.1
                else [
                    max(1, min(5, round(2 + 0.2 * (target + 1) * a - 0.03 * target * b + source.gauss(0, 0.8))))
                    for _ in range(repeats)
                ]
                for a, b in scores
            ]
            for target in range(targets)
        ]
        cases.append(
            {
                "scores": scores,
                "answers": answers,
                "fits": [_fit(scores, each) for each in answers],
                "interactions": [_interaction(scores, each) for each in answers],
                "walds": _walds(scores, answers),
            }
        )
    return cases


def _rows(scores: Any, answers: Any) -> tuple[Any, Any, Any]:
    """Scores, answers and scenarios, an entry per answer."""
    x = np.array([score for score, each in zip(scores, answers, strict=True) for _ in each])
    y = np.array([answer for each in answers for answer in each], dtype=float)
    groups = np.array([number for number, each in enumerate(answers) for _ in each])
    return x, y, groups


def _fitted(design: Any, y: Any, groups: Any) -> Any:
    return statsmodels.api.OLS(y, design).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)


def _fit(scores: Any, answers: Any) -> dict[str, Any]:
    x, y, groups = _rows(scores, answers)
    found = _fitted(statsmodels.api.add_constant(x), y, groups)
    return {
        "slopes": found.params[1:].tolist(),
        "errors": found.bse[1:].tolist(),
        "p": found.pvalues[1:].tolist(),
        "intervals": found.conf_int()[1:].tolist(),
        "rSquared": found.rsquared,
    }


def _interaction(scores: Any, answers: Any) -> dict[str, Any]:
    """Of dimensions that are centered over the scenarios."""
    centers = np.mean(scores, axis=0)
    x, y, groups = _rows(scores, answers)
    x = x - centers
    plain = _fitted(statsmodels.api.add_constant(x), y, groups)
    design = np.column_stack([np.ones(len(x)), x, x[:, 0] * x[:, 1]])
    found = _fitted(design, y, groups)
    error = float(np.sqrt(_jackknife(design, y, groups)[3, 3]))
    return {
        "coefficient": found.params[3],
        "error": error,
        "p": 2 * scipy.stats.t.sf(abs(found.params[3] / error), len(set(groups)) - 1),
        "gain": found.rsquared - plain.rsquared,
    }


def _jackknife(design: Any, y: Any, groups: Any) -> Any:
    """The covariance of the coefficients, from regressions without each scenario."""
    whole = statsmodels.api.OLS(y, design).fit().params
    scenarios = sorted(set(groups))
    changes = [
        statsmodels.api.OLS(y[groups != each], design[groups != each]).fit().params - whole for each in scenarios
    ]
    return (len(scenarios) - 1) / len(scenarios) * np.transpose(changes) @ np.array(changes)


def _walds(scores: Any, answers: Any) -> list[float]:
    """Wald's F that all targets have the same slope, by dimension, from one regression of all answers."""
    parts = [_rows(scores, each) for each in answers]
    targets = len(parts)
    blocks = [
        np.hstack([statsmodels.api.add_constant(x) * (number == target) for target in range(targets)])
        for number, (x, *_) in enumerate(parts)
    ]
    design, y = np.vstack(blocks), np.concatenate([y for _, y, _ in parts])
    groups = np.concatenate([groups for *_, groups in parts])
    fitted = statsmodels.api.OLS(y, design).fit()
    covariance = _jackknife(design, y, groups)
    walds = []
    for dimension in (1, 2):
        contrasts = np.zeros((targets - 1, targets * 3))
        for target in range(1, targets):
            contrasts[target - 1, dimension], contrasts[target - 1, target * 3 + dimension] = 1, -1
        test = fitted.wald_test(contrasts, cov_p=covariance, use_f=True, scalar=True)
        walds.append(float(test.statistic))
    return walds


def longley() -> dict[str, Any]:
    """NIST's certified values: https://www.itl.nist.gov/div898/strd/lls/data/Longley.shtml."""
    data = statsmodels.api.datasets.longley.load_pandas()
    return {
        "x": data.exog.to_numpy().tolist(),
        "y": data.endog.tolist(),
        "certified": {
            "slopes": [
                15.0618722713733,
                -0.358191792925910e-01,
                -2.02022980381683,
                -1.03322686717359,
                -0.511041056535807e-01,
                1829.15146461355,
            ],
            "rSquared": 0.995479004577296,
        },
    }


def norris() -> dict[str, Any]:
    """NIST's certified values: https://www.itl.nist.gov/div898/strd/lls/data/Norris.shtml."""
    return {
        "x": [float(pair.split()[1]) for pair in NORRIS.split(",")],
        "y": [float(pair.split()[0]) for pair in NORRIS.split(",")],
        "certified": {
            "intercept": -0.262323073774029,
            "slope": 1.00211681802045,
            "residualSquares": 26.6173985294224,
            "rSquared": 0.999993745883712,
        },
    }


def inflation_case() -> dict[str, Any]:
    drawn = np.random.default_rng(3)
    scores = drawn.integers(1, 6, (50, 3)).astype(float)
    scores = np.column_stack([scores, scores[:, 0] + drawn.integers(-1, 2, 50)])
    standardized = statsmodels.api.add_constant(StandardScaler().fit_transform(scores))
    return {
        "scores": scores.tolist(),
        "factors": [variance_inflation_factor(standardized, number) for number in range(1, 5)],
        "correlations": [float(np.corrcoef(scores[:, a], scores[:, b])[0, 1]) for a, b in combinations(range(4), 2)],
    }


if __name__ == "__main__":
    found = {
        "components": component_cases(),
        "forest": forest_case(),
        "regressions": regression_cases(),
        "longley": longley(),
        "norris": norris(),
        "inflation": inflation_case(),
    }
    Path(__file__).with_name("deep_analysis.json").write_text(json.dumps(found, separators=(",", ":")) + "\n")
