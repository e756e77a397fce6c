"""`python -m bench.analysis`: measure processor time and memory of analyses of 1,000,000 probes, without a stack.

The shapes are the largest that a run can have: 100,000 scenarios, 200 columns. It exits with 1 if a bound is exceeded.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import time
from itertools import product
from random import Random
from typing import NamedTuple

from cupel_core.domain.analysis.basic import AnalysisInput, analyze
from cupel_core.domain.analysis.counts import COUNTS_PER_CELL, Counts, RunCounts, scenario_cases
from cupel_core.domain.analysis.extrapolation import RunSample
from cupel_core.domain.analysis.matrix import DimensionScores, ScenarioRow, cell_matrix
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets

PROBES = 1_000_000
MAX_SECONDS, MAX_MEGABYTES = 15.0, 256.0
"""Limits of the analysis of so many probes. The functions have 512 and 1,769 MB."""


class Shape(NamedTuple):
    targets: int
    scenarios: int
    repeats: int


SHAPES = (
    Shape(10, 100_000, 1),
    Shape(1, 100_000, 10),
    Shape(50, 20_000, 1),
    Shape(200, 5_000, 1),
    Shape(3, 3_333, 100),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, default=PROBES, help="fewer ones have fewer scenarios")
    probes = parser.parse_args().probes
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # The analyze function sets this too.
    violated = False
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        for kind, shape in product(("basic", "deep"), SHAPES):
            scaled = shape._replace(scenarios=shape.scenarios * probes // PROBES)
            seconds, megabytes = processes.apply(measure, (kind, *scaled))
            exceeded = seconds > MAX_SECONDS or megabytes > MAX_MEGABYTES
            violated |= exceeded
            print(
                f"{kind:<5} {scaled.targets:>3} targets x {scaled.scenarios:>9,} scenarios x {scaled.repeats:>3} "
                f"repeats: {seconds:5.1f} s of processor time, {megabytes:.0f} MB"
                + (f": more than {MAX_SECONDS:.0f} s or {MAX_MEGABYTES:.0f} MB" if exceeded else ""),
                flush=True,
            )
    sys.exit(violated)


def measure(kind: str, targets: int, scenarios: int, repeats: int) -> tuple[float, float]:
    plan = Plan(plain_targets(*(f"sim/{number}" for number in range(targets))), (scenarios,), repeats=repeats)
    counts = _drawn(plan)
    began = time.process_time()
    rows = list(_rows(scenarios))
    matrix = cell_matrix(RunCounts(plan, scenario_cases(range(scenarios)), counts), rows, ("a", "b", "c"))
    if kind == "deep":
        from cupel_core.analysis.deep import analyze as deep  # numpy takes additional memory.

        deep.analyze(deep.DeepInput(matrix, seed=1), ignore_stage)
    else:
        totals = [counts.column(number) for number in range(targets)]
        names, whole = tuple(column.name for column in plan.columns), RunSample(scenarios, scenarios, 1, is_drawn=False)
        analyze(AnalysisInput(matrix, totals, names, plan.total, whole))
    return time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def ignore_stage(_: str) -> None:
    """Do nothing, since nobody waits for the stage."""


def _drawn(plan: Plan) -> Counts:
    """Draw counts: in every hundred probes, one is errored and two have no readable decision; the rest depend on the
    scenario."""
    random = Random(1)  # noqa: S311 - no secret
    counts = Counts.empty(range(plan.total // plan.repeats))
    for cell in counts.cell_range:
        center = 2 + (cell % 4 - 1.5) * 0.6
        for _ in range(plan.repeats):
            chance = random.random()
            code = min(4, max(0, int(random.gauss(center, 1))))
            counts.cells[cell * COUNTS_PER_CELL + (6 if chance < 0.01 else 5 if chance < 0.03 else code)] += 1
    return counts


def _rows(scenarios: int) -> list[ScenarioRow]:
    known: dict[DimensionScores, DimensionScores] = {}
    rows = []
    for number in range(scenarios):
        scores = (float(number % 4), float(number // 4 % 3), float(number // 12 % 5))
        rows.append(ScenarioRow(f"scn_00000000_{number:06d}", f"case {number}", known.setdefault(scores, scores)))
    return rows


if __name__ == "__main__":
    main()
