"""Recomputes usage_ratios.json with scipy, which is not among the project's requirements.

uv run --no-project --with scipy python -m tests.oracles.usage_ratios
"""

import json
from pathlib import Path
from random import Random

from numpy import exp, log
from scipy import stats


def amounts() -> list[list[list[float]]]:
    """Amounts of the baseline and the comparison side by scenario, which differ between scenarios by factors."""
    rng = Random(48)
    return [
        [[size := rng.lognormvariate(6, 1.2), size * factor * rng.lognormvariate(0, 0.3)] for _ in range(scenarios)]
        for scenarios, factor in ((5, 1.0), (12, 1.3), (50, 0.9))
    ]


def ratio(pairs: list[list[float]]) -> dict[str, float]:
    before, after = (log(side) for side in zip(*pairs, strict=True))
    test = stats.ttest_rel(after, before)
    interval = test.confidence_interval(0.95)
    first, second = (stats.gmean(side) for side in zip(*pairs, strict=True))
    return {
        "baseline": first,
        "comparison": second,
        "ratio": second / first,
        "low": float(exp(interval.low)),
        "high": float(exp(interval.high)),
        "p": test.pvalue,
    }


if __name__ == "__main__":
    recomputed = [{"amounts": each, **ratio(each)} for each in amounts()]
    Path(__file__).with_suffix(".json").write_text(json.dumps(recomputed, indent=1) + "\n")
