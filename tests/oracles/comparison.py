"""Recomputes comparison.json with scipy and statsmodels, which are not among the project's requirements.

uv run --no-project --with scipy --with statsmodels python -m tests.oracles.comparison
"""

import json
from pathlib import Path
from random import Random

from numpy import array
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep
from statsmodels.stats.weightstats import ttost_paired

FROZEN = Path(__file__).with_name("comparison.json")
TABLES = [(0, 1), (3, 0), (6, 2), (86, 150), (1, 14)]
RATES = [((56, 70), (48, 80)), ((9, 10), (3, 10)), ((0, 20), (5, 25)), ((10, 10), (0, 20)), ((6, 7), (2, 7))]


def paired_values() -> list[list[list[float]]]:
    rng = Random(7)
    return [
        [[rng.randint(1, 5), min(5, rng.randint(1, 5) + shift)] for _ in range(size)]
        for size, shift in ((5, 0), (12, 1), (40, 0), (200, 1))
    ]


def paired(values: list[list[float]]) -> dict[str, float]:
    before, after = zip(*values, strict=True)
    test = stats.ttest_rel(after, before)
    interval = test.confidence_interval(0.95)
    p_equivalence, _, _ = ttost_paired(array(after), array(before), -0.5, 0.5)
    return {
        "p": test.pvalue,
        "low": interval.low,
        "high": interval.high,
        "equivalenceP": p_equivalence,
        "standardError": stats.sem([b - a for a, b in values]),
    }


def exact_p(gained: int, lost: int) -> float:
    """statsmodels has no mid-p form, which is this minus the probability of the observed table."""
    return float(mcnemar([[5, gained], [lost, 5]], exact=True).pvalue)


def rates(first: tuple[int, int], second: tuple[int, int]) -> dict[str, float]:
    low, high = confint_proportions_2indep(*second, *first, method="newcomb", compare="diff")
    table = [[first[0], first[1] - first[0]], [second[0], second[1] - second[0]]]
    return {"low": low, "high": high, "fisherP": stats.fisher_exact(table).pvalue}


def welch(values: list[list[float]]) -> dict[str, float]:
    before, after = zip(*values, strict=True)
    test = stats.ttest_ind(after, before, equal_var=False)
    interval = test.confidence_interval(0.95)
    return {"p": test.pvalue, "low": interval.low, "high": interval.high}


def cases() -> dict[str, list[dict[str, object]]]:
    samples = paired_values()
    return {
        "paired": [{"values": values, **floats(paired(values))} for values in samples],
        "welch": [{"values": values, **floats(welch(values))} for values in samples],
        "mcnemar": [{"gained": gained, "lost": lost, "exactP": exact_p(gained, lost)} for gained, lost in TABLES],
        "rates": [{"first": first, "second": second, **floats(rates(first, second))} for first, second in RATES],
    }


def floats(figures: dict[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in figures.items()}


if __name__ == "__main__":
    FROZEN.write_text(json.dumps(cases(), separators=(",", ":")).replace("},{", "},\n{") + "\n")
