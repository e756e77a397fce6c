"""`python -m bench.budgets`: measure the writes and the time that a budget far from its limit adds to a run.

Writes to the accounts of budgets are counted as `bench.units` counts requests, on moto, in a process for each case;
model calls take 3 seconds on average. Times are those of runs of 10,000 probes through the local stack, which must be
up, with and without a budget in turns; models have a price in both. The result is the median of the rounds' ratios. It
exits with 1 if a bound is exceeded. Seven rounds take about 11 minutes, counting writes 2.
"""

import argparse
import asyncio
import multiprocessing
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from statistics import median
from typing import NamedTuple

import psutil
from rich.console import Console

from bench.cases import SCENARIOS, Bench, find_or_create_definition, run_specification
from bench.counting import PRICE_PER_MILLION, Budgets, measure_run
from bench.local_server import model_server, use_server
from bench.processes import measure_usage, running_stack
from bench.texts import content
from cupel.client import Client

MAX_WRITES = 0.02
"""Limits the writes per probe to each of the two accounts."""
MAX_SLOWER = 1.02
BUDGET_USD = 1_000.0
UNITS_SCENARIOS, SECONDS = 500, 3.0
LATENCY, PARALLEL = 0.2, 50
WARM_UP_PROBES = 2_000
CASES = {
    "without a budget": Budgets(),
    "with one of the run": Budgets(run_usd=BUDGET_USD),
    "with one of the workspace's day": Budgets(day_usd=BUDGET_USD),
    "with both": Budgets(run_usd=BUDGET_USD, day_usd=BUDGET_USD),
}


class Timed(NamedTuple):
    seconds: float
    cpu_seconds: float


class Ratios(NamedTuple):
    ascending: list[float]

    @property
    def median(self) -> float:
        return median(self.ascending)

    def __str__(self) -> str:
        first, *_, last = self.ascending * 2
        return f"{self.median:.3f} ({first:.3f} to {last:.3f} in {len(self.ascending)} rounds)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=["writes", "time"], help="only this one; the second needs the local stack")
    parser.add_argument("--writes-probes", type=int, default=2_000, help="of the runs whose writes are counted")
    parser.add_argument("--probes", type=int, default=10_000, help="of the runs whose time is measured")
    parser.add_argument("--rounds", type=int, default=7, help="of a run without a budget and one with")
    arguments = parser.parse_args()
    violations: list[str] = []
    if arguments.part != "time":
        violations += _print_writes(arguments.writes_probes)
    if arguments.part != "writes":
        violations += _print_times(arguments.probes, arguments.rounds)
    for violation in violations:
        print(violation)
    sys.exit(bool(violations))


def _print_writes(probes: int) -> list[str]:
    writes = {}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        for title, budgets in CASES.items():
            writes[title] = processes.apply(count_writes, (probes, budgets))
            allowed = max_writes(budgets)
            print(f"{probes:,} probes {title}: {writes[title]:.4f} writes per probe for it, at most {allowed:g}")
    return violated_writes(writes)


def count_writes(probes: int, budgets: Budgets) -> float:
    definition = content(UNITS_SCENARIOS, short=True)
    usage = asyncio.run(measure_run(probes, SECONDS, definition, short=True, budgets=budgets))
    return usage.per_probe("budget_writes")


def max_writes(budgets: Budgets) -> float:
    return MAX_WRITES * sum(limit is not None for limit in budgets)


def violated_writes(writes: dict[str, float]) -> list[str]:
    return [
        f"a run {title} made more than {max_writes(CASES[title]):g} writes per probe for it"
        for title, per_probe in writes.items()
        if per_probe > max_writes(CASES[title])
    ]


def _print_times(probes: int, rounds: int) -> list[str]:
    console, stack = Console(width=120), running_stack()
    with Client.from_environment() as client, model_server() as server:
        definition_id = find_or_create_definition(client, short=False)
        bench = Bench(client, server, stack.pid, definition_id)
        _run(bench, min(probes, WARM_UP_PROBES), is_budgeted=True)
        timed: dict[bool, list[Timed]] = {False: [], True: []}
        for is_budgeted in _turns(rounds):
            timed[is_budgeted].append(_run(bench, probes, is_budgeted=is_budgeted))
    for is_budgeted, title in ((False, "without"), (True, "with")):
        seconds = " ".join(f"{each.seconds:.2f}" for each in timed[is_budgeted])
        cpu = " ".join(f"{each.cpu_seconds:.1f}" for each in timed[is_budgeted])
        console.print(f"{probes:,} probes {title} a budget: {seconds} s; CPU {cpu} s")
    slower = slowdown([each.seconds for each in timed[False]], [each.seconds for each in timed[True]])
    busier = slowdown([each.cpu_seconds for each in timed[False]], [each.cpu_seconds for each in timed[True]])
    console.print(f"with a budget: {slower} times the time, at most {MAX_SLOWER:g}; {busier} times the CPU")
    console.print(f"load {' '.join(f'{each:.1f}' for each in psutil.getloadavg())}, {psutil.cpu_count()} cores")
    return violated_time(slower.median)


def _turns(rounds: int) -> Iterator[bool]:
    """Yield whether each run has a budget. Each round has the other order, so that growth over time affects both."""
    for number in range(rounds):
        yield from (False, True) if number % 2 == 0 else (True, False)


def _run(bench: Bench, probes: int, *, is_budgeted: bool) -> Timed:
    price = dict(zip(("inputUsdPerMillion", "outputUsdPerMillion"), PRICE_PER_MILLION, strict=True))
    use_server(bench.client, bench.server, PARALLEL, prices=[{"model": None, **price}])
    bench.configure(latencySeconds=LATENCY, rates={})
    budget = {"maxBudgetUsd": BUDGET_USD} if is_budgeted else {}
    before, began = measure_usage(bench.emulator_pid), time.time()
    started = bench.client.create_run({**run_specification(bench.definition_id, probes), **budget})
    if started["jobCount"] != probes:
        raise SystemExit(f"no sample of {SCENARIOS:,} scenarios gives {probes} probes")
    run = bench.wait(started["run"]["id"], probes * LATENCY / PARALLEL)
    if run["progress"]["completed"] != probes:
        raise SystemExit(f"the run {run['id']} is {run['status']}: {run['progress']}")
    seconds = datetime.fromisoformat(run["completedAt"]).timestamp() - began
    return Timed(seconds, measure_usage(bench.emulator_pid).cpu_seconds - before.cpu_seconds)


def slowdown(without: list[float], budgeted: list[float]) -> Ratios:
    """Return the ratio of each round, whose two runs follow each other: slow changes of the machine affect both."""
    return Ratios(sorted(with_budget / plain for plain, with_budget in zip(without, budgeted, strict=True)))


def violated_time(slower: float) -> list[str]:
    return [f"runs with a budget took more than {MAX_SLOWER:g} times as long"] if slower > MAX_SLOWER else []


if __name__ == "__main__":
    main()
