# /// script
# requires-python = "==3.13.*"
# dependencies = ["ppi-python==0.2.3", "scikit-learn==1.9.1", "statsmodels==0.15.0"]
# ///
"""Recomputes tests/oracles/calibration.json with the reference implementations, which the project does not require.

uv run --script tools/calibration_oracles.py

The versions of all packages are in `calibration_oracles.py.lock` beside this script, and the main ones in the table.
"""

import json
import platform
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from sklearn.metrics import cohen_kappa_score, confusion_matrix, precision_score, recall_score
from statsmodels.stats.proportion import proportion_confint

FROZEN = Path(__file__).parents[1] / "tests/oracles/calibration.json"
PACKAGES = ("ppi-python", "scikit-learn", "statsmodels", "numpy", "scipy")


def agreement_cases() -> list[dict[str, Any]]:
    """Verdicts and labels, 0 or 1, with weights; scikit-learn's figures are weighted."""
    source, cases = Random(1), []  # noqa: S311 - reproducible, not secret
    for labels, rate, right, is_weighted in ((30, 0.5, 0.9, False), (60, 0.9, 0.8, False), (200, 0.8, 0.7, True)):
        label = [int(source.random() < rate) for _ in range(labels)]
        judge = [each if source.random() < right else 1 - each for each in label]
        weight = [source.choice((1.0, 2.5, 8.0)) if is_weighted else 1.0 for _ in range(labels)]
        table = confusion_matrix(label, judge, sample_weight=weight)
        cases.append(
            {
                "label": label,
                "judge": judge,
                "weight": weight,
                "kappa": float(cohen_kappa_score(label, judge, sample_weight=weight)),
                "table": [[float(each) for each in row] for row in table],
                "sensitivity": float(recall_score(label, judge, sample_weight=weight)),
                "specificity": float(recall_score(label, judge, pos_label=0, sample_weight=weight)),
                "pass_predictive_value": float(precision_score(label, judge, sample_weight=weight)),
                "fail_predictive_value": float(precision_score(label, judge, pos_label=0, sample_weight=weight)),
            }
        )
    return cases


def proportion_cases() -> list[dict[str, Any]]:
    """Wilson's and Jeffreys' intervals."""
    cases = []
    for passed, labels in ((0, 20), (19, 20), (27, 30), (30, 60), (57, 60), (190, 200)):
        for confidence in (0.9, 0.95):
            wilson, jeffreys = (
                proportion_confint(passed, labels, 1 - confidence, method) for method in ("wilson", "jeffreys")
            )
            cases.append(
                {
                    "passed": passed,
                    "labels": labels,
                    "confidence": confidence,
                    "wilson": [float(each) for each in wilson],
                    "jeffreys": [float(each) for each in jeffreys],
                }
            )
    return cases


def code_cases() -> list[dict[str, Any]]:
    """Codes 1-5 of a judge for all scenarios, and labels of the first ones; λ is what the authors' estimate implies."""
    source, cases = Random(2), []  # noqa: S311 - reproducible, not secret
    for labels, scenarios, noise, is_weighted in (
        (30, 120, 0.5, False),
        (60, 100, 1.5, False),
        (40, 400, 4.0, False),
        (50, 200, 0.7, True),
    ):
        true = [source.choice((1, 2, 3, 3, 4, 5, 5)) for _ in range(scenarios)]
        judge = [min(5, max(1, round(each + 0.4 + source.gauss(0, noise)))) for each in true]
        weight = [source.choice((1.0, 3.0)) if is_weighted else 1.0 for _ in range(labels)]
        label, own, everything, weights = (
            np.array(each, dtype=float) for each in (true[:labels], judge[:labels], judge, weight)
        )
        tuned = ppi_mean_pointestimate(label, own, everything, w=weights)
        zero, one = (ppi_mean_pointestimate(label, own, everything, lam, w=weights) for lam in (0, 1))
        low, high = ppi_mean_ci(label, own, everything, alpha=0.05, w=weights)
        cases.append(
            {
                "label": true[:labels],
                "judge": judge,
                "weight": weight,
                "kappa": float(
                    cohen_kappa_score(true[:labels], judge[:labels], weights="quadratic", sample_weight=weight)
                ),
                "mean": float(np.squeeze(tuned)),
                "tuning": float(np.squeeze((tuned - zero) / (one - zero))),
                "interval": [float(np.squeeze(low)), float(np.squeeze(high))],
            }
        )
    return cases


if __name__ == "__main__":
    frozen = {
        "versions": {"python": platform.python_version()} | {name: version(name) for name in PACKAGES},
        "agreement": agreement_cases(),
        "proportions": proportion_cases(),
        "codes": code_cases(),
    }
    lines = json.dumps(frozen, separators=(",", ":")).replace('},{"', '},\n{"').replace('],"', '],\n"')
    FROZEN.write_text(lines + "\n")
