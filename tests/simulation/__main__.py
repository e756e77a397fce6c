"""`make simulate`: run many schedules, or replay one seed with its trace; optionally with a mutation."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.simulation.faults import ANY, Conditions, Fault
from tests.simulation.harness import Patches, install
from tests.simulation.mutations import MUTATIONS
from tests.simulation.schedule import Result, run_schedule


def main() -> int:
    parser = argparse.ArgumentParser(prog="make simulate")
    parser.add_argument("--schedules", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seed", type=int, help="replay this seed and print its trace")
    parser.add_argument("--mutation", choices=MUTATIONS, help="inject this bug")
    options = parser.parse_args()
    patches, conditions = Patches(), ANY
    with install():
        if options.mutation:
            MUTATIONS[options.mutation].inject(patches)
            conditions = MUTATIONS[options.mutation].conditions
        try:
            if options.seed is None:
                return _run_many(range(options.first, options.first + options.schedules), conditions)
            return _replay(options.seed, conditions)
        finally:
            patches.undo()


def _replay(seed: int, conditions: Conditions) -> int:
    result = run_schedule(seed, print, conditions)
    print(f"seed {seed}: {result.violation or f'no violation, final status {result.status}'}")
    return 1 if result.violation else 0


def _run_many(seeds: range, conditions: Conditions) -> int:
    started_at, results = time.perf_counter(), list[Result]()
    for seed in seeds:
        results.append(run_schedule(seed, conditions=conditions))
        if results[-1].violation:
            print(f"seed {seed}: {results[-1].violation}", flush=True)
    _report(results, time.perf_counter() - started_at)
    return 1 if any(result.violation for result in results) else 0


def _report(results: list[Result], seconds: float) -> None:
    steps, calls = sum(result.steps for result in results), sum(result.calls for result in results)
    violations = sum(result.violation is not None for result in results)
    print(f"{len(results):,} schedules, {steps:,} steps, {calls:,} model calls in {seconds:.0f} s")
    _print_counts("final status of the runs", Counter(str(result.status) for result in results))
    _print_counts("transitions", sum((result.transitions for result in results), Counter[str]()))
    _print_counts("faults by kind", sum((result.faults for result in results), Counter[Fault]()))
    print(f"{violations} violations" + ("; make simulate SEED=… replays one" if violations else ""))


def _print_counts(title: str, counts: Mapping[Any, int]) -> None:
    print(f"{title}:")
    for name, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        print(f"  {count:>12,}  {name}")


if __name__ == "__main__":
    sys.exit(main())
