"""`make simulate`: many schedules, or one seed again with its trace; with a mutation too."""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.simulation.faults import ANY, Conditions, Fault
from tests.simulation.harness import Patches, set_up
from tests.simulation.mutations import MUTATIONS
from tests.simulation.schedule import Result, carry_out


def main() -> int:
    parser = argparse.ArgumentParser(prog="make simulate")
    parser.add_argument("--schedules", type=int, default=2_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="replay this one and print its trace")
    parser.add_argument("--mutation", choices=MUTATIONS, help="put this bug in")
    options = parser.parse_args()
    patches, conditions = Patches(), ANY
    with set_up():
        if options.mutation:
            MUTATIONS[options.mutation].put_in(patches)
            conditions = MUTATIONS[options.mutation].conditions
        try:
            if options.seed is None:
                return _many(range(options.first, options.first + options.schedules), conditions)
            return _replay(options.seed, conditions)
        finally:
            patches.undo()


def _replay(seed: int, conditions: Conditions) -> int:
    result = carry_out(seed, print, conditions)
    print(f"seed {seed}: {result.violation or f'no violation, the run ended {result.status}'}")
    return 1 if result.violation else 0


def _many(seeds: range, conditions: Conditions) -> int:
    began, results = time.perf_counter(), list[Result]()
    for seed in seeds:
        results.append(carry_out(seed, conditions=conditions))
        if results[-1].violation:
            print(f"seed {seed}: {results[-1].violation}", flush=True)
    _report(results, time.perf_counter() - began)
    return 1 if any(result.violation for result in results) else 0


def _report(results: list[Result], seconds: float) -> None:
    steps, calls = sum(result.steps for result in results), sum(result.calls for result in results)
    violations = sum(result.violation is not None for result in results)
    print(f"{len(results):,} schedules, {steps:,} steps, {calls:,} model calls in {seconds:.0f} s")
    _list("runs ended", Counter(str(result.status) for result in results))
    _list("moves", sum((result.moves for result in results), Counter[str]()))
    _list("faults by kind", sum((result.faults for result in results), Counter[Fault]()))
    print(f"{violations} violations" + ("; make simulate SEED=… replays one" if violations else ""))


def _list(title: str, counts: Mapping[Any, int]) -> None:
    print(f"{title}:")
    for name, count in sorted(counts.items(), key=lambda pair: -pair[1]):
        print(f"  {count:>12,}  {name}")


if __name__ == "__main__":
    sys.exit(main())
