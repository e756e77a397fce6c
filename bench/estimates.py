"""`python -m bench.estimates`: measure how long the API of the local stack estimates a run of 100,000 scenarios.

Single requests follow each other: for a run that resembles no earlier one, and for the same with a budget. It exits
with 1 if the bound is exceeded.
"""

import argparse
import sys
from functools import partial

import psutil
from rich.console import Console

from bench.cases import find_or_create
from bench.counting import PRICE_PER_MILLION
from bench.local_server import use_server
from bench.processes import running_stack
from bench.reads import Latency, measure
from bench.texts import content
from cupel.client import Client
from cupel.json_types import Json

SCENARIOS = 100_000
MAX_MILLISECONDS = 300.0
"""Limits the median."""
_SAMPLES = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=40)
    requests = parser.parse_args().requests
    console = Console(width=120)
    running_stack()
    with Client.from_environment() as client:
        price = dict(zip(("inputUsdPerMillion", "outputUsdPerMillion"), PRICE_PER_MILLION, strict=True))
        use_server(client, "http://127.0.0.1:1", prices=[{"model": None, **price}])
        body: Json = {"definitionId": find_or_create(client, "bench, 100,000 scenarios", _definition())}
        body["models"] = ["custom/bench-a", "custom/bench-b"]
        probes = client.estimate_run(body)["jobCount"]
        if probes != SCENARIOS * len(body["models"]):
            raise SystemExit(f"the estimate is of {probes:,} probes")
        taken = {
            title: measure(partial(client.estimate_run, {**body, **limits}), requests)
            for title, limits in {"": {}, " with a budget": {"maxBudgetUsd": 1_000.0}}.items()
        }
    for title, latency in taken.items():
        console.print(f"estimate of {probes:,} probes{title} {latency.p50:.0f} ms (p95 {latency.p95:.0f})")
    console.print(f"load {' '.join(f'{each:.1f}' for each in psutil.getloadavg())}, {psutil.cpu_count()} cores")
    violations = violated_bounds(taken)
    for violation in violations:
        console.print(violation)
    sys.exit(bool(violations))


def _definition() -> Json:
    definition = content(SCENARIOS // _SAMPLES)
    levels = [{"score": number, "label": f"{number + 1} of {_SAMPLES}"} for number in range(_SAMPLES)]
    definition["dimensions"].append({"name": "sample", "levels": levels})
    return {**definition, "template": f"{definition['template']}\n\nThis is case [sample]."}


def violated_bounds(taken: dict[str, Latency]) -> list[str]:
    return [
        f"an estimate{title} took more than {MAX_MILLISECONDS:.0f} ms"
        for title, latency in taken.items()
        if latency.p50 > MAX_MILLISECONDS
    ]


if __name__ == "__main__":
    main()
