"""Recomputes raters.json with irrCAC, which is not among the project's requirements.

uv run --no-project --with pandas --with scipy --with irrCAC python -m tests.oracles.raters

irrCAC 0.4 asks for an old pandas: `uv pip install --no-deps irrCAC` beside a present one works as well. The categories
are given because it would count missing ratings as one with such a pandas.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
from irrCAC.raw import CAC


def ac1_cases() -> list[dict[str, Any]]:
    """Ratings by scenario, 0 or 1, some of them missing."""
    source, cases = Random(1), []
    for raters, scenarios, share, missing in ((2, 20, 0.5, 0.0), (3, 30, 0.9, 0.1), (5, 40, 0.97, 0.3)):
        ratings = [
            [None if source.random() < missing else int(source.random() < share) for _ in range(raters)]
            for _ in range(scenarios)
        ]
        found = CAC(pd.DataFrame(ratings, dtype=float), categories=[0.0, 1.0], digits=15).gwet()
        cases.append({"ratings": ratings, "ac1": float(found["est"]["coefficient_value"])})
    return cases


if __name__ == "__main__":
    Path(__file__).with_suffix(".json").write_text(json.dumps({"ac1": ac1_cases()}, indent=1) + "\n")
