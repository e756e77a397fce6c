"""Recomputes predictions.json with scipy and statsmodels, which are not among the project's requirements.

uv run --no-project --with scipy --with statsmodels python -m tests.oracles.predictions
"""

import json
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import statsmodels.api
from scipy import stats


def single_figures() -> list[dict[str, Any]]:
    """The prediction interval of one further figure, from figures without repeats."""
    source, cases = Random(1), []
    for size in (10, 25, 60):
        figures = [round(source.gauss(1.0, 0.2), 4) for _ in range(size)]
        fit = statsmodels.api.OLS(np.array(figures), np.ones(size)).fit()
        low, high = fit.get_prediction([[1.0]]).conf_int(obs=True, alpha=0.05)[0]
        cases.append({"figures": figures, "low": float(low), "high": float(high)})
    return cases


def repeated_figures() -> list[dict[str, Any]]:
    """The interval of the mean of as many further scenarios as `further`, with as many repeats as the known ones.

    The scenarios' means are then the units.
    """
    source, cases = Random(2), []
    for scenarios, repeats, further in ((10, 4, 30), (12, 3, 12), (20, 2, 100)):
        known = []
        for _ in range(scenarios):
            mean = source.gauss(1.0, 0.35)
            known.append([round(mean + source.gauss(0.0, 0.1), 4) for _ in range(repeats)])
        means = [float(np.mean(each)) for each in known]
        half = stats.t.ppf(0.975, scenarios - 1) * np.std(means, ddof=1) * sqrt(1 / scenarios + 1 / further)
        cases.append({"known": known, "further": further, "low": float(np.mean(means) - half)})
    return cases


if __name__ == "__main__":
    recomputed = {"singleFigures": single_figures(), "repeatedFigures": repeated_figures()}
    Path(__file__).with_suffix(".json").write_text(json.dumps(recomputed, indent=1) + "\n")
