"""Recomputes distributions.json with scipy, which is not among the project's requirements.

uv run --no-project --with scipy python -m tests.oracles.distributions
"""

import itertools
import json
from pathlib import Path

from scipy import special, stats

FROZEN = Path(__file__).with_name("distributions.json")
DEGREES = [1, 2, 4.5, 11, 119, 999, 1_000_000]
LEVELS = [1e-12, 0.001, 0.025, 0.4, 0.8, 0.975, 1 - 1e-6]


def cases() -> dict[str, list[list[float]]]:
    """By function: its arguments, then its value."""
    return {
        "beta_lower": [[a, b, x, special.betainc(a, b, x)] for a, b, x in beta_arguments()],
        "gamma_lower": [[a, x, special.gammainc(a, x)] for a, x in gamma_arguments()],
        "gamma_upper": [[a, x, special.gammaincc(a, x)] for a, x in gamma_arguments()],
        "normal_upper_tail": [[z, stats.norm.sf(z)] for z in (-3, -0.5, 0, 0.1, 1, 1.96, 5, 10, 30)],
        "normal_quantile": [[p, stats.norm.ppf(p)] for p in LEVELS],
        "t_two_sided_p": [[t, df, 2 * stats.t.sf(t, df)] for t in (0.001, 0.3, 1, 2.5, 8, 40) for df in DEGREES],
        "t_quantile": [[p, df, stats.t.ppf(p, df)] for p in LEVELS for df in DEGREES],
        "f_upper_tail": [
            [f, d1, d2, stats.f.sf(f, d1, d2)] for f in (0.01, 0.7, 1, 3, 20) for d1 in (1, 2, 5, 40) for d2 in DEGREES
        ],
        "f_quantile": [[p, d1, d2, stats.f.ppf(p, d1, d2)] for p in LEVELS for d1 in (1, 5) for d2 in (3, 119, 99_999)],
        "chi_squared_upper_tail": [[x, df, stats.chi2.sf(x, df)] for x in (0.01, 1, 4, 30, 300) for df in DEGREES],
        "chi_squared_quantile": [[p, df, stats.chi2.ppf(p, df)] for p in LEVELS for df in DEGREES],
        "binomial_lower_tail": [[k, n, p, stats.binom.cdf(k, n, p)] for k, n, p in binomial_arguments()],
        "binomial_probability": [[k, n, p, stats.binom.pmf(k, n, p)] for k, n, p in binomial_arguments()],
        "binomial_quantile": [
            [q, n, p, stats.binom.ppf(q, n, p)] for q in (0.025, 0.5, 0.99) for n in (1, 12, 500) for p in (0.1, 0.5)
        ],
    }


def beta_arguments() -> list[tuple[float, float, float]]:
    parameters = [0.5, 2.5, 17, 250, 200_000]
    return [
        (a, b, x) for a, b in itertools.product(parameters, repeat=2) for x in near_and_far(a / (a + b)) if 0 < x < 1
    ]


def near_and_far(center: float) -> list[float]:
    return [center * factor for factor in (0.01, 0.5, 0.9, 0.99, 1, 1.01, 1.1, 1.9)]


def gamma_arguments() -> list[tuple[float, float]]:
    return [(a, x) for a in (0.5, 1, 2.5, 17, 250, 10_000, 200_000) for x in near_and_far(a)]


def binomial_arguments() -> list[tuple[int, int, float]]:
    counts = [(k, n) for n in (1, 9, 40, 600) for k in sorted({0, 1, n // 3, n // 2, n - 1, n})]
    return [(k, n, p) for k, n in counts for p in (0.05, 0.5, 0.9)]


def significant(table: list[list[float]]) -> list[list[float]]:
    """Numbers of a format that JSON has; a value below 1e-290 has too few digits to be compared."""
    return [[float(number) for number in row] for row in table if abs(row[-1]) > 1e-290]


if __name__ == "__main__":
    frozen = {name: significant(table) for name, table in cases().items()}
    FROZEN.write_text(json.dumps(frozen, separators=(",", ":")).replace("],[", "],\n[") + "\n")
